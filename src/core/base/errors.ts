/** Stable codes for every failure. Codes may be added; existing ones keep their meaning. */
export type ErrorCode =
  /** Wrong use of the library: a missing or malformed argument. Thrown before any side effect. */
  | "invalid_argument"
  /** A configuration that cannot be read or is malformed. */
  | "invalid_config"
  /** A `provider/model` name whose provider does not exist. */
  | "unknown_provider"
  /** No credentials for the provider. */
  | "missing_credentials"
  /** The provider refused the credentials (HTTP 401, 403). */
  | "authentication"
  /** The provider does not have this model. */
  | "unknown_model"
  /** The provider refused the request as malformed (HTTP 4xx that no retry can fix). */
  | "bad_request"
  /** The request is longer than the model's context window. */
  | "context_overflow"
  /** Too many requests (HTTP 429), or the quota is used up. */
  | "rate_limit"
  /** The provider is overloaded or failing (HTTP 5xx, 529). */
  | "provider_error"
  /** The host cannot be reached, or the connection broke. */
  | "network"
  /** No answer, or no progress, for longer than the configured time. */
  | "timeout"
  /** The provider's answer breaks its protocol (an HTML page, broken JSON, a stream cut short). */
  | "invalid_response"
  /** The caller's signal was aborted. */
  | "aborted"
  /** For `onMaxIterations: "throw"`; the result is on {@link MaxIterationsError}, not in `details`. */
  | "max_iterations"
  /** A run ended without the requested answer: see `details.stopReason`; the result is on the error. */
  | "incomplete"
  /** The journal could not store a record: the run stops rather than continue unrecorded. */
  | "journal"
  /** A change of a tool call cannot be kept for undo, or a kept one cannot be restored. */
  | "checkpoint"
  /** A long-term memory that cannot be opened, read or written. */
  | "memory"
  /** A test double was used differently from its script. */
  | "script_mismatch"
  /** A defect of nano-agent or of code plugged into it (hook, gate, observer). */
  | "internal";

/** Anything `JSON.stringify` preserves. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject;

export type JsonObject = { readonly [key: string]: Json | undefined };

/** The fields a {@link NanoAgentError} may have besides code and message. */
export interface NanoAgentErrorOptions {
  /** The underlying error. */
  readonly cause?: unknown;
  /** JSON-safe facts for programs. Never a request body, a header or a key. */
  readonly details?: { readonly [key: string]: Json | undefined };
  /** True when the same request may succeed later. Default false. */
  readonly retryable?: boolean;
}

const BRAND = Symbol.for("nano-agent.error");

/**
 * The only error class of the package. `message` says what happened, with the value, and then what to do. Use
 * {@link isNanoAgentError}, not `instanceof`: it also recognizes errors of another installed copy.
 */
export class NanoAgentError extends Error {
  readonly code: ErrorCode;
  readonly details: { readonly [key: string]: Json | undefined };
  readonly retryable: boolean;

  constructor(code: ErrorCode, message: string, options: NanoAgentErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "NanoAgentError";
    this.code = code;
    this.details = options.details ?? {};
    this.retryable = options.retryable ?? false;
    Object.defineProperty(this, BRAND, { value: true });
  }
}

export function invalidArgument(message: string, options?: NanoAgentErrorOptions): NanoAgentError {
  return new NanoAgentError("invalid_argument", message, options);
}

export function invalidConfig(message: string, options?: NanoAgentErrorOptions): NanoAgentError {
  return new NanoAgentError("invalid_config", message, options);
}

/**
 * True if `error` is a {@link NanoAgentError} (of any installed copy), with one of `codes` if any are given.
 */
export function isNanoAgentError(error: unknown, ...codes: readonly ErrorCode[]): error is NanoAgentError {
  if (typeof error !== "object" || error === null || !(BRAND in error)) return false;
  return codes.length === 0 || ("code" in error && codes.includes(error.code as ErrorCode));
}

/**
 * Wraps anything thrown: a {@link NanoAgentError} is returned unchanged, everything else becomes a `cause`.
 */
export function toNanoAgentError(error: unknown, code: ErrorCode = "internal"): NanoAgentError {
  if (isNanoAgentError(error)) return error;
  return new NanoAgentError(code, errorMessage(error), { cause: error });
}

/** One line for anything that can be thrown, with its causes: `fetch failed: connect ECONNREFUSED`. */
export function errorMessage(error: unknown): string {
  if (typeof error === "string") return error;
  try {
    if (error instanceof Error) return withCauses(error, MAX_CAUSES);
    return typeof error === "bigint" ? String(error) : (JSON.stringify(error) ?? String(error));
  } catch {
    return "an error that cannot be read";
  }
}

/** How deep causes are followed, since they may be circular, and how many errors of one are named. */
const MAX_CAUSES = 3;

function withCauses(error: Error, depth: number): string {
  const own = error.message;
  // Our own messages already include their causes.
  const causes: readonly unknown[] =
    isNanoAgentError(error) || depth === 0
      ? []
      : error instanceof AggregateError
        ? error.errors
        : [error.cause];
  const causeTexts = causes
    .slice(0, MAX_CAUSES)
    .filter((cause) => cause instanceof Error)
    .map((cause) => withCauses(cause, depth - 1))
    .filter((causeText) => !own.includes(causeText));
  return [own, causeTexts.join("; ")].filter((part) => part !== "").join(": ") || error.name;
}

/** An error as recorded: those fields of a {@link NanoAgentError} that are data. */
export interface RecordedError {
  readonly code: ErrorCode;
  readonly message: string;
  readonly retryable: boolean;
  readonly details: { readonly [key: string]: Json | undefined };
}

export function recordedError({ code, message, retryable, details }: NanoAgentError): RecordedError {
  return { code, message, retryable, details };
}

/**
 * Throws `invalid_argument` in an engine that lacks what this package needs. Such an engine loads every entry
 * and would fail in the middle of the work, so whatever starts work calls this first.
 */
export function assertEngine(): void {
  if (typeof Promise.withResolvers === "function" && typeof Map.groupBy === "function") return;
  throw invalidArgument(
    "This engine is too old for nano-agent: it lacks parts of ES2024 (Promise.withResolvers, Map.groupBy). Use Node 22.21 or newer, or a browser, Deno or Bun of 2024 or later.",
  );
}
