import type * as Http from "node:http";
import type { Agent, ClientRequest, IncomingMessage, RequestOptions } from "node:http";
import type * as Https from "node:https";
import { NanoAgentError, toNanoAgentError } from "../core/base/errors.ts";
import type { AnswerHead, AnswerSink, Exchange, HttpRequest, ProxyOptions, Transport } from "./http.ts";
import { decodedBody } from "./http-body.ts";
import { cutError, networkError, redirectTarget } from "./http-error.ts";
import { connectThroughProxy, proxyAuthorization, type Route, routeTo } from "./http-proxy.ts";

/** Options of {@link NodeTransport}. */
export interface NodeTransportOptions {
  readonly proxy?: ProxyOptions;
  /** Certificate authorities to trust instead of the built-in ones, in PEM. */
  readonly ca?: string;
}

type HttpModule = typeof Http;
type HttpsModule = typeof Https;

const MAX_REDIRECTS = 5;
/** How long the rest of an answer nobody needs may take before its connection is given up. */
const DRAIN_MS = 1_000;

/**
 * A {@link Transport} over `node:http` and `node:https`, which are loaded with the first request. Node takes idle keep-alive
 * sockets off the event loop's count, so an open connection does not keep the process alive.
 */
export class NodeTransport implements Transport {
  readonly #options: NodeTransportOptions;
  readonly #agents = new Map<string, Agent>();
  readonly #running = new Set<NodeExchange>();
  #http: HttpModule | undefined;
  #https: HttpsModule | undefined;

  constructor(options: NodeTransportOptions = {}) {
    this.#options = options;
  }

  readonly send = (request: HttpRequest, sink: AnswerSink): Exchange => {
    const exchange: NodeExchange = new NodeExchange({
      request,
      sink,
      open: (url) => this.#open(url, request),
      onSettled: () => this.#running.delete(exchange),
    });
    this.#running.add(exchange);
    exchange.start();
    return exchange;
  };

  readonly close = (): void => {
    for (const exchange of this.#running) exchange.abandon();
    for (const agent of this.#agents.values()) agent.destroy();
    this.#agents.clear();
  };

  /** A request whose body is not sent yet; a promise only while a module has to be loaded. */
  #open(url: URL, request: HttpRequest): ClientRequest | Promise<ClientRequest> {
    const route = routeTo(url, this.#options.proxy);
    if (url.protocol !== "http:" && url.protocol !== "https:") {
      throw new NanoAgentError(
        "invalid_config",
        `"${url.href}" is not an http or https address. Check the base URL.`,
      );
    }
    const http = this.#http;
    const secure = url.protocol === "https:";
    if (http === undefined || (secure && this.#https === undefined)) {
      return this.#load(secure).then(() => this.#open(url, request));
    }
    const start = secure && this.#https !== undefined ? this.#https.request : http.request;
    return start(this.#requestOptions(url, request, route));
  }

  async #load(secure: boolean): Promise<void> {
    // An import would evaluate every lazy export of the modules, a whole fetch client among them: some 40 ms.
    this.#http ??= process.getBuiltinModule("node:http");
    if (secure) this.#https ??= process.getBuiltinModule("node:https");
  }

  #requestOptions(url: URL, request: HttpRequest, route: Route): RequestOptions {
    const headers: Record<string, string | number> = {
      ...request.headers,
      "content-length": Buffer.byteLength(request.body),
    };
    const agent = this.#agentFor(url, route);
    if (route.type === "forward") {
      const credentials = proxyAuthorization(route.proxy);
      if (credentials !== undefined) headers["proxy-authorization"] = credentials;
      headers["host"] = url.host;
      return {
        method: "POST",
        agent,
        headers,
        host: route.proxy.hostname,
        port: route.proxy.port || 80,
        path: url.href,
      };
    }
    return {
      method: "POST",
      agent,
      headers,
      host: url.hostname.replace(/^\[|\]$/g, ""),
      port: url.port || (url.protocol === "https:" ? 443 : 80),
      path: url.pathname + url.search,
    };
  }

  #agentFor(url: URL, route: Route): Agent {
    const key = route.type === "tunnel" ? `tunnel ${route.proxy.href}` : url.protocol;
    const known = this.#agents.get(key);
    if (known !== undefined) return known;
    const agent = this.#createAgent(url, route);
    this.#agents.set(key, agent);
    return agent;
  }

  #createAgent(url: URL, route: Route): Agent {
    const http = this.#http;
    const https = this.#https;
    if (url.protocol === "https:" && https !== undefined) {
      const { ca } = this.#options;
      const agent = new https.Agent({ keepAlive: true, ...(ca === undefined ? {} : { ca }) });
      if (route.type === "tunnel") agent.createConnection = connectThroughProxy(route.proxy, ca);
      return agent;
    }
    if (http === undefined) throw new NanoAgentError("internal", "node:http is used before it was loaded.");
    return new http.Agent({ keepAlive: true });
  }
}

interface NodeExchangeOptions {
  readonly request: HttpRequest;
  readonly sink: AnswerSink;
  readonly open: (url: URL) => ClientRequest | Promise<ClientRequest>;
  readonly onSettled: () => void;
}

