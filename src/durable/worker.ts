import { type Clock, systemClock } from "../core/base/async.ts";
import { errorMessage } from "../core/base/errors.ts";
import { isNormalEnd } from "../core/base/stop-reason.ts";
import { ClaimedRun, type ClaimedRunHost, releaseWarning, type WorkOutcome } from "./claimed-run.ts";
import type { Sql } from "./database.ts";
import type { RunJob, RunRow } from "./durable-run.ts";
import { cancelledEnd, endIdle, overdueEnd } from "./run-journal.ts";
import { RunQueue, TOUCH_MS } from "./run-queue.ts";

export interface WorkerOptions extends ClaimedRunHost {
  readonly id: string;
  readonly queue: RunQueue;
  readonly version: string;
  readonly concurrency: number;
  readonly retentionMs: number;
  readonly onWarning: (message: string) => void;
  /** Called when a run has ended, waits, or is back in the queue. */
  readonly onSettled: (run: string) => void;
  readonly clock?: Clock;
}

type SettledOutcome = Exclude<WorkOutcome, { readonly type: "lost" }>;

/** Milliseconds between two looks into the queue: initially, and while it stays empty. */
const FIRST_POLL_MS = 250;
const LONGEST_POLL_MS = 1_000;
/** Milliseconds between checks for signals to the runs in progress. */
const SIGNAL_POLL_MS = 1_000;
const HEARTBEAT_MS = 5_000;
const IDLE_END_MS = 2_000;
const FORGET_MS = 60_000;
/** Delay for a second run that may crash its worker, while the first is waiting. */
const SUSPECT_RETRY_SECONDS = 2;
/** Seconds until a failed run is restarted. */
const RETRY_SECONDS = 5;
/** A hundred years: the database has no dates much further back. */
const FOREVER_MS = 100 * 365 * 86_400_000;
/** Seconds for which a run that may crash its worker blocks others, before its start and after it. */
const EXCLUSIVE_SECONDS = 60;

/** Takes runs from the queue and works on them, many at a time. */
export class Worker {
  readonly #options: WorkerOptions;
  readonly #clock: Clock;
  readonly #queues: readonly string[];
  readonly #claimed = new Map<string, ClaimedRun>();
  readonly #jobs = new Map<string, RunJob>();
  readonly #working = new Set<Promise<void>>();
  /** Aborted to stop taking runs; `#stop` then ends heartbeats and polling for those in progress. */
  readonly #closing = new AbortController();
  readonly #stop = new AbortController();
  /** The job of a run that may crash this worker: it waits until nothing else runs, or is running. */
  #suspect: RunJob | undefined;
  /** Nothing else is started until then. */
  #exclusiveUntil = 0;
  #taking: Promise<void> | undefined;
  #loops: readonly Promise<void>[] = [];
  #wake: () => void = () => undefined;
  #turn = 0;
  #hasWarned = false;

  constructor(options: WorkerOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#queues = RunQueue.queuesOf(Object.keys(options.agents), options.version);
  }

  async start(): Promise<void> {
    const { queue, runs, id, version, agents } = this.#options;
    for (const name of this.#queues) await queue.ensureQueue(name);
    // A previous process of an embedded database is dead: its leases need not expire first.
    if (runs.database.isEmbedded) await queue.revoke(await runs.handedOut());
    await runs.recordHeartbeat(id, version, Object.keys(agents));
    this.#taking = this.#takeRuns();
    this.#loops = [
      this.#every(TOUCH_MS, () => queue.touch([...this.#jobs.values()])),
      this.#every(SIGNAL_POLL_MS, () => this.#checkClaimed()),
      this.#every(HEARTBEAT_MS, () => runs.recordHeartbeat(id, version, Object.keys(agents))),
      this.#every(IDLE_END_MS, () => this.#endIdle()),
      this.#tolerate(() => this.#forget()),
      this.#every(FORGET_MS, () => this.#forget()),
    ];
  }

  poke(): void {
    this.#wake();
  }

  /** Takes nothing more and releases its runs. Resolves when all of them are back in the queue. */
  async close(graceMs: number): Promise<void> {
    const { runs, id } = this.#options;
    this.#closing.abort();
    this.#wake();
    await this.#taking;
    for (const held of this.#claimed.values()) held.releaseSoon(graceMs);
    // Their leases are renewed meanwhile.
    await Promise.all(this.#working);
    this.#stop.abort();
    await Promise.all(this.#loops);
    if (this.#suspect !== undefined) await this.#putBack(this.#suspect, 0).catch(this.#warn);
    await runs.removeWorker(id).catch(this.#warn);
  }

  get #isClosing(): boolean {
    return this.#closing.signal.aborted;
  }

  readonly #warn = (error: unknown): void => {
    this.#options.onWarning(`A worker could not reach its database: ${errorMessage(error)}`);
  };

  /** Removes expired runs. Also called at the start, since a worker may live for less than a minute. */
  async #forget(): Promise<void> {
    const { runs, retentionMs } = this.#options;
    if (retentionMs < FOREVER_MS) while (!this.#stop.signal.aborted && (await runs.forget(retentionMs)) > 0);
  }

  async #every(ms: number, work: () => Promise<void>): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await this.#clock.sleep(ms, signal).catch(() => undefined);
      if (!signal.aborted) await this.#tolerate(work);
    }
  }

  /** Warns once for a series of failures. */
  async #tolerate<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      const done = await work();
      this.#hasWarned = false;
      return done;
    } catch (error) {
      if (!this.#hasWarned) this.#warn(error);
      this.#hasWarned = true;
      return undefined;
    }
  }

