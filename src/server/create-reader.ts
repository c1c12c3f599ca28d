import { createParser, type EventSourceMessage } from "eventsource-parser";
import { type Clock, startTimer, systemClock } from "../core/base/async.ts";
import { isRecord, omitUndefined, safeParse } from "../core/base/json.ts";
import type {
  NewMessage,
  OpenApproval,
  PassingEvent,
  Problem,
  QuestionAnswer,
  ServerStats,
  SessionChange,
  SessionDetail,
  SessionFileState,
  SessionPage,
  SessionRequest,
  StatsBy,
  StatsFilter,
  StreamItem,
  UndoRequest,
  UndoResult,
} from "./server-api.ts";

/** Selects sessions for a list. */
export interface SessionQuery {
  readonly cwd?: string;
  /** Text to search for. */
  readonly q?: string;
  readonly limit?: number;
  /** `next` of the previous page. */
  readonly before?: string;
}

/**
 * A typed client of the server. Methods reject with a `ServerProblem` if the server refuses, and with the
 * error of `fetch` if it cannot be reached.
 */
export interface Reader {
  /** Exchanges the token for a cookie, which the browser sends from then on. */
  signIn(token: string): Promise<void>;
  health(): Promise<{ readonly ok: boolean; readonly version: string }>;
  sessions(query?: SessionQuery): Promise<SessionPage>;
  session(id: string): Promise<SessionDetail>;
  /**
   * The entries of a session and the events between them, until `signal` ends it. A broken connection is
   * reopened and resumes after the last entry. Rejects if the server refuses, as for an unknown id.
   */
  follow(id: string, options?: FollowOptions): AsyncIterable<StreamItem>;
  start(session: SessionRequest): Promise<{ readonly id: string }>;
  send(id: string, message: NewMessage): Promise<void>;
  stop(id: string): Promise<void>;
  /** `from`: the last entry to copy. Default: all of it. */
  fork(id: string, from?: string): Promise<{ readonly id: string }>;
  undo(id: string, request?: UndoRequest): Promise<UndoResult>;
  redo(id: string): Promise<UndoResult>;
  approvals(): Promise<readonly OpenApproval[]>;
  answer(questionId: string, answer: QuestionAnswer): Promise<void>;
  changes(id: string): Promise<readonly SessionChange[]>;
  /** The files that calls had changed, as they were right after an entry. Default: the newest. */
  files(id: string, at?: string): Promise<readonly SessionFileState[]>;
  /** The text of one of them. */
  fileText(id: string, path: string, at?: string): Promise<string>;
  stats(by: StatsBy, filter?: StatsFilter): Promise<ServerStats>;
}

/** A client of the server at `baseUrl`, for the browser and anything else with `fetch`. */
export function createReader(options: ReaderOptions = {}): Reader {
  const client = new ApiClient(options);
  const at = (id: string, rest = ""): string => `sessions/${encodeURIComponent(id)}${rest}`;
  return {
    signIn: async (token) => void (await client.post("session", { token })),
    health: () => client.get("health"),
    sessions: (query = {}) => client.get("sessions", { ...query }),
    session: (id) => client.get(at(id)),
    follow: (id, how = {}) => followStream(client, at(id, "/events"), how),
    start: (session) => client.post("sessions", session),
    send: async (id, message) => void (await client.post(at(id, "/messages"), message)),
    stop: async (id) => void (await client.post(at(id, "/stop"), {})),
    fork: (id, from) => client.post(at(id, "/fork"), omitUndefined({ from })),
    undo: (id, request = {}) => client.post(at(id, "/undo"), request),
    redo: (id) => client.post(at(id, "/redo"), {}),
    approvals: async () =>
      (await client.get<{ readonly approvals: readonly OpenApproval[] }>("approvals")).approvals,
    answer: async (id, answer) => void (await client.post(`approvals/${encodeURIComponent(id)}`, answer)),
    changes: async (id) =>
      (await client.get<{ readonly changes: readonly SessionChange[] }>(at(id, "/changes"))).changes,
    files: async (id, moment) =>
      (
        await client.get<{ readonly files: readonly SessionFileState[] }>(
          at(id, "/files"),
          omitUndefined({ at: moment }),
        )
      ).files,
    fileText: async (id, path, moment) =>
      (
        await client.get<{ readonly text: string }>(at(id, "/files"), {
          path,
          ...omitUndefined({ at: moment }),
        })
      ).text,
    stats: (by, filter = {}) => client.get("stats", { by, ...filter }),
  };
}

/** Options of {@link import("./create-reader.ts").Reader.follow}. */
export interface FollowOptions {
  /** Id of the last known entry. Default: from the first. */
  readonly after?: string;
  /** Ends the iteration, without an error. */
  readonly signal?: AbortSignal;
  /** Called with changes of the connection: `open`, or `lost` when it broke and will be reopened. */
  readonly onConnection?: (state: "open" | "lost", retry?: ConnectionRetry) => void;
}

/** The next attempt after a connection was lost. */
export interface ConnectionRetry {
  readonly inMs: number;
  /** Reconnects immediately. */
  readonly now: () => void;
}

/** The server sends something every 15 s, so a connection that is silent for this long is dead. */
const MAX_SILENCE_MS = 75_000;
const MAX_WAIT_MS = 10_000;

