import type * as Http from "node:http";
import type { Agent, ClientRequest, IncomingMessage } from "node:http";
import type * as Https from "node:https";
import type { Readable, Transform } from "node:stream";
import {
  errorMessage,
  invalidArgument,
  invalidConfig,
  isNanoAgentError,
  NanoAgentError,
} from "../core/base/errors.ts";
import { omitUndefined } from "../core/base/json.ts";
import { CERTIFICATE, proxyError, proxyFor, TUNNEL_MS } from "./http-proxy.ts";
import type { ProxyOptions } from "./network.ts";

/**
 * Sends requests and streams the answers back over persistent connections. One transport may serve any number
 * of models and requests at once. Idle connections keep no process alive.
 */
export interface Transport {
  /**
   * Starts a POST. Everything is reported to `sink`, never thrown: `onAnswer` at most once, then any number
   * of `onText`, then exactly one of `onEnd` and `onError`; `onError` alone if there was no answer. Nothing
   * is reported after `cancel` or `release`.
   */
  readonly send: (request: HttpRequest, sink: AnswerSink) => Exchange;
  /** Closes idle connections and ends running ones. */
  readonly close: () => void;
}

/** One POST. */
export interface HttpRequest {
  readonly url: string;
  readonly headers: { readonly [name: string]: string };
  readonly body: string;
}

/** Receives the events of a request. Its functions must not throw. */
export interface AnswerSink {
  readonly onAnswer: (answer: AnswerHead) => void;
  /** The next piece of the decoded body (decompressed, UTF-8); never split inside a character. */
  readonly onText: (text: string) => void;
  /** The body is complete. */
  readonly onEnd: () => void;
  readonly onError: (error: NanoAgentError) => void;
}

/** Status and headers of an answer. */
export interface AnswerHead {
  readonly status: number;
  /** Names are lower-case. */
  readonly headers: { readonly [name: string]: string | undefined };
}

/** A request in flight. */
export interface Exchange {
  /** Stops the flow of the body until `resume`. */
  readonly pause: () => void;
  readonly resume: () => void;
  /** Ends the request immediately; its connection is closed unless the body was complete. */
  readonly cancel: () => void;
  /** Ignores the rest of the body. If it ends within a second, the connection stays usable. */
  readonly release: () => void;
}

/** Options of {@link createTransport}. */
export interface TransportOptions {
  readonly proxy?: ProxyOptions;
  /** PEM certificate authorities to trust instead of the built-in ones. */
  readonly ca?: string;
  /** Sends requests instead of `node:http`. Proxy and certificates are then its responsibility. */
  readonly fetch?: Fetch;
}

/** The part of the Fetch standard a transport needs. `globalThis.fetch` has this type. */
export type Fetch = (url: string, init: FetchInit) => Promise<Response>;

/** Options of {@link Fetch}. */
export interface FetchInit {
  readonly method: "POST";
  readonly headers: Record<string, string>;
  readonly body: string;
  readonly signal: AbortSignal;
  readonly redirect: "manual";
}

/** Creates a transport over the given `fetch`, else `node:http` if available, else the global `fetch`. */
export function createTransport(options: TransportOptions = {}): Transport {
  const exchanges = new Set<PostExchange>();
  const agents = new Map<string, Agent>();
  const isNode = typeof process === "object" && typeof process.versions?.node === "string";
  const { fetch = isNode ? undefined : (url: string, init: FetchInit) => globalThis.fetch(url, init) } =
    options;
  const post = fetch === undefined ? nodePost(options, agents) : fetchPost(fetch);
  return {
    send: (request, sink) => {
      const exchange = new PostExchange(request, sink, () => exchanges.delete(exchange));
      exchanges.add(exchange);
      void exchange.run(post);
      return exchange;
    },
    close: () => {
      for (const exchange of exchanges) exchange.abandon();
      for (const agent of agents.values()) agent.destroy();
      agents.clear();
    },
  };
}

/** Posts a request to one address, without following redirects. Failures to send reject the answer. */
type Post = (url: string, request: HttpRequest) => Connection;

interface Connection {
  /** Rejects with the system's error if there is no answer. */
  readonly answer: Promise<OpenAnswer>;
  readonly close: () => void;
}

interface OpenAnswer extends AnswerHead {
  /** Emits the text of the body. Resolves at its end; rejects if it breaks or cannot be decoded. */
  readonly read: (onText: (text: string) => void) => Promise<void>;
  readonly pause: () => void;
  readonly resume: () => void;
  readonly discard: () => void;
}

