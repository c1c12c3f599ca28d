import { parseRetryAfter, systemClock } from "../core/base/async.ts";
import { type ErrorCode, NanoAgentError } from "../core/base/errors.ts";
import { type Fields, isRecord, omitUndefined, safeParse } from "../core/base/json.ts";
import { truncateEnd } from "../core/base/text.ts";
import type { WireErrorAnswer, WireTarget } from "./wire.ts";

interface ErrorReport {
  readonly message?: string;
  /** `error.type`, or Google's `error.status`. */
  readonly type?: string;
  /** `error.code`, as text. */
  readonly code?: string;
  readonly param?: string;
  readonly requestId?: string;
  readonly retryAfterMs?: number;
  /** JSON of Google's `error.details`: `ErrorInfo`, `QuotaFailure`, … */
  readonly details?: string;
}

/**
 * The error for an HTTP answer that is not 2xx (or is, but contains an error), for every vendor whose errors
 * are JSON documents of a common shape. `details`: `provider`, `model`, `status`, and if known `type`,
 * `code`, `param`, `requestId`, `retryAfterMs`, `reason` ({@link FailureReason}). `nowMs` is only needed if
 * `retry-after` is a date.
 */
export function answerError(answer: WireErrorAnswer, nowMs: number = systemClock.now()): NanoAgentError {
  const { status, headers, body, target } = answer;
  const words = parseErrorBody(body);
  const requestId = requestIdOf(headers) ?? words.requestId;
  const retryAfterMs = retryAfterOf(headers, nowMs) ?? words.retryAfterMs;
  const reported = { ...words, ...omitUndefined({ requestId, retryAfterMs }) };
  return reportedError(reported, { status, target, retry: headers["x-should-retry"], body });
}

export interface ErrorOrigin {
  /** Default: an unnamed provider. */
  readonly target?: WireTarget | undefined;
  readonly status?: number;
  /** The provider's advice on retrying the request: `true` or `false`. */
  readonly retry?: string | undefined;
  readonly body?: string;
}

/** The error for a failure a provider reported, in its own answer or inside a stream. */
export function reportedError(words: ErrorReport, from: ErrorOrigin): NanoAgentError {
  const { target = UNKNOWN_TARGET, status, retry, body = "" } = from;
  const { type, code, param, requestId, retryAfterMs } = words;
  const { provider, modelId: model } = target;
  const kind = classify(words, status);
  const where = status === undefined || (status >= 200 && status < 300) ? "" : `HTTP ${status}`;
  const label = [where, type ?? code].filter((part) => part !== undefined && part !== "").join(", ");
  const reported = words.message ?? excerpt(body);
  const message = [
    `${provider} ${kind.what}${label === "" ? "" : ` (${label})`}${reported === "" ? "." : `: ${toSentence(reported)}`}`,
    kind.hint?.(target) ?? "",
  ];
  const reason = kind.reason;
  return new NanoAgentError(kind.code, redact(message.join(" ").trimEnd(), target), {
    retryable: retry === "true" || (retry !== "false" && kind.retryable === true),
    details: {
      provider,
      model,
      ...omitUndefined({ status, type, code, param, requestId, retryAfterMs, reason }),
    },
  });
}

/**
 * Recognises a refusal as too long if it names a limit for input and a number near the request's own size.
 * `undefined` if it is about something else.
 */
export function toOverflowError(
  error: NanoAgentError,
  modelId: string,
  inputTokens: () => number,
): NanoAgentError | undefined {
  const { status = Number(error.details["code"]) } = error.details;
  const isRefusal = error.code === "bad_request" && (status === 400 || status === 422);
  if (!isRefusal || !namesLimitNear(error.message, inputTokens)) return undefined;
  const message = `${error.message.replace(REQUEST_REFUSED.what, TOO_LONG.what)} ${TOO_LONG.hint({ modelId })}`;
  return withErrorChanges(error, { code: TOO_LONG.code, message });
}

export function withErrorChanges(
  { code, message, cause, details, retryable }: NanoAgentError,
  changes: Partial<Pick<NanoAgentError, "code" | "message" | "cause" | "details" | "retryable">>,
): NanoAgentError {
  const changed = { code, message, cause, details, retryable, ...changes };
  return new NanoAgentError(changed.code, changed.message, changed);
}

