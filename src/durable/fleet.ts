import { assertCount, assertEach, type Checks, isOf, within } from "../core/base/check-option.ts";
import { invalidConfig, isNanoAgentError, misuse, NanoAgentError } from "../core/base/errors.ts";
import { newUuid } from "../core/base/ids.ts";
import { isRecord } from "../core/base/json.ts";
import { didYouMean } from "../core/base/text.ts";
import { type Input, runMessages } from "../core/message/input.ts";
import { assertBudget, type Budget } from "../core/model/budget.ts";
import { assertSessionId } from "../session/session-id.ts";
import type { DurableRun, DurableState, RunStatus } from "./durable-run.ts";
import { EntryStore } from "./entry-store.ts";
import type { FleetOptions, StartRunOptions } from "./fleet-options.ts";
import { openDatabase } from "./open-database.ts";
import { patiently } from "./patient.ts";
import { RateSlots } from "./rate-slots.ts";
import { RunHandle, type RunHandleHost } from "./run-handle.ts";
import { RunQueue } from "./run-queue.ts";
import { statusOf } from "./run-row.ts";
import { type NewRun, RunStore } from "./run-store.ts";
import { assertSchemaName, migrate } from "./run-tables.ts";
import { RunWatch } from "./run-watch.ts";
import { Worker } from "./worker.ts";

/** A run of {@link Fleet.startMany}. */
export interface NewDurableRun extends StartRunOptions {
  readonly input: Input;
}

/** The runs that {@link Fleet.list} tells of. */
export interface RunQuery {
  readonly state?: DurableState;
  readonly agent?: string;
  /** Most of them. Default 50. */
  readonly limit?: number;
  /** Id of the last run of the page before. */
  readonly before?: string;
}

/** Runs in a database, and the part of the work on them that this process does. */
export interface Fleet {
  /**
   * Starts a run; where there is one of that id, it is that one. Resolves when it is stored. Rejects with
   * `invalid_argument` for options that do not fit and for agents that neither this process nor a worker has.
   */
  start(agent: string, input: Input, options?: StartRunOptions): Promise<DurableRun>;
  /** Starts many at once, in one transaction. */
  startMany(agent: string, runs: readonly NewDurableRun[]): Promise<readonly DurableRun[]>;
  /** A run by its id, which need not be there yet. */
  run(id: string): DurableRun;
  /** Runs, the newest first. */
  list(query?: RunQuery): Promise<readonly RunStatus[]>;
  /**
   * Lets go of the runs at work, which go on with other workers or later, and of the database. Waits for tool
   * calls at work as long as `closeGraceMs` says.
   */
  close(): Promise<void>;
  /** {@link Fleet.close}, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

const DAY_MS = 86_400_000;
/** How long work on runs, and how long a caller, waits for a database that is gone. */
const WORK_PATIENCE_MS = 60_000;
const CALL_PATIENCE_MS = 15_000;
/** Connections beside those of the runs: for the queue and for who waits. */
const CONNECTIONS = 10;

/**
 * Opens the database, makes its tables where they are not there, and begins to work on runs. Rejects with
 * `invalid_argument` for options that do not fit, with `invalid_config` for a database that cannot be used.
 */
export async function createFleet(options: FleetOptions = {}): Promise<Fleet> {
  assertEach(options, CHECKS);
  assertTogether(options);
  const { schema = "nano_agent", onWarning = () => undefined, agents = {}, concurrency = 50 } = options;
  const database = await openDatabase({
    databaseUrl: options.databaseUrl,
    dataDir: options.dataDir,
    connections: CONNECTIONS,
    onWarning,
  });
  // What is open by then, the newest first: nothing of it may be left at work.
  const opened: (() => Promise<unknown>)[] = [() => database.close()];
  try {
    const runs = new RunStore(database, schema);
    const isWorking = concurrency > 0 && Object.keys(agents).length > 0;
    const open = async (): Promise<RunQueue> => {
      await migrate(database, schema);
      return RunQueue.open({ store: runs, supervises: isWorking, onWarning });
    };
    const queue = await patiently(open, { maxMs: CALL_PATIENCE_MS, onWarning });
    opened.unshift(() => queue.close());
    const fleet = new OpenFleet(options, { runs, queue, onWarning });
    opened.unshift(() => fleet.letGo());
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

interface FleetParts {
  readonly runs: RunStore;
  readonly queue: RunQueue;
  readonly onWarning: (message: string) => void;
}

class OpenFleet implements Fleet {
  readonly #options: FleetOptions;
  readonly #parts: FleetParts;
  readonly #watch: RunWatch;
  readonly #host: RunHandleHost;
  #worker: Worker | undefined;
  #slots: RateSlots | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: FleetOptions, parts: FleetParts) {
    this.#options = options;
    this.#parts = parts;
    const { runs, queue, onWarning } = parts;
    this.#watch = new RunWatch(runs, onWarning);
    this.#host = {
      runs,
      queue,
      entries: new EntryStore(runs.schema),
      watch: this.#watch,
      patiently: (work) => {
        const whileOpen = async (): ReturnType<typeof work> => {
          if (this.#closing !== undefined) throw new NanoAgentError("aborted", "The fleet is closed.");
          return work();
        };
        return patiently(whileOpen, { maxMs: CALL_PATIENCE_MS, onWarning });
      },
      onChanged: () => {
        this.#worker?.poke();
        this.#watch.poke();
      },
    };
  }

  /** Begins to work on runs of its agents. */
  async work(concurrency: number): Promise<void> {
    const { runs, queue, onWarning } = this.#parts;
    const { agents = {}, version = "1", retentionMs = 30 * DAY_MS, rateLimits = {} } = this.#options;
    const atWork = <T>(task: () => Promise<T>, signal?: AbortSignal): Promise<T> =>
      patiently(task, { maxMs: WORK_PATIENCE_MS, onWarning, signal });
    const slots = new RateSlots({
      sql: runs.database,
      schema: runs.schema,
      limits: rateLimits,
      patiently: atWork,
    });
    this.#slots = slots;
    const opening = { maxMs: CALL_PATIENCE_MS, onWarning };
    await patiently(() => slots.open(), opening);
    const changed = (): void => this.#watch.poke();
    this.#worker = new Worker({
      id: newUuid(),
      runs,
      queue,
      entries: this.#host.entries,
      agents,
      version,
      concurrency,
      retentionMs,
      onWarning,
      wrapModel: (model) => slots.around(model),
      patiently: atWork,
      onStored: changed,
      onSettled: changed,
    });
    const worker = this.#worker;
    await patiently(() => worker.start(), opening);
  }

