import { existsSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../../core/base/async.ts";
import { errorMessage, invalidArgument } from "../../core/base/errors.ts";
import { isRecord, omitUndefined, safeParse } from "../../core/base/json.ts";
import { messageText } from "../../core/message/message.ts";
import { collect, withStream } from "../../core/model/answer.ts";
import type { Model, ModelCallOptions, ModelRequest, StreamPart } from "../../core/model/model.ts";
import type { ToolRegistry } from "../../core/tool/tool.ts";
import type { ListedPrompt, McpHost, OpenConnection } from "../../extensions/mcp/connection.ts";
import {
  McpHub,
  type McpHubOptions,
  type RememberedServer,
  type RememberedServers,
} from "../../extensions/mcp/mcp-hub.ts";
import type { McpPrompt } from "../../extensions/mcp/prompt-messages.ts";
import type { McpServerDefinition } from "../../extensions/mcp/server-definition.ts";
import { networkOptions } from "../../providers/network-options.ts";
import { createProcessWatcher, type ProcessWatcher } from "../../system/process-watcher.ts";
import { replaceFile } from "../../system/replace-file.ts";
import type { McpServerView } from "../session/coding-session.ts";
import type { SessionCommand } from "../session/session-command.ts";
import type { UserPaths } from "../settings/paths.ts";
import type { Settings } from "../settings/settings.ts";
import { commandVariables } from "../setup/confine.ts";

const VERSION = 1;
const MAX_BYTES = 5_000_000;

/** Remembers servers in the user's state, one file each. Unreadable or unwritable entries are dropped. */
function knownServerFiles({ stateFolder }: Pick<UserPaths, "stateFolder">): RememberedServers {
  const folder = join(stateFolder, "mcp", "tools");
  const pathOf = (hash: string): string => join(folder, `${hash}.json`);
  return {
    read: (hash) => {
      try {
        const path = pathOf(hash);
        if (statSync(path).size > MAX_BYTES) return undefined;
        return serverIn(readFileSync(path, "utf8"));
      } catch {
        // Missing or not readable: the server is asked instead.
        return undefined;
      }
    },
    write: (hash, server) => {
      const text = JSON.stringify({ version: VERSION, ...server });
      const path = pathOf(hash);
      try {
        if (text.length > MAX_BYTES || (existsSync(path) && readFileSync(path, "utf8") === text)) return;
        mkdirSync(folder, { recursive: true, mode: 0o700 });
        replaceFile(path, text);
      } catch {
        // A failure only costs the next run a moment.
      }
    },
  };
}

function serverIn(text: string): RememberedServer | undefined {
  const parsed = safeParse(text);
  if (!parsed.ok || !isRecord(parsed.value) || parsed.value["version"] !== VERSION) return undefined;
  const { tools, prompts } = parsed.value;
  if (!Array.isArray(tools)) return undefined;
  return { tools: tools.filter(isListed), prompts: Array.isArray(prompts) ? prompts.filter(isPrompt) : [] };
}

function isListed(value: unknown): value is { readonly name: string } {
  return isRecord(value) && typeof value["name"] === "string";
}

function isPrompt(value: unknown): value is ListedPrompt {
  return isListed(value) && Array.isArray((value as Partial<ListedPrompt>).arguments);
}

declare const NANO_AGENT_VERSION: string;

interface HubParts {
  readonly servers: readonly McpServerDefinition[];
  /** Requests that servers may make. Default: only for the folder of the settings. */
  readonly host?: Omit<McpHost, "environment">;
  /** Ends the server processes when this one is killed. Default: a watcher of its own. */
  readonly watcher?: ProcessWatcher | undefined;
  readonly onNotice: McpHubOptions["onNotice"];
  readonly forbids?: McpHubOptions["forbids"];
}

/** MCP servers over the user's files. None is started yet; the client loads with the first one. Close it. */
export function hubFor(settings: Settings, parts: HubParts): McpHub {
  const { servers, host, watcher, onNotice, forbids } = parts;
  const { environment, config, paths, cwd } = settings;
  return new McpHub({
    servers,
    host: { roots: [cwd], environment: () => commandVariables(environment, config.values), ...host },
    clock: systemClock,
    onNotice,
    ...omitUndefined({ forbids }),
    known: knownServerFiles(paths),
    loadOpener: () => loadOpener(settings, watcher ?? createProcessWatcher()),
    ...(config.values.mcp?.defer === false ? { defer: false } : {}),
  });
}

async function loadOpener(
  { paths, config, environment }: Settings,
  watcher: ProcessWatcher | undefined,
): Promise<OpenConnection> {
  const client = await import("./mcp-client.ts");
  const fetch = client.proxiedFetch(networkOptions(config.values.network, environment).proxy);
  const open = client.connectionOpener({ version: NANO_AGENT_VERSION, watcher, fetch });
  return (server, host, options) => {
    const authorization: McpHost["authorization"] = (each) =>
      client.authorizationOf(each, { store: client.loginStore(each, paths), clock: systemClock, fetch });
    return open(server, { authorization, ...host }, options);
  };
}

/** Milliseconds after which a first request has been sent, however slow the connection is. */
const REQUEST_SENT_MS = 200;

/** The same model; calls `start` once its first request is being answered or has certainly been sent. */
function startDuringFirstRequest(
  model: Model,
  start: () => void,
): { readonly model: Model; readonly cancel: () => void } {
  let state: "open" | "sent" | "done" = "open";
  let timer: ReturnType<typeof setTimeout> | undefined;
  const finish = (): void => {
    clearTimeout(timer);
    state = "done";
  };
  const begin = (): void => {
    if (state === "done") return;
    finish();
    start();
  };
  async function* firstRequest(request: ModelRequest, options: ModelCallOptions): AsyncGenerator<StreamPart> {
    for await (const part of model.stream(request, options)) {
      begin();
      yield part;
    }
  }
  return {
    model: withStream(model, (request, options = {}) => {
      if (state !== "open") return model.stream(request, options);
      state = "sent";
      timer = setTimeout(begin, REQUEST_SENT_MS);
      return firstRequest(request, options);
    }),
    cancel: finish,
  };
}

/** The MCP servers of a session. */
export class OpenMcp {
  readonly hub: McpHub;
  #model: Model | undefined;
  #cancel = (): void => undefined;

  constructor(
    settings: Settings,
    { roots, elicit, ...parts }: Omit<HubParts, "host"> & Pick<McpHost, "roots" | "elicit">,
  ) {
    const host = { roots, elicit, sample: this.#sample };
    this.hub = hubFor(settings, { ...parts, host });
  }

  commands(): readonly SessionCommand[] {
    return this.hub.knownPrompts().map((prompt) => promptCommand(prompt, this.hub));
  }

  /** The prompt with that name as a command; starts its server if needed. Rejects if that fails. */
  async findCommand(name: string, signal: AbortSignal): Promise<SessionCommand | undefined> {
    try {
      const prompt = await this.hub.findPrompt(name, signal);
      return prompt && promptCommand(prompt, this.hub);
    } catch (error) {
      throw promptError(name, error, signal);
    }
  }

  statuses(): readonly McpServerView[] {
    return this.hub
      .statuses()
      .map(({ name, status, reason: error }) => ({ name, status, ...omitUndefined({ error }) }));
  }

  /** Wraps the model so that the servers start during its first request. */
  modelFor(model: Model): Model {
    this.#model = model;
    const started = startDuringFirstRequest(model, () => this.hub.start());
    this.#cancel = started.cancel;
    return started.model;
  }

  /** Connects the agent's registry to the servers' tools; `used`: tools that its conversation has used. */
  attach(registry: ToolRegistry, used: ReadonlySet<string>): void {
    this.hub.attach(registry);
    this.hub.revealUsed(used);
  }

  async close(): Promise<void> {
    this.#cancel();
    await this.hub.close();
  }

  /** Lets permitted servers query the run's model outside the conversation. */
  readonly #sample: McpHost["sample"] = async ({ system, messages, maxOutputTokens }, signal) => {
    const model = this.#model;
    if (model === undefined) throw new Error("There is no model to ask.");
    const request = {
      ...omitUndefined({ system }),
      messages: messages.map(({ role, text }) => ({ role, content: [{ type: "text", text }] }) as const),
      maxOutputTokens,
    };
    const { message } = await collect(model.stream(request, { signal }));
    return { text: messageText(message), model: `${model.provider}/${model.id}` };
  };
}

/** A prompt of an MCP server as a command. Its words become the arguments in order. */
function promptCommand(
  { name, description, arguments: named }: McpPrompt,
  hub: Pick<McpHub, "expandPrompt">,
): SessionCommand {
  const hint = named.map((each) => (each.required ? `[${each.name}]` : `[${each.name}?]`)).join(" ");
  return {
    name,
    ...omitUndefined({ description, hint: hint === "" ? undefined : hint }),
    expand: async (args, { signal }) => {
      const { splitArguments } = await import("../../extensions/commands/expand-command.ts");
      const values = valuesOf(splitArguments(args), named);
      try {
        const messages = await hub.expandPrompt(name, values, signal);
        return messages.flatMap(({ content }) => content);
      } catch (error) {
        throw promptError(name, error, signal);
      }
    },
  };
}

function promptError(name: string, error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return error;
  return invalidArgument(`/${name} did not work: ${errorMessage(error)}`);
}

/** Each word is an argument; the last argument gets the rest. */
function valuesOf(
  words: readonly string[],
  names: McpPrompt["arguments"],
): { readonly [name: string]: string } {
  const last = names.length - 1;
  const values = words.slice(0, last).concat(words.slice(Math.max(0, last)).join(" "));
  return Object.fromEntries(
    names.flatMap(({ name }, at) => (words[at] === undefined ? [] : [[name, values[at] ?? ""]])),
  );
}
