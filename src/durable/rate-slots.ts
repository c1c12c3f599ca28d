import { type Clock, raceAbort, systemClock } from "../core/base/async.ts";
import type { Model } from "../core/model/model.ts";
import type { Sql } from "./database.ts";
import type { RateLimit } from "./durable-run.ts";

/** Minimum wait, so that competing requests do not poll too often. */
const MIN_WAIT_MS = 20;

/**
 * One slot per request that a provider allows in its period. Taking a slot permits one request; it is free
 * again a period later. Requests of one process wait in line, so only the first asks the database.
 */
export class RateSlots {
  readonly #sql: Sql;
  readonly #schema: string;
  readonly #limits: { readonly [provider: string]: RateLimit };
  readonly #withRetry: <T>(work: () => Promise<T>, signal?: AbortSignal) => Promise<T>;
  readonly #clock: Clock;
  readonly #lastTurns = new Map<string, Promise<void>>();

  constructor(
    sql: Sql,
    schema: string,
    limits: { readonly [provider: string]: RateLimit },
    withRetry: <T>(work: () => Promise<T>, signal?: AbortSignal) => Promise<T>,
    clock: Clock = systemClock,
  ) {
    this.#sql = sql;
    this.#schema = schema;
    this.#limits = limits;
    this.#withRetry = withRetry;
    this.#clock = clock;
  }

  async open(): Promise<void> {
    for (const [provider, { requests }] of Object.entries(this.#limits))
      await this.#sql.query(
        `insert into ${this.#schema}.rate_slots select $1, n, now() from generate_series(0, $2::int - 1) as n
         on conflict do nothing`,
        [provider, requests],
      );
  }

  /**
   * Wraps a model so that its requests, retries included, wait for a slot. Returns the model itself if its
   * provider has no limit. In a model made of several, each waits for its own.
   */
  wrap(model: Model): Model {
    if (model.withEach !== undefined) return model.withEach((each) => this.wrap(each));
    const limit = Object.hasOwn(this.#limits, model.provider) ? this.#limits[model.provider] : undefined;
    if (limit === undefined) return model;
    const wait = (signal: AbortSignal | undefined): Promise<void> =>
      this.#wait(model.provider, limit, signal);
    const { provider, id, info, alternatives } = model;
    return {
      provider,
      id,
      info,
      ...(alternatives !== undefined && { alternatives }),
      async *stream(request, options) {
        await wait(options?.signal);
        for await (const part of model.stream(request, options)) {
          yield part;
          if (part.type === "retry") await wait(options?.signal);
        }
      },
    };
  }

  #wait(provider: string, limit: RateLimit, signal: AbortSignal | undefined): Promise<void> {
    const before = this.#lastTurns.get(provider) ?? Promise.resolve();
    const turn = before.then(() => this.#take(provider, limit, signal));
    this.#lastTurns.set(
      provider,
      turn.catch(() => undefined),
    );
    return signal === undefined ? turn : raceAbort(turn, signal);
  }

  async #take(provider: string, limit: RateLimit, signal: AbortSignal | undefined): Promise<void> {
    for (;;) {
      signal?.throwIfAborted();
      const waitMs = await this.#withRetry(() => this.#takeFree(provider, limit), signal);
      if (waitMs === undefined) return;
      await this.#clock.sleep(Math.max(MIN_WAIT_MS, Math.ceil(waitMs)), signal);
    }
  }

  /** Takes a free slot, or returns the milliseconds until there is one. */
  async #takeFree(provider: string, { requests, perMs }: RateLimit): Promise<number | undefined> {
    // Concurrent requests see the same slots, so each locks a different one.
    const [found] = await this.#sql.query<{ readonly wait: number | null }>(
      `with taken as (
         update ${this.#schema}.rate_slots set free_at = now() + $2 * interval '1 millisecond'
         where provider = $1 and slot = (
           select slot from ${this.#schema}.rate_slots where provider = $1 and slot < $3 and free_at <= now()
           order by free_at, slot limit 1 for update skip locked
         ) returning slot
       ) select (extract(epoch from min(free_at) - now()) * 1000)::float8 as wait
         from ${this.#schema}.rate_slots where provider = $1 and slot < $3 and not exists (select from taken)`,
      [provider, perMs, requests],
    );
    return found?.wait ?? undefined;
  }
}
