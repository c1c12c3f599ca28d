import type * as Http from "node:http";
import type { Agent, ClientRequest, IncomingMessage } from "node:http";
import type * as Https from "node:https";
import type { Readable, Transform } from "node:stream";
import { invalidConfig, NanoAgentError } from "../core/base/errors.ts";
import type { AnswerHead, Connection, HttpRequest, OpenAnswer, ProxyOptions } from "./http.ts";
import { hostOf } from "./http-error.ts";
import { connectThroughProxy, destination, type Route, routeTo } from "./http-proxy.ts";

/** How connections are made. */
export interface NodeConnectionOptions {
  readonly proxy?: ProxyOptions;
  /** Certificate authorities to trust instead of the built-in ones, in PEM. */
  readonly ca?: string;
}

/** Posts over `node:http` and `node:https`, on kept connections that keep no process alive. */
export class NodeConnections {
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
