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

test.each([
  [{ reason: "not during the audit", code: "hook" }, "change the hook"],
  [{ reason: "The rule bash(rm *) forbids rm x." }, "take that rule away"],
  [{ reason: "The rule bash(rm *) asks before rm x, and there is nobody to ask" }, "take that rule away"],
  [{ reason: ".git/x is part of a repository's or nano-agent's own machinery" }, "No flag allows that"],
])("no flag is advised where none helps: %j", (refusal, advice) => {
  const tally = new RunTally();
  const denied = {
    type: "permission_decision",
    action: "deny",
    name: "bash",
    callId: "c",
    input: {},
    ...refusal,
  };
  tally.add(denied as unknown as AgentEvent);
  const result = { stopReason: "completed", text: "" } as unknown as RunResult;
  const { text = "" } = outcomeOf(result, { ...tally.facts, wantsOutput: false, durationMs: 1 }).advice ?? {};
  expect([text.includes(advice), text.includes("--yolo")]).toEqual([true, false]);
});
