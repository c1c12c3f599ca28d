import { createHash } from "node:crypto";
import { type Json, misuse, NanoAgentError, type RecordedError, recordedError } from "../core/base/errors.ts";
import { canonicalJson, safeParse } from "../core/base/json.ts";
import { compileValidator } from "../core/base/validate-json.ts";
import type { ModelRequest, StreamPart } from "../core/model/model.ts";

/** A part of an answer as a cassette keeps it. */
export type RecordedPart =
  | Exclude<StreamPart, { readonly type: "retry" }>
  | {
      readonly type: "retry";
      readonly attempt: number;
      readonly delayMs: number;
      readonly error: RecordedError;
    };

/** One request and its answer. Neither `error` nor a `finish` part: the reader left early. */
export interface CassetteExchange {
  /** Hash of the request, for a quick look at which exchange changed. */
  readonly fingerprint: string;
  /** The request without `sessionId`, which is new in every run. */
  readonly request: Json;
  readonly parts: readonly RecordedPart[];
  readonly error?: RecordedError;
}

/** Version of the format {@link Cassette.toJSON} writes. */
export const CASSETTE_VERSION = 1;

/** A cassette as JSON. */
export interface CassetteJson {
  readonly version: typeof CASSETTE_VERSION;
  readonly provider: string;
  readonly model: string;
  readonly exchanges: readonly CassetteExchange[];
}

/** Recorded exchanges with a model, in the order in which the requests began. Saved with `JSON.stringify`. */
export class Cassette {
  /** Of the model that was recorded. */
  provider = "";
  /** Id of the model that was recorded. */
  model = "";
  readonly exchanges: CassetteExchange[] = [];

  toJSON(): CassetteJson {
    const { provider, model, exchanges } = this;
    return { version: CASSETTE_VERSION, provider, model, exchanges };
  }
}

/** Reads a saved cassette, as text or value. Throws `invalid_argument` for anything else. */
export function parseCassette(saved: unknown): Cassette {
  const parsed = typeof saved === "string" ? safeParse(saved) : ({ ok: true, value: saved } as const);
  if (!parsed.ok) throw misuse(`The cassette is not JSON: ${parsed.error}.`);
  const checked = checkCassette()(parsed.value);
  if (!checked.ok) {
    const [issue] = checked.issues;
    throw misuse(
      `This is not a cassette of version ${CASSETTE_VERSION}: ${issue?.path ?? ""} ${issue?.message ?? ""}. Record it anew.`,
    );
  }
  const { provider, model, exchanges } = checked.value as CassetteJson;
  const cassette = new Cassette();
  cassette.provider = provider;
  cassette.model = model;
  cassette.exchanges.push(...exchanges);
  return cassette;
}

/** A request as it is recorded and compared. */
export function recordedRequest(request: ModelRequest): {
  readonly fingerprint: string;
  readonly request: Json;
} {
  const { sessionId: _, ...rest } = request;
  const copy = JSON.parse(JSON.stringify(rest)) as Json;
  return {
    fingerprint: createHash("sha256").update(canonicalJson(copy)).digest("hex").slice(0, 16),
    request: copy,
  };
}

/** A part as it is recorded: a copy, with errors as data. */
export function recordedPart(part: StreamPart): RecordedPart {
  const safe = part.type === "retry" ? { ...part, error: recordedError(part.error) } : part;
  return JSON.parse(JSON.stringify(safe)) as RecordedPart;
}

/** The failure that was recorded. */
export function replayedError({ code, message, details, retryable }: RecordedError): NanoAgentError {
  return new NanoAgentError(code, message, { details, retryable });
}

function checkCassette(): ReturnType<typeof compileValidator> {
  const error = {
    type: "object",
    properties: {
      code: { type: "string" },
      message: { type: "string" },
      details: { type: "object" },
      retryable: { type: "boolean" },
    },
    required: ["code", "message", "details", "retryable"],
  };
  const part = { type: "object", properties: { type: { type: "string" } }, required: ["type"] };
  const exchange = {
    type: "object",
    properties: {
      fingerprint: { type: "string" },
      request: { type: "object" },
      parts: { type: "array", items: part },
      error,
    },
    required: ["fingerprint", "request", "parts"],
  };
  return compileValidator({
    type: "object",
    properties: {
      version: { const: CASSETTE_VERSION },
      provider: { type: "string" },
      model: { type: "string" },
      exchanges: { type: "array", items: exchange },
    },
    required: ["version", "provider", "model", "exchanges"],
  });
}
