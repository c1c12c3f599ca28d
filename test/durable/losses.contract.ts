import { expect, it, onTestFinished } from "vitest";
import { Agent } from "../../src/agent/agent.ts";
import { MemoryJournal } from "../../src/core/agent/journal.ts";
import { systemClock } from "../../src/core/base/async.ts";
import type { RunRow } from "../../src/durable/durable-run.ts";
import { RunHandle, RunWatch } from "../../src/durable/run-handle.ts";
import { lineOf } from "../../src/durable/run-journal.ts";
import { encodeRecord } from "../../src/session/record.ts";
import { says, waits } from "../../src/testing/script.ts";
import { ScriptedModel } from "../../src/testing/scripted-model.ts";
import type { Room } from "./attack-room.ts";
import { agentOf, wordsOf } from "./fleet-room.ts";

const hasEnded = ({ state }: RunRow): boolean => state === "ended";
const isIn =
  (state: RunRow["state"]) =>
  (row: RunRow): boolean =>
    row.state === state;
const stopReasonOf = ({ report }: RunRow): unknown =>
  (JSON.parse(report ?? "{}") as { readonly stopReason?: unknown }).stopReason;

/** How a worker left a run. */
interface Leaving {
  readonly version?: string;
  readonly losses?: number;
}

/** A run that a worker has begun and is working on, as far as the database knows. */
async function leave(room: Room, id: string, { version = "1", losses = 0 }: Leaving = {}): Promise<void> {
  const { runs, queue, database, jobs } = room;
  const journal = new MemoryJournal();
  await new Agent({ model: new ScriptedModel([says("Done.")]), journal }).run("Go.");
  const entries = [...journal.entries()].slice(0, 2);
  await queue.prepare([{ agent: "clerk", version }]);
  // At once: no other worker is to see it in the queue.
  await database.transaction(async (sql) => {
    const input = JSON.stringify([{ role: "user", content: [{ type: "text", text: "Go." }] }]);
    const given = { agent: "clerk", priority: 0, deadline: null, input, budget: null, retries: 0 };
    await runs.add(sql, [{ ...given, id }]);
    await queue.add(sql, [{ id, agent: "clerk", priority: 0, version }]);
    await sql.query(
      `update ${runs.schema}.runs set state = 'working', epoch = 1, worker = 'gone', version = $2, losses = $3
       where id = $1`,
      [id, version, losses],
    );
    await sql.query(
      `update ${jobs} set state = 'active', started_on = now(), heartbeat_on = now() + interval '1 hour'
       where data->>'run' = $1`,
      [id],
    );
    const ids = entries.map((entry) => entry.id);
    const records = entries.map((entry) => lineOf(encodeRecord(entry).bytes));
    await runs.append({ run: id, epoch: 1, after: 0, ids, records, isProgress: false, took: [] }, sql);
  });
}

/** The leases of all that {@link leave} left run out. */
async function expire({ database, jobs }: Room): Promise<void> {
  await database.query(`update ${jobs} set heartbeat_on = now() - interval '1 hour'
    where state = 'active' and heartbeat_on > now()`);
}

/** Nobody has heard of the worker for a minute. */
async function missWorker({ database, runs }: Room): Promise<void> {
  await database.query(
    `update ${runs.schema}.workers set seen_at = now() - interval '1 minute' where id = 'gone'`,
  );
}

function handleOf({ runs, queue }: Room, id: string): RunHandle {
  // Who waits looks again at once: what is told after some looks is told soon.
  const clock = { ...systemClock, sleep: (_: number, signal?: AbortSignal) => systemClock.sleep(1, signal) };
  const watch = new RunWatch(runs, () => undefined, clock);
  onTestFinished(() => watch.close());
  const withRetry = <T>(work: () => Promise<T>): Promise<T> => work();
  return new RunHandle({ runs, queue, watch, withRetry, onChanged: () => undefined }, id);
}

