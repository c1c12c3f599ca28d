import { NanoAgentError } from "../../src/core/base/errors.ts";
import { calls, fails, says } from "../../src/testing/script.ts";
import type { ServerReply } from "../../src/testing/server-step.ts";
import { type Fault, streams } from "./fault.ts";

const OK = says("all well");

/** Errors that come as an event of an answer that began with status 200. */
export const FAULTS_IN_EVENTS: readonly Fault[] = [
  {
    scenario: "an overload error as an event inside a 200, once",
    outcome: "retried; the text streamed so far is discarded",
    steps: () => [[says("Half "), fails(new NanoAgentError("provider_error", "Overloaded"))], OK],
    code: 0,
    says: "all well",
    requests: 2,
    sampled: true,
  },
  {
    scenario: "an error event inside a 200, on every attempt",
    outcome: "fails after the retries; shows the provider's message",
    steps: () => [[says("Half "), fails(new NanoAgentError("provider_error", "out of GPUs"))]],
    code: 1,
    stderr: ["out of GPUs"],
    requests: 2,
  },
  {
    scenario: "an error event inside a 200 that rejects the request",
    outcome: "not retried; shows the provider's message",
    steps: () => [[says("Half "), fails(new NanoAgentError("bad_request", "tools.0 is odd"))]],
    code: 1,
    stderr: ["tools.0 is odd"],
    requests: 1,
  },
  {
    scenario: "a rate limit as an event inside a 200",
    outcome: "retried",
    steps: () => [fails(new NanoAgentError("rate_limit", "slow down")), OK],
    code: 0,
    says: "all well",
    requests: 2,
  },
  {
    scenario: "credentials rejected by an event inside a 200",
    outcome: "names the source of the key",
    steps: () => [[says("Half "), fails(new NanoAgentError("authentication", "the key was withdrawn"))]],
    code: 41,
    stderr: ["the key was withdrawn", /_API_KEY/],
    requests: 1,
  },
  {
    scenario: "an unknown model, reported by an event inside a 200",
    outcome: "not retried; shows the provider's message",
    steps: () => [fails(new NanoAgentError("unknown_model", "no such model"))],
    code: 2,
    stderr: ["no such model"],
    requests: 1,
  },
  {
    scenario: "a prompt that is too long, reported by an event inside a 200 after some text, once",
    outcome: "compacted and retried once",
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
      outcome: "not retried; shows the provider's message",
      steps: (wire) => [failsWith(wire === "openai_chat" ? undefined : "response.failed", { code, message })],
      wires: ["openai_chat", "openai_responses"],
      code: 1,
      stderr: [message],
      requests: 1,
    }),
  ),
  {
    scenario: "an answer reported as both complete and failed",
    outcome: "counts as failed; shows the provider's message",
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
