import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { JournalEntry } from "../../src/core/agent/entries.ts";
import { createFleet, type DurableRun, type Fleet } from "../../src/durable/index.ts";
import { isFullSweep } from "../faults/sweep.ts";
import { until } from "../faults/until.ts";
import { givenSeed } from "../given-seed.ts";
import { tempFolder } from "../temp-folder.ts";
import { Crew, faultsOf, holesIn, linesIn, startWorker } from "./crew.ts";
import { entriesOf, resultsIn } from "./fleet-room.ts";
import { type Postgres, postgresPrograms, startPostgres } from "./postgres.ts";

const hasPostgres = postgresPrograms() !== undefined;
const RUNS = 400;
const TURNS = 12;
/** Workers are struck so often, every third by a wish to end; the database half as often. */
const STRIKES = 60;
/** Workers that a poisoned run may end: all it is given, and then it is ended. */
const DEATHS = 1_000;

// Needs the server of PostgreSQL, and leases that run out in real time: part of the full sweep alone.
describe.skipIf(!hasPostgres || !isFullSweep)("durable runs whose workers are killed", () => {
  let server: Postgres | undefined;
  let databaseUrl = "";
  beforeAll(async () => {
    server = await startPostgres();
    databaseUrl = await server.createDatabase();
  });
  afterAll(() => server?.close());

  test("all end, nothing that has a result is done again, and one that ends its workers harms no other", async () => {
    const folder = tempFolder();
    const place = { databaseUrl, schema: "kills" };
    const crew = new Crew({
      ...place,
      folder,
      agents: ["clerk", "poison", "last"],
      turns: TURNS,
      deaths: DEATHS,
    });
    onTestFinished(() => crew.killAll());
    const fleet = await watchingFleet(place);
    const frozen = freezeWorker(fleet, place, folder);
    await crew.hire(3);
    const poisoned = await fleet.start("poison", "Die.", { id: "poison" });
    const lastWords = await fleet.start("last", "Speak.", { id: "last" });
    const ids = Array.from({ length: RUNS }, (_, at) => ({ input: "Go.", id: `clerk-${at}` }));
    const runs = await fleet.startMany("clerk", ids);
    const orderly = await strike(crew, server, folder);
    const results = await Promise.all(runs.map((run) => run.result()));
    const poison = await poisoned.result();
    const frozenResults = await frozen;
    const { stopReason, text, iterations } = await lastWords.result();
    expect([stopReason, text, iterations, faultsOf(await entriesOf(lastWords))]).toEqual([
      "completed",
      "Said to 1.",
      1,
      [],
    ]);
    expect(await crew.dismiss()).toEqual([0, 0, 0]);

    const journals = await Promise.all(runs.map((run) => entriesOf(run)));
    expect(results.map(({ stopReason, text }) => `${stopReason} ${text}`)).toEqual(
      runs.map(() => `completed Done after ${TURNS}.`),
    );
    expect(journals.flatMap(faultsOf)).toEqual([]);
    expect(await holesIn(databaseUrl, place.schema)).toEqual([]);
    expect(effectFaults(runs, journals, folder)).toEqual([]);
    // The poisoned run may end one while it lets go of the others.
    expect(orderly.filter((end) => end !== 0 && end !== null && end !== "SIGKILL")).toEqual([]);
    expect([poison.stopReason, poison.error?.details["reason"]]).toEqual(["error", "worker_lost"]);
    expect(frozenResults).toEqual([expect.stringMatching(/^only aborted: .*outcome unknown/)]);
    process.stdout.write(`${crew.deaths} workers died under ${RUNS} runs\n`);
  });
});

async function watchingFleet(place: {
  readonly databaseUrl: string;
  readonly schema: string;
}): Promise<Fleet> {
  const fleet = await createFleet({ ...place, concurrency: 0 });
  onTestFinished(() => fleet.close());
  return fleet;
}

/** Strikes workers and the database during the work. Resolves to how those ended that were asked to. */
async function strike(
  crew: Crew,
  server: Postgres | undefined,
  folder: string,
): Promise<readonly (number | NodeJS.Signals | null)[]> {
  const random = seeded(givenSeed(1));
  const all = RUNS * TURNS;
  const orderly: (number | NodeJS.Signals | null)[] = [];
  const moments = Array.from({ length: STRIKES }, () => Math.floor(random() * all * 0.8)).toSorted(
    (a, b) => a - b,
  );
  for (const [at, moment] of moments.entries()) {
    await until(() => linesIn(folder, "noted").length > moment);
    if (at % 3 === 2) orderly.push(await crew.strike("SIGTERM"));
    else await crew.strike("SIGKILL");
    if (at % 2 === 0) continue;
    await server?.kill();
    await server?.start();
  }
  return orderly;
}

/**
 * A worker that stands still while another one takes its run over: what it does when it goes on is not
 * recorded. Resolves to the results of the run.
 */
async function freezeWorker(
  fleet: Fleet,
  place: { readonly databaseUrl: string; readonly schema: string },
  folder: string,
): Promise<readonly string[]> {
  const options = { ...place, folder, agents: ["frozen"], turns: 0, deaths: 0 };
  const first = await startWorker(options);
  onTestFinished(() => void first.child.kill("SIGKILL"));
  const run = await fleet.start("frozen", "Freeze.", { id: "frozen" });
  await until(() => linesIn(folder, "frozen").length > 0);
  first.child.kill("SIGSTOP");
  const second = await startWorker(options);
  onTestFinished(() => void second.child.kill("SIGKILL"));
  await run.result();
  const before = await entriesOf(run);
  writeFileSync(join(folder, "thaw"), "");
  first.child.kill("SIGCONT");
  await until(() => /warning: .*(?:held by another|taken over)/.test(first.said()));
  for (const { child } of [first, second]) child.kill("SIGTERM");
  expect([await first.end, await second.end, await entriesOf(run), faultsOf(before)]).toEqual([
    0,
    0,
    before,
    [],
  ]);
  return resultsIn(before);
}

/** Effects that do not fit the journals. */
function effectFaults(
  runs: readonly DurableRun[],
  journals: readonly (readonly JournalEntry[])[],
  folder: string,
): readonly string[] {
  const noted = Map.groupBy(linesIn(folder, "noted"), ([run, call]) => `${run} ${call}`);
  const paid = Map.groupBy(linesIn(folder, "paid"), ([run, call]) => `${run} ${call}`);
  return runs.flatMap(({ id }, at) =>
    (journals[at] ?? []).flatMap((entry) => {
      if (entry.type !== "tool_result") return [];
      const { callId, name, status } = entry;
      const key = `${id} ${callId}`;
      const times = (name === "note" ? noted : paid).get(key) ?? [];
      const keys = new Set(times.map(([, , idempotencyKey]) => idempotencyKey));
      if (name === "note" && times.length > 1) return [`${key} was done ${times.length} times`];
      if (status === "ok" && times.length === 0) return [`${key} has a result and was not done`];
      if (name === "pay" && (status !== "ok" || keys.size !== 1))
        return [`${key} ${status}: ${[...keys].join()}`];
      if (name === "note" && status !== "ok" && !/outcome unknown/.test(JSON.stringify(entry.result)))
        return [`${key} ${status}: ${JSON.stringify(entry.result)}`];
      return [];
    }),
  );
}

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
