import { afterAll, onTestFinished } from "vitest";
import type { JournalEntry } from "../../src/core/agent/entries.ts";
import { type Clock, systemClock } from "../../src/core/base/async.ts";
import { newUuid } from "../../src/core/base/ids.ts";
import { type Database, openDatabase, type Sql } from "../../src/durable/database.ts";
import type { DurableAgent, RunJob, RunRow } from "../../src/durable/durable-run.ts";
import { entriesIn } from "../../src/durable/run-journal.ts";
import { RunQueue } from "../../src/durable/run-queue.ts";
import { RunStore, type Signal } from "../../src/durable/run-store.ts";
import { migrate, queueSchema } from "../../src/durable/run-tables.ts";
import { Worker } from "../../src/durable/worker.ts";

/** The parts of a fleet on one database, each of which a test can have fail. */
export interface Room {
  readonly database: Database;
  readonly runs: RunStore;
  readonly queue: RunQueue;
  /** The table of the queue's jobs. */
  readonly jobs: string;
  /** Puts runs of the agent `clerk` into the queue. */
  readonly add: (...ids: readonly string[]) => Promise<void>;
  /** Hands a run out, as the queue does it. */
  readonly take: (run: string) => Promise<RunJob>;
  readonly send: (run: string, signal: Pick<Signal, "kind" | "call"> & { data: unknown }) => Promise<void>;
  /** A worker begins; it closes with the test, if it has not before. */
  readonly work: (clerk: DurableAgent, clock?: Clock) => Promise<Worker>;
  /** Puts a run back that waits. */
  readonly requeue: (sql: Sql, row: RunRow) => Promise<void>;
  readonly when: (run: string, isThere: (row: RunRow) => boolean) => Promise<RunRow>;
  readonly entries: (run: string) => Promise<readonly JournalEntry[]>;
}

type StoreMaker = (database: Database, schema: string) => RunStore;

/**
 * Makes rooms for the tests of a file, each with tables of its own in one database, for a new database takes
 * seconds. `storeOf` makes a store whose methods fail as a test wants it. The database is embedded, unless
 * `addressOf` says where it is.
 */
export function roomMaker(addressOf?: () => Promise<string>): (storeOf?: StoreMaker) => Promise<Room> {
  let opening: Promise<Database> | undefined;
  let rooms = 0;
  afterAll(async () => (await opening)?.close());
  return async (storeOf = (database, schema) => new RunStore(database, schema)) => {
    opening ??= openDatabase({
      databaseUrl: await addressOf?.(),
      connections: 4,
      onWarning: () => undefined,
    });
    const schema = `room_${++rooms}`;
    return openRoom(storeOf(await opening, schema), { database: await opening, schema });
  };
}

async function openRoom(
  runs: RunStore,
  { database, schema }: { readonly database: Database; readonly schema: string },
): Promise<Room> {
  await migrate(database, schema);
  const queue = await RunQueue.open(runs, true, () => undefined);
  const workers: Worker[] = [];
  onTestFinished(async () => {
    for (const worker of workers) await worker.close(0);
    await queue.close();
  });
  await queue.prepare([{ agent: "clerk", version: null }]);
  return {
    database,
    runs,
    queue,
    jobs: `${queueSchema(schema)}.job`,
    add: (...ids) =>
      database.transaction(async (sql) => {
        const input = JSON.stringify([{ role: "user", content: [{ type: "text", text: "Go." }] }]);
        const given = { agent: "clerk", priority: 0, deadline: null, input, budget: null, retries: 0 };
        const fresh = ids.map((id) => ({ ...given, id }));
        await runs.add(sql, fresh);
        await queue.add(
          sql,
          fresh.map((run) => ({ ...run, version: null })),
        );
      }),
    take: (run) => handOut(database, schema, run),
    send: (run, { kind, call, data }) =>
      database.transaction((sql) =>
        runs.signal(sql, run, { id: newUuid(), kind, call, data: JSON.stringify(data) }),
      ),
    requeue: async (sql, row) => {
      await runs.requeue(sql, row.id, row.version);
      await queue.add(sql, [row]);
    },
    work: async (clerk, clock = systemClock) => {
      const worker = workerOf({ runs, queue, clock }, clerk);
      await worker.start();
      workers.push(worker);
      return worker;
    },
    when: async (run, isThere) => {
      for (;;) {
        const row = await runs.find(run);
        if (row !== undefined && isThere(row)) return row;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
    entries: async (run) => entriesIn(await runs.records(run)),
  };
}

async function handOut(database: Database, schema: string, run: string): Promise<RunJob> {
  const [job] = await database.query<Omit<RunJob, "run">>(
    `update ${queueSchema(schema)}.job set state = 'active', started_on = now(), heartbeat_on = now()
     where id::text = (select job from ${schema}.runs where id = $1)
     returning id, name as queue, retry_count as attempt`,
    [run],
  );
  if (job === undefined) throw new Error(`The run ${run} has no job.`);
  return { ...job, run };
}

interface WorkerParts {
  readonly runs: RunStore;
  readonly queue: RunQueue;
  readonly clock: Clock;
}

function workerOf(parts: WorkerParts, clerk: DurableAgent): Worker {
  return new Worker({
    ...parts,
    id: newUuid(),
    agents: { clerk },
    version: "1",
    concurrency: 8,
    retentionMs: Number.POSITIVE_INFINITY,
    onWarning: () => undefined,
    wrapModel: (model) => model,
    withRetry: (work) => work(),
    onStored: () => undefined,
    onSettled: () => undefined,
  });
}
