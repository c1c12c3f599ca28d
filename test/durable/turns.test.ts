import { afterAll, describe, expect, test } from "vitest";
import { raceAbort, systemClock } from "../../src/core/base/async.ts";
import { NanoAgentError } from "../../src/core/base/errors.ts";
import type { Model } from "../../src/core/model/model.ts";
import { RateSlots } from "../../src/durable/rate-slots.ts";
import type { RunStore } from "../../src/durable/run-store.ts";
import { fallbackModel } from "../../src/providers/fallback.ts";
import { says } from "../../src/testing/script.ts";
import { ScriptedModel } from "../../src/testing/scripted-model.ts";
import { roomMaker } from "./attack-room.ts";
import { type Postgres, postgresPrograms, startPostgres } from "./postgres.ts";

const HOUR_MS = 3_600_000;

/** Has slots be free so much sooner. */
async function passTime({ database, schema }: RunStore, ms: number): Promise<void> {
  const passed = "free_at - $1 * interval '1 millisecond'";
  await database.query(`update ${schema}.rate_slots set free_at = ${passed}`, [ms]);
}

function describeTurns(openRoom: ReturnType<typeof roomMaker>): void {
  test("a request that is given up while it waits takes nobody's turn", async () => {
    const { runs } = await openRoom();
    const hours: number[] = [];
    const waits = Promise.withResolvers<undefined>();
    const sleep = async (ms: number, signal?: AbortSignal): Promise<void> => {
      hours.push(Math.round(ms / HOUR_MS));
      if (hours.length > 1) return passTime(runs, ms);
      waits.resolve(undefined);
      return raceAbort(new Promise<void>(() => undefined), signal ?? new AbortController().signal);
    };
    const limits = { scripted: { requests: 1, perMs: HOUR_MS } };
    const slots = new RateSlots(runs.database, runs.schema, limits, (work) => work(), {
      ...systemClock,
      sleep,
    });
    await slots.open();
    const model = slots.wrap(new ScriptedModel(() => says("Yes.")));
    const ask = async (signal = new AbortController().signal): Promise<string> => {
      for await (const _ of model.stream({ messages: [] }, { signal }));
      return "sent";
    };
    const giving = new AbortController();
    const first = await ask();
    const asking = ask(giving.signal).catch(() => "given up");
    await waits.promise;
    const [next, behind] = [ask(), ask()];
    giving.abort(new Error("No longer needed."));
    const ends = [first, ...(await Promise.all([asking, next, behind]))];
    expect([ends, hours]).toEqual([
      ["sent", "given up", "sent", "sent"],
      [1, 1, 1],
    ]);
  });

  test("each try and each model of a fallback waits for its own turn", async () => {
    const { runs } = await openRoom();
    const waited: number[] = [];
    const limits = { first: { requests: 1, perMs: HOUR_MS }, second: { requests: 1, perMs: 4 * HOUR_MS } };
    const sleep = (ms: number): Promise<void> => {
      waited.push(Math.round(ms / HOUR_MS));
      return passTime(runs, ms);
    };
    const slots = new RateSlots(runs.database, runs.schema, limits, (work) => work(), {
      ...systemClock,
      sleep,
    });
    await slots.open();
    const error = new NanoAgentError("provider_error", "Down.", { retryable: true });
    let tries = 0;
    const down: Model = {
      provider: "first",
      id: "down",
      async *stream() {
        tries += 1;
        yield { type: "retry", attempt: 2, delayMs: 0, error };
        tries += 1;
        throw error;
      },
    };
    const up = new ScriptedModel(() => says("Yes."), { provider: "second" });
    for (let asked = 0; asked < 2; asked++) {
      // As for each run: the model is wrapped anew.
      const model = slots.wrap(fallbackModel([down, up]));
      for await (const _ of model.stream({ messages: [] }, {}));
    }
    expect([waited, tries, up.requests.length]).toEqual([[1, 1, 1, 2], 4, 2]);
  });
}

describe("embedded: turns", () => {
  describeTurns(roomMaker());
});

// Needs the server of PostgreSQL.
describe.skipIf(postgresPrograms() === undefined)("PostgreSQL: turns", () => {
  let server: Postgres | undefined;
  afterAll(() => server?.close());
  describeTurns(
    roomMaker(async () => {
      server = await startPostgres();
      return server.createDatabase();
    }),
  );
});
