import { type Clock, systemClock } from "../core/base/clock.ts";
import type { Model } from "../core/model/model.ts";
import type { Sql } from "./database.ts";
import type { RateLimit } from "./fleet-options.ts";

/** Limits on model requests that all workers share, by provider. */
export type RateLimits = { readonly [provider: string]: RateLimit };

/** Where the limits are kept, and how waiting for the database is done. */
export interface RateSlotOptions {
  readonly sql: Sql;
  readonly schema: string;
  readonly limits: RateLimits;
  readonly patiently: <T>(work: () => Promise<T>, signal?: AbortSignal) => Promise<T>;
  readonly clock?: Clock;
}

/**
 * As many slots for each provider as requests are allowed in its stretch of time: who takes one may send when
 * it is free, and it is free again a stretch later. One statement a request.
 */
export class RateSlots {
  readonly #options: RateSlotOptions;

  constructor(options: RateSlotOptions) {
    this.#options = options;
  }

  /** Makes the slots that are not there yet. */
  async open(): Promise<void> {
    const { sql, schema, limits } = this.#options;
    for (const [provider, { requests }] of Object.entries(limits))
      await sql.query(
        `insert into ${schema}.rate_slots select $1, n, now() from generate_series(0, $2::int - 1) as n
         on conflict do nothing`,
        [provider, requests],
      );
  }

  /** The model, whose requests wait for their slot; itself where its provider has no limit. */
  around(model: Model): Model {
    const limit = Object.hasOwn(this.#options.limits, model.provider)
      ? this.#options.limits[model.provider]
      : undefined;
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
        yield* model.stream(request, options);
      },
    };
  }

  async #wait(provider: string, { requests, perMs }: RateLimit, signal?: AbortSignal): Promise<void> {
    const { sql, schema, patiently, clock = systemClock } = this.#options;
    const take = (locked: string): Promise<readonly { readonly wait: number }[]> =>
      sql.query(
        `update ${schema}.rate_slots set free_at = greatest(free_at, now()) + $2 * interval '1 millisecond'
         where provider = $1 and slot = (
           select slot from ${schema}.rate_slots where provider = $1 and slot < $3
           order by free_at, slot limit 1 for update ${locked}
         ) returning (extract(epoch from free_at - now()) * 1000 - $2)::float8 as wait`,
        [provider, perMs, requests],
      );
    // Who waited for a slot that somebody takes would get it behind that one, while others are free.
    const [slot] = await patiently(async () => {
      const free = await take("skip locked");
      return free.length > 0 ? free : take("");
    }, signal);
    if (slot !== undefined && slot.wait > 0) await clock.sleep(Math.ceil(slot.wait), signal);
  }
}
