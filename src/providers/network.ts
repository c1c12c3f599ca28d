import { NanoAgentError } from "../core/base/errors.ts";
import type { HttpTimeouts, ProxyOptions } from "./http.ts";

/** How model requests use the network. Every figure has a default; 0 switches a timeout off. */
export interface NetworkOptions {
  /** Milliseconds until the answer begins, connecting included. Default 120,000. */
  readonly headerTimeoutMs?: number;
  /** Milliseconds between two events of an answer; comments and single bytes are no events. Default 120,000. */
  readonly idleTimeoutMs?: number;
  /** Milliseconds one whole attempt may take. Default 1,800,000. */
  readonly requestTimeoutMs?: number;
  /** Attempts after the first. Default 5. */
  readonly maxRetries?: number;
  /** Longest wait a provider may ask for, in milliseconds. A longer one is reported, not slept. Default 60,000. */
  readonly maxRetryAfterMs?: number;
  readonly proxy?: ProxyOptions;
  /** Certificate authorities to trust instead of the built-in ones, in PEM. */
  readonly ca?: string;
}

/** {@link NetworkOptions} with the defaults filled in. */
export interface NetworkSettings extends HttpTimeouts {
  readonly maxRetries: number;
  readonly maxRetryAfterMs: number;
}

/** The documented defaults. */
export const NETWORK_DEFAULTS: NetworkSettings = Object.freeze({
  headerTimeoutMs: 120_000,
  idleTimeoutMs: 120_000,
  requestTimeoutMs: 1_800_000,
  maxRetries: 5,
  maxRetryAfterMs: 60_000,
});

/** Fills in the defaults. Throws `invalid_config` for a figure that is negative or no number. */
export function networkSettings(options: NetworkOptions = {}): NetworkSettings {
  const figure = (name: keyof NetworkSettings): number => {
    const value = options[name] ?? NETWORK_DEFAULTS[name];
    if (Number.isFinite(value) && value >= 0) return value;
    throw new NanoAgentError("invalid_config", `network.${name} is ${value}. It must be a number from 0.`);
  };
  return {
    headerTimeoutMs: figure("headerTimeoutMs"),
    idleTimeoutMs: figure("idleTimeoutMs"),
    requestTimeoutMs: figure("requestTimeoutMs"),
    maxRetries: figure("maxRetries"),
    maxRetryAfterMs: figure("maxRetryAfterMs"),
  };
}