/** The error for an answer whose end the provider never announced. */
export function incompleteAnswer(provider: string, modelId: string): NanoAgentError {
  return new NanoAgentError(
    "invalid_response",
    `${provider} ended its answer before it was complete. Try again.`,
    { details: { provider, model: modelId }, retryable: true },
  );
}

const UNKNOWN_TARGET: WireTarget = { provider: "The provider", modelId: "", baseUrl: "" };

/** Parses the error document of any vendor; an empty object if there is none. */
export function parseErrorBody(body: string): ErrorReport {
  const parsed = safeParse(body);
  if (!parsed.ok) return {};
  const root = Array.isArray(parsed.value) ? parsed.value[0] : parsed.value;
  if (!isRecord(root)) return typeof root === "string" && root !== "" ? { message: root } : {};
  return parseErrorObject(root);
}

/** The words in an error object from a document or a stream event. */
export function parseErrorObject(root: Fields): ErrorReport {
  const inner = isRecord(root["error"]) ? root["error"] : root;
  const ownType = inner === root && root["type"] === "error" ? undefined : inner["type"];
  return omitUndefined({
    message: messageOf(root, inner),
    type: text(ownType) ?? text(inner["status"]),
    code: text(inner["code"]) ?? text(root["code"]),
    param: text(inner["param"]),
    requestId: text(root["request_id"]) ?? text(inner["request_id"]),
    retryAfterMs: retryDelay(inner["details"]),
    details: Array.isArray(inner["details"]) ? JSON.stringify(inner["details"]) : undefined,
  });
}

