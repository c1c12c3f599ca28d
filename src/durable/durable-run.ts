import type { Agent } from "../agent/agent.ts";
import type { AgentOptions } from "../agent/options.ts";
import type { JournalEntry } from "../core/agent/entries.ts";
import type { ApprovalAnswer } from "../core/agent/ports.ts";
import type { PendingCall, RunReport, RunResult } from "../core/agent/result.ts";
import type { RecordedError } from "../core/base/errors.ts";
import type { StopReason } from "../core/base/stop-reason.ts";
import type { UserBlock } from "../core/message/message.ts";
import type { Budget } from "../core/model/budget.ts";

/** `queued`: for a worker · `working` · `waiting`: for a person or an outside answer · `ended`. */
export type DurableState = "queued" | "working" | "waiting" | "ended";

/** Snapshot of a run in the database. */
export interface RunStatus {
  readonly id: string;
  readonly agent: string;
  readonly state: DurableState;
  /** Version of the code it began with; absent before. */
  readonly version?: string;
  readonly priority: number;
  /** Milliseconds since the epoch, like the other times. */
  readonly deadline?: number;
  /** Number of entries in its journal. */
  readonly entries: number;
  /** The worker that holds it. */
  readonly worker?: string;
  /** Workers lost with it since its last progress. */
  readonly losses: number;
  /** The calls it waits for, if `state` is `waiting`. */
  readonly pending: readonly PendingCall[];
  /** How it ended, if `state` is `ended`. */
  readonly stopReason?: StopReason;
  /** The message of its error, if `stopReason` is `error`. */
  readonly error?: string;
  readonly createdAt: number;
  readonly changedAt: number;
  readonly endedAt?: number;
}

/** A run on any machine. */
export interface DurableRun {
  readonly id: string;
  /**
   * The result, once it has ended; waiting for somebody is not an end. Rejects with `invalid_argument` if
   * there is no such run, with `invalid_config` if no worker has its version, with `aborted` if the fleet is
   * closed first.
   */
  result(): Promise<RunResult>;
  /** Its current status. */
  status(): Promise<RunStatus>;
  /** The entries of its journal as they are stored, from the one after `after` (an id) to its end. */
  events(options?: { readonly after?: string; readonly signal?: AbortSignal }): AsyncIterable<JournalEntry>;
  /** Answers a call that waits for approval. Rejects with `invalid_argument` if it does not. */
  approve(callId: string, choice: Exclude<ApprovalAnswer, "later">): Promise<void>;
  /**
   * Gives the result of a call to a tool without `execute`: text, or any JSON value. Rejects as {@link
   * DurableRun.approve} does.
   */
  answer(callId: string, value: unknown): Promise<void>;
  /** Sends a message to the model with its next request. Rejects with `invalid_argument` after the end. */
  steer(message: string | readonly UserBlock[]): Promise<void>;
  /** Ends it with `aborted`, wherever it is. Does nothing after its end. */
  cancel(reason?: string): Promise<void>;
  /** Continues a failed run, or one without a worker of its version, with the current code. */
  retry(): Promise<void>;
  /** Writes a session file, which must not exist yet. */
  export(path: string): Promise<void>;
}

/** Options that the fleet gives to an agent; they come last: `new Agent({ model, tools, ...host })`. */
export type HostOptions = Required<Pick<AgentOptions, "journal" | "openCalls" | "onAsk" | "wrapModel">> &
  Pick<AgentOptions, "budget">;

/** The run an agent is made for. */
export interface RunInfo {
  readonly id: string;
  /** Name of the agent. */
  readonly agent: string;
}

/** Makes the agent of a run, each time a worker takes the run up, using only its arguments. */
export type DurableAgent = (host: HostOptions, run: RunInfo) => Agent | Promise<Agent>;

/** Model requests over all workers: at most `requests` in any period of `perMs` milliseconds. */
export interface RateLimit {
  readonly requests: number;
  readonly perMs: number;
}

/** Options of {@link createFleet}. */
export interface FleetOptions {
  /** Functions that make agents, by name. Runs of other agents are left to other workers. Default: none. */
  readonly agents?: { readonly [name: string]: DurableAgent };
  /** `postgres://…`. Default: embedded, one process at a time; needs `@electric-sql/pglite`. */
  readonly databaseUrl?: string;
  /** Folder of the embedded database. Default: in memory, gone with the process. */
  readonly dataDir?: string;
  /** PostgreSQL schema of the tables; the queue's is called the same with `_queue`. Default `nano_agent`. */
  readonly schema?: string;
  /** Maximum number of runs in progress in this process; 0: it only starts and watches runs. Default 50. */
  readonly concurrency?: number;
  /** Limits by provider, e.g. `{ anthropic: { requests: 50, perMs: 60_000 } }`. Default: none. */
  readonly rateLimits?: { readonly [provider: string]: RateLimit };
  /** Names the code. A run that has begun is only continued by workers of its version. Default `"1"`. */
  readonly version?: string;
  /** Milliseconds that an ended run is kept; `Infinity`: forever. Default 30 days. */
  readonly retentionMs?: number;
  /** Milliseconds that `close()` waits for tool calls still running. Default 10,000. */
  readonly closeGraceMs?: number;
  /** Called with problems that are being retried, such as a lost connection. Default: ignored. */
  readonly onWarning?: (message: string) => void;
}

/** Options for starting a run. */
export interface StartRunOptions {
  /** The same id means the same run, no matter who starts it and how often. Default: a new id. */
  readonly id?: string;
  /** Higher ones go first. Default 0. */
  readonly priority?: number;
  /** Time limit: after it the run ends with `budget`, limit `wall_time`. Default: none. */
  readonly deadline?: Date | number;
  /** Limits of this run, over all workers that work on it. Default: those of its agent. */
  readonly budget?: Budget;
  /** Number of automatic restarts after temporary errors. Default 0. */
  readonly retries?: number;
}

/** A run as stored in its row. Times are milliseconds since the epoch. */
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
  /** Counts the workers that have held it: entries of an earlier one are refused. */
  readonly epoch: number;
  readonly worker: string | null;
  readonly job: string | null;
  /** Number of its newest entry, from 1. */
  readonly seq: number;
  readonly newest: string | null;
  readonly losses: number;
  /** Counts the signals sent to it. */
  readonly signals: number;
  /** Remaining automatic restarts. */
  readonly retries: number;
  /** JSON of the calls it waits for. */
  readonly pending: string | null;
  /** JSON of its ending. */
  readonly report: string | null;
  readonly created: number;
  readonly changed: number;
  readonly ended: number | null;
}

/** The stored ending of a run: its result without the conversation, which is in the journal. */
export interface StoredReport extends Omit<RunReport, "messages" | "pending" | "sessionId"> {
  readonly stopReason: StopReason;
  readonly output?: unknown;
  readonly error?: RecordedError;
}

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

function pendingOf({ state, pending }: RunRow): readonly PendingCall[] {
  return state === "waiting" && pending !== null ? (JSON.parse(pending) as readonly PendingCall[]) : [];
}

export function reportOf({ report }: RunRow): StoredReport | undefined {
  return report === null ? undefined : (JSON.parse(report) as StoredReport);
}

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

export interface RunJob {
  readonly id: string;
  readonly queue: string;
  readonly run: string;
  /** Counts how often it was handed out. */
  readonly attempt: number;
}
