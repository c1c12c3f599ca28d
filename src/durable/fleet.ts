import { check, checkOptions, objectSchema, optionSchema } from "../core/base/check-options.ts";
import { invalidArgument, invalidConfig, isNanoAgentError, NanoAgentError } from "../core/base/errors.ts";
import { newUuid } from "../core/base/ids.ts";
import { didYouMean } from "../core/base/text.ts";
import { type Input, runMessages } from "../core/message/input.ts";
import { BUDGET_LIMITS } from "../core/model/budget.ts";
import { assertSessionId } from "../session/session-file.ts";
import { openDatabase, withRetry } from "./database.ts";
import {
  type DurableRun,
  type DurableState,
  type FleetOptions,
  type RunStatus,
  type StartRunOptions,
  statusOf,
} from "./durable-run.ts";
import { RateSlots } from "./rate-slots.ts";
import { RunHandle, type RunHandleHost, RunWatch } from "./run-handle.ts";
import { RunQueue } from "./run-queue.ts";
import { type NewRun, RunStore } from "./run-store.ts";
import { migrate, SCHEMA_NAME } from "./run-tables.ts";
import { Worker } from "./worker.ts";

/** A run of {@link Fleet.startMany}. */
export interface NewDurableRun extends StartRunOptions {
  readonly input: Input;
}

/** Selects runs for {@link Fleet.list}. */
export interface RunQuery {
  readonly state?: DurableState;
  readonly agent?: string;
  /** Maximum number of runs. Default 50. */
  readonly limit?: number;
  /** Id of the last run on the previous page. */
  readonly before?: string;
}

/** Runs in a database, and this process's share of the work on them. */
export interface Fleet {
  /**
   * Starts a run, or returns the existing one with that id. Resolves when it is stored. Rejects with
   * `invalid_argument` for invalid options and for agents that neither this process nor a worker has.
   */
  start(agent: string, input: Input, options?: StartRunOptions): Promise<DurableRun>;
  /** Starts many at once, in one transaction. */
  startMany(agent: string, runs: readonly NewDurableRun[]): Promise<readonly DurableRun[]>;
  /** A run by its id, which need not exist yet. */
  run(id: string): DurableRun;
  /** Runs, newest first. */
  list(query?: RunQuery): Promise<readonly RunStatus[]>;
  /**
   * Releases the database and the runs in progress, which continue with other workers or later. Waits up to
   * `closeGraceMs` for tool calls still running.
   */
  close(): Promise<void>;
  /** {@link Fleet.close}, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

const DAY_MS = 86_400_000;
/** How long work on runs, and how long a caller, waits for an unreachable database. */
const WORK_RETRY_MS = 60_000;
const CALL_RETRY_MS = 15_000;
/** Maximum connections, shared by runs, queue and waiting callers. */
const CONNECTIONS = 10;

/**
 * Opens the database, creates missing tables, and begins to work on runs. Rejects with `invalid_argument` for
 * invalid options, with `invalid_config` for a database that cannot be used.
 */
export async function createFleet(options: FleetOptions = {}): Promise<Fleet> {
  checkOptions(options, OPTIONS);
  assertTogether(options);
  const { schema = "nano_agent", onWarning = () => undefined, agents = {}, concurrency = 50 } = options;
  const database = await openDatabase({
    databaseUrl: options.databaseUrl,
    dataDir: options.dataDir,
    connections: CONNECTIONS,
    onWarning,
  });
  // Everything open so far, newest first: nothing may be left running.
  const opened: (() => Promise<unknown>)[] = [() => database.close()];
  try {
    const runs = new RunStore(database, schema);
    const isWorking = concurrency > 0 && Object.keys(agents).length > 0;
    const open = async (): Promise<RunQueue> => {
      await migrate(database, schema);
      return RunQueue.open(runs, isWorking, onWarning);
    };
    const queue = await withRetry(open, { maxMs: CALL_RETRY_MS, onWarning });
    opened.unshift(() => queue.close());
    const fleet = new OpenFleet(options, runs, queue, onWarning);
    opened.unshift(() => fleet.release());
    if (isWorking) await fleet.work(concurrency);
    return fleet;
  } catch (error) {
    for (const close of opened) await close().catch(() => undefined);
    if (!isNanoAgentError(error, "journal")) throw error;
    throw invalidConfig(`${error.message}. Look at the address of the database, and whether it is there.`, {
      cause: error,
    });
  }
}

class OpenFleet implements Fleet {
  readonly #options: FleetOptions;
  readonly #onWarning: (message: string) => void;
  readonly #watch: RunWatch;
  readonly #host: RunHandleHost;
  #worker: Worker | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: FleetOptions, runs: RunStore, queue: RunQueue, onWarning: (message: string) => void) {
    this.#options = options;
    this.#onWarning = onWarning;
    this.#watch = new RunWatch(runs, onWarning);
    this.#host = {
      runs,
      queue,
      watch: this.#watch,
      withRetry: (work) => {
        const whileOpen = async (): ReturnType<typeof work> => {
          if (this.#closing !== undefined) throw new NanoAgentError("aborted", "The fleet is closed.");
          return work();
        };
        return withRetry(whileOpen, { maxMs: CALL_RETRY_MS, onWarning });
      },
      onChanged: () => {
        this.#worker?.poke();
        this.#watch.poke();
      },
    };
  }

