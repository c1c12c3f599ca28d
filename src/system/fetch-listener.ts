import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

/** Answers a web `Request`. */
export type FetchHandler = (request: Request) => Promise<Response>;

/**
 * A listener for `node:http` that answers with a web handler. The request is aborted when its connection
 * closes; a response is read as fast as it is sent. What a web `Request` cannot be, such as TRACE, is refused
 * with 400 and a problem.
 */
export function fetchListener(handler: FetchHandler): RequestListener {
  // Holds requests: one collected early would never abort, and listeners of its signal would hear nothing.
  const requests = new WeakMap<ServerResponse, Request>();
  return (incoming, outgoing) => {
    const connectionClosed = new AbortController();
    outgoing.once("close", () => connectionClosed.abort());
    const handle: FetchHandler = (request) => {
      requests.set(outgoing, request);
      return handler(request);
    };
    void respond(incoming, outgoing, { handler: handle, signal: connectionClosed.signal });
  };
}

async function respond(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  { handler, signal }: { readonly handler: FetchHandler; readonly signal: AbortSignal },
): Promise<void> {
  try {
    const body = new LazyBody(incoming);
    const request = requestOf(incoming, body, signal);
    if (request === undefined) {
      outgoing.writeHead(400, { "content-type": "application/problem+json", connection: "close" });
      outgoing.end(JSON.stringify(UNREADABLE));
      return;
    }
    outgoing.once("finish", () => body.discard());
    const response = await handler(request);
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    if (response.body === null) outgoing.end();
    else {
      outgoing.flushHeaders();
      await pipeline(Readable.fromWeb(response.body as never), outgoing);
    }
  } catch {
    // The client is gone, or the response failed: it must not look complete.
    outgoing.destroy();
  }
}

const UNREADABLE = {
  type: "about:blank",
  title: "Bad Request",
  status: 400,
  detail: "This cannot be read as a request.",
  code: "invalid_request",
} as const;

/** The request; `undefined` if it has two hosts, or its URL names another place than its host. */
function requestOf(incoming: IncomingMessage, body: LazyBody, signal: AbortSignal): Request | undefined {
  const { method = "GET", url = "/", headers, headersDistinct } = incoming;
  const target = url.startsWith("/") ? URL.parse(`http://${headers.host ?? ""}${url}`) : null;
  if (target === null || target.username !== "" || (headersDistinct["host"] ?? []).length > 1)
    return undefined;
  const webHeaders = new Headers();
  try {
    for (const [name, value] of Object.entries(headers))
      if (value !== undefined) webHeaders.set(name, Array.isArray(value) ? value.join(", ") : value);
    const hasBody = method !== "GET" && method !== "HEAD";
    return new Request(target, {
      method,
      headers: webHeaders,
      signal,
      ...(hasBody && { body: body.stream, duplex: "half" }),
    });
  } catch {
    // A method or a header that a web `Request` cannot have.
    return undefined;
  }
}

/**
 * The body of a request. Reads only while the stream is read, and discards the rest afterwards, so that a
 * client that is still sending gets the answer, which closing the connection would lose. Bounded by the time
 * limit for a request.
 */
class LazyBody {
  readonly stream: ReadableStream<Uint8Array>;
  readonly #incoming: IncomingMessage;
  #isStarted = false;
  #isDone = false;

  constructor(incoming: IncomingMessage) {
    this.#incoming = incoming;
    this.stream = new ReadableStream(
      {
        pull: (controller) => {
          if (!this.#isStarted) this.#start(controller);
          incoming.resume();
        },
        cancel: () => this.discard(),
      },
      { highWaterMark: 0 },
    );
  }

  /** Reads and discards the rest. */
  discard(): void {
    this.#isDone = true;
    this.#incoming.resume();
  }

  #start(controller: ReadableStreamDefaultController<Uint8Array>): void {
    this.#isStarted = true;
    const finish = (end: () => void): void => {
      if (!this.#isDone) end();
      this.#isDone = true;
    };
    this.#incoming
      .on("data", (chunk: Buffer) => {
        if (this.#isDone) return;
        this.#incoming.pause();
        controller.enqueue(new Uint8Array(chunk));
      })
      .once("end", () => finish(() => controller.close()))
      .once("error", (error) => finish(() => controller.error(error)))
      .once("close", () => finish(() => controller.error(new Error("The body was broken off."))));
  }
}