/** Removes keys and tokens from text: the target's own key, and anything that looks like one. */
export function redact(message: string, target?: Pick<WireTarget, "apiKey">): string {
  const { apiKey } = target ?? {};
  const own = apiKey === undefined || apiKey.length < 4 ? message : message.replaceAll(apiKey, "[key]");
  return own
    .replace(/\b(?:sk|pk|rk|gsk|xai|csk|fw|tgp|nvapi|hf)[-_][\w-]{8,}/g, "[key]")
    .replace(/\bAIza[\w-]{20,}/g, "[key]")
    .replace(/\b(Bearer|Basic)\s+[\w.~+/=-]{8,}/gi, "$1 [key]")
    .replace(/([?&](?:key|api_key|access_token)=)[^&\s"]+/gi, "$1[key]");
}

/**
 * Why something failed, if a plain retry is not the right reaction. `model_loading`: the server is loading
 * its model · `unreadable_output`: the server cannot parse its model's output.
 */
export type FailureReason = "model_loading" | "unreadable_output";

interface Kind {
  readonly code: ErrorCode;
  /** Follows the provider's name. */
  readonly what: string;
  /** The same request may succeed later. */
  readonly retryable?: boolean;
  readonly reason?: FailureReason;
  readonly hint?: (target: WireTarget) => string;
}

const TOO_LONG = {
  code: "context_overflow",
  what: "found the request too long",
  hint: ({ modelId }: Pick<WireTarget, "modelId">) =>
    `Shorten or compact the conversation, or use a model with a larger context window than ${modelId}.`,
} satisfies Kind;
const TOO_MANY_BYTES: Kind = {
  ...TOO_LONG,
  hint: () => "Shorten the conversation or send fewer images.",
};
const QUOTA_USED_UP: Kind = {
  code: "rate_limit",
  what: "says that the quota or the balance is used up",
  hint: () => "Check the account's plan and billing.",
};
const MODEL_LOADING: Kind = {
  code: "provider_error",
  what: "is loading the model",
  retryable: true,
  reason: "model_loading",
};
const UNREADABLE_OUTPUT: Kind = {
  code: "invalid_response",
  what: "could not read what its model wrote",
  retryable: true,
  reason: "unreadable_output",
};
const UNAUTHENTICATED: Kind = {
  code: "authentication",
  what: "refused the credentials",
  hint: ({ provider }) => `Check the API key for ${provider}, and that it may use this model.`,
};
const UNKNOWN_MODEL: Kind = {
  code: "unknown_model",
  what: "does not have the model",
  hint: ({ modelId }) => `Check the model id "${modelId}".`,
};
const UNKNOWN_ADDRESS: Kind = {
  code: "bad_request",
  what: "does not know this address",
  hint: ({ baseUrl }) =>
    `Check the base URL ${baseUrl}: it must be the address of the API, with the version path where it has one.`,
};
const TIMED_OUT: Kind = { code: "timeout", what: "gave up waiting for the request", retryable: true };
const RATE_LIMITED: Kind = { code: "rate_limit", what: "limits the number of requests", retryable: true };
const DAILY_LIMIT: Kind = {
  code: "rate_limit",
  what: "limits the number of requests",
  hint: () => "This quota is counted by the day: try again tomorrow, or use another model or plan.",
};
const REQUEST_REFUSED = { code: "bad_request", what: "refused the request" } satisfies Kind;
const SERVER_FAILED: Kind = { code: "provider_error", what: "failed", retryable: true };
const NOT_SUPPORTED: Kind = { ...SERVER_FAILED, retryable: false };

/** Vendor words that decide regardless of the status. */
const BY_WORDS: readonly (readonly [
  says: (words: ErrorReport, status: number | undefined) => boolean,
  kind: Kind,
])[] = [
  // Google answers a bad key with HTTP 400.
  [({ message = "", details = "" }) => BAD_KEY.test(`${message} ${details}`), UNAUTHENTICATED],
  [({ message = "" }) => /payload size exceeds/i.test(message), TOO_MANY_BYTES],
  [saysTooLong, TOO_LONG],
  [({ code, type }, status) => status === 402 || QUOTA_WORDS.test(`${code} ${type}`), QUOTA_USED_UP],
  [isModelLoading, MODEL_LOADING],
  [({ message, code }) => OUTPUT_WORDS.test(`${message} ${code}`), UNREADABLE_OUTPUT],
];

function classify(words: ErrorReport, status: number | undefined): Kind {
  const [, byWords] = BY_WORDS.find(([says]) => says(words, status)) ?? [];
  if (byWords !== undefined) return byWords;
  const kind = status === undefined || status < 300 ? byWord(words) : byStatus(status, words);
  return kind === RATE_LIMITED && /PerDay/.test(words.details ?? "") ? DAILY_LIMIT : kind;
}

const BAD_KEY = /"API_KEY_|api[ _]key not (?:valid|found)/i;
const QUOTA_WORDS =
  /insufficient_quota|insufficient_balance|billing_(?:error|hard_limit)|exceeded_current_quota/;

/** True if a server says that it is loading its model; a 503 without such words is a failure. */
export function isModelLoading({ message = "", code }: ErrorReport, status: number | undefined): boolean {
  return /\bloading\b/i.test(message) && (status === 503 || code === "503");
}

/** From servers that could not parse calls in their model's text: llama.cpp, Ollama, LM Studio, Groq. */
const OUTPUT_WORDS = anyOfPatterns(
  "failed to parse (?:input at pos|(?:the )?(?:tool call|model output|generated|output))",
  "error parsing tool call",
  "invalid diff: ",
  "does not match the expected [\\w-]+ format",
  "tool_use_failed",
  "failed to (?:call a function|generate a tool call)",
);

function anyOfPatterns(...words: readonly string[]): RegExp {
  return new RegExp(words.join("|"), "i");
}

const BY_STATUS: { readonly [status: number]: Kind } = {
  401: UNAUTHENTICATED,
  403: UNAUTHENTICATED,
  408: TIMED_OUT,
  409: SERVER_FAILED,
  425: SERVER_FAILED,
  429: RATE_LIMITED,
  501: NOT_SUPPORTED,
  505: NOT_SUPPORTED,
};

function byStatus(status: number, { code = "", message }: ErrorReport): Kind {
  if (status === 404)
    return message !== undefined && /model/i.test(`${code} ${message}`) ? UNKNOWN_MODEL : UNKNOWN_ADDRESS;
  return BY_STATUS[status] ?? (status >= 500 ? SERVER_FAILED : REQUEST_REFUSED);
}

/** Errors in a stream have no status, so the vendors' documented type and code words decide. */
function byWord(words: ErrorReport): Kind {
  const word = `${words.type ?? ""} ${words.code ?? ""}`.toLowerCase();
  const numeric = Number(words.code);
  if (Number.isInteger(numeric) && numeric >= 400 && numeric < 600) return byStatus(numeric, words);
  if (/rate_limit|too_many_requests|resource_exhausted/.test(word)) return byStatus(429, words);
  if (/authentication|permission|unauthorized|unauthenticated|invalid_api_key/.test(word))
    return byStatus(401, words);
  if (/model_not_found|not_found/.test(word)) return byStatus(404, words);
  // Codes about the request's content: the same request would fail again.
  if (/invalid_request|invalid_argument|bad_request|prompt|image|policy|content_filter|residency/.test(word))
    return REQUEST_REFUSED;
  return SERVER_FAILED;
}

function messageOf(root: Fields, inner: Fields): string | undefined {
  const { error, message, detail, error_msg, msg } = root;
  const first = [inner["message"], error, message, detail, error_msg, msg].find(
    (candidate) => candidate !== undefined && candidate !== null && candidate !== "",
  );
  if (first === undefined || (first === error && isRecord(first)))
    return text(inner["type"]) ?? text(inner["code"]);
  const reported = typeof first === "string" ? first : JSON.stringify(first);
  // A router's message is often just "Provider returned error"; the real one is nested.
  const upstream = isRecord(inner["metadata"]) ? text(inner["metadata"]["raw"]) : undefined;
  return upstream === undefined ? reported : `${reported} ${upstream}`;
}

/** Reads `google.rpc.RetryInfo` in the details of a Google error: `{ retryDelay: "34s" }`. */
function retryDelay(details: unknown): number | undefined {
  if (!Array.isArray(details)) return undefined;
  for (const detail of details) {
    const delay: unknown = isRecord(detail) ? detail["retryDelay"] : undefined;
    const seconds = typeof delay === "string" ? /^(\d+(?:\.\d+)?)s$/.exec(delay)?.[1] : undefined;
    if (seconds !== undefined) return Math.ceil(Number(seconds) * 1_000);
  }
  return undefined;
}

function retryAfterOf(headers: WireErrorAnswer["headers"], nowMs: number): number | undefined {
  const ms = headers["retry-after-ms"];
  if (ms !== undefined && /^\d{1,12}(?:\.\d+)?$/.test(ms)) return Math.ceil(Number(ms));
  return parseRetryAfter(headers["retry-after"], nowMs);
}

function requestIdOf(headers: WireErrorAnswer["headers"]): string | undefined {
  return (
    headers["request-id"] ?? headers["x-request-id"] ?? headers["x-goog-request-id"] ?? headers["cf-ray"]
  );
}

const MAX_MESSAGE_CHARS = 1_000;

/** The first 200 characters of text that is no error document; for a page, of its visible text. */
export function excerpt(body: string): string {
  const text = body
    .replace(/<(script|style)\b[\s\S]*?<\/\1>/gi, " ")
    .replace(/<[^>]*>/g, " ")
    .replace(/\s+/g, " ")
    .trim();
  return truncateEnd(text, 200);
}

function toSentence(reported: string): string {
  const text =
    reported.length > MAX_MESSAGE_CHARS ? `${reported.slice(0, MAX_MESSAGE_CHARS)}…` : reported.trim();
  return /[.!?…。]$/.test(text) ? text : `${text}.`;
}

function text(value: unknown): string | undefined {
  if (typeof value === "string" && value !== "") return value;
  return typeof value === "number" ? String(value) : undefined;
}

/** True for a refusal as too long with known vendor words or codes, whatever the request's size. */
function saysTooLong(
  { code, type, message }: { readonly code?: string; readonly type?: string; readonly message?: string },
  status: number | undefined,
): boolean {
  if (status === 413) return true;
  if (OVERFLOW_CODES.test(`${code ?? ""} ${type ?? ""}`)) return true;
  if (status !== undefined && status >= 300 && status !== 400 && status !== 422 && status !== 500)
    return false;
  return OVERFLOW_WORDS.test(message ?? "");
}

/** Codes and types. `1261` is Zhipu's; MiniMax has `2013` in its message. */
const OVERFLOW_CODES =
  /context_length_exceeded|context_window_exceeded|request_too_large|exceed_context_size|model_context_window|model_max_prompt_tokens_exceeded|^1261\b/;

/** Words of vendors that give no number or code; others are recognised by {@link namesLimitNear}. */
const OVERFLOW_WORDS = anyOfPatterns(
  "prompt is too long",
  "input is too long",
  "maximum context length",
  "context[ _](?:length|window|size)[^.]{0,60}exceed",
  "exceed[^.]{0,60}(?:context[ _](?:length|window|size|limit)|maximum number of (?:input )?tokens|maximum prompt length)",
  "too many (?:input )?tokens",
  "input token count[^.]{0,60}exceeds",
  "input length[^.]{0,80}exceed",
  "reduce the length of the (?:messages|prompt)",
  "prompt exceeds max length",
  "exceed max message tokens",
);

/**
 * True for a message that names a limit for input and a number plausible for the request's size.
 * `inputTokens` is an estimate.
 */
function namesLimitNear(message: string, inputTokens: () => number): boolean {
  if (!namesInputLimit(message)) return false;
  const tokens = inputTokens();
  return numbersIn(message.replace(STATUS, "")).some((number) => isNearSize(number, tokens));
}

/**
 * The limit in tokens that a refusal as too long names; `undefined` if it names none that a request of this
 * size could have exceeded.
 */
export function namedLimit(message: string, inputTokens: number): number | undefined {
  for (const pattern of LIMITS) {
    for (const [, digits = ""] of message.matchAll(pattern)) {
      const number = toNumber(digits);
      if (isNearSize(number, inputTokens)) return number;
    }
  }
  return undefined;
}

/** Names the length, tokens or context of the request. Tools and their descriptions have separate limits. */
function namesInputLimit(text: string): boolean {
  return (
    /\b(?:length|tokens?|context)\b/i.test(text) &&
    /\b(?:inputs?|prompts?|messages?|context|requests?|sequence|conversation|model)\b/i.test(text) &&
    /exceed|limit|max(?:imum|_)|\bmax\b|longer|larger|greater|too (?:long|large|many)|(?:must|should) be|\bonly\b|<=/i.test(
      text,
    ) &&
    !/\btools?\[|\bfunction\.|\bschema\b/i.test(text) &&
    !isAboutOutput(text)
  );
}

/** A limit of the answer: its field is named, and nothing about the input. */
function isAboutOutput(text: string): boolean {
  return (
    /max_(?:completion_|output_|new_)?tokens|maxOutputTokens|\b(?:completion|output) tokens/i.test(text) &&
    !/\b(?:inputs?|prompt|messages|context)\b/i.test(text)
  );
}

/** The status in one of our own messages. */
const STATUS = /\bHTTP \d+/;

const NUMBER = String.raw`(\d[\d,_]*\d)`;

/** Patterns for the limit in a sentence, most reliable first. */
const LIMITS: readonly RegExp[] = [
  `>\\s*${NUMBER}`,
  `[[(]\\s*\\d+\\s*,\\s*${NUMBER}\\s*[\\])]`,
  `<=\\s*${NUMBER}`,
  `(?:limit|maximum|\\bmax\\b|at most|up to|\\bonly|context (?:length|window|size))[^\\d.]{0,60}${NUMBER}`,
].map((source) => new RegExp(source, "gi"));

function numbersIn(text: string): readonly number[] {
  return [...text.matchAll(new RegExp(NUMBER, "g"))].map(([, digits = ""]) => toNumber(digits));
}

function toNumber(digits: string): number {
  return Number(digits.replaceAll(/[,_]/g, ""));
}

/** Estimates are high, and an exceeded window may be a small part of the request. */
function isNearSize(number: number, inputTokens: number): boolean {
  return number >= inputTokens / 20 && number <= inputTokens * 1.5;
}
