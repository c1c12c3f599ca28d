import {
  type AuthProvider,
  type FetchLike,
  InsufficientScopeError,
  type JSONRPCMessage,
  SdkHttpError,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type TransportSendOptions,
} from "@modelcontextprotocol/client";
import { createParser } from "eventsource-parser";
import { errorMessage } from "../../core/base/errors.ts";
import { isRecord, safeParse } from "../../core/base/json.ts";
import { quoteShellArgument } from "../../core/base/text.ts";
import { type Authorization, ConnectionError } from "./connection.ts";
import { isRequestId, MAX_MESSAGE_BYTES, type RequestId, readMessages } from "./read-message.ts";
import type { HttpServer } from "./server-definition.ts";

export interface HttpTransportOptions {
  readonly server: HttpServer;
  readonly authorization: Authorization | undefined;
  readonly fetch: FetchLike;
  readonly onUnreachable: (reason: string) => void;
}

/** Streamable HTTP. A call whose stream ends without an answer gets an error instead of waiting forever. */
export class HttpTransport extends StreamableHTTPClientTransport {
  readonly #options: HttpTransportOptions;

  constructor(options: HttpTransportOptions) {
    super(new URL(options.server.url), { ...sdkOptions(options), onInsufficientScope: "throw" });
    this.#options = options;
  }

  override async send(
    message: JSONRPCMessage | JSONRPCMessage[],
    options: TransportSendOptions = {},
  ): Promise<void> {
    try {
      const onRequestStreamEnd = (): void => this.#failUnanswered(message);
      await super.send(message, { ...options, onRequestStreamEnd } as SendOptions);
    } catch (error) {
      throw await this.#explain(error);
    }
  }

  #failUnanswered(message: JSONRPCMessage | JSONRPCMessage[]): void {
    if (Array.isArray(message) || !("method" in message) || !("id" in message)) return;
    const { id } = message;
    const error = { code: -32_000, message: "The connection broke before the answer came." };
    this.onmessage?.({ jsonrpc: "2.0", id, error });
  }

  async #explain(error: unknown): Promise<unknown> {
    if (error instanceof ConnectionError || isAbort(error)) return error;
    if (error instanceof InsufficientScopeError) {
      const { server, authorization } = this.#options;
      const { requiredScope = "" } = error;
      await authorization?.requestScope(requiredScope);
      return new ConnectionError(
        `It wants a login with more rights (${requiredScope}): nano-agent mcp login ${quoteShellArgument(server.name)}.`,
        "login",
      );
    }
    if (error instanceof SdkHttpError) return errorOfStatus(error, this.sessionId !== undefined);
    if (!(error instanceof TypeError)) return error;
    const reason = `it cannot be reached (${errorMessage(error.cause ?? error)}).`;
    this.#options.onUnreachable(reason);
    return new ConnectionError(reason);
  }
}

type SendOptions = NonNullable<Parameters<StreamableHTTPClientTransport["send"]>[1]>;

export function sseTransport(options: HttpTransportOptions): SSEClientTransport {
  return new SSEClientTransport(new URL(options.server.url), sdkOptions(options));
}

export function lacksStreamableHttp(error: unknown): boolean {
  const status = error instanceof SdkHttpError ? error.status : undefined;
  return status === 400 || status === 404 || status === 405;
}

function errorOfStatus(error: SdkHttpError, hasSession: boolean): Error {
  const { status } = error;
  if (status === 404 && hasSession) return new ConnectionError("it has forgotten the session.", "session");
  if (status === 401 || status === 403)
    return new ConnectionError(`it refused the credentials (HTTP ${status}).`, "login");
  return error;
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === "AbortError";
}

function sdkOptions({ server, authorization, fetch }: HttpTransportOptions) {
  const { headers } = server;
  const hasOwn = Object.keys(headers).some((name) => name.toLowerCase() === "authorization");
  return {
    requestInit: { headers: { ...headers } },
    fetch: normalisingFetch(fetch),
    reconnectionOptions: {
      initialReconnectionDelay: 500,
      maxReconnectionDelay: 5_000,
      reconnectionDelayGrowFactor: 2,
      maxRetries: 3,
    },
    ...(hasOwn || authorization === undefined ? {} : { authProvider: authProvider(server, authorization) }),
  };
}

function authProvider({ name }: HttpServer, authorization: Authorization): AuthProvider {
  let last: string | undefined;
  return {
    token: async () => (last = await authorization.token()),
    onUnauthorized: async () => {
      last = await authorization.renew(last);
      if (last !== undefined) return;
      throw new ConnectionError(
        `it wants a login: nano-agent mcp login ${quoteShellArgument(name)}.`,
        "login",
      );
    },
  };
}

/**
 * A `fetch` whose responses go through {@link readMessages}; a message that is too long ends the response.
 */
const normalisingFetch =
  (fetch: FetchLike): FetchLike =>
  async (url, init) => {
    const response = await fetch(url, init);
    const { body } = response;
    if (body === null) return response;
    const type = response.headers.get("content-type") ?? "";
    const pendingId = response.ok ? requestIdOf(init?.body) : undefined;
    let read: ReadableStream<Uint8Array> | string = body;
    if (type.startsWith("text/event-stream")) read = body.pipeThrough(normalisingStream(pendingId));
    else {
      const text = await readBoundedText(body);
      read = response.ok && text.includes('"jsonrpc"') ? normaliseText(text) : text;
    }
    return Object.defineProperty(new Response(read, response), "url", { value: response.url });
  };

function requestIdOf(body: unknown): RequestId | undefined {
  const parsed = safeParse(typeof body === "string" ? body : "");
  const id = parsed.ok && isRecord(parsed.value) ? parsed.value["id"] : undefined;
  return isRequestId(id) ? id : undefined;
}

function normaliseText(text: string): string {
  const [message, ...others] = readMessages(text);
  if (message === undefined) return text;
  return JSON.stringify(others.length === 0 ? message : [message, ...others]);
}

async function readBoundedText(body: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let bytes = 0;
  let text = "";
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > MAX_MESSAGE_BYTES) throw tooLongError();
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

function tooLongError(): ConnectionError {
  return new ConnectionError(`It sent a message of more than ${MAX_MESSAGE_BYTES / 1_048_576} MB.`);
}

/**
 * Passes server-sent events through, with each message normalised by {@link readMessages}. A message cut off
 * by the end of the stream is left out: the call resumes it, or ends with an error.
 */
export function normalisingStream(pendingId?: RequestId): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  let read = "";
  const parser = createParser({
    maxBufferSize: MAX_MESSAGE_BYTES,
    onEvent: ({ event, id, data }) => {
      const messages = readMessages(data, pendingId).map((message) => JSON.stringify(message));
      const head = `${event === undefined ? "" : `event: ${event}\n`}${id === undefined ? "" : `id: ${id}\n`}`;
      for (const each of messages.length === 0 ? [data] : messages)
        read += `${head}data: ${each.replaceAll("\n", "\ndata: ")}\n\n`;
    },
    onRetry: (ms) => (read += `retry: ${ms}\n`),
    onError: ({ type }) => {
      if (type === "max-buffer-size-exceeded") throw tooLongError();
    },
  });
  const pass = (text: string, controller: TransformStreamDefaultController<Uint8Array>): void => {
    parser.feed(text);
    if (read !== "") controller.enqueue(encoder.encode(read));
    read = "";
  };
  return new TransformStream({
    transform: (chunk, controller) => pass(decoder.decode(chunk, { stream: true }), controller),
    flush: (controller) => pass(`${decoder.decode()}\n`, controller),
  });
}
