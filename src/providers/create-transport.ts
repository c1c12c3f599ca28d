import type * as Http from "node:http";
import type { Agent, ClientRequest, IncomingMessage } from "node:http";
import type * as Https from "node:https";
import type { Readable, Transform } from "node:stream";
import { invalidConfig, isNanoAgentError, NanoAgentError } from "../core/base/errors.ts";
import type {
  AnswerHead,
  AnswerSink,
  Connection,
  Exchange,
  HttpRequest,
  OpenAnswer,
  Post,
  ProxyOptions,
  Transport,
} from "./http.ts";
import { cutError, hostOf, networkError, redirectTarget } from "./http-error.ts";
import { type Fetch, postWithFetch } from "./http-fetch.ts";
import { connectThroughProxy, destination, type Route, routeTo } from "./http-proxy.ts";

/** Options of {@link createTransport}. */
export interface TransportOptions {
  readonly proxy?: ProxyOptions;
  /** Certificate authorities to trust instead of the built-in ones, in PEM. */
  readonly ca?: string;
  /** Sends the requests instead of `node:http`. Proxy and certificates are then its business. */
  readonly fetch?: Fetch;
}

/** A transport over the given `fetch`, else `node:http` where there is one, else the global `fetch`. */
export function createTransport(options: TransportOptions = {}): Transport {
  const { fetch } = options;
  if (fetch !== undefined) return transportOver(postWithFetch(fetch));
  if (!runsOnNode()) return transportOver(postWithFetch((url, init) => globalThis.fetch(url, init)));
  const connections = new NodeConnections(options);
  return transportOver(connections.post, connections.closeIdle);
}

function runsOnNode(): boolean {
  return typeof process === "object" && typeof process.versions?.node === "string";
}

function transportOver(post: Post, closeIdle: () => void = () => undefined): Transport {
  const running = new Set<OneExchange>();
  return {
    send: (request, sink) => {
      const exchange = new OneExchange(request, sink, () => running.delete(exchange));
      running.add(exchange);
      void exchange.run(post);
      return exchange;
    },
    close: () => {
      for (const exchange of running) exchange.abandon();
      closeIdle();
    },
  };
}

const MAX_REDIRECTS = 5;
/** How long the rest of an answer nobody needs may take before its connection is given up. */
const DRAIN_MS = 1_000;

/** One POST, its redirects included. */
class OneExchange implements Exchange {
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

