import type { NanoAgentError } from "../core/base/errors.ts";
import { omitUndefined } from "../core/base/json.ts";
import { toCleanText, truncateEnd } from "../core/base/text.ts";
import type { ImageBlock, ToolResultBlock, Usage } from "../core/message/message.ts";
import type { FinishPart, FinishReason, ModelRequest, StreamPart } from "../core/model/model.ts";
import type { AnswerHead, HttpRequest } from "./transport.ts";

/**
 * One wire format: how a {@link ModelRequest} becomes an HTTP request, and how the events of the answer
 * become {@link StreamPart}s. A wire knows nothing of connections, retries or time: see `wire-model.ts`.
 */
export interface Wire {
  /** Its key in `provider_data` and `providerOptions`: `anthropic`, `openai_chat`, … */
  readonly name: string;
  /** Creates the encoder for one model. It may cache the text of messages and tools (by identity, weakly). */
  readonly createEncoder: (target: WireTarget) => (request: ModelRequest) => WireRequest;
  /** Creates the decoder for one attempt. Parts go to `emit` at once, in order. `target` is for errors. */
  readonly createDecoder: (emit: (part: StreamPart) => void, target: WireTarget) => WireDecoder;
  /** The error for an answer whose status is not 2xx. `body`: at most 64 KB of any content type. */
  readonly toError: (answer: WireErrorAnswer) => NanoAgentError;
  /**
   * Converts a JSON document to the data of equivalent events, for servers that do not stream. `undefined`:
   * it is not an answer in this format. Absent: no document ever is.
   */
  readonly eventsIn?: (document: unknown) => readonly string[] | undefined;
  /** Learns additional quirks from a refused request. Absent: it learns nothing. */
  readonly learn?: (error: NanoAgentError, target: WireTarget) => ShownQuirks | undefined;
}

/** Destination of one model's requests. */
export interface WireTarget {
  /** Provider name for messages, e.g. `deepseek`. */
  readonly provider: string;
  readonly modelId: string;
  /** Without a trailing slash, e.g. `https://api.openai.com/v1`. */
  readonly baseUrl: string;
  /** The address requests are posted to. Default: `baseUrl` plus the format's path. */
  readonly endpoint?: string;
  readonly apiKey?: string;
  /** Extra headers; they override the wire's own. */
  readonly headers?: { readonly [name: string]: string };
  /** Answer limit the wire sends if the request sets none and the format requires one. */
  readonly maxOutputTokens?: number;
  /** Deviations of one vendor, read only by the wire they are meant for (see that wire). */
  readonly quirks?: { readonly [name: string]: boolean | string | number };
}

/** A request ready to be sent with POST. */
export type WireRequest = HttpRequest;

/** An HTTP answer that reports a failure. */
export interface WireErrorAnswer extends AnswerHead {
  readonly body: string;
  readonly target: WireTarget;
}

/** Converts the server-sent events of one answer to parts. */
export interface WireDecoder {
  /**
   * One event. `event` is its name (empty if it has none), `data` its joined data lines. Throws a {@link
   * NanoAgentError} for an error inside the stream and for data that violates its protocol.
   */
  readonly event: (event: string, data: string) => void;
  /**
   * The body ended. Emits open blocks and the `finish` part if the answer is complete; throws
   * `invalid_response` (retryable) if the provider never said so. A partial tool call is only emitted as a
   * block if the provider itself ended the answer there (output limit), and then with `invalid_input`.
   */
  readonly end: () => void;
  /** True once the answer is complete, so that the connection need not be read to its end. */
  readonly done: () => boolean;
}

/** The final part of an answer. A model or id that the server left empty is omitted. */
export function finishPart(
  finishReason: FinishReason,
  usage: Usage,
  {
    model,
    id,
    costUsd,
  }: { readonly model?: unknown; readonly id?: unknown; readonly costUsd?: number | undefined },
): FinishPart {
  const cleanName = (value: unknown) =>
    value === "" || typeof value !== "string" ? undefined : cleanText(value, MAX_NAME);
  const { unified, raw, detail } = finishReason;
  const words = detail === undefined ? undefined : cleanText(detail, MAX_DETAIL);
  const reason = { unified, raw: cleanText(raw, MAX_NAME), ...omitUndefined({ detail: words }) };
  return {
    type: "finish",
    finishReason: reason,
    usage,
    ...omitUndefined({ model: cleanName(model), responseId: cleanName(id), costUsd }),
  };
}

