import { NanoAgentError } from "../core/base/errors.ts";
import type { AnswerSink, Exchange, HttpRequest, Transport } from "./http.ts";
import { cutError, hostOf, networkError, redirectTarget } from "./http-error.ts";

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

const MAX_REDIRECTS = 5;
/** How long the rest of an answer nobody needs may take before its connection is given up. */
const DRAIN_MS = 1_000;

/** A {@link Transport} over a `fetch` function: for runtimes without `node:http`, and for callers who bring their own. */
export class FetchTransport implements Transport {
  readonly #fetch: Fetch;
  readonly #running = new Set<FetchExchange>();

  constructor(fetch: Fetch) {
    this.#fetch = fetch;
  }

  readonly send = (request: HttpRequest, sink: AnswerSink): Exchange => {
    const exchange: FetchExchange = new FetchExchange(request, sink, () => this.#running.delete(exchange));
    this.#running.add(exchange);
    void exchange.run(this.#fetch);
    return exchange;
  };

  readonly close = (): void => {
    for (const exchange of this.#running) exchange.abandon();
  };
}

class FetchExchange implements Exchange {
  readonly #request: HttpRequest;
  readonly #sink: AnswerSink;
  readonly #onSettled: () => void;
  readonly #controller = new AbortController();
  #settled = false;
  #draining: ReturnType<typeof setTimeout> | undefined;
  #gate: { readonly opened: Promise<void>; readonly open: () => void } | undefined;

  constructor(request: HttpRequest, sink: AnswerSink, onSettled: () => void) {
    this.#request = request;
    this.#sink = sink;
    this.#onSettled = onSettled;
  }

  /** Never rejects: whatever happens goes to the sink. */
  async run(fetch: Fetch): Promise<void> {
    let answered = false;
    try {
      const response = await this.#fetch(fetch);
      answered = true;
      if (this.#settled) return;
      this.#sink.onAnswer({ status: response.status, headers: Object.fromEntries(response.headers) });
      if (response.body !== null) await this.#read(response.body);
      if (this.#settle()) this.#sink.onEnd();
    } catch (error) {
      if (!this.#settle()) return;
      if (error instanceof NanoAgentError) this.#sink.onError(error);
      else
        this.#sink.onError(
          answered ? cutError(this.#request.url, error) : networkError(this.#request.url, error),
        );
    } finally {
      clearTimeout(this.#draining);
    }
  }

  readonly pause = (): void => {
    if (this.#gate !== undefined) return;
    const { promise: opened, resolve: open } = Promise.withResolvers<void>();
    this.#gate = { opened, open };
  };

  readonly resume = (): void => {
    this.#gate?.open();
    this.#gate = undefined;
  };

  readonly cancel = (): void => {
    if (!this.#settle()) return;
    this.resume();
    this.#controller.abort();
  };

  readonly release = (): void => {
    if (!this.#settle()) return;
    this.#draining = setTimeout(() => this.#controller.abort(), DRAIN_MS);
    this.resume();
  };

  abandon(): void {
    if (!this.#settle()) return;
    this.resume();
    this.#controller.abort();
    this.#sink.onError(
      new NanoAgentError("aborted", "The transport was closed while a request was running."),
    );
  }

  async #fetch(fetch: Fetch): Promise<Response> {
    let { url } = this.#request;
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
      const response = await fetch(url, {
        method: "POST",
        headers: { ...this.#request.headers },
        body: this.#request.body,
        signal: this.#controller.signal,
        redirect: "manual",
      });
      const hidden = response.type === "opaqueredirect";
      if (!hidden && (response.status < 300 || response.status >= 400)) return response;
      const target = redirectTarget(url, response.status, response.headers.get("location") ?? undefined);
      await response.body?.cancel();
      if (target instanceof NanoAgentError) throw target;
      url = target.href;
    }
    throw new NanoAgentError(
      "invalid_response",
      `${hostOf(url)} redirected the request ${MAX_REDIRECTS} times. Check the base URL.`,
    );
  }

  async #read(body: ReadableStream<Uint8Array>): Promise<void> {
    const reader = body.getReader();
    const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
    for (;;) {
      const { done, value } = await reader.read();
      if (this.#gate !== undefined) await this.#gate.opened;
      if (this.#settled) {
        if (!done && this.#draining !== undefined) continue;
        return;
      }
      if (done) {
        const rest = decoder.decode();
        if (rest !== "") this.#sink.onText(rest);
        return;
      }
      const text = decoder.decode(value, { stream: true });
      if (text !== "") this.#sink.onText(text);
    }
  }

  #settle(): boolean {
    if (this.#settled) return false;
    this.#settled = true;
    this.#onSettled();
    return true;
  }
}
