import { afterAll, describe, expect, test } from "vitest";
import { systemClock } from "../../src/core/base/async.ts";
import { NanoAgentError } from "../../src/core/base/errors.ts";
import type { Model } from "../../src/core/model/model.ts";
import { RateSlots } from "../../src/durable/rate-slots.ts";
import { fallbackModel } from "../../src/providers/fallback.ts";
import { says } from "../../src/testing/script.ts";
import { ScriptedModel } from "../../src/testing/scripted-model.ts";
import { roomMaker } from "./attack-room.ts";
import { type Postgres, postgresPrograms, startPostgres } from "./postgres.ts";

const HOUR_MS = 3_600_000;

function describeTurns(openRoom: ReturnType<typeof roomMaker>): void {
  test("a turn whose request was given up is for the next who asks, and nobody else's is", async () => {
    const { database, runs } = await openRoom();
    const hours: number[] = [];
    let onWait: () => void = () => undefined;
    const sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
      new Promise((_resolve, reject) => {
        signal?.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
        hours.push(Math.round(ms / HOUR_MS));
        onWait();
      });
    const slots = new RateSlots({
      sql: database,
      schema: runs.schema,
      limits: { scripted: { requests: 1, perMs: HOUR_MS } },
      patiently: (work) => work(),
      clock: { ...systemClock, sleep },
    });
    await slots.open();
    const model = slots.around(new ScriptedModel(() => says("Yes.")));
    const ask = async (signal?: AbortSignal): Promise<string> => {
      for await (const _ of model.stream({ messages: [] }, signal === undefined ? {} : { signal }));
      return "sent";
    };
    /** Asks until it has its turn; gives it up when it is told to. */
    const waitForTurn = async (): Promise<() => Promise<void>> => {
      const giving = new AbortController();
      const waits = new Promise<void>((resolve) => {
        onWait = resolve;
      });
      const asking = ask(giving.signal).catch(() => "given up");
      await waits;
      return async () => {
        giving.abort(new Error("No longer needed."));
        await asking;
        await slots.settle();
      };
    };
    const first = await ask();
    const giveUp = [await waitForTurn(), await waitForTurn(), await waitForTurn()];
    await giveUp[0]?.();
    await giveUp[1]?.();
    for (let asked = 0; asked < 3; asked++) await waitForTurn();
    expect([first, hours]).toEqual(["sent", [1, 2, 3, 1, 2, 4]]);
  });

  test("each try and each model of a fallback waits for its own turn", async () => {
    const { database, runs } = await openRoom();
    const waited: number[] = [];
    const slots = new RateSlots({
      sql: database,
      schema: runs.schema,
      limits: {
        first: { requests: 1, perMs: HOUR_MS },
        second: { requests: 1, perMs: 2 * HOUR_MS },
      },
      patiently: (work) => work(),
      clock: { ...systemClock, sleep: async (ms) => void waited.push(Math.round(ms / HOUR_MS)) },
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
      const model = slots.around(fallbackModel([down, up]));
      for await (const _ of model.stream({ messages: [] }, {}));
    }
    expect([waited, tries, up.requests.length]).toEqual([[1, 2, 3, 2], 4, 2]);
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
