import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { errorMessage, type NanoAgentError, toNanoAgentError } from "../core/base/errors.ts";
import { isRecord, safeParse } from "../core/base/json.ts";
import type { WireName } from "../core/message/message.ts";
import { checkRequest, VENDORS } from "./check-request.ts";
import { mismatch, piecesOf, Script } from "./script.ts";
import { waitFor } from "./scripted-model.ts";
import type { RecordedRequest, ReplyFaults, ServerReply, ServerStep } from "./server-step.ts";
import { type EncodingContext, type RenderedItem, statusOf, type VendorError } from "./vendor.ts";

/** Options of {@link startScriptedServer}. */
export interface ScriptedServerOptions {
  /** Characters per delta. Default 16. */
  readonly chunkSize?: number;
  /** Refuses requests in which `checkRequest` finds faults. Default true. */
  readonly strict?: boolean;
}

/**
 * Starts a server on 127.0.0.1 that plays a script as any of four APIs: Anthropic (`…/messages`), OpenAI
 * (`…/chat/completions`, `…/responses`) and Google (`…:streamGenerateContent`), with any path prefix. Steps
 * are those of the scripted model, rendered as real events of the requested wire, or complete HTTP answers,
 * good or bad. A function instead of a list answers every request. An extra request is refused with 400 and
 * reported by {@link ScriptedServer.assertFinished}.
 */
export async function startScriptedServer(
  steps: readonly ServerStep[] | Extract<ServerStep, (...args: never) => unknown>,
  options: ScriptedServerOptions = {},
): Promise<ScriptedServer> {
  const server = createServer();
  // Some tests depend on answers that stall or drip.
  server.requestTimeout = 0;
  server.headersTimeout = 0;
  server.listen(0, "127.0.0.1");
  // Rejects if the server reports an error instead.
  await once(server, "listening");
  return new ScriptedServer(server, steps, options);
}

/** A running server; made by {@link startScriptedServer}. */
export class ScriptedServer {
  /** `http://127.0.0.1:<port>`, without a trailing slash. */
  readonly url: string;
  /** Every request so far, in order of arrival, including refused ones. */
  readonly requests: RecordedRequest[] = [];
  readonly #server: Server;
  readonly #script: Script<ServerStep>;
  readonly #options: ScriptedServerOptions;
  readonly #closing = new AbortController();
  readonly #mismatches: NanoAgentError[] = [];
  #calls = 0;

