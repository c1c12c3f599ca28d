import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { errorMessage, NanoAgentError, toNanoAgentError } from "../core/base/errors.ts";
import { isRecord, safeParse } from "../core/base/json.ts";
import type { WireName } from "../core/message/message.ts";
import { checkRequest } from "./check-request.ts";
import { gone, sendBody } from "./reply-body.ts";
import { piecesOf, Script } from "./script.ts";
import type { RecordedRequest, ServerAnswer, ServerReply, ServerStep } from "./server-step.ts";
import { speakAnthropic } from "./speak-anthropic.ts";
import { speakGoogle } from "./speak-google.ts";
import { speakOpenAiChat } from "./speak-openai-chat.ts";
import { speakOpenAiResponses } from "./speak-openai-responses.ts";
import type { Speech, SpeechContext, Utterance } from "./speech.ts";
import { statusOf, vendorError } from "./vendor-error.ts";

/** How a {@link ScriptedServer} behaves. */
export interface ScriptedServerOptions {
  /** Characters of one delta. Default 16. */
  readonly chunkSize?: number;
  /** Refuses requests that `checkRequest` finds fault with. Default true. */
  readonly strict?: boolean;
}

/**
 * Starts a server on 127.0.0.1 that plays a script as four vendors: Anthropic (`…/messages`), OpenAI
 * (`…/chat/completions`, `…/responses`) and Google (`…:streamGenerateContent`), whatever stands before these
 * in the path. Steps are those of the scripted model, rendered into the true events of the wire that asks, or
 * whole HTTP answers, good or bad. A function instead of a list answers every request. A request too many is
 * refused with 400; {@link ScriptedServer.assertFinished} reports it.
 */
export async function startScriptedServer(
  steps: readonly ServerStep[] | Extract<ServerStep, (...args: never) => unknown>,
  options: ScriptedServerOptions = {},
): Promise<ScriptedServer> {
  const server = createServer();
  // Answers that stall or drip are the point of some tests.
  server.requestTimeout = 0;
  server.headersTimeout = 0;
  server.listen(0, "127.0.0.1");
  // Rejects with what the server reports instead.
  await once(server, "listening");
  return new ScriptedServer(server, steps, options);
}

/** A running server; made by {@link startScriptedServer}. */
export class ScriptedServer {
  /** `http://127.0.0.1:<port>`, without a trailing slash. */
  readonly url: string;
  /** Every request so far, in order of arrival, refused ones included. */
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

  /** Throws `script_mismatch` when steps are left over, and for a request too many or refused. */
  assertFinished(): void {
    const [mismatch] = this.#mismatches;
    if (mismatch !== undefined) throw mismatch;
    const refused = this.requests.flatMap((request) => request.violations);
    if (refused.length > 0 && this.#options.strict !== false) {
      throw new NanoAgentError("script_mismatch", `A request was refused: ${refused.join("; ")}.`, {
        details: { refused },
      });
    }
    this.#script.assertFinished();
  }

  /** Ends everything that is going on and frees the port. */
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
    const left = new AbortController();
    response.once("close", () => left.abort());
    const signal = AbortSignal.any([left.signal, this.#closing.signal]);
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
    await this.#send(response, { request, reply, signal });
  }

  async #reply(request: RecordedRequest): Promise<ServerReply> {
    if (this.#options.strict !== false && request.violations.length > 0) {
      return { type: "replies", status: 400, error: request.violations.join("; ") };
    }
    try {
      const index = this.#script.taken;
      const step = this.#script.take(() => `${request.method} ${request.path}`);
      const answer = typeof step === "function" ? await step(request, index) : step;
      return asReply(answer);
    } catch (error) {
      this.#mismatches.push(toNanoAgentError(error));
      return { type: "replies", status: 400, error: errorMessage(error) };
    }
  }

