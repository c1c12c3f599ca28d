import fc from "fast-check";
import { expect, test } from "vitest";
import type { AgentEvent } from "../core/agent/entries.ts";
import type { RunResult } from "../core/agent/result.ts";
import type { StopReason } from "../core/base/stop-reason.ts";
import { type Denial, outcomeOf, RunTally } from "./outcome.ts";

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

function exitCodeOf(result: object, denials = 0, wantsOutput = false): number {
  const refused = Array.from(
    { length: denials },
    () => ({ name: "bash", input: {}, reason: "no" }) as Denial,
  );
  const facts = { ...new RunTally().facts, denials: refused, wantsOutput, durationMs: 1 };
  return outcomeOf({ text: "", ...result } as unknown as RunResult, facts).exitCode;
}

test.each([
  [{ stopReason: "completed" }, 0, false, 0],
  [{ stopReason: "completed" }, 1, false, 3],
  [{ stopReason: "completed" }, 0, true, 1],
  [{ stopReason: "completed" }, 1, true, 3],
  [{ stopReason: "structured_output", output: 1 }, 0, true, 0],
  [{ stopReason: "denied" }, 0, false, 3],
  [{ stopReason: "awaiting_approval" }, 0, false, 3],
  [{ stopReason: "max_iterations" }, 2, false, 53],
  [{ stopReason: "budget", limit: "usd" }, 0, false, 55],
  [{ stopReason: "budget", limit: "wall_time" }, 0, false, 124],
  [{ stopReason: "loop_detected" }, 0, false, 56],
  [{ stopReason: "error", error: { code: "network", details: {} } }, 0, false, 1],
  [{ stopReason: "error", error: { code: "authentication", details: {} } }, 0, false, 41],
  [{ stopReason: "error", error: { code: "unknown_model", details: {} } }, 0, false, 2],
  [{ stopReason: "error", error: { code: "authentication", details: { neverCalled: true } } }, 0, true, 41],
  [{ stopReason: "output_limit" }, 0, false, 1],
  [{ stopReason: "refusal" }, 0, false, 1],
  [{ stopReason: "awaiting_external" }, 0, false, 1],
])("%j with %i refusals, a value wanted: %s, is exit code %i", (result, denials, wantsOutput, code) => {
  expect(exitCodeOf(result, denials, wantsOutput)).toBe(code);
});

test("only a finished run without a refused call is 0", () => {
  const done: readonly StopReason[] = ["completed", "finish_tool", "structured_output"];
  const others: readonly StopReason[] = [
    "max_iterations",
    "budget",
    "aborted",
    "denied",
    "output_limit",
    "refusal",
    "error",
  ];
  fc.assert(
    fc.property(fc.constantFrom(...done, ...others), fc.nat(2), (stopReason, denials) => {
      expect(exitCodeOf({ stopReason }, denials) === 0).toBe(done.includes(stopReason) && denials === 0);
    }),
  );
});
