import { expect, test } from "vitest";
import { NanoAgentError } from "../../core/base/errors.ts";
import { explainError } from "./explain-error.ts";

const NOWHERE = { settings: undefined, model: undefined };

test("a limit that was reached is explained with its variable, whatever the message says", () => {
  const error = new NanoAgentError("timeout", "Too slow.", { details: { limit: "idleTimeoutMs" } });
  expect(explainError(error, NOWHERE)).toBe("Too slow. In the environment it is NANO_AGENT_IDLE_TIMEOUT_MS.");
});

test("words of a server that look like a setting explain nothing", () => {
  const error = new NanoAgentError("provider_error", "upstream: network.maxRetries exceeded");
  expect(explainError(error, NOWHERE)).toBe("upstream: network.maxRetries exceeded");
});

test("a limit that is not a setting of the network has no variable", () => {
  const error = new NanoAgentError("internal", "Odd.", { details: { limit: "usd" } });
  const other = new NanoAgentError("rate_limit", "Slow down.", { details: { limit: "usd" } });
  expect([error, other].map((each) => explainError(each, NOWHERE))).toEqual([
    "Odd. This is a defect of nano-agent; please report it.",
    "Slow down.",
  ]);
});

test("without credentials the demo is offered, whatever server was named nano-agent demo", () => {
  const error = new NanoAgentError("missing_credentials", "No key for nano-agent demo.");
  expect(explainError(error, NOWHERE)).toBe(
    'No key for nano-agent demo. "nano-agent demo" runs now, without any model.',
  );
});