  constructor(
    server: Server,
    steps: ConstructorParameters<typeof Script<ServerStep>>[0],
    options: ScriptedServerOptions,
  ) {
    this.#server = server;
    this.#script = new Script<ServerStep>(steps);
    this.#options = options;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    server.on("request", (request, response) => {
      this.#handle(request, response).catch((error: unknown) => {
        this.#mismatches.push(toNanoAgentError(error));
        response.destroy();
      });
    });
  }

  /** Throws `script_mismatch` if steps are left over or a request was refused or one too many. */
  assertFinished(): void {
    const [first] = this.#mismatches;
    if (first !== undefined) throw first;
    const refused = this.requests.flatMap((request) => request.violations);
    if (refused.length > 0 && this.#options.strict !== false)
      throw mismatch(`A request was refused: ${refused.join("; ")}.`, { refused });
    this.#script.assertFinished();
  }

  /** Ends all requests in flight and frees the port. */
  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return;
    this.#closing.abort();
    const closed = once(this.#server, "close");
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  /** {@link ScriptedServer.close}, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #handle(message: IncomingMessage, response: ServerResponse): Promise<void> {
    response.socket?.setNoDelay(true);
    const disconnected = new AbortController();
    response.once("close", () => disconnected.abort());
    const signal = AbortSignal.any([disconnected.signal, this.#closing.signal]);
    const request = await readRequest(message);
    if (request === undefined) return;
    if (request.method === "GET" && DISCOVERY.test(request.path)) {
      response
        .writeHead(404, { "content-type": "application/json" })
        .end('{"error":{"message":"not found"}}');
      return;
    }
    this.requests.push(request);
    const reply = await this.#reply(request);
    if (reply.cut === "before_headers") response.socket?.destroy();
    else if (reply.stall === "before_headers") await untilAborted(signal);
    else {
      const { status, type, parts } = this.#body(request, reply);
      response.writeHead(status, { "content-type": type, ...reply.headers });
      if (request.method === "HEAD") response.end();
      else await sendBody(response, parts, reply, signal);
    }
  }

  async #reply(request: RecordedRequest): Promise<ServerReply> {
    if (this.#options.strict !== false && request.violations.length > 0)
      return { type: "replies", status: 400, error: request.violations.join("; ") };
    try {
      const index = this.#script.taken;
      const step = this.#script.take(() => `${request.method} ${request.path}`);
      const answer = typeof step === "function" ? await step(request, index) : step;
      return "type" in answer && answer.type === "replies" ? answer : { type: "replies", answer };
    } catch (error) {
      this.#mismatches.push(toNanoAgentError(error));
      return { type: "replies", status: 400, error: errorMessage(error) };
    }
  }

  #body(request: RecordedRequest, { status, body, answer, error }: ServerReply): Body {
    if (body !== undefined)
      return { status: status ?? 200, type: "text/plain; charset=utf-8", parts: [body] };
    const { wire, method, path } = request;
    if (wire === undefined) {
      const message = error ?? `This server speaks nothing at ${method} ${path}.`;
      return jsonBody(status ?? 404, { error: { message } });
    }
    const errorBody = (error: VendorError): Body => jsonBody(statusOf(error), VENDORS[wire].error(error));
    const knownStatus = status === undefined ? {} : { status };
    if (answer === undefined)
      return errorBody({
        code: "provider_error",
        message: error ?? "scripted",
        ...(error === undefined ? { status: 200 } : {}),
        ...knownStatus,
      });
    const pieces = piecesOf(answer);
    const [first] = pieces;
    if (first?.type === "fails") {
      const { code, message } = toNanoAgentError(first.error, "provider_error");
      return errorBody({ code, message, ...knownStatus });
    }
    const type = wire === "google" ? "text/event-stream" : "text/event-stream; charset=utf-8";
    return { status: status ?? 200, type, parts: VENDORS[wire].render(pieces, this.#context(request)) };
  }

  #context(request: RecordedRequest): EncodingContext {
    const body = isRecord(request.body) ? request.body : {};
    const options = body["stream_options"];
    return {
      model:
        typeof body["model"] === "string"
          ? body["model"]
          : (/models\/([^:/?]+)/.exec(request.path)?.[1] ?? "scripted"),
      chunkSize: this.#options.chunkSize ?? 16,
      wantsUsage: isRecord(options) && options["include_usage"] === true,
      number: this.#script.taken,
      nextCallId: () => `call_${++this.#calls}`,
    };
  }
}

/** Paths where clients ask a local server about itself, outside any conversation. */
const DISCOVERY = /^\/(?:v1\/models|props|api\/(?:tags|ps|v0\/models))(?:$|\?)/;

interface Body {
  readonly status: number;
  readonly type: string;
  readonly parts: Iterable<RenderedItem | Uint8Array>;
}

function jsonBody(status: number, document: object): Body {
  return { status, type: "application/json", parts: [JSON.stringify(document)] };
}

function wireOf(path: string): WireName | undefined {
  const [route = ""] = path.split("?");
  if (route.endsWith("/messages")) return "anthropic";
  if (route.endsWith("/chat/completions")) return "openai_chat";
  if (route.endsWith("/responses")) return "openai_responses";
  return route.endsWith(":streamGenerateContent") ? "google" : undefined;
}

/** `undefined` if the client left before its request was complete. */
async function readRequest(message: IncomingMessage): Promise<RecordedRequest | undefined> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of message) chunks.push(chunk as Buffer);
  } catch {
    return undefined;
  }
  const path = message.url ?? "/";
  const method = message.method ?? "GET";
  const wire = method === "POST" ? wireOf(path) : undefined;
  const headers = Object.fromEntries(
    Object.entries(message.headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(", ") : value,
    ]),
  );
  const bytes = Buffer.concat(chunks);
  const text = bytes.toString("utf8");
  const parsed = safeParse(text);
  const request = { method, path, headers, body: parsed.ok ? parsed.value : text, wire };
  const violations = [...violationsOf(request)];
  if (wire !== undefined && !Buffer.from(text, "utf8").equals(bytes)) violations.push("body is not UTF-8");
  return { ...request, violations };
}