/** One POST: redirects and stale connections included. */
class NodeExchange implements Exchange {
  readonly #options: NodeExchangeOptions;
  #request: ClientRequest | undefined;
  #response: IncomingMessage | undefined;
  #redirects = 0;
  #paused = false;
  #settled = false;

  constructor(options: NodeExchangeOptions) {
    this.#options = options;
  }

  start(): void {
    const url = URL.parse(this.#options.request.url);
    if (url === null) {
      const message = `"${this.#options.request.url}" is not an address. Check the base URL.`;
      queueMicrotask(() => this.#fail(new NanoAgentError("invalid_config", message)));
      return;
    }
    this.#connect(url);
  }

  readonly pause = (): void => {
    this.#paused = true;
    this.#response?.pause();
  };

  readonly resume = (): void => {
    this.#paused = false;
    this.#response?.resume();
  };

  readonly cancel = (): void => {
    if (this.#settle()) this.#request?.destroy();
  };

  readonly release = (): void => {
    if (!this.#settle()) return;
    const response = this.#response;
    if (response === undefined || response.readableEnded) return;
    const timer = setTimeout(() => response.destroy(), DRAIN_MS);
    timer.unref();
    response.once("close", () => clearTimeout(timer));
    response.resume();
  };

  /** The transport closes: whoever waits is told. */
  abandon(): void {
    this.#request?.destroy();
    this.#fail(new NanoAgentError("aborted", "The transport was closed while a request was running."));
  }

  #connect(url: URL): void {
    let opened: ClientRequest | Promise<ClientRequest>;
    try {
      opened = this.#options.open(url);
    } catch (error) {
      queueMicrotask(() => this.#fail(networkError(url.href, error)));
      return;
    }
    if (opened instanceof Promise) {
      opened.then(
        (request) => this.#dispatch(url, request),
        (error: unknown) => this.#fail(networkError(url.href, error)),
      );
      return;
    }
    this.#dispatch(url, opened);
  }

  #dispatch(url: URL, request: ClientRequest): void {
    // Destroying it later still reports errors, so a listener must stay for as long as the request lives.
    request.on("error", (error) => this.#onRequestError(url, request, error));
    if (this.#settled) {
      request.destroy();
      return;
    }
    this.#request = request;
    request.once("response", (response) => this.#onResponse(url, response));
    request.end(this.#options.request.body);
  }

  #onRequestError(url: URL, request: ClientRequest, error: Error): void {
    if (request !== this.#request || this.#settled) return;
    if (this.#response !== undefined) {
      this.#fail(cutError(url.href, error));
      return;
    }
    // The server closed a kept connection just as it was taken again: it has not seen the request.
    if (request.reusedSocket && "code" in error && (error.code === "ECONNRESET" || error.code === "EPIPE")) {
      this.#connect(url);
      return;
    }
    this.#fail(networkError(url.href, error));
  }

  #onResponse(url: URL, response: IncomingMessage): void {
    if (this.#settled) {
      response.destroy();
      return;
    }
    const status = response.statusCode ?? 0;
    if (status >= 300 && status < 400 && status !== 304) {
      this.#redirect(url, status, response);
      return;
    }
    this.#response = response;
    this.#options.sink.onAnswer({ status, headers: response.headers as AnswerHead["headers"] });
    if (!this.#settled) this.#read(url, response);
  }

  #redirect(url: URL, status: number, response: IncomingMessage): void {
    response.resume();
    const target = redirectTarget(url.href, status, response.headers.location);
    if (target instanceof URL) {
      this.#redirects++;
      if (this.#redirects <= MAX_REDIRECTS) {
        this.#connect(target);
        return;
      }
      this.#fail(
        new NanoAgentError(
          "invalid_response",
          `${url.host} redirected the request ${MAX_REDIRECTS} times. Check the base URL.`,
        ),
      );
      return;
    }
    this.#fail(target);
  }

  #read(url: URL, response: IncomingMessage): void {
    const encoding = response.headers["content-encoding"];
    if (encoding === undefined || encoding === "identity" || encoding === "") {
      this.#flow(url, response);
      return;
    }
    response.once("error", (error) => this.#cut(url, error));
    decodedBody(response, encoding, url.host).then(
      (body) => this.#flow(url, body),
      (error: unknown) => {
        response.destroy();
        this.#fail(toNanoAgentError(error, "invalid_response"));
      },
    );
  }

  #flow(url: URL, body: NodeJS.ReadableStream): void {
    const { sink } = this.#options;
    body.setEncoding("utf8");
    body.on("data", (text: string) => {
      if (!this.#settled) sink.onText(text);
    });
    body.once("end", () => {
      if (this.#settle()) sink.onEnd();
    });
    body.once("error", (error) => this.#cut(url, error));
    body.once("close", () => this.#cut(url));
    if (this.#paused) body.pause();
  }

  /** Every body closes, most of them after their end: no error is made for those. */
  #cut(url: URL, cause?: Error): void {
    if (!this.#settled) this.#fail(cutError(url.href, cause));
  }

  #fail(error: NanoAgentError): void {
    if (!this.#settle()) return;
    this.#options.sink.onError(error);
  }

  #settle(): boolean {
    if (this.#settled) return false;
    this.#settled = true;
    this.#options.onSettled();
    return true;
  }
}