const MAX_REDIRECTS = 5;
/** How long the rest of an ignored answer may take before its connection is closed. */
const DRAIN_MS = 1_000;

/** One POST, including its redirects. */
class PostExchange implements Exchange {
  readonly #request: HttpRequest;
  readonly #sink: AnswerSink;
  readonly #onSettled: () => void;
  #connection: Connection | undefined;
  #answer: OpenAnswer | undefined;
  #draining: ReturnType<typeof setTimeout> | undefined;
  #isPaused = false;
  #isSettled = false;

  constructor(request: HttpRequest, sink: AnswerSink, onSettled: () => void) {
    this.#request = request;
    this.#sink = sink;
    this.#onSettled = onSettled;
  }

  /** Never rejects: all outcomes go to the sink. */
  async run(post: Post): Promise<void> {
    let { url } = this.#request;
    try {
      for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
        this.#connection = post(url, this.#request);
        const answer = await this.#connection.answer;
        if (this.#isSettled) return;
        const { status, headers } = answer;
        // Browsers report a redirect that they do not follow as status 0.
        const isRedirect = status === 0 || (status >= 300 && status < 400 && status !== 304);
        if (!isRedirect) return await this.#read(url, answer);
        answer.discard();
        url = redirectTarget(url, status, headers["location"]).href;
      }
      throw new NanoAgentError(
        "invalid_response",
        `${hostOf(url)} redirected the request ${MAX_REDIRECTS} times. Check the base URL.`,
      );
    } catch (error) {
      this.#fail(networkError(url, error));
    }
  }

  pause(): void {
    this.#isPaused = true;
    this.#answer?.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#answer?.resume();
  }

