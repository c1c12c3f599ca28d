import { invalidConfig } from "../core/base/errors.ts";

/** How model requests use the network. Every number has a default; 0 disables a timeout. */
export interface NetworkOptions {
  /**
   * Milliseconds until the answer begins, including connecting. Default 120,000; on loopback the value of
   * `firstEventTimeoutMs`, since local servers often send nothing until they have read the prompt.
   */
  readonly headerTimeoutMs?: number;
  /**
   * Milliseconds without a sign of life before the first event of an answer, and between two events after it;
   * comments and single bytes do not count as events. Default 120,000.
   */
  readonly idleTimeoutMs?: number;
  /**
   * Milliseconds from the answer's headers to its first event, while comments or single bytes show that the
   * server is alive. Default 600,000, on loopback 1,800,000.
   */
  readonly firstEventTimeoutMs?: number;
  /** Milliseconds for one whole attempt. Default 1,800,000. */
  readonly requestTimeoutMs?: number;
  /** Attempts after the first. Default 5. */
  readonly maxRetries?: number;
  /** Longest wait in milliseconds a provider may ask for; a longer one is an error. Default 60,000. */
  readonly maxRetryAfterMs?: number;
  /** Characters in one answer, whether kept or not; a longer one ends the request. Default 16,000,000. */
  readonly maxAnswerChars?: number;
  readonly proxy?: ProxyOptions;
  /** PEM certificate authorities to trust instead of the built-in ones. */
  readonly ca?: string;
}

interface NumberSchema {
  readonly type: "number" | "integer";
  readonly minimum: number;
  readonly variable: string;
}

/** The numbers in {@link NetworkOptions}. */
export const NETWORK_NUMBERS: {
  readonly [K in keyof NetworkSettings]: NumberSchema;
} = {
  headerTimeoutMs: { type: "number", minimum: 0, variable: "NANO_AGENT_HEADER_TIMEOUT_MS" },
  idleTimeoutMs: { type: "number", minimum: 0, variable: "NANO_AGENT_IDLE_TIMEOUT_MS" },
  firstEventTimeoutMs: { type: "number", minimum: 0, variable: "NANO_AGENT_FIRST_EVENT_TIMEOUT_MS" },
  requestTimeoutMs: { type: "number", minimum: 0, variable: "NANO_AGENT_REQUEST_TIMEOUT_MS" },
  maxRetries: { type: "integer", minimum: 0, variable: "NANO_AGENT_MAX_RETRIES" },
  maxRetryAfterMs: { type: "number", minimum: 0, variable: "NANO_AGENT_MAX_RETRY_AFTER_MS" },
  maxAnswerChars: { type: "integer", minimum: 1, variable: "NANO_AGENT_MAX_ANSWER_CHARS" },
};

/** {@link NetworkOptions} with the defaults filled in. */
export type NetworkSettings = Required<Omit<NetworkOptions, "ca" | "proxy">>;

/** The documented defaults for remote servers. */
export const NETWORK_DEFAULTS: NetworkSettings = Object.freeze({
  headerTimeoutMs: 120_000,
  idleTimeoutMs: 120_000,
  firstEventTimeoutMs: 600_000,
  requestTimeoutMs: 1_800_000,
  maxRetries: 5,
  maxRetryAfterMs: 60_000,
  maxAnswerChars: 16_000_000,
});

/** A laptop may legitimately read a prompt for minutes. */
const LOOPBACK_FIRST_EVENT_MS = 1_800_000;

/** Fills in the defaults for requests to `baseUrl`. Throws `invalid_config` unless all are numbers from 0. */
export function networkSettings(options: NetworkOptions = {}, baseUrl = ""): NetworkSettings {
  const isLocal = isLoopback(URL.parse(baseUrl)?.hostname ?? "");
  const firstEventTimeoutMs =
    options.firstEventTimeoutMs ?? (isLocal ? LOOPBACK_FIRST_EVENT_MS : NETWORK_DEFAULTS.firstEventTimeoutMs);
  const headerTimeoutMs = isLocal ? firstEventTimeoutMs : NETWORK_DEFAULTS.headerTimeoutMs;
  const defaults: NetworkSettings = { ...NETWORK_DEFAULTS, firstEventTimeoutMs, headerTimeoutMs };
  const names = Object.keys(NETWORK_DEFAULTS) as (keyof NetworkSettings)[];
  const checked = names.map((name) => [name, checkedNumber(name, options[name] ?? defaults[name])] as const);
  return Object.fromEntries(checked) as { [K in keyof NetworkSettings]: number };
}

function checkedNumber(name: keyof NetworkSettings, value: number): number {
  if (Number.isFinite(value) && value >= 0) return value;
  throw invalidConfig(`network.${name} is ${value}. It must be a number from 0.`, {
    details: { limit: name },
  });
}

/** Addresses like `http://user:password@proxy.example:3128`. Loopback hosts are always reached directly. */
export interface ProxyOptions {
  /** For `http:` addresses. */
  readonly http?: string;
  /** For `https:` addresses, through a CONNECT tunnel. */
  readonly https?: string;
  /** Hosts to reach directly, as in `NO_PROXY`: `example.com`, `10.0.0.0/8`, `fd00::1`, `host:8080`. */
  readonly noProxy?: string;
}

/** True if a host name, as in a parsed address, is this machine. */
export function isLoopback(hostname: string): boolean {
  return (
    hostname === "localhost" ||
    hostname.endsWith(".localhost") ||
    hostname === "[::1]" ||
    /^127(?:\.\d+){3}$/.test(hostname)
  );
}