  /** Never rejects: whatever happens goes to the sink. */
  async run(post: Post): Promise<void> {
    let { url } = this.#request;
    try {
      for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
        this.#connection = post(url, this.#request);
        const answer = await this.#connection.answer;
        if (this.#isSettled) return;
        if (!isRedirect(answer.status)) return await this.#read(url, answer);
        answer.discard();
        url = redirectTarget(url, answer.status, answer.headers["location"]).href;
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

  /** The transport closes: whoever waits is told. */
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
      this.#fail(isNanoAgentError(error) ? error : cutError(url, error));
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

/** Browsers show a redirect that they do not follow as status 0. */
function isRedirect(status: number): boolean {
  return status === 0 || (status >= 300 && status < 400 && status !== 304);
}

/** How connections are made. */
interface NodeConnectionOptions {
  readonly proxy?: ProxyOptions;
  /** Certificate authorities to trust instead of the built-in ones, in PEM. */
  readonly ca?: string;
}

/** Posts over `node:http` and `node:https`, on kept connections that keep no process alive. */
class NodeConnections {
  readonly #options: NodeConnectionOptions;
  readonly #agents = new Map<string, Agent>();

  constructor(options: NodeConnectionOptions) {
    this.#options = options;
  }

  readonly post = (url: string, { headers, body }: HttpRequest): Connection => {
    let sent: ClientRequest | undefined;
    let isClosed = false;
    const answer = new Promise<OpenAnswer>((resolve, reject) => {
      const send = (): void => {
        const content = body.length < ENCODED_FROM ? body : Buffer.from(body);
        const begun = this.#begin(url, headers, Buffer.byteLength(content));
        sent = begun;
        // Destroying it later still reports errors, so a listener must stay for as long as the request lives.
        begun.on("error", (error) => {
          if (isStale(begun, error) && !isClosed) send();
          else reject(error);
        });
        begun.once("response", (response) => {
          // From here on errors are those of the answer.
          isClosed = true;
          resolve(openAnswer(response, url));
        });
        begun.end(content);
      };
      send();
    });
    const close = (): void => {
      isClosed = true;
      sent?.destroy();
    };
    return { answer, close };
  };

  readonly closeIdle = (): void => {
    for (const agent of this.#agents.values()) agent.destroy();
    this.#agents.clear();
  };

  #begin(address: string, headers: HttpRequest["headers"], length: number): ClientRequest {
    const url = URL.parse(address);
    if (url === null) throw invalidConfig(`"${address}" is not an address. Check the base URL.`);
    if (url.protocol !== "http:" && url.protocol !== "https:")
      throw invalidConfig(`"${url.href}" is not an http or https address. Check the base URL.`);
    const route = routeTo(url, this.#options.proxy);
    const to = destination(url, route);
    return modulesOf(url).request({
      method: "POST",
      agent: this.#agentFor(url, route),
      ...to,
      headers: { ...headers, "content-length": String(length), ...to.headers },
    });
  }

  #agentFor(url: URL, route: Route): Agent {
    const key = route.type === "tunnel" ? `tunnel ${route.proxy.href}` : url.protocol;
    const known = this.#agents.get(key);
    if (known !== undefined) return known;
    const { ca } = this.#options;
    const agent = new (modulesOf(url).Agent)({ keepAlive: true, ca });
    if (route.type === "tunnel") agent.createConnection = connectThroughProxy(route.proxy, ca);
    this.#agents.set(key, agent);
    return agent;
  }
}

/**
 * Length from which a body is encoded once, for its length and for the socket, which takes half the time. A
 * shorter one is sent as text, in one piece with its head.
 */
const ENCODED_FROM = 128 * 1024;

function modulesOf({ protocol }: URL): typeof Http | typeof Https {
  // An import would evaluate every lazy export of the modules, a whole fetch client among them: some 40 ms.
  return process.getBuiltinModule(protocol === "https:" ? "node:https" : "node:http");
}

/** The server closed a kept connection just as it was taken again: it has not seen the request. */
function isStale({ reusedSocket }: ClientRequest, error: Error): boolean {
  return reusedSocket && "code" in error && (error.code === "ECONNRESET" || error.code === "EPIPE");
}

function openAnswer(response: IncomingMessage, url: string): OpenAnswer {
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

/** The body without its `content-encoding`; pieces come through as soon as they can be decoded. */
function decodedBody(response: IncomingMessage, url: string): Readable {
  const encoding = response.headers["content-encoding"]?.trim().toLowerCase() ?? "";
  if (encoding === "" || encoding === "identity") return response;
  const zlib = process.getBuiltinModule("node:zlib");
  const gentle = { flush: zlib.constants.Z_SYNC_FLUSH };
  const decoders: { readonly [name: string]: (() => Transform) | undefined } = {
    gzip: () => zlib.createGunzip(gentle),
    "x-gzip": () => zlib.createGunzip(gentle),
    deflate: () => zlib.createInflate(gentle),
    br: () => zlib.createBrotliDecompress({ flush: zlib.constants.BROTLI_OPERATION_FLUSH }),
  };
  const decoder = decoders[encoding]?.();
  const host = hostOf(url);
  if (decoder === undefined)
    throw new NanoAgentError(
      "invalid_response",
      `${host} sent a body in the encoding "${encoding}", which was not asked for and cannot be read. Check the proxy or gateway in between.`,
      { details: { host, encoding } },
    );
  // Errors reach the reader by the decoder that they destroy; the callback only takes them.
  return process.getBuiltinModule("node:stream").pipeline(response, decoder, () => undefined);
}