  cancel(): void {
    if (!this.#settle()) return;
    this.resume();
    this.#connection?.close();
  }

  release(): void {
    if (!this.#settle()) return;
    this.#draining = setTimeout(() => this.#connection?.close(), DRAIN_MS);
    if (typeof this.#draining === "object") this.#draining.unref();
    this.resume();
  }

  /** The transport closes: reports an error to the waiting reader. */
  abandon(): void {
    this.#fail(new NanoAgentError("aborted", "The transport was closed while a request was running."));
  }

  async #read(url: string, answer: OpenAnswer): Promise<void> {
    this.#answer = answer;
    const { status, headers } = answer;
    this.#sink.onAnswer({ status, headers });
    try {
      const end = answer.read((text) => {
        if (!this.#isSettled) this.#sink.onText(text);
      });
      if (this.#isPaused) answer.pause();
      await end;
      if (this.#settle()) this.#sink.onEnd();
    } catch (error) {
      this.#fail(isNanoAgentError(error) ? error : brokenConnectionError(url, error));
    } finally {
      clearTimeout(this.#draining);
    }
  }

  #fail(error: NanoAgentError): void {
    if (!this.#settle()) return;
    this.#connection?.close();
    this.#sink.onError(error);
  }

  #settle(): boolean {
    if (this.#isSettled) return false;
    this.#isSettled = true;
    this.#onSettled();
    return true;
  }
}

/**
 * Length above which a body is encoded once for both its length and the socket, which halves the time. A
 * shorter one is sent as text, in one piece with its headers.
 */
const ENCODE_FROM_CHARS = 128 * 1024;

function nodePost(options: TransportOptions, agents: Map<string, Agent>): Post {
  return (url, { headers, body }) => {
    let sent: ClientRequest | undefined;
    let isClosed = false;
    const answer = new Promise<OpenAnswer>((resolve, reject) => {
      const send = (): void => {
        const content = body.length < ENCODE_FROM_CHARS ? body : Buffer.from(body);
        const length = String(Buffer.byteLength(content));
        const { request: started, proxy } = startRequest(
          url,
          { ...headers, "content-length": length },
          options,
          agents,
        );
        sent = started;
        // Destroying it later still emits errors, so the listener must stay for the request's lifetime.
        started.on("error", (error) => {
          if (isStale(started, error) && !isClosed) send();
          else reject(proxy === undefined ? error : proxyError(error, proxy, url));
        });
        started.once("response", (response) => {
          // From here on, errors belong to the answer.
          isClosed = true;
          resolve(nodeAnswer(response, url));
        });
        started.end(content);
      };
      send();
    });
    const close = (): void => {
      isClosed = true;
      sent?.destroy();
    };
    return { answer, close };
  };
}

function startRequest(
  address: string,
  headers: HttpRequest["headers"],
  { proxy: proxies, ca }: TransportOptions,
  agents: Map<string, Agent>,
): { readonly request: ClientRequest; readonly proxy: string | undefined } {
  const url = URL.parse(address);
  if (url === null) throw invalidConfig(`"${address}" is not an address. Check the base URL.`);
  if (url.protocol !== "http:" && url.protocol !== "https:")
    throw invalidConfig(`"${url.href}" is not an http or https address. Check the base URL.`);
  const modules = modulesOf(url);
  const proxy = proxyFor(url, proxies);
  const key = `${url.protocol} ${proxy ?? ""}`;
  const proxyEnv = { HTTP_PROXY: proxy, HTTPS_PROXY: proxy };
  const agent = agents.get(key) ?? new modules.Agent({ keepAlive: true, ca, proxyEnv });
  agents.set(key, agent);
  const timeout = proxy === undefined ? undefined : TUNNEL_MS;
  return {
    request: modules.request(url, { method: "POST", agent, headers, ...omitUndefined({ timeout }) }),
    proxy,
  };
}

function modulesOf({ protocol }: URL): typeof Http | typeof Https {
  // An import would evaluate every lazy export of the modules, including a whole fetch client: some 40 ms.
  return process.getBuiltinModule(protocol === "https:" ? "node:https" : "node:http");
}

/** The server closed a kept connection just as it was reused: it has not seen the request. */
function isStale({ reusedSocket }: ClientRequest, error: Error): boolean {
  return reusedSocket && "code" in error && (error.code === "ECONNRESET" || error.code === "EPIPE");
}

function nodeAnswer(response: IncomingMessage, url: string): OpenAnswer {
  let body: Readable = response;
  return {
    status: response.statusCode ?? 0,
    headers: response.headers as AnswerHead["headers"],
    read: (onText) =>
      new Promise((resolve, reject) => {
        body = decodedBody(response, url);
        body.setEncoding("utf8");
        body.on("data", onText);
        body.once("end", resolve);
        body.once("error", reject);
        body.once("close", () => {
          if (!body.readableEnded) reject(new Error("The connection was closed."));
        });
      }),
    pause: () => void body.pause(),
    resume: () => void body.resume(),
    discard: () => void response.resume(),
  };
}

/** The body with its `content-encoding` removed; pieces arrive as soon as they can be decoded. */
function decodedBody(response: IncomingMessage, url: string): Readable {
  const encoding = response.headers["content-encoding"]?.trim().toLowerCase() ?? "";
  if (encoding === "" || encoding === "identity") return response;
  const decoder = decoderOf(encoding);
  // Errors reach the reader through the decoder they destroy; the callback only swallows them.
  if (decoder !== undefined)
    return process.getBuiltinModule("node:stream").pipeline(response, decoder, () => undefined);
  const host = hostOf(url);
  throw new NanoAgentError(
    "invalid_response",
    `${host} sent a body in the encoding "${encoding}", which was not asked for and cannot be read. Check the proxy or gateway in between.`,
    { details: { host, encoding } },
  );
}

function decoderOf(encoding: string): Transform | undefined {
  const zlib = process.getBuiltinModule("node:zlib");
  const flushing = { flush: zlib.constants.Z_SYNC_FLUSH };
  if (encoding === "gzip" || encoding === "x-gzip") return zlib.createGunzip(flushing);
  if (encoding === "deflate") return zlib.createInflate(flushing);
  if (encoding !== "br") return undefined;
  return zlib.createBrotliDecompress({ flush: zlib.constants.BROTLI_OPERATION_FLUSH });
}

/** Posts with a `fetch` function: for runtimes without `node:http`, and for callers who provide one. */
function fetchPost(fetch: Fetch): Post {
  return (url, { headers, body }) => {
    const controller = new AbortController();
    const { signal } = controller;
    const init: FetchInit = { method: "POST", headers: { ...headers }, body, signal, redirect: "manual" };
    // The caller's function may throw synchronously, which becomes a rejection too.
    const answer = (async () => fetchAnswer(await fetch(url, init)))();
    return { answer, close: () => controller.abort() };
  };
}

function fetchAnswer({ status, headers, body }: Response): OpenAnswer {
  /** Closed while the flow is paused. */
  let gate: PromiseWithResolvers<void> | undefined;
  return {
    status,
    headers: Object.fromEntries(headers),
    read: async (onText) => {
      const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
      const reader = body?.getReader();
      for (;;) {
        const { done, value } = (await reader?.read()) ?? { done: true };
        await gate?.promise;
        const text = done ? decoder.decode() : decoder.decode(value, { stream: true });
        if (text !== "") onText(text);
        if (done) return;
      }
    },
    pause: () => {
      gate ??= Promise.withResolvers<void>();
    },
    resume: () => {
      gate?.resolve();
      gate = undefined;
    },
    discard: () => void body?.cancel().catch(() => undefined),
  };
}

/** System codes for headers that can never be sent, however often it is tried. */
const BAD_HEADER = /^ERR_(?:INVALID_CHAR|INVALID_HTTP_TOKEN|HTTP_INVALID_HEADER_VALUE)$/;

/** The error for a request without an answer: host and system code. Typed errors are kept. */
function networkError(url: string, cause: unknown): NanoAgentError {
  if (isNanoAgentError(cause)) return cause;
  const host = hostOf(url);
  const code = causeCode(cause);
  const details = omitUndefined({ host, cause: code });
  if (code !== undefined && BAD_HEADER.test(code)) {
    return invalidArgument(
      `The request to ${host} has a header that HTTP does not allow (${errorMessage(cause)}). Check the API key and the extra headers for line breaks, blanks and values that are missing.`,
      { cause, details },
    );
  }
  const retryable = code === undefined || !CERTIFICATE.test(code);
  return new NanoAgentError("network", explainFailure(host, code, cause), { cause, details, retryable });
}

function explainFailure(host: string, code: string | undefined, cause: unknown): string {
  if (code === "ECONNREFUSED")
    return `Nothing accepts connections at ${host} (ECONNREFUSED). Check the base URL, and that the server runs.`;
  if (code === "ENOTFOUND" || code === "EAI_AGAIN")
    return `The host name of ${host} cannot be resolved (${code}). Check the base URL and the network connection.`;
  if (code !== undefined && CERTIFICATE.test(code))
    return `The certificate of ${host} was not accepted (${code}). Behind a proxy that inspects traffic, point NODE_EXTRA_CA_CERTS to its certificate.`;
  return `The connection to ${host} failed (${code ?? errorMessage(cause)}). Check the network connection, the proxy settings and the base URL.`;
}

/** The error for an answer whose connection broke before the body was complete. */
function brokenConnectionError(url: string, cause: unknown): NanoAgentError {
  const host = hostOf(url);
  const code = causeCode(cause);
  const why = code === undefined ? "" : ` (${code})`;
  const message = `The connection to ${host} broke before the answer was complete${why}.`;
  return new NanoAgentError("network", message, {
    cause,
    details: omitUndefined({ host, cause: code }),
    retryable: true,
  });
}

/** Throws if a redirect must not be followed: credentials stay with their host. */
function redirectTarget(from: string, status: number, location: string | undefined): URL {
  const source = new URL(from);
  const target = location === undefined ? null : URL.parse(location, source.href);
  const refused = (to: string | undefined, why: string): NanoAgentError =>
    new NanoAgentError(
      "invalid_response",
      `${source.host} redirects the request (HTTP ${status}) to ${to ?? "nowhere"}; it was not followed, because ${why}. Set the base URL to the final address.`,
      { details: omitUndefined({ host: source.host, status, location: to }) },
    );
  if (target === null || status === 303)
    throw refused(location, "that is not an address a request can be sent to again");
  const isUpgraded =
    source.protocol === "http:" && target.protocol === "https:" && source.port === "" && target.port === "";
  if (target.hostname !== source.hostname || (!isUpgraded && target.origin !== source.origin))
    throw refused(target.origin, "credentials are never sent to another host");
  return target;
}

/** Host and port of an address, for messages; the text itself if it is not an address. */
export function hostOf(url: string): string {
  return URL.parse(url)?.host ?? url;
}

/** The `code` of a system error, even if fetch or a second address wraps it. */
function causeCode(error: unknown): string | undefined {
  let current = error;
  for (let depth = 0; typeof current === "object" && current !== null && depth < 4; depth++) {
    if ("code" in current && typeof current.code === "string") return current.code;
    if ("errors" in current && Array.isArray(current.errors) && current.errors.length > 0)
      current = current.errors[0];
    else current = "cause" in current ? current.cause : undefined;
  }
  return undefined;
}
