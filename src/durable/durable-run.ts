import type { Agent } from "../agent/agent.ts";
import type { AgentOptions } from "../agent/options.ts";
import type { JournalEntry } from "../core/agent/entries.ts";
import type { ApprovalAnswer } from "../core/agent/ports.ts";
import type { PendingCall, RunReport, RunResult } from "../core/agent/result.ts";
import type { RecordedError } from "../core/base/errors.ts";
import type { StopReason } from "../core/base/stop-reason.ts";
import type { UserBlock } from "../core/message/message.ts";
import type { Budget } from "../core/model/budget.ts";

/** `queued`: for a worker · `working` · `waiting`: for a person or an answer from outside · `ended`. */
export type DurableState = "queued" | "working" | "waiting" | "ended";

/** A run as the database has it at one moment. */
export interface RunStatus {
  readonly id: string;
  readonly agent: string;
  readonly state: DurableState;
  /** Of the code it has begun with; absent before. */
  readonly version?: string;
  readonly priority: number;
  /** Milliseconds since the epoch, as the other times. */
  readonly deadline?: number;
  /** Entries of its journal. */
  readonly entries: number;
  /** The worker that holds it. */
  readonly worker?: string;
  /** Workers that were lost with it since it last came further. */
  readonly losses: number;
  /** The calls it waits for, when `state` is `waiting`. */
  readonly pending: readonly PendingCall[];
  /** How it ended, when `state` is `ended`. */
  readonly stopReason?: StopReason;
  /** The message of its error, when `stopReason` is `error`. */
  readonly error?: string;
  readonly createdAt: number;
  readonly changedAt: number;
  readonly endedAt?: number;
}

/** A run on whatever machine. */
export interface DurableRun {
  readonly id: string;
  /**
   * The result, once it has ended; a run that waits for somebody has not. Rejects with `invalid_argument`
   * where there is no such run, with `invalid_config` for one whose version no worker has, with `aborted`
   * when the fleet is closed before.
   */
  result(): Promise<RunResult>;
  /** Where it stands. */
  status(): Promise<RunStatus>;
  /** The entries of its journal as they are stored, from the one behind `after` (an id), to its end. */
  events(options?: { readonly after?: string; readonly signal?: AbortSignal }): AsyncIterable<JournalEntry>;
  /** Answers a call that waits for approval. Rejects with `invalid_argument` for one that does not. */
  approve(callId: string, choice: Exclude<ApprovalAnswer, "later">): Promise<void>;
  /**
   * The result of a call of a tool without `execute`: a text, or anything that JSON can say. Rejects as
   * {@link DurableRun.approve} does.
   */
  answer(callId: string, value: unknown): Promise<void>;
  /** A message that reaches the model at its next request. Rejects with `invalid_argument` after the end. */
  steer(message: string | readonly UserBlock[]): Promise<void>;
  /** Ends it with `aborted`, wherever it is. Nothing happens after its end. */
  cancel(reason?: string): Promise<void>;
  /** Goes on with one that has failed, or that no worker of its version is there for, with today's code. */
  retry(): Promise<void>;
  /** Writes a session file, which must not be there yet. */
  export(path: string): Promise<void>;
}

/** The options an agent gets from the fleet; they come last: `new Agent({ model, tools, ...host })`. */
export type HostOptions = Required<Pick<AgentOptions, "journal" | "openCalls" | "onAsk" | "wrapModel">> &
  Pick<AgentOptions, "budget">;

/** The run an agent is made for. */
export interface RunInfo {
  readonly id: string;
  /** Name of the agent. */
  readonly agent: string;
}

/** Makes the agent of a run, each time a worker takes the run up: from its arguments alone. */
export type DurableAgent = (host: HostOptions, run: RunInfo) => Agent | Promise<Agent>;

/** Model requests over all workers: at most `requests` in any stretch of `perMs` milliseconds. */
export interface RateLimit {
  readonly requests: number;
  readonly perMs: number;
}

/** How a fleet is made. */
export interface FleetOptions {
  /** How the agents are made, by name. Runs of others are left to other workers. Default: none. */
  readonly agents?: { readonly [name: string]: DurableAgent };
  /** `postgres://…`. Default: embedded, one process at a time; needs `@electric-sql/pglite`. */
  readonly databaseUrl?: string;
  /** Folder of the embedded database. Default: in memory, gone with the process. */
  readonly dataDir?: string;
  /** PostgreSQL schema of the tables; the queue's is called the same with `_queue`. Default `nano_agent`. */
  readonly schema?: string;
  /** Runs in progress in this process at the same time; 0: it starts and watches runs only. Default 50. */
  readonly concurrency?: number;
  /** Limits by provider, e.g. `{ anthropic: { requests: 50, perMs: 60_000 } }`. Default: none. */
  readonly rateLimits?: { readonly [provider: string]: RateLimit };
  /** Names the code. A run that has begun is ended by workers of its version alone. Default `"1"`. */
  readonly version?: string;
  /** How long a run that has ended is kept, in milliseconds; `Infinity`: for ever. Default 30 days. */
  readonly retentionMs?: number;
  /** How long `close()` waits for tool calls still running, in milliseconds. Default 10,000. */
  readonly closeGraceMs?: number;
  /** Hears of what went wrong and is being tried again, such as a lost connection. Default: nobody. */
  readonly onWarning?: (message: string) => void;
}

/** How a run is started. */
export interface StartRunOptions {
  /** The same id is the same run, whoever starts it and how often. Default: made up. */
  readonly id?: string;
  /** A larger one goes first. Default 0. */
  readonly priority?: number;
  /** When it is to have ended: after that it ends with `budget`, limit `wall_time`. Default: never. */
  readonly deadline?: Date | number;
  /** Limits of this run, over all workers that work on it. Default: those its agent is made with. */
  readonly budget?: Budget;
  /** Times it is begun again when it failed with an error that may pass. Default 0. */
  readonly retries?: number;
}

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
  readonly job: string | null;
  /** Number of its newest entry, from 1. */
  readonly seq: number;
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
  /** Counts the times it was handed out. */
  readonly attempt: number;
}
