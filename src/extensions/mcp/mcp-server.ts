import { backoffDelayMs, type Clock, raceAbort, startTimer } from "../../core/base/async.ts";
import { errorMessage } from "../../core/base/errors.ts";
import {
  type CallOptions,
  type Connection,
  ConnectionError,
  type ListedPrompt,
  type ListedTool,
  type McpHost,
  type OpenConnection,
  type WatchedList,
} from "./connection.ts";
import type { McpServerDefinition } from "./server-definition.ts";

export interface McpServerOptions {
  readonly host: McpHost;
  readonly open: OpenConnection;
  readonly clock: Clock;
  /** From 0 up to but not including 1: spreads restarts. Default `Math.random`. */
  readonly random?: (() => number) | undefined;
  readonly onLifecycle: () => void;
  readonly onTools: (tools: readonly ListedTool[]) => void;
  /** Called once it is ready, and when the list changes. */
  readonly onPrompts?: ((prompts: readonly ListedPrompt[]) => void) | undefined;
}

/** Starts a server on demand, and restarts it with growing delays when it is lost. */
export class McpServer {
  readonly definition: McpServerDefinition;
  readonly #options: McpServerOptions;
  readonly #stop = new AbortController();
  #lifecycle: Lifecycle = { state: "idle" };
  #connection: Connection | undefined;
  #hasServed = false;
  readonly #changed = new Set<WatchedList>();
  readonly #refreshing = new Set<WatchedList>();
  #wait: AbortController | undefined;
  #starting: Promise<void> = Promise.resolve();
  readonly #closing = new Set<Promise<void>>();

  constructor(definition: McpServerDefinition, options: McpServerOptions) {
    this.definition = definition;
    this.#options = options;
  }

  get lifecycle(): Lifecycle {
    return this.#lifecycle;
  }

  ensureStarted(): void {
    if (this.#lifecycle.state === "idle") this.#restart();
  }

  /** Resolves when no start is in progress: the server is ready, or will not be soon. */
  async waitUntilSettled(): Promise<void> {
    while (this.#lifecycle.state === "starting") await this.#starting;
  }

  /** Makes a request, connecting if necessary; retries once if the server says it never accepted it. */
  async use<T>(signal: AbortSignal, request: (connection: Connection) => Promise<T>): Promise<T> {
    const first = await this.#ensureConnected(signal);
    try {
      return await this.#requestServed(request(first));
    } catch (error) {
      if (!(error instanceof ConnectionError && error.kind === "session")) throw error;
      await this.#onLost(first, error.message);
      return this.#requestServed(request(await this.#ensureConnected(signal)));
    }
  }

  /** Calls a tool by the server's name for it. Rejects with a sentence for the model on failure. */
  async call(name: string, input: object, options: CallOptions): Promise<unknown> {
    return this.use(options.signal, (connection) => connection.callTool(name, input, options));
  }

  async close(): Promise<void> {
    this.#transition({ state: "stopped" });
    this.#stop.abort(new Error("The run is over."));
    this.#release();
    await this.#starting;
    await Promise.all(this.#closing);
  }

  killNow(): void {
    this.#connection?.killNow();
    this.#stop.abort(new Error("The run is over."));
  }

  async #requestServed<T>(answer: Promise<T>): Promise<T> {
    const value = await answer;
    this.#hasServed = true;
    return value;
  }

  async #ensureConnected(signal: AbortSignal): Promise<Connection> {
    if (this.#connection === undefined) this.#restart();
    await raceAbort(this.waitUntilSettled(), signal);
    const connection = this.#connection;
    if (connection !== undefined) return connection;
    const { name } = this.definition;
    const reason = "reason" in this.#lifecycle ? this.#lifecycle.reason : "it was ended.";
    throw new ConnectionError(`The MCP server ${name} is not available: ${reason}`);
  }

  #transition(life: Lifecycle): void {
    if (this.#lifecycle.state === "stopped") return;
    this.#lifecycle = life;
    this.#wait?.abort();
    if (life.state === "starting") this.#starting = this.#start(life.attempt);
    if (life.state === "waiting") void this.#restartLater(life.attempt);
    this.#options.onLifecycle();
  }

  #restart(): void {
    const { state } = this.#lifecycle;
    if (state === "waiting") this.#transition({ state: "starting", attempt: this.#lifecycle.attempt + 1 });
    if (state === "idle" || state === "failed" || state === "needs_login")
      this.#transition({ state: "starting", attempt: 1 });
  }

  #onFailure(attempt: number, reason: string): void {
    const isOver = attempt >= MAX_ATTEMPTS;
    this.#transition(isOver ? { state: "failed", reason } : { state: "waiting", attempt, reason });
  }

