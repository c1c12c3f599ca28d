import { createHash } from "node:crypto";
import { abortError } from "../core/base/async.ts";
import {
  invalidArgument,
  type Json,
  NanoAgentError,
  type RecordedError,
  recordedError,
  toNanoAgentError,
} from "../core/base/errors.ts";
import { canonicalJson, firstDifference, omitUndefined, safeParse } from "../core/base/json.ts";
import type { JsonSchema } from "../core/base/schema.ts";
import { compileValidator } from "../core/base/validate-json.ts";
import type { Model, ModelRequest, StreamPart } from "../core/model/model.ts";
import { mismatch } from "./script.ts";

/** A part of an answer as recorded in a cassette. */
export type RecordedPart =
  | Exclude<StreamPart, { readonly type: "retry" }>
  | {
      readonly type: "retry";
      readonly attempt: number;
      readonly delayMs: number;
      readonly error: RecordedError;
    };

/** One request and its answer. With neither `error` nor a `finish` part, the reader left early. */
export interface CassetteExchange {
  /** Hash of the request, to see quickly which exchange changed. */
  readonly fingerprint: string;
  /** The request without `sessionId`, which is new in every run. */
  readonly request: Json;
  readonly parts: readonly RecordedPart[];
  readonly error?: RecordedError;
}

/** Format version that {@link Cassette.toJSON} writes. */
export const CASSETTE_VERSION = 1;

/** A cassette as JSON. */
export interface CassetteJson {
  readonly version: typeof CASSETTE_VERSION;
  readonly provider: string;
  readonly model: string;
  readonly exchanges: readonly CassetteExchange[];
}

/** Recorded exchanges with a model, ordered by when the requests began. Saved with `JSON.stringify`. */
export class Cassette {
  /** Provider of the recorded model. */
  provider = "";
  /** Id of the recorded model. */
  model = "";
  readonly exchanges: CassetteExchange[] = [];

  toJSON(): CassetteJson {
    const { provider, model, exchanges } = this;
    return { version: CASSETTE_VERSION, provider, model, exchanges };
  }
}

/** Parses a saved cassette, given as text or as a value. Throws `invalid_argument` for anything else. */
export function parseCassette(saved: unknown): Cassette {
  const parsed = typeof saved === "string" ? safeParse(saved) : ({ ok: true, value: saved } as const);
  if (!parsed.ok) throw invalidArgument(`The cassette is not JSON: ${parsed.error}.`);
  const checked = checkCassette()(parsed.value);
  if (!checked.ok) {
    const [issue] = checked.issues;
    throw invalidArgument(
      `This is not a cassette of version ${CASSETTE_VERSION}: ${issue?.path ?? ""} ${issue?.message ?? ""}. Record it again.`,
    );
  }
  const { provider, model, exchanges } = checked.value as CassetteJson;
  const cassette = new Cassette();
  cassette.provider = provider;
  cassette.model = model;
  cassette.exchanges.push(...exchanges);
  return cassette;
}

function recordedRequest(request: ModelRequest): {
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

/** A part in its recorded form: a copy, with errors as data. */
function recordedPart(part: StreamPart): RecordedPart {
  const safe = part.type === "retry" ? { ...part, error: recordedError(part.error) } : part;
  return JSON.parse(JSON.stringify(safe)) as RecordedPart;
}

function replayedError({ code, message, details, retryable }: RecordedError): NanoAgentError {
  return new NanoAgentError(code, message, { details, retryable });
}

function checkCassette(): ReturnType<typeof compileValidator> {
  const text = { type: "string" };
  const required = (properties: { readonly [name: string]: JsonSchema }): JsonSchema => ({
    type: "object",
    properties,
    required: Object.keys(properties),
  });
  const object = { type: "object" };
  const error = required({ code: text, message: text, details: object, retryable: { type: "boolean" } });
  const parts = { type: "array", items: required({ type: text }) };
  const exchange = {
    allOf: [
      required({ fingerprint: text, request: object, parts }),
      { type: "object", properties: { error } },
    ],
  };
  const exchanges = { type: "array", items: exchange };
  return compileValidator(
    required({ version: { const: CASSETTE_VERSION }, provider: text, model: text, exchanges }),
  );
}

/** The cassette to record into. */
export interface RecordModelOptions {
  readonly cassette: Cassette;
}

/** Wraps a model to record every exchange: answers, failures, and answers whose reader left early. */
export function recordModel(model: Model, { cassette }: RecordModelOptions): Model {
  cassette.provider = model.provider;
  cassette.model = model.id;
  return {
    provider: model.provider,
    id: model.id,
    ...omitUndefined({ info: model.info }),
    async *stream(request, callOptions): AsyncGenerator<StreamPart> {
      const answer = model.stream(request, callOptions);
      const parts: RecordedPart[] = [];
      const exchange: CassetteExchange = { ...recordedRequest(request), parts };
      const at = cassette.exchanges.push(exchange) - 1;
      try {
        for await (const part of answer) {
          parts.push(recordedPart(part));
          yield part;
        }
      } catch (error) {
        cassette.exchanges[at] = { ...exchange, error: recordedError(toNanoAgentError(error)) };
        throw error;
      }
    },
  };
}

/** A model that answers from a cassette; made by {@link replayModel}. */
export interface ReplayModel extends Model {
  /** Throws `script_mismatch` if recorded exchanges are left over. */
  assertFinished(): void;
}

/**
 * Answers requests from the cassette, in the recorded order. Every request must equal the recorded one
 * (except for `sessionId`): one that differs fails with `script_mismatch`, naming the first difference and
 * both values, and so does an extra request. No answer is ever guessed. Retries are replayed without their
 * delay.
 */
export function replayModel(cassette: Cassette): ReplayModel {
  const exchanges = [...cassette.exchanges];
  let taken = 0;
  return {
    provider: cassette.provider,
    id: cassette.model,
    async *stream(request, { signal } = {}): AsyncGenerator<StreamPart> {
      const throwIfAborted = (): void => {
        if (signal?.aborted === true) throw abortError(signal, "The request was aborted.");
      };
      throwIfAborted();
      const exchange = exchanges[taken++];
      const number = taken;
      if (exchange === undefined)
        throw mismatch(
          `The cassette holds ${exchanges.length} exchanges and was asked for one more. Record it again, or find out why the model is asked again.`,
        );
      assertSameRequest(exchange, request, number);
      for (const part of exchange.parts) {
        throwIfAborted();
        yield part.type === "retry" ? { ...part, error: replayedError(part.error) } : part;
      }
      throwIfAborted();
      if (exchange.error !== undefined) throw replayedError(exchange.error);
      if (exchange.parts.at(-1)?.type !== "finish")
        throw mismatch(
          `The answer to request ${number} was only read for ${exchange.parts.length} parts when it was recorded. Record it again.`,
        );
    },
    assertFinished: () => {
      if (taken >= exchanges.length) return;
      throw mismatch(
        `The cassette holds ${exchanges.length} exchanges but only ${taken} were asked for. Record it again if that is right.`,
        { recorded: exchanges.length, taken },
      );
    },
  };
}

function assertSameRequest(exchange: CassetteExchange, request: ModelRequest, number: number): void {
  const current = recordedRequest(request);
  const difference = firstDifference(exchange.request, current.request);
  if (difference === undefined) return;
  const { path, left, right } = difference;
  throw mismatch(
    `Request ${number} is not the recorded one. It first differs at ${path}: recorded ${left}, now ${right}. Record the cassette again if that is right.`,
    { place: number, path, recorded: exchange.fingerprint, now: current.fingerprint },
  );
}
