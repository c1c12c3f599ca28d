import type { JournalEntry } from "../core/agent/entries.ts";
import { type Clock, startTimer, systemClock } from "../core/base/async.ts";
import { checkOptions, objectSchema } from "../core/base/check-options.ts";
import { invalidArgument } from "../core/base/errors.ts";
import type { Redaction } from "../core/base/text.ts";
import { type AgentMaker, AgentSessions, type AgentStore } from "./agent-sessions.ts";
import {
  type ApiAnswer,
  type ApiRoute,
  get,
  MAX_BODY_BYTES,
  OPEN_BODY_BYTES,
  openApi,
  post,
  readBody,
  readQuery,
  SESSION_ROUTES,
} from "./api-routes.ts";
import { closedObject, string } from "./api-schemas.ts";
import { Presenter } from "./presenter.ts";
import { notFound, Refusal, refusalOf } from "./refusal.ts";
import { RequestGuard } from "./request-guard.ts";
import type { PassingEvent, StreamItem } from "./server-api.ts";
import type { EntrySource, EntryTail, SessionHost } from "./session-host.ts";

declare const NANO_AGENT_VERSION: string;

/**
 * Makes the function that answers requests: the API over sessions, for every runtime with `Request` and
 * `Response`. Throws `invalid_argument` for options that cannot work.
 */
export function createHandler(options: HandlerOptions): (request: Request) => Promise<Response> {
  const server = new ApiServer(options);
  return (request) => server.answer(request);
}

const PAGE_HEADERS = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
} as const;

type Headers = { readonly [name: string]: string };

class ApiServer {
  readonly #options: HandlerOptions;
  readonly #host: SessionHost;
  readonly #guard: RequestGuard;
  readonly #presenter: Presenter;
  readonly #routes: readonly ApiRoute[];
  readonly #clock: Clock;
  readonly #turns = new LoopTurns();