  async #start(attempts: number): Promise<void> {
    const { startupTimeoutMs } = this.definition;
    const { clock, open, host } = this.#options;
    const timeout = new AbortController();
    const signal = AbortSignal.any([this.#stop.signal, timeout.signal]);
    const timeoutMessage = `it did not start within ${startupTimeoutMs / 1_000} s; a higher startupTimeout gives it more.`;
    const stopTimer = startTimer(clock, startupTimeoutMs, () =>
      timeout.abort(new ConnectionError(timeoutMessage)),
    );
    let connection: Connection | undefined;
    try {
      // Opens only after the new state has been reported.
      await Promise.resolve();
      const onChanged = (list: WatchedList): void => void this.#refreshList(list);
      connection = await open(this.definition, host, { signal, onChanged });
      const tools = await raceAbort(connection.listTools(), signal);
      signal.throwIfAborted();
      this.#onOpened(connection, tools, attempts);
    } catch (thrown) {
      const error = signal.aborted ? (signal.reason as unknown) : thrown;
      if (connection !== undefined) this.#closeConnection(connection);
      const reason = errorMessage(error);
      const needsLogin = error instanceof ConnectionError && error.kind === "login";
      if (needsLogin) this.#transition({ state: "needs_login", reason });
      else this.#onFailure(attempts, reason);
    } finally {
      stopTimer();
    }
  }

  #onOpened(connection: Connection, tools: readonly ListedTool[], attempt: number): void {
    this.#connection = connection;
    this.#hasServed = false;
    void connection.closed.then((reason) => this.#onLost(connection, reason));
    this.#options.onTools(tools);
    this.#transition({ state: "ready", attempt });
    // Prompts are not awaited: a server that lists them slowly is ready all the same.
    void this.#refreshList("prompts");
  }

  /** Reads are sequential, however often the server reports a change of the list. */
  async #refreshList(list: WatchedList): Promise<void> {
    this.#changed.add(list);
    const connection = this.#connection;
    if (this.#refreshing.has(list) || connection === undefined) return;
    this.#refreshing.add(list);
    try {
      while (this.#changed.delete(list)) {
        const reportList = await this.#fetchList(connection, list);
        if (this.#connection !== connection) break;
        reportList();
      }
    } catch {
      // The previous list stays; a broken connection reports itself.
    } finally {
      this.#refreshing.delete(list);
    }
  }

  async #fetchList(connection: Connection, list: WatchedList): Promise<() => void> {
    const { onTools, onPrompts } = this.#options;
    if (list === "tools") {
      const tools = await connection.listTools();
      return () => onTools(tools);
    }
    if (onPrompts === undefined) return () => undefined;
    const prompts = await connection.listPrompts();
    return () => onPrompts(prompts);
  }

  async #onLost(connection: Connection, reason: string): Promise<void> {
    if (this.#connection !== connection) return;
    const attempt = this.#hasServed || this.#lifecycle.state !== "ready" ? 0 : this.#lifecycle.attempt;
    this.#release();
    this.#onFailure(attempt, reason);
    await Promise.all(this.#closing);
  }

  #release(): void {
    const connection = this.#connection;
    this.#connection = undefined;
    if (connection !== undefined) this.#closeConnection(connection);
  }

  #closeConnection(connection: Connection): void {
    const ended = connection.close().finally(() => this.#closing.delete(ended));
    this.#closing.add(ended);
  }

  async #restartLater(attempt: number): Promise<void> {
    const { clock, random = Math.random } = this.#options;
    const wait = new AbortController();
    this.#wait = wait;
    try {
      await clock.sleep(backoffDelayMs(attempt + 1, { baseMs: 500, random }), wait.signal);
      this.#transition({ state: "starting", attempt: attempt + 1 });
    } catch {
      // Someone needed the server earlier, or it was stopped.
    }
  }
}

/**
 * State of a server. `idle`: not started yet · `starting`: its tools are not known yet · `ready` · `waiting`:
 * it failed and restarts after a delay, or on the next call · `failed`: only the next call restarts it ·
 * `needs_login` · `stopped`: for good.
 */
export type Lifecycle =
  | { readonly state: "idle" | "stopped" }
  | { readonly state: "ready"; readonly attempt: number }
  /** `attempt`: starts since it last answered a request, including this one. */
  | { readonly state: "starting"; readonly attempt: number }
  | { readonly state: "waiting"; readonly attempt: number; readonly reason: string }
  | { readonly state: "failed"; readonly reason: string }
  | { readonly state: "needs_login"; readonly reason: string };

/** Consecutive automatic starts. */
const MAX_ATTEMPTS = 5;