/** What becomes of runs whose worker was lost, and of one that only stood still. */
export function describeLosses(openRoom: () => Promise<Room>): void {
  it("ends a run whose worker is gone at a cancel and its deadline, and goes on with it, without its version", async () => {
    const room = await openRoom();
    const ids = ["cancelled", "early", "late", "asked"];
    for (const id of ids) await leave(room, id, { version: "old" });
    await room.runs.recordHeartbeat("gone", "old", ["clerk"]);
    await handleOf(room, "early").cancel("Before anybody knew.");
    const refusal = await handleOf(room, "asked")
      .retry()
      .catch((error: Error) => error.message);
    await missWorker(room);
    await room.database.query(
      `update ${room.runs.schema}.runs set changed_at = now() - interval '1 minute',
         deadline = case when id = 'late' then now() end`,
    );
    await room.work(agentOf(({ messages }) => says(`Heard ${wordsOf(messages).join()}.`)));
    await expect(handleOf(room, "asked").result()).rejects.toMatchObject({
      code: "invalid_config",
      details: { reason: "version" },
    });
    await handleOf(room, "cancelled").cancel();
    await handleOf(room, "asked").retry();
    const rows = await Promise.all(ids.map((id) => room.when(id, hasEnded)));
    expect([refusal, rows.map(stopReasonOf), (await handleOf(room, "asked").result()).text]).toEqual([
      expect.stringContaining("has not failed (working)"),
      ["aborted", "aborted", "budget", "completed"],
      "Heard user: Go..",
    ]);
  });

  it("ends a run that may end its worker at a cancel and its deadline, while every worker is busy", async () => {
    const room = await openRoom();
    const worker = await room.work(agentOf([[waits(new Promise(() => undefined)), says("Never.")]]));
    await room.add("long");
    await room.when("long", isIn("working"));
    const ids = ["early", "told", "late"];
    for (const id of ids) await leave(room, id, { losses: 1 });
    await room.runs.recordHeartbeat("gone", "1", ["clerk"]);
    await handleOf(room, "early").cancel("Before anybody knew.");
    await expire(room);
    await room.when("told", isIn("queued"));
    await handleOf(room, "told").cancel();
    await room.when("late", isIn("queued"));
    await room.database.query(`update ${room.runs.schema}.runs set deadline = now() where id = 'late'`);
    const rows = await Promise.all(ids.map((id) => room.when(id, hasEnded)));
    expect(rows.map(stopReasonOf)).toEqual(["aborted", "aborted", "budget"]);
    await worker.close(0);
  });

  it("leaves a run to the worker that has it, although another one comes back with its old job", async () => {
    const room = await openRoom();
    await room.add("held");
    const stale = await room.take("held");
    await room.database.query(`update ${room.jobs} set retry_count = retry_count + 1`);
    const claimant = { version: "1" };
    const job = await room.take("held");
    const held = await room.runs.claim("held", { ...claimant, worker: "second", job });
    const late = await room.runs.claim("held", { ...claimant, worker: "first", job: stale });
    expect([stale.attempt, job.attempt, late, (await room.runs.find("held"))?.epoch]).toEqual([
      0,
      1,
      undefined,
      held?.epoch,
    ]);
  });

  it("puts no run back whose job was handed out again, while it waited for the worker to be alone", async () => {
    const room = await openRoom();
    const worker = await room.work(agentOf([[waits(new Promise(() => undefined)), says("Never.")]]));
    await room.add("long");
    await room.when("long", isIn("working"));
    await leave(room, "suspect", { losses: 1 });
    await expire(room);
    await room.when("suspect", isIn("queued"));
    await room.database.query(
      `update ${room.jobs} set retry_count = retry_count + 1 where data->>'run' = 'suspect'`,
    );
    const job = await room.take("suspect");
    const held = await room.runs.claim("suspect", { job, worker: "other", version: "1", isAlone: true });
    await worker.close(0);
    const row = await room.runs.find("suspect");
    expect([row?.state, row?.worker, row?.epoch, row?.job]).toEqual([
      "working",
      "other",
      held?.epoch,
      job.id,
    ]);
  });
}
