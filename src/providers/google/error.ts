import { type ErrorCode, NanoAgentError } from "../../core/base/errors.ts";
import type { WireErrorAnswer } from "../wire.ts";
import type { GoogleStatus, GoogleStatusDetail } from "./wire.ts";

/**
 * The typed error for an answer of the Gemini API that is not 2xx. The body is `{ error }`, or a list with one such object.
 * `details.retryAfterMs` comes from `google.rpc.RetryInfo`, else from the `retry-after` header.
 */
export function googleError(answer: WireErrorAnswer): NanoAgentError {
  const { provider, modelId, baseUrl } = answer.target;
  const status = parseStatus(answer.body);
  if (status === undefined) return unreadable(answer);
  return googleStatusError(
    { ...status, code: answer.status },
    { provider, modelId, baseUrl, retryAfterMs: parseRetryAfter(answer.headers["retry-after"]) },
  );
}

/** What is known about the request an error belongs to. All of it is for the message. */
export interface GoogleErrorContext {
  readonly provider?: string;
  readonly modelId?: string;
  readonly baseUrl?: string;
  readonly retryAfterMs?: number | undefined;
}

/** The typed error for a `google.rpc.Status`, of an HTTP answer or of an event inside the stream. */
export function googleStatusError(status: GoogleStatus, context: GoogleErrorContext = {}): NanoAgentError {
  const provider = context.provider ?? "google";
  const text = (status.message ?? "").trim() || status.status || "no message";
  const { code, retryable } = classify(status, text);
  const retryAfterMs = retryDelayMs(status.details) ?? context.retryAfterMs;
  return new NanoAgentError(
    code,
    `${provider} refused the request (${label(status)}): ${text}${advice(code, context)}`,
    {
      retryable,
      details: {
        ...(status.code === undefined ? {} : { status: status.code }),
        ...(status.status === undefined ? {} : { reason: status.status }),
        ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      },
    },
  );
}

interface Verdict {
  readonly code: ErrorCode;
  readonly retryable: boolean;
}

function classify(status: GoogleStatus, text: string): Verdict {
  if (status.details?.some((detail) => detail.reason?.startsWith("API_KEY_") === true))
    return final("authentication");
  const word = status.status ?? "";
  const known = Object.hasOwn(BY_STATUS, word) ? BY_STATUS[word] : BY_CODE(status.code ?? 0);
  if (known === undefined || known.code === "bad_request") {
    if (/api[ _]key (?:not valid|not found|expired|invalid)/i.test(text)) return final("authentication");
    if (/token count.*exceeds|exceeds the maximum number of tokens|payload size exceeds/i.test(text))
      return final("context_overflow");
  }
  if (known?.code === "rate_limit" && isDailyQuota(status.details)) return final("rate_limit");
  return known ?? final("bad_request");
}

const final = (code: ErrorCode): Verdict => ({ code, retryable: false });
const again = (code: ErrorCode): Verdict => ({ code, retryable: true });

/** Words of `google.rpc.Code`: https://github.com/googleapis/googleapis/blob/master/google/rpc/code.proto. */
const BY_STATUS: { readonly [status: string]: Verdict } = {
  INVALID_ARGUMENT: final("bad_request"),
  FAILED_PRECONDITION: final("bad_request"),
  OUT_OF_RANGE: final("bad_request"),
  UNIMPLEMENTED: final("bad_request"),
  UNAUTHENTICATED: final("authentication"),
  PERMISSION_DENIED: final("authentication"),
  NOT_FOUND: final("unknown_model"),
  RESOURCE_EXHAUSTED: again("rate_limit"),
  UNAVAILABLE: again("provider_error"),
  INTERNAL: again("provider_error"),
  UNKNOWN: again("provider_error"),
  DATA_LOSS: again("provider_error"),
  ABORTED: again("provider_error"),
  CANCELLED: again("provider_error"),
  DEADLINE_EXCEEDED: again("timeout"),
};

function BY_CODE(code: number): Verdict | undefined {
  if (code === 401 || code === 403) return final("authentication");
  if (code === 404) return final("unknown_model");
  if (code === 408 || code === 504) return again("timeout");
  if (code === 429) return again("rate_limit");
  if (code === 499 || code >= 500) return again("provider_error");
  return undefined;
}

/** A quota that is counted by the day does not come back within any wait worth making. */
function isDailyQuota(details: readonly GoogleStatusDetail[] | undefined): boolean {
  return (
    details?.some(
      (detail) => detail.violations?.some(({ quotaId }) => quotaId?.includes("PerDay") === true) === true,
    ) === true
  );
}

function retryDelayMs(details: readonly GoogleStatusDetail[] | undefined): number | undefined {
  for (const { retryDelay } of details ?? []) {
    const seconds = /^(\d+(?:\.\d+)?)s$/.exec(retryDelay ?? "")?.[1];
    if (seconds !== undefined) return Math.ceil(Number(seconds) * 1000);
  }
  return undefined;
}

function label({ code, status }: GoogleStatus): string {
  if (code === undefined) return status ?? "error in the stream";
  return status === undefined ? `HTTP ${code}` : `HTTP ${code}, ${status}`;
}

function advice(code: ErrorCode, { modelId, baseUrl }: GoogleErrorContext): string {
  if (code === "authentication") return " Check the API key.";
  if (code === "unknown_model" && modelId !== undefined)
    return ` Check the model id ${JSON.stringify(modelId)} and the base URL ${baseUrl}.`;
  if (code === "context_overflow") return " Shorten or compact the conversation.";
  return "";
}

function parseStatus(body: string): GoogleStatus | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    return undefined;
  }
  const first: unknown = Array.isArray(parsed) ? parsed[0] : parsed;
  if (typeof first !== "object" || first === null || !("error" in first)) return undefined;
  const error = first.error;
  if (typeof error === "string") return { message: error };
  return typeof error === "object" && error !== null ? (error as GoogleStatus) : undefined;
}

function unreadable({ status, body, target }: WireErrorAnswer): NanoAgentError {
  const verdict = BY_CODE(status) ?? final("invalid_response");
  const shown = JSON.stringify(body.trim().slice(0, 120));
  return new NanoAgentError(
    verdict.code,
    `${target.provider} answered HTTP ${status} without an error object: ${shown}. Check that the base URL ${target.baseUrl} speaks the Gemini API.`,
    { retryable: verdict.retryable, details: { status } },
  );
}

function parseRetryAfter(value: string | undefined): number | undefined {
  return value !== undefined && /^\d+(?:\.\d+)?$/.test(value) ? Math.ceil(Number(value) * 1000) : undefined;
}
