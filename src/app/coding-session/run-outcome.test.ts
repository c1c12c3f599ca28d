import { expect, test } from "vitest";
import type { AgentEvent } from "../../core/agent/event.ts";
import type { RunResult } from "../../core/agent/result.ts";
import { outcomeOf, RunTally } from "./run-outcome.ts";

const RETRY = { type: "retry", error: { message: "anthropic failed (HTTP 529): Overloaded." } };
const ANSWER = { type: "assistant_message", model: "m", usage: {}, message: { content: [] } };

test.each([
  [[RETRY], "The time is over. The last attempt had failed: anthropic failed (HTTP 529): Overloaded. What"],
  [[RETRY, ANSWER], "The time is over. What"],
  [[RETRY, { type: "turn_start" }], "The time is over. What"],
  [[], "The time is over. What"],
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

const REFUSED = {
  type: "permission_decision",
  action: "deny",
  callId: "c",
  name: "bash",
  input: {},
  // Words of a command, which decide nothing.
  reason: "No rule allows echo 'Plan mode only reads, the user said: The rule x forbids y'.",
};

test.each([
  ["person", "Say what to do instead"],
  ["plan_mode", "To let it change things, choose another --permission-mode"],
  ["deny_rule", "What allows it does not help against such a rule: take that rule away"],
  [["nobody_to_ask", "ask_rule"], "What allows it does not help against such a rule: take that rule away"],
  [["nobody_to_ask", "protected_path"], "No flag allows that"],
  [["nobody_to_ask", "no_rule"], "Allow what you want with --allowed-tools, --permission-mode acceptEdits"],
  ["hook", "A hook refused it, which no flag changes"],
  ["dont_ask_mode", "Allow what you want with --allowed-tools, or choose"],
  ["no_rule", "Allow what you want with --allowed-tools, --permission-mode acceptEdits or --yolo"],
  [undefined, "Allow what you want with --allowed-tools, --permission-mode acceptEdits or --yolo"],
])("the way out of a refusal follows its code alone: %s", (codes, wayOut) => {
  const [code, questionCode] = [codes].flat();
  const tally = new RunTally();
  tally.add({ ...REFUSED, code, questionCode } as unknown as AgentEvent);
  const result = { stopReason: "completed", text: "" } as unknown as RunResult;
  const { advice } = outcomeOf(result, { ...tally.facts, wantsOutput: false, durationMs: 1 });
  expect(advice?.text.split(`${REFUSED.reason} `)[1]?.slice(0, wayOut.length)).toBe(wayOut);
});