  async #takeRuns(): Promise<void> {
    let waitMs = FIRST_POLL_MS;
    while (!this.#isClosing) {
      const found = (await this.#tolerate(() => this.#takeRound())) ?? 0;
      waitMs = found > 0 ? FIRST_POLL_MS : Math.min(LONGEST_POLL_MS, waitMs * 1.5);
      if (this.#isClosing || (found > 0 && this.#free > 0)) continue;
      const woken = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      const rest = new AbortController();
      await Promise.race([woken, this.#clock.sleep(waitMs, rest.signal).catch(() => undefined)]);
      rest.abort();
    }
  }

  /** Number of runs that may be started in addition to those in progress. */
  get #free(): number {
    if (this.#suspect !== undefined && this.#clock.elapsed() < this.#exclusiveUntil) return 0;
    return this.#options.concurrency - this.#claimed.size;
  }

  /** Looks into every queue once, in turns, so that no agent keeps the others waiting. */
  async #takeRound(): Promise<number> {
    if (this.#suspect !== undefined && !this.#claimed.has(this.#suspect.run))
      await this.#trySuspect(this.#suspect);
    let found = 0;
    const count = this.#queues.length;
    for (let at = 0; at < count && !this.#isClosing; at++) {
      const free = this.#free;
      if (free <= 0) break;
      const name = this.#queues[(this.#turn + at) % count];
      if (name === undefined) break;
      const jobs = await this.#options.queue.take(name, Math.max(1, Math.ceil(free / (count - at))));
      found += jobs.length;
      for (const job of jobs) this.#jobs.set(job.id, job);
      for (const job of jobs) await this.#begin(job).catch((error: unknown) => this.#abandonJob(job, error));
    }
    this.#turn = (this.#turn + 2) % Math.max(1, count);
    return found;
  }

  async #begin(job: RunJob): Promise<void> {
    if (await this.#isHeld(job)) return;
    if (this.#isClosing) return this.#putBack(job, 0);
    const row = await this.#claim(job, false);
    if (row === undefined || row.state === "working") return;
    const begun = startedVersion(row);
    if (begun !== null && begun !== this.#options.version) return this.#putBack(job, 0);
    if (this.#suspect !== undefined) return this.#putBack(job, SUSPECT_RETRY_SECONDS);
    this.#suspect = job;
    this.#reserveWorker();
  }

  /** Starts it when nothing else runs. After a while, other runs go first. */
  async #trySuspect(job: RunJob): Promise<void> {
    if (this.#claimed.size === 0) {
      this.#reserveWorker();
      await this.#claim(job, true);
      if (this.#claimed.has(job.run)) return;
    } else if (this.#clock.elapsed() < this.#exclusiveUntil) return;
    else await this.#putBack(job, EXCLUSIVE_SECONDS);
    this.#suspect = undefined;
  }

  #reserveWorker(): void {
    this.#exclusiveUntil = this.#clock.elapsed() + EXCLUSIVE_SECONDS * 1_000;
  }

  /** Works on the run of a job if this worker gets it. Finishes the job if the run is over. */
  async #claim(job: RunJob, isAlone: boolean): Promise<RunRow | undefined> {
    const { runs, id: worker, version } = this.#options;
    const row = await runs.claim(job.run, { job, worker, version, isAlone });
    if (row === undefined) await this.#done(job);
    else if (row.state === "working") this.#startWork(job, row);
    return row;
  }

  /**
   * True if the run of this job is in progress here: its lease expired while the database was gone or this
   * process stood still, and no other worker took the run. The work continues under the new lease.
   */
  async #isHeld(job: RunJob): Promise<boolean> {
    const held = this.#claimed.get(job.run);
    if (held === undefined) return false;
    const row = await this.#options.runs.find(job.run);
    const isSame = row?.epoch === held.row.epoch && row.job === held.row.job && row.job === job.id;
    return isSame && row.state === "working";
  }

  /** Returns a job that could not be started, since its lease is no longer renewed. */
  async #abandonJob(job: RunJob, error: unknown): Promise<void> {
    if (!this.#hasWarned) this.#warn(error);
    this.#hasWarned = true;
    if (this.#claimed.has(job.run)) this.#jobs.delete(job.id);
    else await this.#putBack(job, 0).catch(() => this.#jobs.delete(job.id));
  }

  #startWork(job: RunJob, row: RunRow): void {
    const held = new ClaimedRun(this.#options, row);
    this.#claimed.get(row.id)?.drop();
    this.#claimed.set(row.id, held);
    const working = this.#workOn(job, held).finally(() => this.#working.delete(working));
    this.#working.add(working);
  }

  async #workOn(job: RunJob, held: ClaimedRun): Promise<void> {
    const { row } = held;
    const { onSettled, onWarning, withRetry } = this.#options;
    const outcome = await held.work();
    try {
      if (outcome.type === "lost") {
        if (!this.#isClosing) onWarning(releaseWarning(row.id, outcome.error));
      } else await withRetry(() => this.#settle(this.#jobs.get(job.id) ?? job, row, outcome));
    } catch (error) {
      onWarning(releaseWarning(row.id, error));
    } finally {
      if (this.#claimed.get(row.id) === held) this.#claimed.delete(row.id);
      if (this.#claimed.get(row.id)?.row.job !== job.id) this.#jobs.delete(job.id);
      if (this.#suspect === job) this.#suspect = undefined;
      onSettled(row.id);
      this.poke();
    }
  }

  /** Stores how the work on a run came to an end, unless another worker has taken it. */
  async #settle(job: RunJob, { id, epoch }: RunRow, outcome: SettledOutcome): Promise<void> {
    const { runs, queue, version } = this.#options;
    await queue.prepare([{ agent: agentOf(job), version }]);
    await runs.database.transaction(async (sql) => {
      const row = await runs.lock(id, sql);
      if (row?.epoch !== epoch || row.state !== "working") return;
      if ("end" in outcome && outcome.end !== undefined) await runs.append(outcome.end, sql);
      const next = await this.#nextOf(row, outcome, sql);
      if (next !== "ended") {
        await runs.requeue(sql, id, row.version);
        await queue.add(sql, [{ ...row, version: startedVersion(row) }], next);
      }
      await queue.finish(job, sql);
    });
  }

  /** Parks or ends a run, or returns the seconds until it must be taken up again. */
  async #nextOf(row: RunRow, outcome: SettledOutcome, sql: Sql): Promise<"ended" | number> {
    const { runs } = this.#options;
    if (outcome.type === "released") {
      // Released by this worker: that is not a crash.
      await runs.resetLosses(sql, row.id);
      return 0;
    }
    const sent = await runs.waitingSignals(row.id, sql);
    if (outcome.type === "waiting") {
      if (sent.some(({ kind }) => kind !== "steer")) return 0;
      await runs.park(sql, row.id, outcome.pending);
      return "ended";
    }
    const { report } = outcome;
    // A message sent in time always gets an answer, unless the run was stopped.
    if (isNormalEnd(report.stopReason) && sent.some(({ kind }) => kind === "steer")) return 0;
    if (report.error?.retryable === true && row.retries > 0) {
      await runs.countRetry(sql, row.id);
      return RETRY_SECONDS;
    }
    await runs.end(sql, row.id, report);
    return "ended";
  }

  async #putBack(job: RunJob, inSeconds: number): Promise<void> {
    const { runs, queue, id } = this.#options;
    const found = await runs.find(job.run);
    if (found !== undefined) await queue.prepare([{ ...found, version: startedVersion(found) }]);
    await runs.database.transaction(async (sql) => {
      const row = await runs.lock(job.run, sql);
      // Another worker that has taken the run must not lose it.
      if (!(await runs.isHandedOut(job, sql))) return;
      await queue.finish(job, sql);
      if (row?.job !== job.id || row.state === "ended") return;
      // Claimed by this worker, but the confirmation was lost: no worker crashed.
      if (row.state === "working" && row.worker === id && !this.#claimed.has(row.id))
        await runs.requeue(sql, row.id, row.version);
      await queue.add(sql, [{ ...row, version: startedVersion(row) }], inSeconds);
    });
    this.#jobs.delete(job.id);
  }

  async #done(job: RunJob): Promise<void> {
    await this.#options.queue.finish(job);
    this.#jobs.delete(job.id);
  }

  async #checkClaimed(): Promise<void> {
    const ids = [...this.#claimed.keys()];
    if (ids.length === 0) return;
    const rows = new Map((await this.#options.runs.viewsOf(ids)).map((row) => [row.id, row]));
    for (const [id, held] of this.#claimed) {
      const row = rows.get(id);
      if (!ids.includes(id)) continue;
      if (row === undefined || row.epoch !== held.row.epoch) held.drop();
      else await held.receiveSignals(row.signals);
    }
  }

  async #endIdle(): Promise<void> {
    const { runs, onSettled } = this.#options;
    for (const { id, epoch, cancel } of await runs.idleEnds()) {
      const end = ({ deadline }: RunRow) =>
        cancel === null ? overdueEnd(deadline ?? Date.now()) : cancelledEnd(cancel);
      await runs.database.transaction(async (sql) => {
        const row = await runs.lock(id, sql);
        if (row?.epoch === epoch) await endIdle(runs, sql, id, end);
      });
      onSettled(id);
    }
  }
}

function agentOf({ queue }: RunJob): string {
  return queue.split("/", 1)[0] ?? queue;
}

function startedVersion({ seq, version }: RunRow): string | null {
  return seq > 0 ? version : null;
}
