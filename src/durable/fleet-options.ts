import type { Agent } from "../agent/agent.ts";
import type { AgentOptions } from "../agent/options.ts";
import type { Budget } from "../core/model/budget.ts";

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
  /** Runs at work in this process at the same time; 0: it starts and watches runs only. Default 50. */
  readonly concurrency?: number;
  /** Limits by provider, e.g. `{ anthropic: { requests: 50, perMs: 60_000 } }`. Default: none. */
  readonly rateLimits?: { readonly [provider: string]: RateLimit };
  /** Names the code. A run that has begun is ended by workers of its version alone. Default `"1"`. */
  readonly version?: string;
  /** How long a run that has ended is kept, in milliseconds; `Infinity`: for ever. Default 30 days. */
  readonly retentionMs?: number;
  /** How long `close()` waits for tool calls at work, in milliseconds. Default 10,000. */
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