  constructor(options: HandlerOptions) {
    assertHandlerOptions(options);
    const { agent, store, sessions, redaction, onError, signal, clock = systemClock } = options;
    this.#options = options;
    this.#clock = clock;
    this.#host = sessions ?? new AgentSessions(agent as AgentMaker, store, clock, redaction, onError);
    this.#guard = new RequestGuard(options);
    this.#presenter = new Presenter(redaction);
    this.#routes = [...this.#ownRoutes(), ...SESSION_ROUTES];
    signal?.addEventListener("abort", () => void this.#host.close(), { once: true });
  }

  async answer(request: Request): Promise<Response> {
    let response: Response;
    try {
      this.#guard.assertHostAndOrigin(request);
      response = await this.#answerTo(request);
    } catch (error) {
      response = this.#refused(error);
    }
    return request.method === "HEAD" ? new Response(null, response) : response;
  }

  async #answerTo(request: Request): Promise<Response> {
    const url = new URL(request.url);
    const method = request.method === "HEAD" ? "GET" : request.method;
    if (!url.pathname.startsWith("/api/")) return this.#asset(method, url.pathname);
    const parts = url.pathname.slice("/api".length).split("/");
    const matching = this.#routes.flatMap((route) => {
      const id = matchPath(route.path.split("/"), parts);
      return id === undefined ? [] : [{ route, id }];
    });
    const found = matching.find(({ route }) => route.method === method);
    // Addresses are not revealed without the token.
    if (found?.route.access !== "open") await this.#guard.assertToken(request);
    if (matching.length === 0) throw notFound("such address; see /api/openapi.json");
    if (found === undefined) {
      const allow = matching.map(({ route }) => route.method).join(", ");
      throw new Refusal(405, "wrong_method", `This address takes ${allow}.`, { headers: { allow } });
    }
    const { route, id } = found;
    if (route.access === "write" && this.#options.readOnly === true)
      throw new Refusal(403, "read_only", "This server only reads: it was started with --read-only.");
    const query = readQuery(url.searchParams, route.query);
    const maxBytes = route.access === "open" ? OPEN_BODY_BYTES : MAX_BODY_BYTES;
    const body = route.body === undefined ? undefined : await readBody(request, route.body, maxBytes);
    const call = { id, query, body, host: this.#host, presenter: this.#presenter };
    const lastEventId = idOfHeader(request.headers.get("last-event-id"));
    return this.#respond(route, await route.handle({ ...call, lastEventId, request }), request);
  }

  async #respond({ status }: ApiRoute, answer: ApiAnswer, request: Request): Promise<Response> {
    if ("value" in answer) return jsonResponse(answer.value, status, answer.headers);
    const { signal } = this.#options;
    const ended = new AbortController();
    const end = AbortSignal.any([ended.signal, request.signal, ...(signal === undefined ? [] : [signal])]);
    const items = followEntries(answer.follow, answer.after, end, this.#turns);
    const presented = present(items, this.#presenter);
    // An unreadable session is refused here; failing midway would make readers reconnect forever.
    const first = await presented.next();
    const body = eventBody(presented, this.#clock, () => ended.abort(), first);
    const isHead = request.method === "HEAD";
    if (isHead) await body.cancel();
    const headers = { "content-type": "text/event-stream", "x-accel-buffering": "no" };
    return new Response(isHead ? null : body, {
      headers: { ...PAGE_HEADERS, ...headers, "cache-control": "no-store" },
    });
  }

  #refused(error: unknown): Response {
    const refusal = refusalOf(error);
    if (refusal.status === 500) this.#options.onError?.(refusal.cause ?? error);
    const { problem, status, options } = refusal;
    const type = { "content-type": "application/problem+json" };
    return jsonResponse(this.#presenter.value(problem), status, { ...type, ...options.headers });
  }

  async #asset(method: string, path: string): Promise<Response> {
    const asset = await this.#options.assets?.(path);
    if (asset === undefined) throw notFound("page at this address; the API is below /api");
    if (method !== "GET")
      throw new Refusal(405, "wrong_method", "This address takes GET.", { headers: { allow: "GET" } });
    const { bytes, type, isImmutable = false } = asset;
    return new Response(bytes.slice(), {
      headers: {
        ...PAGE_HEADERS,
        "content-type": type,
        "cache-control": isImmutable ? "public, max-age=31536000, immutable" : "no-cache",
      },
    });
  }

  #ownRoutes(): readonly ApiRoute[] {
    const version = NANO_AGENT_VERSION;
    return [
      get("/health", "Says that the server is there.", {
        access: "open",
        answer: "Health",
        handle: () => ({ value: { ok: true, version } }),
      }),
      get("/openapi.json", "Describes all of this.", {
        answer: "Description",
        handle: ({ request }) => ({
          value: openApi(this.#routes, version, this.#guard.cookieName(request)),
        }),
      }),
      post("/session", "Trade the token for a cookie.", {
        body: closedObject({ token: string("The token that the server was started with.") }),
        status: 200,
        access: "open",
        answer: "Accepted",
        handle: async ({ request, body }) => {
          await this.#guard.assertIsToken((body as { readonly token: string }).token);
          return { value: {}, headers: { "set-cookie": await this.#guard.cookie(request) } };
        },
      }),
    ];
  }
}

async function* present(
  batches: ReturnType<typeof followEntries>,
  presenter: Presenter,
): ReturnType<typeof followEntries> {
  for await (const items of batches) yield items.map((item) => presenter.item(item));
}

function jsonResponse(value: unknown, status: number, headers: Headers = {}): Response {
  return new Response(JSON.stringify(value), {
    status,
    headers: {
      ...PAGE_HEADERS,
      "content-type": "application/json",
      "cache-control": "no-store",
      ...headers,
    },
  });
}

/** The variable part of a path that matches a route, empty if there is none; `undefined`: no match. */
function matchPath(pattern: readonly string[], parts: readonly string[]): string | undefined {
  if (pattern.length !== parts.length) return undefined;
  let id = "";
  for (const [at, part] of pattern.entries()) {
    const given = parts[at] ?? "";
    if (part !== ":id" && part !== given) return undefined;
    if (part !== ":id") continue;
    try {
      id = decodeURIComponent(given);
    } catch {
      return undefined;
    }
    if (id === "") return undefined;
  }
  return id;
}

/** Maximum milliseconds without output, so that readers and proxies know that the connection is alive. */
const COMMENT_MS = 15_000;

/** Batches of items as the body of a `text/event-stream`, produced as fast as it is read. */
export function eventBody(
  batches: AsyncGenerator<readonly StreamItem[], void, undefined>,
  clock: Clock,
  onEnd: () => void,
  first?: IteratorResult<readonly StreamItem[], void>,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let next = first && Promise.resolve(first);
  return new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(encoder.encode("retry: 1000\n\n")),
    pull: async (controller) => {
      next ??= batches.next();
      const batch = await orTimeout(next, clock);
      if (batch === undefined) {
        controller.enqueue(encoder.encode(": still here\n\n"));
        return;
      }
      next = undefined;
      if (batch.done === true) {
        controller.close();
        onEnd();
      } else controller.enqueue(encoder.encode(batch.value.map(eventText).join("")));
    },
    cancel: () => {
      onEnd();
      // The generator may be paused between two batches, with no caller left to resume it.
      batches.return().catch(() => undefined);
    },
  });
}

/** The value of a promise; `undefined` if it takes longer than {@link COMMENT_MS}. */
function orTimeout<T>(promise: Promise<T>, clock: Clock): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const stop = startTimer(clock, COMMENT_MS, () => resolve(undefined));
    promise.then(resolve, reject).finally(stop);
  });
}

