import type { PendingCall } from "../core/agent/result.ts";
import { NanoAgentError } from "../core/base/errors.ts";
import { isNormalEnd } from "../core/base/stop-reason.ts";
import { storableJson } from "../session/record.ts";
import type { Database, Sql } from "./database.ts";
import {
  type DurableState,
  RUN_COLUMNS,
  type RunJob,
  type RunRow,
  type StoredReport,
} from "./durable-run.ts";
import { queueSchema } from "./run-tables.ts";

export interface NewRun {
  readonly id: string;
  readonly agent: string;
  readonly priority: number;
  readonly deadline: number | null;
  readonly input: string;
  readonly budget: string | null;
  readonly retries: number;
}

export interface RunClaim {
  /** An older job of the same run, or an expired lease, is refused. */
  readonly job: RunJob;
  readonly worker: string;
  readonly version: string;
  /** True for a worker without other runs: it also takes runs that may crash it. */
  readonly isAlone?: boolean;
}

export interface Signal {
  readonly id: string;
  /** Increases in the order of sending. */
  readonly number: number;
  readonly kind: "approve" | "answer" | "steer" | "cancel";
  readonly call: string | null;
  /** JSON of the content. */
  readonly data: string;
}

export interface RunFilter {
  readonly state?: DurableState | undefined;
  readonly agent?: string | undefined;
  /** Maximum number, newest first. */
  readonly limit: number;
  /** Id of the run after which the list begins. */
  readonly before?: string | undefined;
}

export interface EntryBatch {
  readonly run: string;
  readonly epoch: number;
  /** Number of the entry before the first one. */
  readonly after: number;
  readonly ids: readonly string[];
  /** Their records: lines of a session file. */
  readonly records: readonly string[];
  /** True if the run makes progress with them. */
  readonly isProgress: boolean;
  /** Numbers of the signals that reached the conversation with them. */
  readonly took: readonly number[];
}

export interface StoredRecord {
  readonly seq: number;
  readonly record: string;
}

/** After this many worker crashes without progress, a run runs alone. */
const LOSSES_BEFORE_ISOLATION = 2;
/** After this many, it is not started again. */
export const MAX_LOSSES = 5;

/** The condition for a live worker, which reports every few seconds. */
const IS_ALIVE = "w.seen_at > now() - interval '20 seconds'";

/** The part of a row that changes while a run is in progress. */
export type RunView = Pick<RunRow, "id" | "state" | "seq" | "epoch" | "signals">;

export interface IdleEnd extends Pick<RunRow, "id" | "epoch"> {
  /** JSON of the reason of a cancel not yet received. */
  readonly cancel: string | null;
}

export class RunStore {
  readonly database: Database;
  readonly schema: string;

  constructor(database: Database, schema: string) {
    this.database = database;
    this.schema = schema;
  }

  async add(sql: Sql, runs: readonly NewRun[]): Promise<ReadonlySet<string>> {
    if (runs.length === 0) return new Set();
    const columns = [
      runs.map(({ id }) => id),
      runs.map(({ agent }) => agent),
      runs.map(({ priority }) => priority),
      runs.map(({ deadline }) => (deadline === null ? null : new Date(deadline).toISOString())),
      runs.map(({ input }) => input),
      runs.map(({ budget }) => budget),
      runs.map(({ retries }) => retries),
    ];
    const added = await sql.query<{ readonly id: string }>(
      `insert into ${this.schema}.runs (id, agent, state, priority, deadline, input, budget, retries)
       select n.id, n.agent, 'queued', n.priority, n.deadline::timestamptz, n.input, n.budget, n.retries
       from unnest($1::text[], $2::text[], $3::int[], $4::text[], $5::text[], $6::text[], $7::int[])
         as n(id, agent, priority, deadline, input, budget, retries)
       order by n.id on conflict (id) do nothing returning id`,
      columns,
    );
    return new Set(added.map(({ id }) => id));
  }

  async find(id: string, sql: Sql = this.database): Promise<RunRow | undefined> {
    const [row] = await sql.query<RunRow>(`select ${RUN_COLUMNS} from ${this.schema}.runs where id = $1`, [
      id,
    ]);
    return row;
  }

  /** The row, locked until the transaction ends. */
  async lock(id: string, sql: Sql): Promise<RunRow | undefined> {
    const [row] = await sql.query<RunRow>(
      `select ${RUN_COLUMNS} from ${this.schema}.runs where id = $1 for update`,
      [id],
    );
    return row;
  }

