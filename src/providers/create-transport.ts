import { isNanoAgentError, NanoAgentError } from "../core/base/errors.ts";
import type {
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
import { NodeConnections } from "./http-node.ts";

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
