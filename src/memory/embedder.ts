import { abortError, type Clock, inTime } from "../core/base/async.ts";
import { errorMessage } from "../core/base/errors.ts";

/**
 * The port to a model that turns texts into vectors, for search by meaning beside search by words. Whatever
 * it throws costs the vectors of that call and nothing else.
 */
export interface Embedder {
  /** Names the model: vectors of another name are not compared with its own. */
  readonly model: string;
  /** One vector per text, in order, all of one length. Gives up when `signal` is aborted. */
  embed(
    texts: readonly string[],
    options: { readonly signal: AbortSignal },
  ): Promise<readonly ArrayLike<number>[]>;
}

/** Options of {@link vectorsOf}. */
export interface EmbedOptions {
  readonly embedder: Embedder | undefined;
  /** Milliseconds the embedder may take. */
  readonly embedTimeoutMs: number;
  readonly clock: Clock;
  readonly onNotice: (message: string) => void;
}

/**
 * The vectors of texts, each of length 1; none where there is no embedder, and none, with a notice, where it
 * fails, is too slow, or does not give one finite vector per text. Rejects only when `signal` is aborted.
 */
export async function vectorsOf(
  texts: readonly string[],
  { embedder, embedTimeoutMs: ms, clock, onNotice }: EmbedOptions,
  signal: AbortSignal | undefined,
): Promise<readonly Float32Array[]> {
  if (isAborted(signal)) throw abortError(signal);
  if (embedder === undefined || texts.length === 0) return [];
  try {
    const ask = (either: AbortSignal): Promise<unknown> => embedder.embed(texts, { signal: either });
    const vectors = await inTime(ask, { ms, clock, signal });
    if (!Array.isArray(vectors) || vectors.length !== texts.length)
      throw new TypeError(`not one vector for each of ${texts.length} texts`);
    return vectors.map((vector: ArrayLike<number>) => unit(vector));
  } catch (error) {
    if (isAborted(signal)) throw abortError(signal);
    onNotice(`The embedder ${embedder.model} failed, words have to do: ${errorMessage(error)}`);
    return [];
  }
}

/** The cosine of the angle between two vectors of length 1; 0 when they have different dimensions. */
export function similarity(a: Float32Array, b: Float32Array): number {
  if (a.length !== b.length) return 0;
  let sum = 0;
  for (let at = 0; at < a.length; at++) sum += (a[at] ?? 0) * (b[at] ?? 0);
  return sum;
}

function isAborted(signal: AbortSignal | undefined): signal is AbortSignal {
  return signal?.aborted === true;
}

function unit(vector: ArrayLike<number>): Float32Array {
  const copy = Float32Array.from(vector);
  let sum = 0;
  for (const value of copy) sum += value * value;
  const length = Math.sqrt(sum);
  if (copy.length === 0 || !Number.isFinite(length))
    throw new TypeError("a vector that is empty or not finite");
  return length === 0 ? copy : copy.map((value) => value / length);
}
