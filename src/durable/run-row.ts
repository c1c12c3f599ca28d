import type { PendingCall, RunReport } from "../core/agent/result.ts";
import type { RecordedError } from "../core/base/errors.ts";
import type { StopReason } from "../core/base/stop-reason.ts";
import type { DurableState, RunStatus } from "./durable-run.ts";

/** A run as its row has it. Times are milliseconds since the epoch. */
export interface RunRow {
  readonly id: string;
  readonly agent: string;
  readonly version: string | null;
  readonly state: DurableState;
  readonly priority: number;
  readonly deadline: number | null;
  /** JSON of its first messages. */
  readonly input: string;
  /** JSON of its budget. */
  readonly budget: string | null;
  /** Counts the workers that have held it: entries of an older one are refused. */
  readonly epoch: number;
  readonly worker: string | null;
  /** Id of the job that hands it out. */
  readonly job: string | null;
  /** Number of its newest entry, from 1. */
  readonly seq: number;
  /** Id of its newest entry. */
  readonly newest: string | null;
  readonly losses: number;
  /** Counts what was sent to it. */
  readonly signals: number;
  /** Times it may still be begun again by itself. */
  readonly retries: number;
  /** JSON of the calls it waits for. */
  readonly pending: string | null;
  /** JSON of how it ended. */
  readonly report: string | null;
  readonly created: number;
  readonly changed: number;
  readonly ended: number | null;
}

/** The ending of a run as it is kept: its result without the conversation, which stands in the journal. */
export interface StoredReport extends Omit<RunReport, "messages" | "pending" | "sessionId"> {
  readonly stopReason: StopReason;
  readonly output?: unknown;
  readonly error?: RecordedError;
}

/** The columns of a {@link RunRow}. */
export const RUN_COLUMNS: string = [
  "id, agent, version, state, priority",
  "input, budget, epoch::float8 as epoch, worker, job, seq::float8 as seq, newest, losses",
  "signals::float8 as signals, retries, pending, report",
  ...(
    [
      ["deadline", "deadline"],
      ["created_at", "created"],
      ["changed_at", "changed"],
      ["ended_at", "ended"],
    ] as const
  ).map(([column, name]) => `(extract(epoch from ${column}) * 1000)::float8 as ${name}`),
].join(", ");

/** The calls a row says a run waits for. */
export function pendingOf({ state, pending }: RunRow): readonly PendingCall[] {
  return state === "waiting" && pending !== null ? (JSON.parse(pending) as readonly PendingCall[]) : [];
}

/** The ending a row has. */
export function reportOf({ report }: RunRow): StoredReport | undefined {
  return report === null ? undefined : (JSON.parse(report) as StoredReport);
}

/** A row as people see it. */
export function statusOf(row: RunRow): RunStatus {
  const report = reportOf(row);
  return {
    id: row.id,
    agent: row.agent,
    state: row.state,
    ...(row.version !== null && row.seq > 0 && { version: row.version }),
    priority: row.priority,
    ...(row.deadline !== null && { deadline: row.deadline }),
    entries: row.seq,
    ...(row.worker !== null && { worker: row.worker }),
    losses: row.losses,
    pending: pendingOf(row),
    ...(report !== undefined && { stopReason: report.stopReason }),
    ...(report?.error !== undefined && { error: report.error.message }),
    createdAt: row.created,
    changedAt: row.changed,
    ...(row.ended !== null && { endedAt: row.ended }),
  };
}