  async start(agent: string, input: Input, options: StartRunOptions = {}): Promise<DurableRun> {
    const [run] = await this.startMany(agent, [{ ...options, input }]);
    if (run === undefined) throw misuse("Nothing was started.");
    return run;
  }

  async startMany(agent: string, given: readonly NewDurableRun[]): Promise<readonly DurableRun[]> {
    assertAgentName(agent);
    const asked = given.map((run) => newRun(agent, run));
    // The first of one id is the run, the others are the same.
    const fresh = [...Map.groupBy(asked, ({ id }) => id).values()].flatMap(([first]) => first ?? []);
    await this.#assertKnown(agent);
    const { runs, queue } = this.#parts;
    const { patiently: trying, onChanged } = this.#host;
    await trying(() => queue.prepare([{ agent, version: null }]));
    await trying(() =>
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
    return asked.map(({ id }) => this.run(id));
  }

  run(id: string): DurableRun {
    assertSessionId(id, "The id of a run");
    return new RunHandle(this.#host, id);
  }

  async list(query: RunQuery = {}): Promise<readonly RunStatus[]> {
    assertEach(query, QUERY_CHECKS);
    const { state, agent, limit = 50, before } = query;
    const rows = await this.#host.patiently(() => this.#parts.runs.list({ state, agent, before, limit }));
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
    await this.letGo();
    await this.#parts.queue.close();
    await this.#parts.runs.database.close();
  }

  /** Ends what works with the queue and the database. */
  async letGo(): Promise<void> {
    await this.#worker?.close(this.#options.closeGraceMs ?? 10_000);
    await this.#slots?.settle();
    this.#watch.close();
  }

  /** A run of an agent that nobody has would wait for ever. */
  async #assertKnown(agent: string): Promise<void> {
    const own = Object.keys(this.#options.agents ?? {});
    if (own.includes(agent) || own.length === 0) return;
    const others = await this.#host.patiently(() => this.#parts.runs.agentsOfWorkers());
    if (others.includes(agent)) return;
    const known = [...new Set([...own, ...others])];
    throw misuse(
      `No worker has an agent ${JSON.stringify(agent)}.${didYouMean(agent, known)} Agents: ${known.join(", ")}.`,
    );
  }

  /** One id for runs of two agents would give somebody the run of another. */
  async #assertSame(agent: string, fresh: readonly NewRun[]): Promise<void> {
    const others = await this.#host.patiently(() =>
      this.#parts.runs.ofOtherAgents(
        agent,
        fresh.map(({ id }) => id),
      ),
    );
    const [other] = others;
    if (other === undefined) return;
    throw misuse(
      `There is a run ${other.id} of the agent ${other.agent} already: choose another id for one of ${agent}.`,
    );
  }
}

function newRun(agent: string, { input, ...options }: NewDurableRun): NewRun {
  assertEach(options, START_CHECKS);
  const { id = newUuid(), priority = 0, deadline, budget, retries = 0 } = options;
  assertSessionId(id, "The id of a run");
  const messages = runMessages(input);
  if (messages.length === 0) throw misuse("A run needs an input: pass a text, content blocks or messages.");
  return {
    id,
    agent,
    priority,
    deadline: deadline === undefined ? null : Number(deadline),
    input: JSON.stringify(messages),
    budget: budget === undefined ? null : JSON.stringify(budget, finiteOnly),
    retries,
  };
}