/** Only entries have an id: a stream cannot be resumed after a passing event. */
function eventText(item: StreamItem): string {
  if (item.type === "passing") return `event: passing\ndata: ${JSON.stringify(item.passing)}\n\n`;
  const { id } = item.entry;
  const line = /[\r\n\0]/.test(id) ? "" : `id: ${id}\n`;
  return `${line}event: entry\ndata: ${JSON.stringify(item.entry)}\n\n`;
}

/** Decodes the value of `Last-Event-ID`; one that is not UTF-8 is returned as it is. */
export function idOfHeader(value: string | null): string | undefined {
  if (value === null) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(
      Uint8Array.from(value, (char) => char.charCodeAt(0)),
    );
  } catch {
    return value;
  }
}

/** A file of the web page. */
export interface WebAsset {
  readonly bytes: Uint8Array;
  /** Media type. */
  readonly type: string;
  /** True if its name changes with its content. */
  readonly isImmutable?: boolean;
}

/** Options of {@link createHandler}. */
export interface HandlerOptions {
  /** Every request must carry it (`Authorization: Bearer`). At least 20 characters, preferably random. */
  readonly token: string;
  /** Makes the agent of each session. Pass either this or `sessions`. */
  readonly agent?: AgentMaker;
  /** Stores the journals of those sessions. Default: in memory, as long as the handler lives. */
  readonly store?: AgentStore;
  /** Sessions from elsewhere, instead of `agent`. */
  readonly sessions?: SessionHost;
  /**
   * Host names this server answers to, besides `localhost` and `127.0.0.1`, e.g. `agents.example.com`;
   * `"ip"`: any IP address. Requests to other names are refused.
   */
  readonly hosts?: readonly string[];
  /** True: clients can only read. Default false. */
  readonly readOnly?: boolean;
  /**
   * Removes secrets from all output; from questions only those known to its `known`. Default: no redaction.
   */
  readonly redaction?: Redaction | undefined;
  /** The files of a web page by path, `/` for the first. They need no token. */
  readonly assets?: (path: string) => Promise<WebAsset | undefined>;
  /**
   * Receives unexpected errors; the client only sees status 500, a list without the session whose agent could
   * not be made, or a warning from the failed run. Default: ignored.
   */
  readonly onError?: (error: unknown) => void;
  /** Ends every run and every stream when aborted. */
  readonly signal?: AbortSignal;
  /** Used for timeouts and waiting. Default: the system clock. */
  readonly clock?: Clock;
}

function assertHandlerOptions(options: HandlerOptions): void {
  checkOptions(options, OPTIONS);
  const { agent, sessions } = options;
  if ((agent === undefined) === (sessions === undefined))
    throw invalidArgument("createHandler() needs agent, a function that makes one, or sessions.");
}

const FUNCTION = { "x-function": true } as const;
const OPTIONS = objectSchema<HandlerOptions>(
  {
    token: {
      type: "string",
      pattern: "^[\\x21-\\x7e]{20,}$",
      "x-say": "at least 20 characters: letters, digits and signs without blanks",
      "x-secret": true,
    },
    agent: FUNCTION,
    store: { "x-has": ["list", "open", "create"] },
    sessions: { "x-has": ["list", "find", "start"], "x-say": "a SessionHost" },
    hosts: { type: "array", items: { type: "string", minLength: 1 } },
    readOnly: { type: "boolean" },
    redaction: {
      "x-has": ["text", "stream"],
      "x-say": "what createRedaction() of nano-agent/permission returns",
    },
    assets: FUNCTION,
    onError: FUNCTION,
    signal: {
      "x-has": ["throwIfAborted", "addEventListener"],
      "x-say": "an AbortSignal: the signal of an AbortController",
    },
    clock: { "x-has": ["now", "sleep"] },
  },
  ["token"],
);

