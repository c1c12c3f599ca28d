import { NanoAgentError } from "../../core/base/errors.ts";
import type { NetworkConfig } from "./config-schema.ts";
import { type Environment, variable } from "./env.ts";

type Figure = Exclude<keyof NetworkConfig, "proxy">;

const VARIABLES: { readonly [K in Figure]: string } = {
  headerTimeoutMs: "NANO_AGENT_HEADER_TIMEOUT_MS",
  idleTimeoutMs: "NANO_AGENT_IDLE_TIMEOUT_MS",
  firstEventTimeoutMs: "NANO_AGENT_FIRST_EVENT_TIMEOUT_MS",
  requestTimeoutMs: "NANO_AGENT_REQUEST_TIMEOUT_MS",
  maxRetries: "NANO_AGENT_MAX_RETRIES",
  maxRetryAfterMs: "NANO_AGENT_MAX_RETRY_AFTER_MS",
  maxAnswerChars: "NANO_AGENT_MAX_ANSWER_CHARS",
};

/** What the environment says about the network. */
export interface NetworkVariables {
  readonly values: { readonly [K in Figure]?: number };
  /** The settings among them, and the variable each came from. */
  readonly set: readonly { readonly key: string; readonly name: string }[];
}

/** Reads the `NANO_AGENT_…` variables of the network. Throws `invalid_config` for one that is no whole number from 0. */
export function networkVariables(environment: Environment): NetworkVariables {
  const set = Object.entries(VARIABLES).flatMap(([key, name]) => {
    const text = variable(environment, name);
    return text === undefined ? [] : [{ key, name, value: figure(name, text) }];
  });
  return { values: Object.fromEntries(set.map(({ key, value }) => [key, value])), set };
}

/** The variable of the first network setting a text names, `network.maxRetries` say; undefined where it names none. */
export function networkVariableIn(text: string): string | undefined {
  const key = /\bnetwork\.(\w+)/.exec(text)?.[1] ?? "";
  return Object.hasOwn(VARIABLES, key) ? VARIABLES[key as Figure] : undefined;
}

function figure(name: string, text: string): number {
  if (/^\d{1,12}$/.test(text)) return Number(text);
  throw new NanoAgentError(
    "invalid_config",
    `${name} is ${JSON.stringify(text)}. It must be a whole number from 0.`,
  );
}
