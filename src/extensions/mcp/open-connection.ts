import { pathToFileURL } from "node:url";
import {
  Client,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  type Transport,
} from "@modelcontextprotocol/client";
import { abortError } from "../../core/base/async.ts";
import { errorMessage } from "../../core/base/errors.ts";
import { isRecord, safeParse } from "../../core/base/json.ts";
import type { ProcessWatcher } from "../../system/process-watcher.ts";
import {
  type Connection,
  ConnectionError,
  type ConnectionEvents,
  type ElicitationAnswer,
  type ListedPrompt,
  type ListedResource,
  type ListedTool,
  type McpHost,
  type OpenConnection,
  type SamplingRequest,
} from "./connection.ts";
import { HttpTransport, lacksStreamableHttp, sseTransport } from "./http-transport.ts";
import { SCHEMA_VALIDATOR } from "./schema-validator.ts";
import type { McpServerDefinition } from "./server-definition.ts";
import { StdioTransport } from "./stdio-transport.ts";

/** The most tokens a server gets, and the number if it asks for none. */
const MAX_SAMPLING_TOKENS = 8_192;

function handleServerRequests(client: Client, server: McpServerDefinition, host: McpHost): void {
  const { elicit, sample } = host;
  const { name } = server;
  if (elicit !== undefined)
    client.setRequestHandler("elicitation/create", async ({ params }, { mcpReq }) => {
      const request: { readonly [key: string]: unknown } = { ...params };
      const answer: ElicitationAnswer = await elicit(
        {
          server: name,
          message: String(request["message"] ?? ""),
          ...(isRecord(request["requestedSchema"]) ? { schema: request["requestedSchema"] } : {}),
          ...(typeof request["url"] === "string" ? { url: request["url"] } : {}),
        },
        mcpReq.signal,
      );
      return { ...answer } as never;
    });
  if (sample !== undefined && server.sampling)
    client.setRequestHandler("sampling/createMessage", async ({ params }, { mcpReq }) => {
      const { text, model } = await sample(samplingRequest(name, { ...params }), mcpReq.signal);
      return { role: "assistant", model, content: { type: "text", text } } as never;
    });
}

function samplingRequest(server: string, params: { readonly [key: string]: unknown }): SamplingRequest {
  const { messages, systemPrompt, maxTokens } = params;
  const limit = typeof maxTokens === "number" && maxTokens > 0 ? maxTokens : MAX_SAMPLING_TOKENS;
  return {
    server,
    ...(typeof systemPrompt === "string" ? { system: systemPrompt } : {}),
    messages: (Array.isArray(messages) ? (messages as readonly unknown[]) : []).map(samplingMessage),
    maxOutputTokens: Math.min(Math.ceil(limit), MAX_SAMPLING_TOKENS),
  };
}

function samplingMessage(message: unknown): SamplingRequest["messages"][number] {
  const { role, content } = isRecord(message) ? message : {};
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [content];
  const texts = blocks.map((block) => {
    if (isRecord(block) && block["type"] === "text") return String(block["text"]);
    throw new ConnectionError("Only text can be sent to the model of this client.");
  });
  return { role: role === "assistant" ? "assistant" : "user", text: texts.join("\n") };
}

export interface ConnectionOpenerOptions {
  readonly version: string;
  readonly watcher: ProcessWatcher | undefined;
  /** Sends requests to HTTP servers. Default: the global `fetch`, which ignores proxies. */
  readonly fetch?: typeof fetch;
}

/** Limits of a list: pages read, and entries taken. */
const MAX_PAGES = 100;
const MAX_ENTRIES = 2_000;
/** How long closing waits to tell an HTTP server that its session is over. */
const SESSION_END_MS = 500;

/** Opens connections with the official MCP client. Server data is passed on unchecked: callers judge it. */
export function connectionOpener(openerOptions: ConnectionOpenerOptions): OpenConnection {
  return async (server, host, options) => {
    const opening = { openerOptions, server, host, options };
    if (server.type === "stdio") {
      const [cwd = "."] = host.roots;
      const environment = host.environment();
      return connect(opening, () => {
        const transport = new StdioTransport({ server, cwd, environment, watcher: openerOptions.watcher });
        return { transport, reason: () => transport.reason, kill: () => transport.killNow() };
      });
    }
    const unreachable = Promise.withResolvers<string>();
    const parts = {
      server,
      authorization: host.authorization?.(server),
      fetch: openerOptions.fetch ?? fetch,
      onUnreachable: (reason: string) => unreachable.resolve(reason),
    };
    const handle = (transport: Transport): TransportHandle => ({
      transport,
      reason: () => "the connection ended.",
      unreachable: unreachable.promise,
    });
    const newSseHandle = (): TransportHandle => handle(sseTransport(parts));
    if (server.type === "sse") return connect(opening, newSseHandle);
    try {
      return await connect(opening, () => handle(new HttpTransport(parts)));
    } catch (error) {
      if (!lacksStreamableHttp(error)) throw error;
      return await connect(opening, newSseHandle);
    }
  };
}

