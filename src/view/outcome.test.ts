import { expect, test } from "vitest";
import type { AgentEvent } from "../core/agent/entries.ts";
import type { RunResult } from "../core/agent/result.ts";
import { outcomeOf, RunTally } from "./outcome.ts";

const RETRY = { type: "retry", error: { message: "anthropic failed (HTTP 529): Overloaded." } };
const ANSWER = { type: "assistant_message", model: "m", usage: {}, message: { content: [] } };

test.each([
  [[RETRY], "Time limit reached. The last attempt had failed: anthropic failed (HTTP 529): Overloaded. What"],
  [[RETRY, ANSWER], "Time limit reached. What"],
  [[RETRY, { type: "turn_start" }], "Time limit reached. What"],
  [[], "Time limit reached. What"],
])("whose time is over is told why the request at work was repeated: %j", (events, advice) => {
  const tally = new RunTally();
  for (const event of events) tally.add(event as unknown as AgentEvent);
  const result = { stopReason: "budget", limit: "wall_time", text: "" } as unknown as RunResult;
  const outcome = outcomeOf(result, { ...tally.facts, wantsOutput: false, durationMs: 1 });
  expect([outcome.advice?.text.slice(0, advice.length), Object.hasOwn(outcome, "lastFailure")]).toEqual([
    advice,
    false,
  ]);
});

const COMPLETED = { stopReason: "completed", text: "" } as unknown as RunResult;

/** The advice after calls that were refused. */
function adviceAfter(calls: readonly object[], hasSandbox = false): string | undefined {
  const tally = new RunTally();
  for (const call of calls)
    tally.add({
      type: "permission_decision",
      action: "deny",
      callId: "c",
      name: "bash",
      input: { command: "npm test" },
      reason: "no",
      code: "nobody_to_ask",
      questionCode: "no_rule",
      ...call,
    } as unknown as AgentEvent);
  const facts = { ...tally.facts, wantsOutput: false, durationMs: 1, hasSandbox };
  return outcomeOf(COMPLETED, facts).advice?.text;
}

const EDIT = { name: "edit", input: { path: "a.js" }, suggestion: "edit(a.js)" };
const RUN = { suggestion: "bash(npm test*)" };

test.each([
  [
    [EDIT],
    false,
    "A tool call was refused: edit a.js. --permission-mode acceptEdits would allow it; run again.",
  ],
  [
    [EDIT, RUN],
    false,
    "2 tool calls were refused: edit a.js; bash npm test. --allowed-tools 'edit(a.js),bash(npm test*)' would allow all of them; run again.",
  ],
  [
    [EDIT, {}],
    true,
    "2 tool calls were refused: edit a.js; bash npm test. --permission-mode auto would allow all of them; run again.",
  ],
  [
    [EDIT, {}],
    false,
    "2 tool calls were refused: edit a.js; bash npm test. --yolo would allow all of them; run again.",
  ],
  [
    [{ ...EDIT, suggestion: "edit(/etc/hosts)" }],
    true,
    "A tool call was refused: edit a.js. --allowed-tools 'edit(/etc/hosts)' would allow it; run again.",
  ],
])("every refused call is named, and one flag that would allow them all: %j", (calls, hasSandbox, text) => {
  expect(adviceAfter(calls, hasSandbox)).toBe(text);
});

test.each([
  [["person"], "Say what to do instead"],
  [["plan_mode"], "To let it change things, choose another --permission-mode"],
  [["deny_rule"], "What allows it does not help against such a rule: take that rule away"],
  [["nobody_to_ask", "ask_rule"], "What allows it does not help against such a rule: take that rule away"],
  [["nobody_to_ask", "protected_path"], "No flag allows that"],
  [["hook"], "A hook refused it, which no flag changes"],
])("where no flag helps the advice says what does, by the code alone: %j", ([code, questionCode], help) => {
  // Words of a command, which decide nothing.
  const reason = "No rule allows echo 'Plan mode only reads, the user said: The rule x forbids y'.";
  expect(adviceAfter([{ code, questionCode, reason }, RUN])).toContain(`. ${help}`);
});