/** A limit of Infinity is none, which JSON says by leaving it out. */
function finiteOnly(_name: string, value: unknown): unknown {
  return value === Number.POSITIVE_INFINITY ? undefined : value;
}

function assertAgentName(name: string): void {
  if (typeof name === "string" && /^[\w.-]{1,80}$/.test(name)) return;
  throw misuse(
    `The name of an agent is ${JSON.stringify(name)}; it must be up to 80 letters, digits, _, - and dots.`,
  );
}

function assertTogether({ databaseUrl, dataDir, agents = {}, rateLimits = {} }: FleetOptions): void {
  if (databaseUrl !== undefined && dataDir !== undefined)
    throw misuse("databaseUrl and dataDir: a database is on a server or in a folder. Pass one of them.");
  if (dataDir !== undefined && /^[a-z]\w+:\/\//i.test(dataDir))
    throw misuse(`dataDir is ${JSON.stringify(dataDir)}; it must be the path of a folder.`);
  if (databaseUrl !== undefined && !/^postgres(?:ql)?:\/\//.test(databaseUrl))
    throw misuse("databaseUrl must begin with postgres:// or postgresql://.");
  for (const [name, make] of Object.entries(agents)) {
    assertAgentName(name);
    if (typeof make !== "function")
      throw misuse(`agents.${name} is not a function: pass (host) => new Agent({ …, ...host }).`);
  }
  for (const [provider, limit] of Object.entries(rateLimits)) {
    text(provider, "The name of a provider in rateLimits");
    if (!isRecord(limit)) throw misuse(`rateLimits.${provider} must be { requests, perMs }.`);
    const name = `rateLimits.${provider}.requests`;
    if (assertCount(name, limit.requests, 1) > MAX_RATE)
      throw misuse(`${name} is ${limit.requests}; it must be ${MAX_RATE} at most. Take a shorter perMs.`);
    assertCount(`rateLimits.${provider}.perMs`, limit.perMs, 1);
  }
}

/** Takes a text that a database can keep as it is. */
function text(value: unknown, name: string): void {
  isOf("string")(value, name);
  if (isStorable(value as string)) return;
  throw misuse(`${name} is ${JSON.stringify(value)}; it must have no NUL and no half of a character in it.`);
}

/** Takes such a text that says something. */
function filled(value: unknown, name: string): void {
  text(value, name);
  if (value === "") throw misuse(`${name} is empty: write a text, or leave it out.`);
}

function isStorable(value: string): boolean {
  return !value.includes("\0") && value.isWellFormed();
}

/** Neither JavaScript nor PostgreSQL writes later years with four digits. */
const LAST_DEADLINE = Date.UTC(9999, 11, 31);
/** Each is a row that requests look through. */
const MAX_RATE = 100_000;
/** The largest integer of the database is more than anybody needs. */
const MAX_RETRIES = 1_000_000;

const CHECKS: Checks<FleetOptions> = {
  agents: isOf("object"),
  databaseUrl: isOf("string"),
  dataDir: filled,
  schema: (value, name) => {
    isOf("string")(value, name);
    assertSchemaName(value as string);
  },
  concurrency: (value, name) => void assertCount(name, value as number, 0),
  rateLimits: isOf("object"),
  version: filled,
  retentionMs: within({ least: 0, isAbove: true }),
  closeGraceMs: within({ least: 0 }),
  onWarning: isOf("function"),
};

const START_CHECKS: Checks<StartRunOptions> = {
  id: isOf("string"),
  priority: (value, name) => {
    if (!Number.isSafeInteger(value) || Math.abs(value as number) > 1_000_000)
      throw misuse(`${name} is ${String(value)}; it must be a whole number from -1000000 to 1000000.`);
  },
  deadline: (value, name) => {
    const isTime = typeof value === "number" || value instanceof Date;
    if (isTime && Number(value) >= 0 && Number(value) <= LAST_DEADLINE) return;
    throw misuse(
      `${name} is ${String(value)}; it must be a Date or milliseconds since the epoch, before the year 10000.`,
    );
  },
  budget: (value, name) => {
    assertBudget(value, name);
    if ((value as Budget).shared !== undefined)
      throw misuse(
        `${name}.shared cannot be stored: what runs share stands in one process. Give each its own.`,
      );
  },
  retries: (value, name) => {
    if (assertCount(name, value as number, 0) <= MAX_RETRIES) return;
    throw misuse(`${name} is ${String(value)}; it must be ${MAX_RETRIES} at most.`);
  },
};

const QUERY_CHECKS: Checks<RunQuery> = {
  state: (value, name) => {
    if (!["queued", "working", "waiting", "ended"].includes(String(value)))
      throw misuse(`${name} is ${String(value)}; it must be queued, working, waiting or ended.`);
  },
  agent: text,
  limit: (value, name) => void assertCount(name, value as number, 1),
  before: text,
};
