import { NanoAgentError } from "../../src/core/base/errors.ts";
import { calls, fails, says } from "../../src/testing/script.ts";
import type { ServerReply } from "../../src/testing/server-step.ts";
import { type Fault, streams } from "./fault.ts";

const OK = says("all well");

/** Errors that come as an event of an answer that began with status 200. */
export const FAULTS_IN_EVENTS: readonly Fault[] = [
  {
    scenario: "an error event of overload inside a 200, once",
    outcome: "asked again; what was streamed before is void",
    steps: () => [[says("Half "), fails(new NanoAgentError("provider_error", "Overloaded"))], OK],
    code: 0,
    says: "all well",
    requests: 2,
    sampled: true,
  },
  {
    scenario: "an error event inside a 200, again and again",
    outcome: "bounded: 1, with the provider's words",
    steps: () => [[says("Half "), fails(new NanoAgentError("provider_error", "out of GPUs"))]],
    code: 1,
    stderr: ["out of GPUs"],
    requests: 2,
  },
  {
    scenario: "an error event that refuses the request inside a 200",
    outcome: "not repeated: 1, with the provider's words",
    steps: () => [[says("Half "), fails(new NanoAgentError("bad_request", "tools.0 is odd"))]],
    code: 1,
    stderr: ["tools.0 is odd"],
    requests: 1,
  },
  {
    scenario: "a rate limit as an event inside a 200",
    outcome: "asked again",
    steps: () => [fails(new NanoAgentError("rate_limit", "slow down")), OK],
    code: 0,
    says: "all well",
    requests: 2,
  },
  {
    scenario: "credentials refused by an event inside a 200",
    outcome: "41, names where the key came from",
    steps: () => [[says("Half "), fails(new NanoAgentError("authentication", "the key was withdrawn"))]],
    code: 41,
    stderr: ["the key was withdrawn", /_API_KEY/],
    requests: 1,
  },
  {
    scenario: "a model the provider does not have, by an event inside a 200",
    outcome: "2, with its words",
    steps: () => [fails(new NanoAgentError("unknown_model", "no such model"))],
    code: 2,
    stderr: ["no such model"],
    requests: 1,
  },
  {
    scenario: "too long for the model, by an event inside a 200 after some text, once",
    outcome: "one compaction, one more try",
    steps: () => [
      [calls("bash", { command: "seq 1 4000" })],
      [says("Half "), fails(new NanoAgentError("context_overflow", "prompt is too long"))],
      OK,
    ],
    code: 0,
    says: "all well",
    requests: 3,
  },
  ...(
    [
      ["content_policy_violation", "the prompt was flagged"],
      ["content_filter", "the answer was filtered"],
      ["insufficient_quota", "you have run out of credits"],
    ] as const
  ).map(
    ([code, message]): Fault => ({
      scenario: `\`${code}\` as an event inside a 200`,
      outcome: "not repeated: 1, with the provider's words",
      steps: (wire) => [failsWith(wire === "openai_chat" ? undefined : "response.failed", { code, message })],
      wires: ["openai_chat", "openai_responses"],
      code: 1,
      stderr: [message],
      requests: 1,
    }),
  ),
  {
    scenario: "an answer that is said to be complete and to have failed",
    outcome: "counts as failed: 1, with the provider's words",
    steps: () => [failsWith("response.completed", { code: "invalid_prompt", message: "flagged" })],
    wires: ["openai_responses"],
    code: 1,
    stderr: ["flagged"],
    requests: 1,
  },
];

/**
 * An answer that ends in an error with a code of OpenAI's: as an event of that type, or without one as an
 * error chunk.
 */
function failsWith(
  type: string | undefined,
  error: { readonly code: string; readonly message: string },
): ServerReply {
  const event =
    type === undefined
      ? { error: { ...error, type: null, param: null } }
      : { type, response: { status: "failed", output: [], error } };
  return streams(`data: ${JSON.stringify(event)}\n\n`);
}