interface Opening {
  readonly openerOptions: ConnectionOpenerOptions;
  readonly server: McpServerDefinition;
  readonly host: McpHost;
  readonly options: ConnectionEvents & { readonly signal: AbortSignal };
}

interface TransportHandle {
  readonly transport: Transport;
  readonly reason: () => string;
  readonly unreachable?: Promise<string>;
  readonly kill?: () => void;
}

/**
 * Versions with `initialize` are tried first: nearly every server speaks them, and asking for newer ones
 * costs each of these a request or a wait. A server that only knows newer ones says so.
 */
async function connect(opening: Opening, newHandle: () => TransportHandle): Promise<Connection> {
  try {
    return await connectInMode(opening, newHandle(), "legacy");
  } catch (error) {
    if (!isNewerOnly(error)) throw error;
    return await connectInMode(opening, newHandle(), "auto");
  }
}

const NEWEST_LEGACY_VERSION = "2025-11-25";
/** How servers that only speak newer versions refuse the first request of an older one. */
const NEWER_ONLY_CODES: ReadonlySet<unknown> = new Set([
  /** The version is not supported, or not named in a header. */ -32_022, -32_020,
  /** There is no `initialize` any more. */ -32_601,
]);

function isNewerOnly(error: unknown): boolean {
  if (error instanceof SdkHttpError) {
    const { text } = error.data;
    const body = safeParse(typeof text === "string" ? text : "");
    const refusal = body.ok && isRecord(body.value) ? body.value["error"] : undefined;
    return isRecord(refusal) && NEWER_ONLY_CODES.has(refusal["code"]);
  }
  if (error instanceof ProtocolError) return NEWER_ONLY_CODES.has(error.code);
  // It accepted the older request and answered with a newer version.
  const [, version = ""] = /protocol version is not supported: ([\d-]+)/.exec(errorMessage(error)) ?? [];
  return version > NEWEST_LEGACY_VERSION;
}

async function connectInMode(
  { openerOptions, server, host, options }: Opening,
  handle: TransportHandle,
  mode: "legacy" | "auto",
): Promise<Connection> {
  const { signal, onChanged } = options;
  const client = new Client(
    { name: "nano-agent", version: openerOptions.version },
    {
      versionNegotiation: { mode },
      jsonSchemaValidator: SCHEMA_VALIDATOR,
      capabilities: {
        roots: { listChanged: false },
        ...(host.elicit === undefined ? {} : { elicitation: { form: {}, url: {} } }),
        ...(host.sample === undefined || !server.sampling ? {} : { sampling: {} }),
      },
    },
  );
  handleServerRequests(client, server, host);
  client.setRequestHandler("roots/list", () => ({
    roots: host.roots.map((folder) => ({ uri: pathToFileURL(folder).href })),
  }));
  for (const list of ["tools", "prompts"] as const)
    client.setNotificationHandler(`notifications/${list}/list_changed`, () => onChanged(list));
  const ended = Promise.withResolvers<string>();
  Object.assign(client, {
    // These are slips of the server: serious ones end a request or the connection anyway.
    onerror: () => undefined,
    onclose: () => ended.resolve(handle.reason()),
  });
  const aborted = (): void => handle.kill?.();
  signal.addEventListener("abort", aborted, { once: true });
  try {
    await client.connect(handle.transport, { signal, timeout: LONG_MS });
  } catch (error) {
    await handle.transport.close().catch(() => undefined);
    throw lacksStreamableHttp(error) || isNewerOnly(error) ? error : asConnectionError(error, handle);
  } finally {
    signal.removeEventListener("abort", aborted);
  }
  // Newer versions report changes only to subscribers.
  if (mode === "auto")
    client.listen({ toolsListChanged: true, promptsListChanged: true }, { signal }).catch(() => undefined);
  return new SdkConnection(client, server.timeoutMs, handle, ended.promise);
}

/** The longest possible timer: signals or silence end opening and calls. */
const LONG_MS = 2 ** 31 - 1;

class SdkConnection implements Connection {
  readonly closed: Promise<string>;
  readonly #client: Client;
  readonly #timeoutMs: number;
  readonly #handle: TransportHandle;

  constructor(client: Client, timeoutMs: number, handle: TransportHandle, ended: Promise<string>) {
    this.#client = client;
    this.#timeoutMs = timeoutMs;
    this.#handle = handle;
    this.closed = handle.unreachable === undefined ? ended : Promise.race([ended, handle.unreachable]);
  }

