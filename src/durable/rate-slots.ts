import { type Clock, systemClock } from "../core/base/async.ts";
import type { Model } from "../core/model/model.ts";
import type { Sql } from "./database.ts";
import type { RateLimit } from "./durable-run.ts";

export type RateLimits = { readonly [provider: string]: RateLimit };

export interface RateSlotOptions {
  readonly sql: Sql;
  readonly schema: string;
  readonly limits: RateLimits;
  readonly patiently: <T>(work: () => Promise<T>, signal?: AbortSignal) => Promise<T>;
  readonly clock?: Clock;
}

interface RateTurn {
  readonly waitMs: number;
  /** As the database writes it; null where it is now. */
  readonly dueAt: string | null;
}

/**
 * As many slots for each provider as requests are allowed in its stretch of time: who takes one may send when
 * it is free, and it is free again a stretch later. One statement a request, as long as there are free ones.
 * A turn whose request is given up before it comes is for the next who asks.
 */
export class RateSlots {
  readonly #options: RateSlotOptions;
  readonly #givingBack = new Set<Promise<unknown>>();

  constructor(options: RateSlotOptions) {
    this.#options = options;
  }

  async open(): Promise<void> {
    const { sql, schema, limits } = this.#options;
    for (const [provider, { requests }] of Object.entries(limits))
      await sql.query(
        `insert into ${schema}.rate_slots select $1, n, now() from generate_series(0, $2::int - 1) as n
         on conflict do nothing`,
        [provider, requests],
      );
  }

  /**
   * The model, whose requests wait for their slot, tries again included; itself where its provider has no
   * limit. Of one made of several each waits for its own.
   */
  around(model: Model): Model {
    if (model.withEach !== undefined) return model.withEach((each) => this.around(each));
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
        for await (const part of model.stream(request, options)) {
          yield part;
          if (part.type === "retry") await wait(options?.signal);
        }
      },
    };
  }

  /** Resolves when the turns are given back of all requests that were given up. */
  async settle(): Promise<void> {
    await Promise.all(this.#givingBack);
  }

  async #wait(provider: string, limit: RateLimit, signal?: AbortSignal): Promise<void> {
    const { patiently, clock = systemClock } = this.#options;
    const turn = await patiently(
      async () =>
        (await this.#takeFree(provider, limit)) ??
        (await this.#takeGivenBack(provider, limit)) ??
        (await this.#queueUp(provider, limit)),
      signal,
    );
    try {
      if (turn.waitMs > 0) await clock.sleep(Math.ceil(turn.waitMs), signal);
    } catch (error) {
      // Nobody waits for that: one that is lost only has others wait longer.
      const giving = this.#giveBack(provider, turn)
        .catch(() => undefined)
        .finally(() => this.#givingBack.delete(giving));
      this.#givingBack.add(giving);
      throw error;
    }
  }

  /** Takes a slot that is free. Requests of one moment see the same: the conditions send each to its own. */
  async #takeFree(provider: string, { requests, perMs }: RateLimit): Promise<RateTurn | undefined> {
    const { sql, schema } = this.#options;
    const taken = await sql.query(
      `update ${schema}.rate_slots set free_at = now() + $2 * interval '1 millisecond'
       where provider = $1 and slot = (
         select slot from ${schema}.rate_slots where provider = $1 and slot < $3 and free_at <= now()
         order by free_at, slot limit 1 for update skip locked
       ) returning slot`,
      [provider, perMs, requests],
    );
    return taken.length > 0 ? { waitMs: 0, dueAt: null } : undefined;
  }

  /**
   * Takes the next turn that was given back, where it comes before a slot is free. One whose time is over is
   * nobody's: the slot it was of has its next turn a stretch later.
   */
  async #takeGivenBack(provider: string, { requests }: RateLimit): Promise<RateTurn | undefined> {
    const { sql, schema } = this.#options;
    const [turn] = await sql.query<RateTurn>(
      `delete from ${schema}.rate_turns where ctid = (
         select ctid from ${schema}.rate_turns where provider = $1 and due_at > now() and due_at < (
           select min(free_at) from ${schema}.rate_slots where provider = $1 and slot < $2)
         order by due_at limit 1 for update skip locked
       ) returning due_at::text as "dueAt", (extract(epoch from due_at - now()) * 1000)::float8 as "waitMs"`,
      [provider, requests],
    );
    return turn;
  }

  async #giveBack(provider: string, { dueAt }: RateTurn): Promise<void> {
    const { sql, schema } = this.#options;
    await sql.query(
      `with over as (delete from ${schema}.rate_turns where provider = $1 and due_at <= now())
       insert into ${schema}.rate_turns select $1, $2::timestamptz where $2::timestamptz > now()`,
      [provider, dueAt],
    );
  }

  async #queueUp(provider: string, { requests, perMs }: RateLimit): Promise<RateTurn> {
    const { sql, schema } = this.#options;
    for (;;) {
      const [slot] = await sql.query<{ readonly wait: number | null; readonly due: string }>(
        `with first as (
           select slot, free_at from ${schema}.rate_slots where provider = $1 and slot < $3
           order by free_at, slot limit 1
         ), taken as (
           update ${schema}.rate_slots s set free_at = greatest(s.free_at, now()) + $2 * interval '1 millisecond'
           from first where s.provider = $1 and s.slot = first.slot and s.free_at = first.free_at
           returning (extract(epoch from s.free_at - now()) * 1000 - $2)::float8 as wait,
             (s.free_at - $2 * interval '1 millisecond')::text as due
         ) select taken.wait, taken.due from first left join taken on true`,
        [provider, perMs, requests],
      );
      // Without a wait another request had this slot first, and behind that one others are free sooner.
      if (slot?.wait !== null) return { waitMs: slot?.wait ?? 0, dueAt: slot?.due ?? null };
    }
  }
}
