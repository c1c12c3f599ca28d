import type { NanoAgentError } from "../core/base/errors.ts";
import { defined } from "../core/base/json.ts";
import { clipped, toCleanText } from "../core/base/text.ts";
import type { ImageBlock, ToolResultBlock, Usage } from "../core/message/message.ts";
import type { FinishPart, FinishReason, ModelRequest, StreamPart } from "../core/model/model.ts";
import type { AnswerHead, HttpRequest } from "./transport.ts";

/**
 * One wire format: how a {@link ModelRequest} becomes an HTTP request, and how the events of the answer
 * become {@link StreamPart}s. A wire knows nothing of connections, retries and time: that is `wire-model.ts`.
 */
export interface Wire {
  /** Its key in `provider_data` and `providerOptions`: `anthropic`, `openai_chat`, … */
  readonly name: string;
  /** Makes the encoder of one model. It may keep the texts of messages and tools (by identity, weakly). */
  readonly createEncoder: (target: WireTarget) => (request: ModelRequest) => WireRequest;
  /** Makes the decoder of one attempt. Parts go to `emit` at once, in order. `target` is for its errors. */
  readonly createDecoder: (emit: (part: StreamPart) => void, target: WireTarget) => WireDecoder;
  /** The error for an answer whose status is not 2xx. `body`: at most 64 KB of any content type. */
  readonly toError: (answer: WireErrorAnswer) => NanoAgentError;
  /**
   * The data of the events that say the same as a JSON document, from servers that do not stream.
   * `undefined`: it is no answer in this format. Absent: no document is.
   */
  readonly eventsIn?: (document: unknown) => readonly string[] | undefined;
  /** The quirks that a refused request has shown, beside those of `target`. Absent: it learns nothing. */
  readonly learn?: (error: NanoAgentError, target: WireTarget) => ShownQuirks | undefined;
}

/** Where the requests of one model go. */
export interface WireTarget {
  /** Provider name for messages, e.g. `deepseek`. */
  readonly provider: string;
  readonly modelId: string;
  /** Without a trailing slash, e.g. `https://api.openai.com/v1`. */
  readonly baseUrl: string;
  /** The address requests are posted to. Default: `baseUrl` with the path of the format. */
  readonly endpoint?: string;
  readonly apiKey?: string;
  /** Extra headers; they win over the wire's own. */
  readonly headers?: { readonly [name: string]: string };
  /** Cap the wire sends when the request names none and the format demands one. */
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

/** Turns the server-sent events of one answer into parts. */
export interface WireDecoder {
  /**
   * One event. `event` is its name (empty when it has none), `data` its joined data lines. Throws a {@link
   * NanoAgentError} for an error inside the stream and for data that is not its protocol.
   */
  readonly event: (event: string, data: string) => void;
  /**
   * The body ended. Emits what is still open and the `finish` part when the answer is complete; throws
   * `invalid_response` (retryable) when the provider never said that it was. A half tool call is never
   * emitted as a block unless the provider itself ended the answer there (output limit), and then with
   * `invalid_input`.
   */
  readonly end: () => void;
  /** True once the answer is complete, so that the connection need not be read to its end. */
  readonly done: () => boolean;
}

/** The part an answer ends with. A model or id that a server gives without a value is left out. */
export function finishPart(
  finishReason: FinishReason,
  usage: Usage,
  {
    model,
    id,
    costUsd,
  }: { readonly model?: unknown; readonly id?: unknown; readonly costUsd?: number | undefined },
): FinishPart {
  const word = (value: unknown) =>
    value === "" || typeof value !== "string" ? undefined : shownWords(value, MAX_NAME);
  const { unified, raw, detail } = finishReason;
  const words = detail === undefined ? undefined : shownWords(detail, MAX_DETAIL);
  const reason = { unified, raw: shownWords(raw, MAX_NAME), ...defined({ detail: words }) };
  return {
    type: "finish",
    finishReason: reason,
    usage,
    ...defined({ model: word(model), responseId: word(id), costUsd }),
  };
}

const MAX_NAME = 500;
const MAX_DETAIL = 2_000;

/** Words of a server that are kept and shown: without escape sequences, and of bounded length. */
function shownWords(text: string, max: number): string {
  return toCleanText(clipped(text, max));
}

/** Headers of a request: those of the format, and the target's own, which win whatever their case. */
export function wireHeaders(
  { headers = {} }: WireTarget,
  own: { readonly [name: string]: string | undefined },
): WireRequest["headers"] {
  const all: Record<string, string> = { "content-type": "application/json", accept: "text/event-stream" };
  Object.assign(all, defined(own));
  for (const [name, value] of Object.entries(headers)) all[name.toLowerCase()] = value;
  return all;
}

/** The images in the result of a tool. */
export function imagesOf({ content }: ToolResultBlock): readonly ImageBlock[] {
  return typeof content === "string" ? [] : content.filter((block) => block.type === "image");
}

/** Quirks that a refusal has shown a model to have. */
export interface ShownQuirks {
  readonly [name: string]: boolean | string | number;
}

/** The words of a server about a request it refused, the field it names included; else empty. */
export function refusalWords({ code, message, details }: NanoAgentError): string {
  if (code !== "bad_request") return "";
  const { param } = details;
  return typeof param === "string" ? `${message} '${param}'` : message;
}

/**
 * The quirks that a refusal shows with the field among `fields` that it says it does not know or take: those
 * of `shown`, else that it is left out. Names that are words of English count only where they are quoted.
 * `undefined`: it is about something else, or the field is left out already.
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

/** The fields of a request that are left out: quirk `omit`, names with commas between them. */
export function withoutOmitted<T extends object>(fields: T, target: WireTarget): T {
  const omitted = omittedFields(target);
  if (omitted.length === 0) return fields;
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !omitted.includes(name))) as T;
}

function omittedFields({ quirks }: WireTarget): readonly string[] {
  const omitted = quirks?.["omit"];
  return typeof omitted === "string" ? omitted.split(/[, ]+/).filter((name) => name !== "") : [];
}

/** A word of an answer (an id, a name) that should be text: a number as text, empty for anything else. */
export function wordOf(value: unknown): string {
  if (typeof value === "number") return String(value);
  return typeof value === "string" ? value : "";
}

/**
 * The name of a called tool as every vendor accepts it. Models make names up, and a conversation with one
 * that is refused could not be sent any more; names that are valid stay as they are, for others what is not
 * allowed becomes `_`. The tool itself was never found under such a name, so nothing depends on it.
 */
export function sentToolName(name: string): string {
  if (VALID.test(name)) return name;
  const mended = name.replaceAll(/[^\w-]/gu, "_").slice(0, MAX_LENGTH);
  if (mended === "") return "unnamed_tool";
  // A name that begins with a digit or a dash is refused by some.
  return /^[a-z_]/i.test(mended) ? mended : `_${mended.slice(0, MAX_LENGTH - 1)}`;
}

const MAX_LENGTH = 64;
const VALID = /^[\w-]{1,64}$/;
