import { type ErrorCode, toNanoAgentError } from "../core/base/errors.ts";
import { type Fields, parseToolInput } from "../core/base/json.ts";
import type { Usage } from "../core/message/message.ts";
import type { FinishReason } from "../core/model/model.ts";
import type { Violations } from "./request-violations.ts";
import { endingOf, type ScriptPiece } from "./script.ts";
import { textChunks } from "./scripted-model.ts";

/** A vendor as the scripted server plays it. */
export interface Vendor {
  /** Notes what it would refuse a request for. */
  readonly check: (body: Fields, found: Violations) => void;
  readonly speak: Speech;
  /** The body of an HTTP error as it writes it. */
  readonly error: (fault: VendorFault) => Fields;
}

/** Content of a vendor's error. `status` decides its type; without one, `code` decides the status. */
export interface VendorFault {
  readonly code: ErrorCode;
  readonly message: string;
  readonly status?: number;
}

/** The rest of what a wire's speech depends on. */
export interface SpeechContext {
  /** Model the request asked for. */
  readonly model: string;
  /** Characters of one delta. */
  readonly chunkSize: number;
  /** True when the request asked for usage, where a wire asks. */
  readonly wantsUsage: boolean;
  /** Number of this answer, from 1, for ids. */
  readonly number: number;
  /** Id for a call that was scripted without one. */
  readonly nextCallId: () => string;
}

/** A piece of an event stream: its text, or a pause in it. */
export type Utterance = string | Extract<ScriptPiece, { type: "waits" }>;

/** Renders an answer into one wire's events. */
export type Speech = (pieces: readonly ScriptPiece[], context: SpeechContext) => Iterable<Utterance>;

/** A piece that an answer consists of. */
export type SpokenPiece = Extract<ScriptPiece, { type: "says" | "thinks" | "calls" }>;

/** How one answer is rendered in a wire's words. */
interface Voice {
  readonly begin?: () => Iterable<string>;
  /** True: the answer cannot go on. */
  readonly say: (piece: SpokenPiece) => Generator<string, boolean | void>;
  readonly fail: (fault: VendorFault) => string;
  readonly end: (reason: string) => Iterable<string>;
}

/**
 * Makes a speech. `reasons`: the vendor's words for how an answer ends; a scripted `raw` that is not the
 * unified word wins.
 */
export function speechOf(
  reasons: { readonly [K in FinishReason["unified"]]?: string },
  voiceOf: (context: SpeechContext, usage: Usage, pieces: readonly ScriptPiece[]) => Voice,
): Speech {
  return function* speak(pieces, context): Generator<Utterance> {
    const { finishReason, usage } = endingOf(pieces);
    const { unified, raw } = finishReason;
    const voice = voiceOf(context, usage, pieces);
    yield* voice.begin?.() ?? [];
    for (const piece of pieces) {
      if (piece.type === "waits") yield piece;
      else if (piece.type === "fails") {
        yield voice.fail(toNanoAgentError(piece.error, "provider_error"));
        return;
      } else if (piece.type !== "finishes" && (yield* voice.say(piece)) === true) return;
    }
    yield* voice.end(raw === unified ? (reasons[unified] ?? raw) : raw);
  };
}

/** A scripted call with its id, the JSON text of its arguments, and these where they are an object. */
export function spokenCall(
  { id, name, input }: Extract<ScriptPiece, { type: "calls" }>,
  context: SpeechContext,
): { readonly id: string; readonly name: string; readonly json: string; readonly args: Fields | undefined } {
  const json = typeof input === "string" ? input : JSON.stringify(input);
  const parsed = parseToolInput(json);
  const args = parsed.invalid_input === undefined ? parsed.input : undefined;
  return { id: id ?? context.nextCallId(), name, json, args };
}

/** The deltas of a text. */
export function deltas(text: string, context: SpeechContext): readonly string[] {
  return [...textChunks(text, context.chunkSize)];
}

/** A server-sent event with a name, as JSON. */
export function namedEvent(name: string, data: Fields): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** The HTTP status a vendor reports an error with. */
export function statusOf({ code, status }: VendorFault): number {
  return status ?? STATUS[code] ?? 500;
}

const STATUS: { readonly [K in ErrorCode]?: number } = {
  bad_request: 400,
  context_overflow: 400,
  invalid_argument: 400,
  script_mismatch: 400,
  authentication: 401,
  missing_credentials: 401,
  unknown_model: 404,
  rate_limit: 429,
  provider_error: 500,
  timeout: 504,
};

/** An error as OpenAI writes it (https://platform.openai.com/docs/guides/error-codes). */
export function openAiError(fault: VendorFault): {
  readonly error: {
    readonly message: string;
    readonly type: string;
    readonly param: null;
    readonly code: string | null;
  };
} {
  const [type, known] = OPENAI_TYPES[statusOf(fault)] ?? ["server_error", "server_error"];
  const code = fault.code === "context_overflow" ? "context_length_exceeded" : known;
  return { error: { message: fault.message, type, param: null, code } };
}

const OPENAI_TYPES: { readonly [status: number]: readonly [type: string, code: string | null] } = {
  400: ["invalid_request_error", null],
  401: ["invalid_request_error", "invalid_api_key"],
  403: ["invalid_request_error", "unsupported_country_region_territory"],
  404: ["invalid_request_error", "model_not_found"],
  429: ["requests", "rate_limit_exceeded"],
};