const MAX_NAME = 500;
const MAX_DETAIL = 2_000;

/** Text of a server to keep and show: without escape sequences, and of bounded length. */
function cleanText(text: string, max: number): string {
  return toCleanText(truncateEnd(text, max));
}

/** Headers of a request: the format's, overridden by the target's own regardless of case. */
export function wireHeaders(
  { headers = {} }: WireTarget,
  own: { readonly [name: string]: string | undefined },
): WireRequest["headers"] {
  const all: Record<string, string> = { "content-type": "application/json", accept: "text/event-stream" };
  Object.assign(all, omitUndefined(own));
  for (const [name, value] of Object.entries(headers)) all[name.toLowerCase()] = value;
  return all;
}

export function imagesOf({ content }: ToolResultBlock): readonly ImageBlock[] {
  return typeof content === "string" ? [] : content.filter((block) => block.type === "image");
}

/** Quirks of a model learned from refusals. */
export interface ShownQuirks {
  readonly [name: string]: boolean | string | number;
}

/** A server's words about a refused request, including the field it named; otherwise empty. */
export function refusalText({ code, message, details }: NanoAgentError): string {
  if (code !== "bad_request") return "";
  const { param } = details;
  return typeof param === "string" ? `${message} '${param}'` : message;
}

/**
 * The quirks learned from a refusal that names one of `fields` as unknown or unsupported: those in `shown`,
 * else that it is omitted. Fields that are English words only count if quoted. `undefined`: it is about
 * something else, or the field is already omitted.
 */
export function learnField(
  words: string,
  target: WireTarget,
  fields: string,
  shown: { readonly [field: string]: ShownQuirks },
): ShownQuirks | undefined {
  if (!UNKNOWN_FIELD.test(words)) return undefined;
  const field = fields.split(" ").find((each) => {
    const name = each.includes("_") ? `\\b${each}\\b` : `["'\`]${each}["'\`]`;
    return new RegExp(name).test(words);
  });
  if (field === undefined) return undefined;
  const omitted = omittedFields(target);
  return shown[field] ?? (omitted.includes(field) ? undefined : { omit: [...omitted, field].join(",") });
}

const UNKNOWN_FIELD =
  /unknown|unrecogni[sz]ed|unsupported|not supported|(?:does|do) not (?:support|allow)|doesn't support|not permitted|unexpected|additional properties/i;

/** Removes the fields listed in the quirk `omit`, separated by commas. */
export function withoutOmitted<T extends object>(fields: T, target: WireTarget): T {
  const omitted = omittedFields(target);
  if (omitted.length === 0) return fields;
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !omitted.includes(name))) as T;
}

function omittedFields({ quirks }: WireTarget): readonly string[] {
  const omitted = quirks?.["omit"];
  return typeof omitted === "string" ? omitted.split(/[, ]+/).filter((name) => name !== "") : [];
}

/** An id or name that should be text: a number as text, empty for anything else. */
export function textOrEmpty(value: unknown): string {
  if (typeof value === "number") return String(value);
  return typeof value === "string" ? value : "";
}

/**
 * A called tool's name in a form every vendor accepts. Models invent names, and a refused name would block
 * the rest of the conversation. Valid names stay unchanged; in others, `_` replaces invalid characters. No
 * tool was ever found under such a name, so nothing depends on it.
 */
export function toWireToolName(name: string): string {
  if (VALID_NAME.test(name)) return name;
  const cleaned = name.replaceAll(/[^\w-]/gu, "_").slice(0, MAX_NAME_LENGTH);
  if (cleaned === "") return "unnamed_tool";
  // Some vendors refuse a name that begins with a digit or a dash.
  return /^[a-z_]/i.test(cleaned) ? cleaned : `_${cleaned.slice(0, MAX_NAME_LENGTH - 1)}`;
}

const MAX_NAME_LENGTH = 64;
const VALID_NAME = /^[\w-]{1,64}$/;