  async #send(response: ServerResponse, turn: Turn): Promise<void> {
    const { request, reply, signal } = turn;
    if (reply.cut === "before_headers") {
      response.socket?.destroy();
      return;
    }
    if (reply.stall === "before_headers") {
      await gone(signal);
      return;
    }
    const body = this.#body(request, reply);
    response.writeHead(body.status, { "content-type": body.type, ...reply.headers });
    if (request.method === "HEAD") response.end();
    else await sendBody(response, body.parts, { ...reply, signal });
  }

  #body(request: RecordedRequest, reply: ServerReply): Body {
    const { status = 200, body, answer, error } = reply;
    if (body !== undefined) return { status, type: "text/plain; charset=utf-8", parts: [body] };
    const { wire } = request;
    if (wire === undefined) {
      const text = error ?? `This server speaks nothing at ${request.method} ${request.path}.`;
      return {
        status: reply.status ?? 404,
        type: "application/json",
        parts: [JSON.stringify({ error: { message: text } })],
      };
    }
    if (answer === undefined) {
      return errorBody(wire, {
        code: "provider_error",
        message: error ?? "scripted",
        status: reply.status ?? (error === undefined ? 200 : 500),
      });
    }
    const pieces = piecesOf(answer);
    const [first] = pieces;
    if (first?.type === "fails") {
      const { code, message } = toNanoAgentError(first.error, "provider_error");
      return errorBody(wire, { code, message, status: reply.status ?? statusOf(code) });
    }
    const type = wire === "google" ? "text/event-stream" : "text/event-stream; charset=utf-8";
    return { status, type, parts: SPEECHES[wire](pieces, this.#context(request)) };
  }

  #context(request: RecordedRequest): SpeechContext {
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

/** Where clients ask a local server what it is: no part of a conversation. */
const DISCOVERY = /^\/(?:v1\/models|props|api\/(?:tags|ps|v0\/models))(?:$|\?)/;

interface Turn {
  readonly request: RecordedRequest;
  readonly reply: ServerReply;
  readonly signal: AbortSignal;
}

interface Body {
  readonly status: number;
  readonly type: string;
  readonly parts: Iterable<Utterance | Uint8Array>;
}

const SPEECHES: { readonly [W in WireName]: Speech } = {
  anthropic: speakAnthropic,
  openai_chat: speakOpenAiChat,
  openai_responses: speakOpenAiResponses,
  google: speakGoogle,
};

function asReply(answer: ServerAnswer): ServerReply {
  return "type" in answer && answer.type === "replies" ? answer : { type: "replies", answer };
}

function errorBody(
  wire: WireName,
  fault: Parameters<typeof vendorError>[1] & { readonly status: number },
): Body {
  return {
    status: fault.status,
    type: "application/json",
    parts: [JSON.stringify(vendorError(wire, fault))],
  };
}

function wireOf(path: string): WireName | undefined {
  const [route = ""] = path.split("?");
  if (route.endsWith("/messages")) return "anthropic";
  if (route.endsWith("/chat/completions")) return "openai_chat";
  if (route.endsWith("/responses")) return "openai_responses";
  return route.endsWith(":streamGenerateContent") ? "google" : undefined;
}

/** `undefined` when the client left before its request was whole. */
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
  const body: unknown = parsed.ok ? parsed.value : text;
  const violations =
    wire === undefined
      ? []
      : violationsOf(wire, { path, headers, body, isUtf8: Buffer.from(text, "utf8").equals(bytes) });
  return { method, path, headers, body, wire, violations };
}

interface ReceivedRequest {
  readonly path: string;
  readonly headers: { readonly [name: string]: string | undefined };
  readonly body: unknown;
  readonly isUtf8: boolean;
}

/** Faults beside the body: the encoding, the content type, and that it must ask for a stream. */
function violationsOf(wire: WireName, { path, headers, body, isUtf8 }: ReceivedRequest): readonly string[] {
  const found = [...checkRequest(wire, body)];
  if (!isUtf8) found.push("body is not UTF-8");
  if (headers["content-type"]?.startsWith("application/json") !== true)
    found.push("content-type is not application/json");
  if (wire === "anthropic" && headers["anthropic-version"] === undefined)
    found.push("anthropic-version header is missing");
  const streams = wire === "google" ? path.includes("alt=sse") : isRecord(body) && body["stream"] === true;
  if (!streams) found.push("the request asks for no event stream; this server has nothing else");
  return found;
}
