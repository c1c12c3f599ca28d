import { type ErrorCode, toNanoAgentError } from "../core/base/errors.ts";
import { type Fields, parseToolInput } from "../core/base/json.ts";
import type { Usage } from "../core/message/message.ts";
import type { FinishReason } from "../core/model/model.ts";
import type { Violations } from "./request-violations.ts";
import { endingOf, type ScriptPiece } from "./script.ts";
import { textChunks } from "./scripted-model.ts";

/** A vendor's API as the scripted server plays it. */
export interface Vendor {
  /** Records problems for which it would refuse a request. */
  readonly check: (body: Fields, issues: Violations) => void;
  readonly render: AnswerRenderer;
  /** The body of an HTTP error in the vendor's format. */
  readonly error: (error: VendorError) => Fields;
}

/** Content of a vendor's error. `status` decides its type; without one, `code` decides the status. */
export interface VendorError {
  readonly code: ErrorCode;
  readonly message: string;
  readonly status?: number;
}

export interface EncodingContext {
  readonly model: string;
  /** Characters per delta. */
  readonly chunkSize: number;
  /** True if the request asked for usage, in wires with such an option. */
  readonly wantsUsage: boolean;
  /** Number of this answer, from 1; used in ids. */
  readonly number: number;
  /** Creates an id for a call scripted without one. */
  readonly nextCallId: () => string;
}

/** A piece of an event stream: its text, or a pause in it. */
export type RenderedItem = string | Extract<ScriptPiece, { type: "waits" }>;

export type AnswerRenderer = (
  pieces: readonly ScriptPiece[],
  context: EncodingContext,
) => Iterable<RenderedItem>;

export type ContentPiece = Extract<ScriptPiece, { type: "says" | "thinks" | "calls" }>;

interface AnswerEncoder {
  readonly begin?: () => Iterable<string>;
  /** Returns true if the answer cannot continue. */
  readonly say: (piece: ContentPiece) => Generator<string, boolean | void>;
  readonly fail: (error: VendorError) => string;
  readonly end: (reason: string) => Iterable<string>;
}

/**
 * Creates a speech. `reasons`: the vendor's finish reasons; a scripted `raw` that differs from the unified
 * word wins.
 */
export function createRenderer(
  reasons: { readonly [K in FinishReason["unified"]]?: string },
  createEncoder: (context: EncodingContext, usage: Usage, pieces: readonly ScriptPiece[]) => AnswerEncoder,
): AnswerRenderer {
  return function* speak(pieces, context): Generator<RenderedItem> {
    const { finishReason, usage } = endingOf(pieces);
    const { unified, raw } = finishReason;
    const encoder = createEncoder(context, usage, pieces);
    yield* encoder.begin?.() ?? [];
    for (const piece of pieces) {
      if (piece.type === "waits") yield piece;
      else if (piece.type === "fails") {
        yield encoder.fail(toNanoAgentError(piece.error, "provider_error"));
        return;
      } else if (piece.type !== "finishes" && (yield* encoder.say(piece)) === true) return;
    }
    yield* encoder.end(raw === unified ? (reasons[unified] ?? raw) : raw);
  };
}

/** A scripted call with its id, its arguments as JSON text, and as a value if they are an object. */
export function renderCall(
  { id, name, input }: Extract<ScriptPiece, { type: "calls" }>,
  context: EncodingContext,
): { readonly id: string; readonly name: string; readonly json: string; readonly args: Fields | undefined } {
  const json = typeof input === "string" ? input : JSON.stringify(input);
  const parsed = parseToolInput(json);
  const args = parsed.invalid_input === undefined ? parsed.input : undefined;
  return { id: id ?? context.nextCallId(), name, json, args };
}

export function deltas(text: string, context: EncodingContext): readonly string[] {
  return [...textChunks(text, context.chunkSize)];
}

export function namedEvent(name: string, data: Fields): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}

export function statusOf({ code, status }: VendorError): number {
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

/** An error in OpenAI's format (https://platform.openai.com/docs/guides/error-codes). */
export function openAiError(error: VendorError): {
  readonly error: {
    readonly message: string;
    readonly type: string;
    readonly param: null;
    readonly code: string | null;
  };
} {
  const [type, defaultCode] = OPENAI_TYPES[statusOf(error)] ?? ["server_error", "server_error"];
  const code = error.code === "context_overflow" ? "context_length_exceeded" : defaultCode;
  return { error: { message: error.message, type, param: null, code } };
}

const OPENAI_TYPES: { readonly [status: number]: readonly [type: string, code: string | null] } = {
  400: ["invalid_request_error", null],
  401: ["invalid_request_error", "invalid_api_key"],
  403: ["invalid_request_error", "unsupported_country_region_territory"],
  404: ["invalid_request_error", "model_not_found"],
  429: ["requests", "rate_limit_exceeded"],
};