/** Maximum items sent together when there are many. */
const BATCH = 64;
/** Maximum items waiting for a reader. A slower one is disconnected, and resumes after its last entry. */
const MAX_WAITING = 10_000;
/** Maximum characters waiting: some entries have megabytes. */
const MAX_WAITING_CHARS = 32_000_000;

/**
 * The entries of a session after `after` and the events between them, in batches, until the signal. Also ends
 * if a reader is so slow that too much would have to wait for it. Throws for unreadable sessions.
 */
export async function* followEntries(
  source: EntrySource,
  after: string | undefined,
  signal: AbortSignal,
  /** Gives each batch of stored entries, and the initial state, its own turn of the event loop. */
  turns: LoopTurns,
): AsyncGenerator<readonly StreamItem[], void, undefined> {
  const tail = source.tail(after);
  const waiting = new WaitingItems(tail);
  let isLive = false;
  const stop = source.listen((passing) => {
    // Dropped while older entries are replayed: `current()` reports the resulting state.
    if (isLive && !waiting.receive(passing)) stop();
  });
  const onAbort = (): void => waiting.wake();
  signal.addEventListener("abort", onAbort);
  try {
    for (let found = true; found && !signal.aborted; ) {
      found = false;
      await turns.next();
      for (const entry of tail.read()) {
        found = true;
        if (waiting.add(itemOf(entry)) < BATCH) continue;
        yield waiting.take();
        await turns.next();
        if (signal.aborted) return;
      }
    }
    waiting.readEntries();
    isLive = true;
    await turns.next();
    for (const passing of await source.current()) waiting.add({ type: "passing", passing });
    waiting.add({ type: "passing", passing: { type: "ready" } });
    while (!signal.aborted && !waiting.isOver) {
      const batch = waiting.take();
      if (batch.length > 0) yield batch;
      else await waiting.more();
    }
  } finally {
    stop();
    signal.removeEventListener("abort", onAbort);
  }
}

class WaitingItems {
  readonly #tail: EntryTail;
  #items: StreamItem[] = [];
  /** Characters of the waiting items. The first does not count: it may have any size. */
  #chars = 0;
  #end: { readonly error?: unknown } | undefined;
  #wake = (): void => undefined;

  constructor(tail: EntryTail) {
    this.#tail = tail;
  }

  /** True if nothing more comes. Throws the error that ended it, if any. */
  get isOver(): boolean {
    if (this.#end !== undefined && "error" in this.#end) throw this.#end.error;
    return this.#end !== undefined;
  }

  add(item: StreamItem): number {
    return this.#items.push(item);
  }

  readEntries(): void {
    for (const entry of this.#tail.read()) this.add(itemOf(entry));
  }

  take(): readonly StreamItem[] {
    const items = this.#items;
    this.#items = [];
    this.#chars = 0;
    return items;
  }

  /** Takes an event; false when over. Never throws into the caller: an error ends only this reader. */
  receive(passing: PassingEvent | "entries"): boolean {
    const before = Math.max(1, this.#items.length);
    try {
      if (passing === "entries") this.readEntries();
      else this.add({ type: "passing", passing });
      for (const item of this.#items.slice(before)) this.#chars += JSON.stringify(item).length;
      if (this.#items.length > MAX_WAITING || this.#chars > MAX_WAITING_CHARS) this.#end = {};
    } catch (error) {
      this.#end = { error };
    }
    if (this.#end !== undefined) this.#items = [];
    this.#wake();
    return this.#end === undefined;
  }

  wake(): void {
    this.#wake();
  }

  more(): Promise<void> {
    return new Promise((resolve) => (this.#wake = resolve));
  }
}

function itemOf(entry: JournalEntry | "reset"): StreamItem {
  return entry === "reset" ? { type: "passing", passing: { type: "reset" } } : { type: "entry", entry };
}

/**
 * Turns of the event loop, given out one at a time in the order of requests. Work done in small pieces, one
 * per turn, lets everything else run in between, however many callers do such work.
 */
export class LoopTurns {
  #last: Promise<void> = Promise.resolve();

  next(): Promise<void> {
    this.#last = this.#last.then(() => new Promise((resolve) => void setImmediate(resolve)));
    return this.#last;
  }
}
