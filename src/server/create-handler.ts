import { type Clock, startTimer, systemClock } from "../core/base/async.ts";
import { type AgentMaker, agentSessions } from "./agent-sessions.ts";
import { type ApiAnswer, type ApiRoute, SESSION_ROUTES } from "./api-routes.ts";
import { BODIES, QUERIES } from "./api-schemas.ts";
import { followEntries } from "./follow-entries.ts";
import { assertHandlerOptions, type HandlerOptions } from "./handler-options.ts";
import { idOfHeader } from "./id-header.ts";
import { LoopTurns } from "./loop-turns.ts";
import { openApi } from "./openapi.ts";
import { Presenter } from "./presenter.ts";
import { MAX_BODY_BYTES, OPEN_BODY_BYTES, readBody, readQuery } from "./read-call.ts";
import { notFound, Refusal, refusalOf } from "./refusal.ts";
import { RequestGuard } from "./request-guard.ts";
import type { StreamItem } from "./server-api.ts";
import type { SessionHost } from "./session-host.ts";

declare const NANO_AGENT_VERSION: string;

/**
 * Makes the function that answers requests: the API over sessions, for every runtime that has `Request` and
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
    this.#host = sessions ?? agentSessions({ agent: agent as AgentMaker, store, clock, redaction, onError });
    this.#guard = new RequestGuard(options);
    this.#presenter = new Presenter(redaction);
    this.#routes = [...this.#ownRoutes(), ...SESSION_ROUTES];
    signal?.addEventListener("abort", () => void this.#host.close(), { once: true });
  }

  async answer(request: Request): Promise<Response> {
    let response: Response;
    try {
      this.#guard.assertPlace(request);
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
    // Nobody learns without the token what there is.
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
    const gone = new AbortController();
    const over = AbortSignal.any([gone.signal, request.signal, ...(signal === undefined ? [] : [signal])]);
    const items = followEntries(answer.follow, {
      after: answer.after,
      signal: over,
      turns: this.#turns,
    });
    const presented = present(items, this.#presenter);
    // What cannot be read is refused, not broken off again and again.
    const first = await presented.next();
    const body = eventBody(presented, { first, clock: this.#clock, onEnd: () => gone.abort() });
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

  /** The operations that concern the server itself. */
  #ownRoutes(): readonly ApiRoute[] {
    const version = NANO_AGENT_VERSION;
    const own = { query: QUERIES.nothing, status: 200 } as const;
    return [
      {
        ...own,
        method: "GET",
        path: "/health",
        summary: "Says that the server is there.",
        access: "open",
        answer: "Health",
        handle: () => ({ value: { ok: true, version } }),
      },
      {
        ...own,
        method: "GET",
        path: "/openapi.json",
        summary: "Describes all of this.",
        access: "read",
        answer: "Description",
        handle: ({ request }) => ({
          value: openApi(this.#routes, version, this.#guard.cookieName(request)),
        }),
      },
      {
        ...own,
        method: "POST",
        path: "/session",
        summary: "Trade the token for a cookie.",
        body: BODIES.signIn,
        access: "open",
        answer: "Accepted",
        handle: async ({ request, body }) => {
          await this.#guard.assertIsToken((body as { readonly token: string }).token);
          return { value: {}, headers: { "set-cookie": await this.#guard.cookie(request) } };
        },
      },
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

/** The open part of a path that has the form of a route, empty where it has none; `undefined`: another. */
function matchPath(form: readonly string[], parts: readonly string[]): string | undefined {
  if (form.length !== parts.length) return undefined;
  let id = "";
  for (const [at, part] of form.entries()) {
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

/** Options of {@link eventBody}. */
interface EventBodyOptions {
  /** A result of `batches` that was taken before. */
  readonly first?: IteratorResult<readonly StreamItem[], void>;
  readonly clock: Clock;
  /** Called when the reader is gone. */
  readonly onEnd: () => void;
}

/** A line at least this often tells a reader, and everything between, that the connection stands. */
const COMMENT_MS = 15_000;

/** Batches of items as the body of a `text/event-stream`, made as fast as it is read. */
export function eventBody(
  batches: AsyncGenerator<readonly StreamItem[], void, undefined>,
  { first, clock, onEnd }: EventBodyOptions,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let next = first && Promise.resolve(first);
  return new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(encoder.encode("retry: 1000\n\n")),
    pull: async (controller) => {
      next ??= batches.next();
      const batch = await orSilence(next, clock);
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
      // It may be paused between two batches, with no caller left to ask for the next one.
      batches.return().catch(() => undefined);
    },
  });
}

/** The value of a promise; `undefined` when it takes longer than a reader should wait for a sign. */
function orSilence<T>(promise: Promise<T>, clock: Clock): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const stop = startTimer(clock, COMMENT_MS, () => resolve(undefined));
    promise.then(resolve, reject).finally(stop);
  });
}

/** An item as an event. Entries alone have an id: what passes is nothing to go on behind. */
function eventText(item: StreamItem): string {
  if (item.type === "passing") return `event: passing\ndata: ${JSON.stringify(item.passing)}\n\n`;
  const { id } = item.entry;
  const line = /[\r\n\0]/.test(id) ? "" : `id: ${id}\n`;
  return `${line}event: entry\ndata: ${JSON.stringify(item.entry)}\n\n`;
}