/** The problems of a request: in its body, its content type, or because it does not ask for a stream. */
function violationsOf({ wire, path, headers, body }: Omit<RecordedRequest, "violations">): readonly string[] {
  if (wire === undefined) return [];
  const issues = [...checkRequest(wire, body)];
  if (headers["content-type"]?.startsWith("application/json") !== true)
    issues.push("content-type is not application/json");
  if (wire === "anthropic" && headers["anthropic-version"] === undefined)
    issues.push("anthropic-version header is missing");
  const streams = wire === "google" ? path.includes("alt=sse") : isRecord(body) && body["stream"] === true;
  if (!streams) issues.push("the request asks for no event stream; this server has nothing else");
  return issues;
}

/**
 * Sends the parts of a body with the requested faults. Without faults, everything up to the next pause is one
 * write. Resolves when the body has ended or was cut, or the client is gone (`signal`); a stall lasts until
 * then.
 */
async function sendBody(
  response: ServerResponse,
  parts: Body["parts"],
  faults: ReplyFaults,
  signal: AbortSignal,
): Promise<void> {
  const writer = new BodyWriter(response, faults, signal);
  for (const part of parts) {
    if (writer.closed) return;
    if (typeof part === "string" || part instanceof Uint8Array) writer.buffer(Buffer.from(part as string));
    else {
      await writer.flush();
      // A rejection fails the request; once the client is gone, nothing more is sent.
      if (!writer.closed) await waitFor(part.until, signal).catch(() => response.socket?.destroy());
    }
  }
  await writer.flush();
  if (!writer.closed) response.end();
}

/** Resolves when `signal` is aborted: the client is gone or the server closes. */
async function untilAborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, "abort");
}

class BodyWriter {
  readonly #response: ServerResponse;
  readonly #faults: ReplyFaults;
  readonly #signal: AbortSignal;
  readonly #aborted: Promise<void>;
  #waiting: Buffer[] = [];
  #sent = 0;
  #pieces = 0;
  #stopped = false;

  constructor(response: ServerResponse, faults: ReplyFaults, signal: AbortSignal) {
    this.#response = response;
    this.#faults = faults;
    this.#signal = signal;
    this.#aborted = untilAborted(signal);
  }

  /** True if nothing more can or should be sent. */
  get closed(): boolean {
    return this.#stopped || this.#signal.aborted;
  }

  buffer(bytes: Buffer): void {
    this.#waiting.push(bytes);
  }

  async flush(): Promise<void> {
    let rest = Buffer.concat(this.#waiting);
    this.#waiting = [];
    const { cut, stall } = this.#faults;
    const end = Math.min(...[cut, stall].map((bound) => (typeof bound === "number" ? bound : Infinity)));
    while (rest.length > 0 && !this.closed) {
      const size = Math.min(this.#pieceSize(), rest.length, end - this.#sent);
      if (size > 0) await this.#write(rest.subarray(0, size));
      rest = rest.subarray(size);
      this.#sent += size;
      if (this.#sent >= end) await this.#stop();
    }
    if (end === 0 && !this.closed) await this.#stop();
  }

  #pieceSize(): number {
    const { splitBytes } = this.#faults;
    if (splitBytes === undefined) return Number.POSITIVE_INFINITY;
    if (typeof splitBytes === "number") return Math.max(1, splitBytes);
    return Math.max(1, splitBytes[Math.min(this.#pieces, splitBytes.length - 1)] ?? 1);
  }

  async #write(piece: Buffer): Promise<void> {
    const { dripMs, splitBytes } = this.#faults;
    // An aborted drip has nothing more to send.
    if (this.#pieces > 0 && dripMs !== undefined)
      await sleep(dripMs, undefined, { signal: this.#signal }).catch(() => undefined);
    this.#pieces += 1;
    await Promise.race([new Promise((resolve) => this.#response.write(piece, resolve)), this.#aborted]);
    // Makes each piece arrive separately.
    if (splitBytes !== undefined) await new Promise((resolve) => setImmediate(resolve));
  }

  async #stop(): Promise<void> {
    this.#stopped = true;
    this.#response.flushHeaders();
    if (typeof this.#faults.cut === "number" && this.#sent >= this.#faults.cut)
      this.#response.socket?.destroy();
    else await this.#aborted;
  }
}