  readonly callTool: Connection["callTool"] = (name, input, { signal, onProgress }) =>
    this.#request(
      { method: "tools/call", params: { name, arguments: input } },
      {
        signal,
        timeout: this.#timeoutMs,
        resetTimeoutOnProgress: true,
        onprogress: (progress: object) => onProgress?.(progressLine({ ...progress })),
      },
    );

  readonly listTools = async (): Promise<readonly ListedTool[]> =>
    this.#client.getServerCapabilities()?.tools === undefined ? [] : this.#list("tools");

  readonly listPrompts = async (): Promise<readonly ListedPrompt[]> => {
    if (this.#client.getServerCapabilities()?.prompts === undefined) return [];
    return (await this.#list("prompts")).map((prompt) => ({
      name: prompt.name,
      ...descriptionField(prompt),
      arguments: (Array.isArray(prompt["arguments"])
        ? (prompt["arguments"] as readonly unknown[])
        : []
      ).flatMap((each) =>
        isRecord(each) && typeof each["name"] === "string"
          ? [{ name: each["name"], required: each["required"] === true }]
          : [],
      ),
    }));
  };

  readonly getPrompt: Connection["getPrompt"] = (name, args, signal) =>
    this.#request(
      { method: "prompts/get", params: { name, arguments: args } },
      signal === undefined ? {} : { signal },
    );

  readonly listResources = async (): Promise<readonly ListedResource[]> => {
    if (this.#client.getServerCapabilities()?.resources === undefined) return [];
    return (await this.#list("resources")).flatMap((each) =>
      typeof each["uri"] === "string"
        ? [{ uri: each["uri"], name: each.name, ...descriptionField(each) }]
        : [],
    );
  };

  readonly readResource: Connection["readResource"] = (uri, signal) =>
    this.#request({ method: "resources/read", params: { uri } }, signal === undefined ? {} : { signal });

  readonly close = async (): Promise<void> => {
    const { transport } = this.#handle;
    if (transport instanceof HttpTransport) {
      const goodbye = transport.terminateSession().catch(() => undefined);
      await Promise.race([goodbye, new Promise((resolve) => setTimeout(resolve, SESSION_END_MS).unref())]);
    }
    await this.#client.close().catch(() => undefined);
    await transport.close().catch(() => undefined);
  };

  readonly killNow = (): void => this.#handle.kill?.();

  async #list(what: "tools" | "prompts" | "resources"): Promise<ListedTool[]> {
    const found: ListedTool[] = [];
    let cursor: unknown;
    for (let page = 0; page < MAX_PAGES && found.length < MAX_ENTRIES; page++) {
      const params = cursor === undefined ? {} : { cursor };
      const answer = await this.#request({ method: `${what}/list`, params });
      const entries = isRecord(answer) ? answer[what] : undefined;
      if (Array.isArray(entries))
        found.push(...(what === "tools" ? entries.map(toListedTool) : entries.filter(isNamed)));
      const next = isRecord(answer) ? answer["nextCursor"] : undefined;
      if (typeof next !== "string" || next === "" || next === cursor) break;
      cursor = next;
    }
    return found.slice(0, MAX_ENTRIES);
  }

  async #request(
    request: { readonly method: string; readonly params: { readonly [key: string]: unknown } },
    options: { readonly signal?: AbortSignal; readonly [option: string]: unknown } = {},
  ): Promise<unknown> {
    try {
      return await this.#client.request({ ...request, params: { ...request.params } }, ANY_RESULT, {
        timeout: this.#timeoutMs,
        ...options,
      });
    } catch (error) {
      if (options.signal?.aborted === true) throw abortError(options.signal);
      throw asConnectionError(error, this.#handle);
    }
  }
}

/** Accepts any answer: one odd entry must not invalidate the rest. */
const ANY_RESULT = {
  "~standard": { version: 1, vendor: "nano-agent", validate: (value: unknown) => ({ value }) },
} as const;

function isNamed(value: unknown): value is ListedTool {
  return isRecord(value) && typeof value["name"] === "string" && value["name"] !== "";
}

/** A tool without a name is passed on, so that it can be reported. */
function toListedTool(value: unknown): ListedTool {
  return isNamed(value) ? value : { name: "" };
}

function descriptionField({ description }: ListedTool): { readonly description?: string } {
  return typeof description === "string" ? { description } : {};
}

function progressLine({ progress, total, message }: { readonly [key: string]: unknown }): string {
  const share = typeof total === "number" ? `${String(progress)}/${total}` : String(progress);
  return typeof message === "string" && message !== "" ? `${message} (${share})\n` : `${share}\n`;
}

function asConnectionError(error: unknown, { reason }: TransportHandle): Error {
  if (error instanceof ConnectionError) return error;
  if (error instanceof SdkError && error.code === SdkErrorCode.ConnectionClosed)
    return new ConnectionError(`The connection ended: ${reason()}`);
  if (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout)
    return new ConnectionError("It did not answer in time.");
  if (error instanceof ProtocolError) return new ConnectionError(error.message);
  return new ConnectionError(errorMessage(error));
}
