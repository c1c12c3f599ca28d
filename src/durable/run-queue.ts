import type { PgBoss } from "pg-boss";
import { errorMessage } from "../core/base/errors.ts";
import { newUuid } from "../core/base/ids.ts";
import { hashText } from "../core/base/text.ts";
import type { Sql } from "./database.ts";
import type { RunJob, RunRow } from "./durable-run.ts";
import type { RunStore } from "./run-store.ts";
import { queueSchema } from "./run-tables.ts";

/** Seconds without a heartbeat until a worker counts as lost: the minimum that the queue accepts. */
const LEASE_SECONDS = 10;
/** Milliseconds between two heartbeats. */
export const TOUCH_MS = 3_000;

const DAY_SECONDS = 86_400;
const YEAR_SECONDS = 365 * DAY_SECONDS;

export type QueuedRun = Pick<RunRow, "id" | "agent" | "priority"> & {
  /** The version that may continue it; null before it has begun, and if any may. */
  readonly version: string | null;
};

/** Hands out runs to workers, each to one at a time, with pg-boss on the same database. */
export class RunQueue {
  readonly #boss: PgBoss;
  readonly #store: RunStore;
  readonly #known = new Map<string, Promise<void>>();

  private constructor(boss: PgBoss, store: RunStore) {
    this.#boss = boss;
    this.#store = store;
  }

  /** `supervises`: also watches the leases of others. */
  static async open(
    store: RunStore,
    supervises: boolean,
    onWarning: (message: string) => void,
  ): Promise<RunQueue> {
    const { database } = store;
    const boss = new database.Queue({
      db: database.forQueue(),
      schema: queueSchema(store.schema),
      // Two processes creating it at once would collide, so it is created with our tables.
      createSchema: false,
      ...(database.isEmbedded && { backend: "pglite" }),
      schedule: false,
      supervise: supervises,
      superviseIntervalSeconds: 1,
      monitorIntervalSeconds: 1,
    });
    boss.on("error", (error) => onWarning(`The queue: ${errorMessage(error)}`));
    await boss.start();
    return new RunQueue(boss, store);
  }

  /** The queues a worker takes runs from: for each agent, runs of its version and runs not begun. */
  static queuesOf(agents: readonly string[], version: string): readonly string[] {
    return agents.flatMap((agent) => [queueOf(agent, version), queueOf(agent, null)]);
  }

  ensureQueue(queue: string): Promise<void> {
    const known = this.#known.get(queue);
    if (known !== undefined) return known;
    const made = this.#boss.createQueue(queue, {
      heartbeatSeconds: LEASE_SECONDS,
      retryLimit: 1_000,
      retryDelay: 0,
      expireInSeconds: DAY_SECONDS,
      retentionSeconds: YEAR_SECONDS,
      deleteAfterSeconds: 60,
    });
    this.#known.set(queue, made);
    made.catch(() => this.#known.delete(queue));
    return made;
  }

  /** Creates the queues of runs, which is impossible in a transaction. */
  async prepare(runs: readonly Pick<QueuedRun, "agent" | "version">[]): Promise<void> {
    for (const { agent, version } of runs) await this.ensureQueue(queueOf(agent, version));
  }

  async add(sql: Sql, runs: readonly QueuedRun[], inSeconds = 0): Promise<void> {
    const jobs = runs.map((run) => ({ run, id: newUuid() }));
    await this.#store.assign(
      sql,
      runs.map(({ id }) => id),
      jobs.map(({ id }) => id),
    );
    const db = this.#store.database.forQueue(sql);
    for (const [queue, group] of Map.groupBy(jobs, ({ run }) => queueOf(run.agent, run.version)))
      await this.#boss.insert(
        queue,
        group.map(({ run, id }) => ({
          id,
          data: { run: run.id },
          priority: run.priority,
          ...(inSeconds > 0 && { startAfter: inSeconds }),
        })),
        { db },
      );
  }

  async take(queue: string, most: number): Promise<readonly RunJob[]> {
    const jobs = await this.#boss.fetch<{ readonly run: string }>(queue, { batchSize: most });
    return jobs.map(({ id, data, retryCount }) => ({ id, queue, run: data.run, attempt: retryCount }));
  }

  async touch(jobs: readonly RunJob[]): Promise<void> {
    for (const [queue, group] of Map.groupBy(jobs, (job) => job.queue))
      await this.#boss.touch(queue, group.map(attemptOf));
  }

  /** Makes jobs available again whose worker is known to be dead. */
  async revoke(jobs: Awaited<ReturnType<RunStore["handedOut"]>>): Promise<void> {
    // A run that had not begun when it was handed out has its job in the queue of all versions.
    const placed = jobs.flatMap(({ agent, version, job }) =>
      [...new Set([queueOf(agent, version), queueOf(agent, null)])].map((queue) => ({ queue, job })),
    );
    for (const [queue, group] of Map.groupBy(placed, (place) => place.queue)) {
      await this.ensureQueue(queue);
      await this.#boss.fail(
        queue,
        group.map(({ job }) => job),
      );
    }
  }

  async finish(job: RunJob, sql?: Sql): Promise<void> {
    const db = this.#store.database.forQueue(sql);
    await this.#boss.complete(job.queue, [attemptOf(job)], null, { db });
  }

  async close(): Promise<void> {
    await this.#boss.stop({ graceful: false, close: false });
  }
}

function attemptOf({ id, attempt }: RunJob): { readonly id: string; readonly retryCount: number } {
  return { id, retryCount: attempt };
}

/** Version names are arbitrary, queue names are not. */
function queueOf(agent: string, version: string | null): string {
  return version === null ? agent : `${agent}/${hashText(version).toString(36)}`;
}