  async list({ state, agent, limit, before }: RunFilter): Promise<readonly RunRow[]> {
    return this.database.query<RunRow>(
      `select ${RUN_COLUMNS} from ${this.schema}.runs
       where ($1::text is null or state = $1) and ($2::text is null or agent = $2)
         and ($3::text is null or (created_at, id) < (select created_at, id from ${this.schema}.runs where id = $3))
       order by created_at desc, id desc limit $4`,
      [state ?? null, agent ?? null, before ?? null, limit],
    );
  }

  /**
   * Gives a run to the worker that has its job. If it began with another version, or may crash a worker that
   * is not alone, it is queued instead, as its `state` shows. Undefined if the run has ended or its job was
   * reassigned. If a worker still held the run, that worker counts as lost.
   */
  async claim(id: string, { job, worker, version, isAlone = false }: RunClaim): Promise<RunRow | undefined> {
    const isLost = "state = 'working'";
    const losses = `losses + (${isLost})::int`;
    const isGiven = `(seq = 0 or version is null or version = $3) and ($7 or ${losses} < ${LOSSES_BEFORE_ISOLATION})`;
    const isChanged = `(${isLost} or ${isGiven})`;
    const [row] = await this.database.query<RunRow>(
      `update ${this.schema}.runs set epoch = epoch + ${isChanged}::int, losses = ${losses}, pending = null,
         state = case when ${isGiven} then 'working' else 'queued' end,
         worker = case when ${isGiven} then $2 end,
         version = case when ${isGiven} then $3 else version end,
         changed_at = case when ${isChanged} then now() else changed_at end
       where id = $1 and job = $4 and state <> 'ended' and exists (${this.#handedOut("$4::text::uuid, $5, $6")})
       returning ${RUN_COLUMNS}`,
      [id, worker, version, job.id, job.queue, job.attempt, isAlone],
    );
    return row;
  }

  /** True if a job was not handed out again; locks it until the transaction ends. */
  async isHandedOut({ id, queue, attempt }: RunJob, sql: Sql): Promise<boolean> {
    const found = await sql.query(`${this.#handedOut("$1::uuid, $2, $3")} for update`, [id, queue, attempt]);
    return found.length > 0;
  }

