import { createParser, type EventSourceMessage } from "eventsource-parser";
import { type Clock, startTimer, systemClock } from "../core/base/async.ts";
import { defined, isRecord, safeParse } from "../core/base/json.ts";
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

/** The sessions that a list is asked for. */
export interface SessionQuery {
  readonly cwd?: string;
  /** Text to search for. */
  readonly q?: string;
  readonly limit?: number;
  /** `next` of the page before. */
  readonly before?: string;
}

/**
 * A typed client of the server. Methods reject with a `ServerProblem` for what the server refuses, and with
 * the error of `fetch` where it cannot be reached.
 */
export interface Reader {
  /** Trades the token for a cookie, which the browser sends from then on. */
  signIn(token: string): Promise<void>;
  health(): Promise<{ readonly ok: boolean; readonly version: string }>;
  sessions(query?: SessionQuery): Promise<SessionPage>;
  session(id: string): Promise<SessionDetail>;
  /**
   * The entries of a session, and what passes between them, until `signal` ends it. A connection that breaks
   * is made again and goes on behind the last entry. Rejects where the server refuses, as for an unknown id.
   */
  follow(id: string, options?: FollowOptions): AsyncIterable<StreamItem>;
  start(session: SessionRequest): Promise<{ readonly id: string }>;
  send(id: string, message: NewMessage): Promise<void>;
  stop(id: string): Promise<void>;
  /** `from`: the last entry taken over. Default: all of it. */
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

/** A client of the server at `baseUrl`, for the browser and everything else that has `fetch`. */
export function createReader(options: ReaderOptions = {}): Reader {
  const link = new ServerLink(options);
  const at = (id: string, rest = ""): string => `sessions/${encodeURIComponent(id)}${rest}`;
  return {
    signIn: async (token) => void (await link.post("session", { token })),
    health: () => link.get("health"),
    sessions: (query = {}) => link.get("sessions", { ...query }),
    session: (id) => link.get(at(id)),
    follow: (id, how = {}) => followStream(link, at(id, "/events"), how),
    start: (session) => link.post("sessions", session),
    send: async (id, message) => void (await link.post(at(id, "/messages"), message)),
    stop: async (id) => void (await link.post(at(id, "/stop"), {})),
    fork: (id, from) => link.post(at(id, "/fork"), defined({ from })),
    undo: (id, request = {}) => link.post(at(id, "/undo"), request),
    redo: (id) => link.post(at(id, "/redo"), {}),
    approvals: async () =>
      (await link.get<{ readonly approvals: readonly OpenApproval[] }>("approvals")).approvals,
    answer: async (id, answer) => void (await link.post(`approvals/${encodeURIComponent(id)}`, answer)),
    changes: async (id) =>
      (await link.get<{ readonly changes: readonly SessionChange[] }>(at(id, "/changes"))).changes,
    files: async (id, moment) =>
      (
        await link.get<{ readonly files: readonly SessionFileState[] }>(
          at(id, "/files"),
          defined({ at: moment }),
        )
      ).files,
    fileText: async (id, path, moment) =>
      (await link.get<{ readonly text: string }>(at(id, "/files"), { path, ...defined({ at: moment }) }))
        .text,
    stats: (by, filter = {}) => link.get("stats", { by, ...filter }),
  };
}

/** Options of {@link import("./create-reader.ts").Reader.follow}. */
export interface FollowOptions {
  /** Id of the last entry that is known. Default: from the first. */
  readonly after?: string;
  /** Ends the reading: the iteration ends then, without an error. */
  readonly signal?: AbortSignal;
  /** Hears of the connection: `open` once it stands, `lost` when it broke and is made again. */
  readonly onConnection?: (state: "open" | "lost", retry?: ConnectionRetry) => void;
}

/** The next attempt after a connection was lost. */
export interface ConnectionRetry {
  readonly inMs: number;
  /** Makes it at once. */
  readonly now: () => void;
}

/** A server says something every 30 s: one that was silent for longer is gone. */
const MAX_SILENCE_MS = 75_000;
const MAX_WAIT_MS = 10_000;

/** The stream at `path`, made again as often as it breaks, behind the last entry that came. */
async function* followStream(
  link: ServerLink,
  path: string,
  { after, signal = new AbortController().signal, onConnection }: FollowOptions,
): AsyncGenerator<StreamItem, void, undefined> {
  let last = after;
  let failures = 0;
  while (!signal.aborted) {
    try {
      for await (const item of connection(link, path, last, signal, () => onConnection?.("open"))) {
        failures = 0;
        if (item.type === "entry") last = item.entry.id;
        else if (item.passing.type === "reset") last = undefined;
        yield item;
      }
    } catch (error) {
      if (error instanceof ServerProblem && error.status < 500) throw error;
    }
    if (signal.aborted) return;
    const hurry = new AbortController();
    const inMs = Math.min(MAX_WAIT_MS, 250 * 2 ** failures++);
    onConnection?.("lost", { inMs, now: () => hurry.abort() });
    await link.clock.sleep(inMs, AbortSignal.any([signal, hurry.signal])).catch(() => undefined);
  }
}

/** One connection, to its end. */
async function* connection(
  link: ServerLink,
  path: string,
  last: string | undefined,
  signal: AbortSignal,
  onOpen: () => void,
): AsyncGenerator<StreamItem, void, undefined> {
  const silent = new AbortController();
  let stopTimer = (): void => undefined;
  const heard = (): void => {
    stopTimer();
    stopTimer = startTimer(link.clock, MAX_SILENCE_MS, () => silent.abort());
  };
  heard();
  try {
    const { body } = await link.request(path, {
      headers: {
        accept: "text/event-stream",
        ...(last === undefined ? {} : { "last-event-id": headerOfId(last) }),
      },
      signal: AbortSignal.any([signal, silent.signal]),
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
    // Not every browser iterates over a body.
    const reader = body.getReader();
    const decoder = new TextDecoder();
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      heard();
      parser.feed(decoder.decode(read.value, { stream: true }));
      yield* items.splice(0);
    }
  } finally {
    stopTimer();
    // Whoever leaves the iteration leaves the connection.
    silent.abort();
  }
}

/** Events of other names are those of a newer server. */
function itemOf({ event, data }: EventSourceMessage): StreamItem | undefined {
  if (event === "entry") return { type: "entry", entry: JSON.parse(data) };
  if (event === "passing") return { type: "passing", passing: JSON.parse(data) as PassingEvent };
  return undefined;
}

/**
 * The value of `Last-Event-ID` for an id. A header holds bytes, one for each character, and browsers send
 * the UTF-8 of an id.
 */
export function headerOfId(id: string): string {
  return String.fromCharCode(...new TextEncoder().encode(id));
}

/** Options of {@link import("./create-reader.ts").createReader}. */
export interface ReaderOptions {
  /** Address of the server. Default: that of the page. */
  readonly baseUrl?: string;
  /** Sent with each request. Default: none, for the page has a cookie. */
  readonly token?: string;
  /** Default: the global one. */
  readonly fetch?: typeof fetch;
  readonly clock?: Clock;
}

type Query = { readonly [name: string]: string | number | undefined };

class ServerLink {
  readonly clock: Clock;
  readonly #base: string;
  readonly #headers: { readonly [name: string]: string };
  readonly #fetch: typeof fetch;

  constructor({ baseUrl, token, fetch: own, clock = systemClock }: ReaderOptions) {
    this.clock = clock;
    this.#base = baseUrl?.replace(/\/+$/, "") ?? "";
    this.#headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    // Browsers want it called on the global object.
    this.#fetch = own ?? ((input, init) => globalThis.fetch(input, init));
  }

  get<T>(path: string, query: Query = {}): Promise<T> {
    const given = new URLSearchParams();
    for (const [name, value] of Object.entries(query))
      if (value !== undefined) given.set(name, String(value));
    const text = given.toString();
    return this.#json(text === "" ? path : `${path}?${text}`, { method: "GET" });
  }

  post<T>(path: string, body: object): Promise<T> {
    const headers = { "content-type": "application/json" };
    return this.#json(path, { method: "POST", headers, body: JSON.stringify(body) });
  }

  /** The answer to a request. Rejects with a {@link ServerProblem} for all but success. */
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

/** The problem in an answer; of one that is none, as from a proxy, its status. */
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
