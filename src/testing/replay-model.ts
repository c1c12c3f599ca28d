import { abortError } from "../core/base/async.ts";
import { type Json, NanoAgentError } from "../core/base/errors.ts";
import { firstDifference } from "../core/base/json.ts";
import type { Model, ModelCallOptions, ModelRequest, StreamPart } from "../core/model/model.ts";
import { type Cassette, type CassetteExchange, recordedRequest, replayedError } from "./cassette.ts";

/** A model that answers from a cassette; made by {@link replayModel}. */
export interface ReplayModel extends Model {
  /** Throws `script_mismatch` when recorded exchanges are left over. */
  assertFinished(): void;
}

/**
 * Answers the requests from the cassette, in the recorded order. Every request must equal the one recorded in
 * its place (`sessionId` apart): a changed one fails with `script_mismatch`, naming where it first differs
 * and both values; so does a request too many. No answer is ever guessed. Retries are replayed without their
 * delay.
 */
export function replayModel(cassette: Cassette): ReplayModel {
  const exchanges = [...cassette.exchanges];
  let taken = 0;
  return {
    provider: cassette.provider,
    id: cassette.model,
    stream: (request, options) =>
      replayed(() => exchanges[taken++], { request, options, place: () => taken, count: exchanges.length }),
    assertFinished: () => {
      if (taken >= exchanges.length) return;
      throw new NanoAgentError(
        "script_mismatch",
        `The cassette holds ${exchanges.length} exchanges but only ${taken} were asked for. Record it anew if that is right.`,
        {
          details: { recorded: exchanges.length, taken },
        },
      );
    },
  };
}

interface Turn {
  readonly request: ModelRequest;
  readonly options: ModelCallOptions | undefined;
  /** Number of the exchange that was taken, from 1. */
  readonly place: () => number;
  readonly count: number;
}

async function* replayed(
  take: () => CassetteExchange | undefined,
  turn: Turn,
): AsyncGenerator<StreamPart, void, undefined> {
  const signal = turn.options?.signal;
  const throwIfAborted = (): void => {
    if (signal?.aborted === true) throw abortError(signal, "The request was aborted.");
  };
  throwIfAborted();
  const exchange = take();
  const place = turn.place();
  if (exchange === undefined) {
    throw new NanoAgentError(
      "script_mismatch",
      `The cassette holds ${turn.count} exchanges and was asked for one more. Record it anew, or find out why the model is asked again.`,
    );
  }
  requireSame(exchange, turn.request, place);
  for (const part of exchange.parts) {
    throwIfAborted();
    yield part.type === "retry" ? { ...part, error: replayedError(part.error) } : part;
  }
  throwIfAborted();
  if (exchange.error !== undefined) throw replayedError(exchange.error);
  if (exchange.parts.at(-1)?.type !== "finish") {
    throw new NanoAgentError(
      "script_mismatch",
      `The answer to request ${place} was only read for ${exchange.parts.length} parts when it was recorded. Record it anew.`,
    );
  }
}

function requireSame(exchange: CassetteExchange, request: ModelRequest, place: number): void {
  const now = recordedRequest(request);
  const difference = firstDifference(exchange.request, now.request);
  if (difference === undefined) return;
  const { path, left, right } = difference;
  throw new NanoAgentError(
    "script_mismatch",
    `Request ${place} is not the recorded one. It first differs at ${path}: recorded ${left}, now ${right}. Record the cassette anew if that is right.`,
    {
      details: { place, path, recorded: exchange.fingerprint, now: now.fingerprint } satisfies {
        readonly [key: string]: Json;
      },
    },
  );
}