  /** The job with an id, a queue and an attempt, as long as this attempt still holds it. */
  #handedOut(given: string): string {
    return `select from ${queueSchema(this.schema)}.job j where j.state = 'active'
      and (j.id, j.name, j.retry_count) = (${given})`;
  }

  /** The condition for a run without a worker. Includes runs of dead workers that are not handed out yet. */
  get #isIdle(): string {
    return `(state in ('queued', 'waiting') or state = 'working' and not exists (
      select from ${this.schema}.workers w where w.id = worker and ${IS_ALIVE}))`;
  }

  /** Claims a run that no worker holds, to end it or to have it handed out again. */
  async claimIdle(id: string, sql: Sql): Promise<RunRow | undefined> {
    const [row] = await sql.query<RunRow>(
      `update ${this.schema}.runs set epoch = epoch + 1, worker = null, state = 'working', changed_at = now()
       where id = $1 and ${this.#isIdle} returning ${RUN_COLUMNS}`,
      [id],
    );
    return row;
  }

  async requeue(sql: Sql, id: string, version: string | null): Promise<void> {
    await sql.query(
      `update ${this.schema}.runs set state = 'queued', worker = null, pending = null, report = null,
         ended_at = null, version = $2, changed_at = now() where id = $1`,
      [id, version],
    );
  }

  async park(sql: Sql, id: string, pending: readonly PendingCall[]): Promise<void> {
    await sql.query(
      `update ${this.schema}.runs set state = 'waiting', worker = null, losses = 0, pending = $2,
         changed_at = now() where id = $1`,
      [id, JSON.stringify(pending)],
    );
  }

  async end(sql: Sql, id: string, report: StoredReport): Promise<void> {
    await sql.query(
      `update ${this.schema}.runs set state = 'ended', worker = null, pending = null, report = $2,
         changed_at = now(), ended_at = now() where id = $1`,
      // The output of a tool that ends a run may be anything.
      [id, storableJson(report)],
    );
    // Messages stay for a retry. Answers do not: their calls have ended with the run.
    const isOver = isNormalEnd(report.stopReason);
    await sql.query(
      `update ${this.schema}.signals set taken = true
       where run = $1 and not taken and ($2 or kind <> 'steer')`,
      [id, isOver],
    );
  }

  async assign(sql: Sql, ids: readonly string[], jobs: readonly string[]): Promise<void> {
    await sql.query(
      `update ${this.schema}.runs set job = j.job
       from unnest($1::text[], $2::text[]) as j(id, job) where runs.id = j.id`,
      [ids, jobs],
    );
  }

  async countRetry(sql: Sql, id: string): Promise<void> {
    await sql.query(`update ${this.schema}.runs set retries = retries - 1 where id = $1`, [id]);
  }

  async resetLosses(sql: Sql, id: string): Promise<void> {
    await sql.query(`update ${this.schema}.runs set losses = 0 where id = $1`, [id]);
  }

  /** Sends a signal to a run; the same id is the same signal. */
  async signal(sql: Sql, run: string, signal: Omit<Signal, "number">): Promise<void> {
    await sql.query(
      `with sent as (
         insert into ${this.schema}.signals (id, run, kind, call, data) values ($1, $2, $3, $4, $5)
         on conflict (id) do nothing returning run
       ) update ${this.schema}.runs set signals = signals + 1 where id in (select run from sent)`,
      // As JSON: the model chooses call ids, and a database does not accept every string.
      [signal.id, run, signal.kind, signal.call === null ? null : JSON.stringify(signal.call), signal.data],
    );
  }

  /** True if a signal was sent. */
  async hasSignal(sql: Sql, id: string): Promise<boolean> {
    return (await sql.query(`select from ${this.schema}.signals where id = $1`, [id])).length > 0;
  }

  /** The signals to a run that have not reached its conversation, in order. */
  async waitingSignals(run: string, sql: Sql = this.database): Promise<readonly Signal[]> {
    const rows = await sql.query<Signal>(
      `select id, number::float8 as number, kind, call, data from ${this.schema}.signals
       where run = $1 and not taken order by number`,
      [run],
    );
    return rows.map(({ call, ...row }) => ({
      ...row,
      call: call === null ? null : (JSON.parse(call) as string),
    }));
  }

  /** Marks signals that will never reach the conversation, unless another worker has taken the run. */
  async dropSignals({ id, epoch }: RunRow, numbers: readonly number[]): Promise<void> {
    if (numbers.length === 0) return;
    await this.database.query(
      `with held as (
         select id from ${this.schema}.runs where id = $1 and epoch = $2 and state = 'working' for share
       ) update ${this.schema}.signals set taken = true
       where number = any($3::bigint[]) and run in (select id from held)`,
      [id, epoch, numbers],
    );
  }

  async viewsOf(ids: readonly string[]): Promise<readonly RunView[]> {
    return this.database.query(
      `select id, state, seq::float8 as seq, epoch::float8 as epoch, signals::float8 as signals
       from ${this.schema}.runs where id = any($1::text[])`,
      [ids],
    );
  }

  /** The jobs of runs that workers hold, or held when they died. */
  async handedOut(): Promise<readonly (Pick<RunRow, "agent" | "version"> & { readonly job: string })[]> {
    return this.database.query(
      `select agent, version, job from ${this.schema}.runs where state = 'working' and job is not null`,
    );
  }

  /** Runs without a worker, with an expired deadline or a cancel not yet received. */
  async idleEnds(): Promise<readonly IdleEnd[]> {
    return this.database.query<IdleEnd>(
      `select id, epoch::float8 as epoch, null as cancel from ${this.schema}.runs
       where ended_at is null and deadline < now() and ${this.#isIdle}
       union all
       select r.id, r.epoch::float8, s.data from ${this.schema}.runs r
       join ${this.schema}.signals s on s.run = r.id and s.kind = 'cancel' and not s.taken
       where r.ended_at is null and ${this.#isIdle} limit 100`,
    );
  }

  /** Removes up to 500 runs that ended longer ago than this. Resolves to the number removed. */
  async forget(retentionMs: number): Promise<number> {
    return this.database.transaction(async (sql) => {
      const rows = await sql.query<{ readonly id: string }>(
        `delete from ${this.schema}.runs where id in (
           select id from ${this.schema}.runs where ended_at < now() - $1 * interval '1 millisecond' limit 500
           for update skip locked
         ) returning id`,
        [retentionMs],
      );
      const ids = [rows.map(({ id }) => id)];
      if (rows.length > 0) {
        await sql.query(`delete from ${this.schema}.entries where run = any($1::text[])`, ids);
        await sql.query(`delete from ${this.schema}.signals where run = any($1::text[])`, ids);
      }
      return rows.length;
    });
  }

  async recordHeartbeat(worker: string, version: string, agents: readonly string[]): Promise<void> {
    await this.database.query(
      `insert into ${this.schema}.workers values ($1, $2, $3, now())
       on conflict (id) do update set seen_at = now()`,
      [worker, version, agents],
    );
    await this.database.query(`delete from ${this.schema}.workers where seen_at < now() - interval '1 hour'`);
  }

  async agentsOfWorkers(): Promise<readonly string[]> {
    const rows = await this.database.query<{ readonly agent: string }>(
      `select distinct unnest(agents) as agent from ${this.schema}.workers w where ${IS_ALIVE}`,
    );
    return rows.map(({ agent }) => agent);
  }

  async findOtherAgents(
    agent: string,
    ids: readonly string[],
  ): Promise<readonly Pick<RunRow, "id" | "agent">[]> {
    return this.database.query(
      `select id, agent from ${this.schema}.runs where id = any($1::text[]) and agent <> $2 limit 1`,
      [ids, agent],
    );
  }

  async removeWorker(worker: string): Promise<void> {
    await this.database.query(`delete from ${this.schema}.workers where id = $1`, [worker]);
  }

  /** Selects the runs that began with a version that no worker of their agent has. */
  async findStranded(ids: readonly string[]): Promise<readonly Pick<RunRow, "id" | "version" | "agent">[]> {
    return this.database.query(
      `select id, version, agent from ${this.schema}.runs r
       where id = any($1::text[]) and state <> 'waiting' and ${this.#isIdle} and seq > 0
         and version is not null and changed_at < now() - interval '5 seconds'
         and exists (select from ${this.schema}.workers w where ${IS_ALIVE} and r.agent = any(w.agents))
         and not exists (select from ${this.schema}.workers w
           where w.version = r.version and ${IS_ALIVE} and r.agent = any(w.agents))`,
      [ids],
    );
  }

  /**
   * Stores entries after the existing ones, all or none. Resolves to the number of signals sent to the run so
   * far. Rejects with `journal` if another worker has taken the run over.
   */
  async append(batch: EntryBatch, sql: Sql = this.database): Promise<number> {
    const { run, epoch, after, ids, records, isProgress, took } = batch;
    const [held] = await sql.query<{ readonly signals: number }>(
      `with held as (
         update ${this.schema}.runs set seq = seq + $4, newest = $5, changed_at = now(),
           losses = case when $6 then 0 else losses end
         where id = $1 and epoch = $2 and seq = $3 and state = 'working' returning signals
       ), added as (
         insert into ${this.schema}.entries (run, seq, epoch, id, record)
         select $1, $3 + e.at, $2, e.id, e.record
         from unnest($7::text[], $8::text[]) with ordinality as e(id, record, at) where exists (select from held)
       ), took as (
         update ${this.schema}.signals set taken = true
         where run = $1 and number = any($9::bigint[]) and exists (select from held)
       ) select signals::float8 as signals from held`,
      [run, epoch, after, ids.length, ids.at(-1), isProgress, ids, records, took],
    );
    if (held !== undefined) return held.signals;
    if (await this.#isStored(batch, sql)) return 0;
    throw new NanoAgentError(
      "journal",
      `Another worker has taken over the run ${run}, so nothing more of this one is recorded.`,
      { details: { run, epoch, reason: "taken_over" } },
    );
  }

  async records(run: string, after = 0, sql: Sql = this.database): Promise<readonly StoredRecord[]> {
    return sql.query<StoredRecord>(
      `select seq::float8 as seq, record from ${this.schema}.entries where run = $1 and seq > $2 order by seq`,
      [run, after],
    );
  }

  async numberOf(run: string, id: string): Promise<number | undefined> {
    const [row] = await this.database.query<{ readonly seq: number }>(
      `select seq::float8 as seq from ${this.schema}.entries where run = $1 and id = $2`,
      [run, id],
    );
    return row?.seq;
  }

  /** True if a connection broke after the commit, not before it. */
  async #isStored({ run, after, ids }: EntryBatch, sql: Sql): Promise<boolean> {
    const rows = await sql.query<{ readonly id: string }>(
      `select id from ${this.schema}.entries where run = $1 and seq > $2 order by seq limit $3`,
      [run, after, ids.length],
    );
    return rows.length === ids.length && rows.every(({ id }, at) => id === ids[at]);
  }
}