/** The stream at `path`, reopened as often as it breaks, after the last entry received. */
async function* followStream(
  client: ApiClient,
  path: string,
  { after, signal = new AbortController().signal, onConnection }: FollowOptions,
): AsyncGenerator<StreamItem, void, undefined> {
  let last = after;
  let failures = 0;
  while (!signal.aborted) {
    try {
      for await (const item of connection(client, path, last, signal, () => onConnection?.("open"))) {
        failures = 0;
        if (item.type === "entry") last = item.entry.id;
        else if (item.passing.type === "reset") last = undefined;
        yield item;
      }
    } catch (error) {
      if (error instanceof ServerProblem && error.status < 500) throw error;
    }
    if (signal.aborted) return;
    const retryNow = new AbortController();
    const inMs = Math.min(MAX_WAIT_MS, 250 * 2 ** failures++);
    onConnection?.("lost", { inMs, now: () => retryNow.abort() });
    await client.clock.sleep(inMs, AbortSignal.any([signal, retryNow.signal])).catch(() => undefined);
  }
}

/** One connection, to its end. */
async function* connection(
  client: ApiClient,
  path: string,
  last: string | undefined,
  signal: AbortSignal,
  onOpen: () => void,
): AsyncGenerator<StreamItem, void, undefined> {
  const timeout = new AbortController();
  let stopTimer = (): void => undefined;
  const restartTimer = (): void => {
    stopTimer();
    stopTimer = startTimer(client.clock, MAX_SILENCE_MS, () => timeout.abort());
  };
  restartTimer();
  try {
    const { body } = await client.request(path, {
      headers: {
        accept: "text/event-stream",
        ...(last === undefined ? {} : { "last-event-id": headerOfId(last) }),
      },
      signal: AbortSignal.any([signal, timeout.signal]),
    });
    onOpen();
    if (body === null) return;
    const items: StreamItem[] = [];
    const parser = createParser({
      onEvent: (message) => {
        const item = itemOf(message);
        if (item !== undefined) items.push(item);
      },
    });
    // Not every browser can iterate over a body.
    const reader = body.getReader();
    const decoder = new TextDecoder();
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      restartTimer();
      parser.feed(decoder.decode(read.value, { stream: true }));
      yield* items.splice(0);
    }
  } finally {
    stopTimer();
    // A caller that leaves the iteration closes the connection.
    timeout.abort();
  }
}

/** Undefined for event names of a newer server. */
function itemOf({ event, data }: EventSourceMessage): StreamItem | undefined {
  if (event === "entry") return { type: "entry", entry: JSON.parse(data) };
  if (event === "passing") return { type: "passing", passing: JSON.parse(data) as PassingEvent };
  return undefined;
}

/**
 * Encodes an id for `Last-Event-ID`. A header holds bytes, one per character, and browsers send the id in
 * UTF-8.
 */
export function headerOfId(id: string): string {
  return String.fromCharCode(...new TextEncoder().encode(id));
}

/** Options of {@link import("./create-reader.ts").createReader}. */
export interface ReaderOptions {
  /** URL of the server. Default: that of the page. */
  readonly baseUrl?: string;
  /** Sent with each request. Default: none, as the page has a cookie. */
  readonly token?: string;
  /** Default: the global `fetch`. */
  readonly fetch?: typeof fetch;
  readonly clock?: Clock;
}

type Query = { readonly [name: string]: string | number | undefined };

class ApiClient {
  readonly clock: Clock;
  readonly #base: string;
  readonly #headers: { readonly [name: string]: string };
  readonly #fetch: typeof fetch;

  constructor({ baseUrl, token, fetch: own, clock = systemClock }: ReaderOptions) {
    this.clock = clock;
    this.#base = baseUrl?.replace(/\/+$/, "") ?? "";
    this.#headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    // Browsers require it to be called on the global object.
    this.#fetch = own ?? ((input, init) => globalThis.fetch(input, init));
  }

  get<T>(path: string, query: Query = {}): Promise<T> {
    const parameters = new URLSearchParams();
    for (const [name, value] of Object.entries(query))
      if (value !== undefined) parameters.set(name, String(value));
    const text = parameters.toString();
    return this.#json(text === "" ? path : `${path}?${text}`, { method: "GET" });
  }

  post<T>(path: string, body: object): Promise<T> {
    const headers = { "content-type": "application/json" };
    return this.#json(path, { method: "POST", headers, body: JSON.stringify(body) });
  }

  /** The answer to a request. Rejects with a {@link ServerProblem} unless it succeeds. */
  async request(path: string, init: RequestInit): Promise<Response> {
    const headers = { ...this.#headers, ...(init.headers as { readonly [name: string]: string }) };
    const response = await this.#fetch(`${this.#base}/api/${path}`, {
      ...init,
      headers,
      credentials: "same-origin",
    });
    if (response.ok) return response;
    throw await problemIn(response);
  }

  async #json<T>(path: string, init: RequestInit): Promise<T> {
    const response = await this.request(path, init);
    const text = await response.text();
    return (text === "" ? undefined : JSON.parse(text)) as T;
  }
}

/** The problem in an answer, or one made from its status if there is none (from a proxy, say). */
async function problemIn(response: Response): Promise<ServerProblem> {
  const { status, statusText } = response;
  const parsed = safeParse(await response.text());
  if (parsed.ok && isRecord(parsed.value) && typeof parsed.value["detail"] === "string")
    return new ServerProblem(parsed.value as unknown as Problem);
  const detail = `The server answered ${status} ${statusText}.`;
  return new ServerProblem({ type: "about:blank", title: statusText, status, detail, code: "unknown" });
}

/** The answer of a server that refuses a request. */
export class ServerProblem extends Error {
  override readonly name = "ServerProblem";
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.detail);
    this.problem = problem;
  }

  get status(): number {
    return this.problem.status;
  }

  get code(): string {
    return this.problem.code;
  }
}
