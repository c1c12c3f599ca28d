import type { Environment } from "../../system/env.ts";
import type { NetworkConfig } from "./config-schema.ts";
import { placedSettings, readVariables, type Setting, withSetting } from "./setting.ts";

const CLOSED = { type: "object", additionalProperties: false } as const;
const MILLISECONDS = { type: "number", minimum: 0 } as const;

/** How model requests use the network. Apart, for models given by name read its variables in browsers. */
export const NETWORK: Setting<NetworkConfig> = {
  ...CLOSED,
  help: "How model requests use the network. Milliseconds; 0 switches a timeout off.",
  properties: {
    headerTimeoutMs: {
      ...MILLISECONDS,
      default: "120,000; on this machine that of `firstEventTimeoutMs`",
      variable: "NANO_AGENT_HEADER_TIMEOUT_MS",
      help: "Until the answer begins, connecting included.",
    },
    idleTimeoutMs: {
      ...MILLISECONDS,
      default: "120,000",
      variable: "NANO_AGENT_IDLE_TIMEOUT_MS",
      help: "Before the first event without any sign of life, then between two events; comments and single bytes are not events.",
    },
    firstEventTimeoutMs: {
      ...MILLISECONDS,
      default: "600,000; on this machine 1,800,000",
      variable: "NANO_AGENT_FIRST_EVENT_TIMEOUT_MS",
      help: "From the head of the answer to its first event, while comments or bytes come.",
    },
    requestTimeoutMs: {
      ...MILLISECONDS,
      default: "1,800,000",
      variable: "NANO_AGENT_REQUEST_TIMEOUT_MS",
      help: "One whole attempt.",
    },
    maxRetries: {
      type: "integer",
      minimum: 0,
      default: "5",
      variable: "NANO_AGENT_MAX_RETRIES",
      help: "Attempts after the first.",
    },
    maxRetryAfterMs: {
      ...MILLISECONDS,
      default: "60,000",
      variable: "NANO_AGENT_MAX_RETRY_AFTER_MS",
      help: "Longest wait a provider may ask for; a longer one ends the request with an error that says so.",
    },
    maxAnswerChars: {
      type: "integer",
      minimum: 1,
      default: "16,000,000",
      variable: "NANO_AGENT_MAX_ANSWER_CHARS",
      help: "Characters of text, reasoning, arguments and what a provider adds in one answer; a longer one ends the request.",
    },
    proxy: {
      ...CLOSED,
      default: "`HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY`, `NO_PROXY`",
      help: "Proxies of your own; user and password may stand in the address.",
      properties: {
        http: { type: "string", help: "For `http:` addresses." },
        https: { type: "string", help: "For `https:` addresses." },
        noProxy: { type: "string", help: "Hosts to reach directly, with commas between them." },
      },
    },
  },
};

/** The network settings of the environment. Throws `invalid_config` for a variable that does not fit. */
export function networkVariables(environment: Environment): NetworkConfig {
  return readVariables(placedSettings(NETWORK.properties), environment).reduce<NetworkConfig>(
    (config, { path, value }) => withSetting(config, path, value),
    {},
  );
}

/** The variable of a network setting, such as `maxRetries`. */
export function networkVariable(name: string): string | undefined {
  return placedSettings(NETWORK.properties).find(({ path }) => path.join(".") === name)?.setting.variable;
}