  async work(concurrency: number): Promise<void> {
    const { runs, queue } = this.#host;
    const onWarning = this.#onWarning;
    const { agents = {}, version = "1", retentionMs = 30 * DAY_MS, rateLimits = {} } = this.#options;
    const whileWorking = <T>(task: () => Promise<T>, signal?: AbortSignal): Promise<T> =>
      withRetry(task, { maxMs: WORK_RETRY_MS, onWarning, signal });
    const slots = new RateSlots(runs.database, runs.schema, rateLimits, whileWorking);
    const opening = { maxMs: CALL_RETRY_MS, onWarning };
    await withRetry(() => slots.open(), opening);
    const changed = (): void => this.#watch.poke();
    this.#worker = new Worker({
      id: newUuid(),
      runs,
      queue,
      agents,
      version,
      concurrency,
      retentionMs,
      onWarning,
      wrapModel: (model) => slots.wrap(model),
      withRetry: whileWorking,
      onStored: changed,
      onSettled: changed,
    });
    const worker = this.#worker;
    await withRetry(() => worker.start(), opening);
  }

  async start(agent: string, input: Input, options: StartRunOptions = {}): Promise<DurableRun> {
    const [run] = await this.startMany(agent, [{ ...options, input }]);
    if (run === undefined) throw invalidArgument("Nothing was started.");
    return run;
  }

  async startMany(agent: string, given: readonly NewDurableRun[]): Promise<readonly DurableRun[]> {
    check(agent, AGENT, "agent");
    const requested = given.map((run) => newRun(agent, run));
    // The first of each id defines the run, the others are the same run.
    const fresh = [...Map.groupBy(requested, ({ id }) => id).values()].flatMap(([first]) => first ?? []);
    await this.#assertKnown(agent);
    const { runs, queue, withRetry: retrying, onChanged } = this.#host;
    await retrying(() => queue.prepare([{ agent, version: null }]));
    await retrying(() =>
      runs.database.transaction(async (sql) => {
        const added = await runs.add(sql, fresh);
        const mine = fresh.filter(({ id }) => added.has(id));
        if (mine.length > 0)
          await queue.add(
            sql,
            mine.map((run) => ({ ...run, version: null })),
          );
      }),
    );
    await this.#assertSame(agent, fresh);
    for (const { id } of fresh) onChanged(id);
    return requested.map(({ id }) => this.run(id));
  }

  run(id: string): DurableRun {
    assertSessionId(id, "The id of a run");
    return new RunHandle(this.#host, id);
  }

  async list(query: RunQuery = {}): Promise<readonly RunStatus[]> {
    checkOptions(query, QUERY, "query");
    const { state, agent, limit = 50, before } = query;
    const rows = await this.#host.withRetry(() => this.#host.runs.list({ state, agent, before, limit }));
    return rows.map(statusOf);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    await this.release();
    await this.#host.queue.close();
    await this.#host.runs.database.close();
  }

  async release(): Promise<void> {
    await this.#worker?.close(this.#options.closeGraceMs ?? 10_000);
    this.#watch.close();
  }

  /** A run of an unknown agent would wait forever. */
  async #assertKnown(agent: string): Promise<void> {
    const own = Object.keys(this.#options.agents ?? {});
    if (own.includes(agent) || own.length === 0) return;
    const others = await this.#host.withRetry(() => this.#host.runs.agentsOfWorkers());
    if (others.includes(agent)) return;
    const known = [...new Set([...own, ...others])];
    throw invalidArgument(
      `No worker has an agent ${JSON.stringify(agent)}.${didYouMean(agent, known)} Agents: ${known.join(", ")}.`,
    );
  }

  /** If two agents shared an id, one would get the run of the other. */
  async #assertSame(agent: string, fresh: readonly NewRun[]): Promise<void> {
    const others = await this.#host.withRetry(() =>
      this.#host.runs.findOtherAgents(
        agent,
        fresh.map(({ id }) => id),
      ),
    );
    const [other] = others;
    if (other === undefined) return;
    throw invalidArgument(
      `There is a run ${other.id} of the agent ${other.agent} already: choose another id for one of ${agent}.`,
    );
  }
}

function newRun(agent: string, { input, ...options }: NewDurableRun): NewRun {
  checkOptions(options, START);
  const { id = newUuid(), priority = 0, deadline, budget, retries = 0 } = options;
  assertSessionId(id, "The id of a run");
  const messages = runMessages(input);
  if (messages.length === 0)
    throw invalidArgument("A run needs an input: pass a text, content blocks or messages.");
  return {
    id,
    agent,
    priority,
    deadline: deadlineOf(deadline),
    input: JSON.stringify(messages),
    budget: budget === undefined ? null : JSON.stringify(budget, finiteOnly),
    retries,
  };
}

/** A limit of Infinity means no limit, which JSON expresses by omission. */
function finiteOnly(_name: string, value: unknown): unknown {
  return value === Number.POSITIVE_INFINITY ? undefined : value;
}

function assertTogether({ databaseUrl, dataDir }: FleetOptions): void {
  if (databaseUrl !== undefined && dataDir !== undefined)
    throw invalidArgument(
      "databaseUrl and dataDir: a database is on a server or in a folder. Pass one of them.",
    );
}

/** Milliseconds of a deadline. PostgreSQL writes later years with more than four digits. */
function deadlineOf(deadline: Date | number | undefined): number | null {
  if (deadline === undefined) return null;
  const time = Number(deadline);
  if (time >= 0 && time <= Date.UTC(9999, 11, 31)) return time;
  throw invalidArgument(
    `deadline is ${String(deadline)}; it must be a Date or milliseconds since the epoch, before the year 10000.`,
  );
}

const COUNT = { type: "integer", minimum: 1 } as const;
/** Strings that a database can store: without NUL and lone surrogates. */
const STORABLE = {
  type: "string",
  pattern: "^[^\\0\\ud800-\\udfff]*$",
  "x-say": "a string without NUL and without half a character",
} as const;
const NAME = {
  ...STORABLE,
  minLength: 1,
  "x-say": `a non-empty string, ${STORABLE["x-say"].slice(9)}`,
} as const;
const AGENT_NAME = {
  type: "string",
  pattern: "^[\\w.-]{1,80}$",
  "x-say": "up to 80 letters, digits, _, - and dots",
} as const;
const AGENT = optionSchema(AGENT_NAME);

const OPTIONS = objectSchema<FleetOptions>({
  agents: {
    type: "object",
    propertyNames: AGENT_NAME,
    additionalProperties: { "x-function": true, "x-say": "a function: (host) => new Agent({ …, ...host })" },
  },
  databaseUrl: {
    type: "string",
    pattern: "^postgres(?:ql)?://",
    "x-say": "an address that begins with postgres:// or postgresql://",
  },
  dataDir: { ...NAME, not: { pattern: "^[A-Za-z]\\w+://" }, "x-say": "the path of a folder" },
  schema: SCHEMA_NAME,
  concurrency: { type: "integer", minimum: 0 },
  rateLimits: {
    type: "object",
    propertyNames: STORABLE,
    additionalProperties: {
      type: "object",
      // Each allowed request is a row.
      properties: { requests: { ...COUNT, maximum: 100_000 }, perMs: COUNT },
      required: ["requests", "perMs"],
      additionalProperties: false,
    },
  },
  version: NAME,
  retentionMs: { type: "number", exclusiveMinimum: 0 },
  closeGraceMs: { type: "number", minimum: 0 },
  onWarning: { "x-function": true },
});

const START = objectSchema<StartRunOptions>({
  id: { type: "string" },
  priority: { type: "integer", minimum: -1_000_000, maximum: 1_000_000 },
  deadline: { anyOf: [{ type: "number" }, { "x-has": ["getTime"] }], "x-say": "a Date or milliseconds" },
  budget: BUDGET_LIMITS,
  retries: { type: "integer", minimum: 0, maximum: 1_000_000 },
});

const QUERY = objectSchema<RunQuery>({
  state: { enum: ["queued", "working", "waiting", "ended"] },
  agent: STORABLE,
  limit: COUNT,
  before: STORABLE,
});
