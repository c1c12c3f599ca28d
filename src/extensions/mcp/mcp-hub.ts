import type { Clock } from "../../core/base/async.ts";
import type { ImageBlock, TextBlock } from "../../core/message/message.ts";
import type { Tool, ToolRegistry } from "../../core/tool/tool.ts";
import type { ListedPrompt, ListedResource, ListedTool, McpHost, OpenConnection } from "./connection.ts";
import { McpServer } from "./mcp-server.ts";
import { type DroppedTool, type McpTool, toMcpTools } from "./mcp-tools.ts";
import { changedNotice, droppedNotice, OfferedTools } from "./offered-tools.ts";
import { type McpPrompt, type PromptMessage, promptMessages, promptsOf } from "./prompt-messages.ts";
import type { McpServerDefinition } from "./server-definition.ts";
import { MCP_PREFIX, serverNameParts } from "./tool-name.ts";
import { contentBlocks } from "./tool-result.ts";

export interface RememberedServer {
  readonly tools: readonly ListedTool[];
  readonly prompts: readonly ListedPrompt[];
}

/** Stored between runs by the hash of the configuration. Neither method throws. */
export interface RememberedServers {
  readonly read: (hash: string) => RememberedServer | undefined;
  readonly write: (hash: string, server: RememberedServer) => void;
}

export interface McpHubOptions {
  readonly servers: readonly McpServerDefinition[];
  readonly host: McpHost;
  readonly loadOpener: () => Promise<OpenConnection>;
  readonly known: RememberedServers;
  readonly clock: Clock;
  /** `false`: all tools are offered at once. Default: 20 tools, 5000 tokens. */
  readonly defer?: { readonly tools: number; readonly tokens: number } | false;
  /** True for a tool whose every call is refused: it is neither offered nor found. Default: none. */
  readonly forbids?: (name: string) => boolean;
  readonly random?: () => number;
  readonly onNotice: (message: string, about: "server" | "tools") => void;
}

/** State of a server. One that has not started counts as `connecting`. */
export interface McpServerStatus {
  readonly name: string;
  readonly status: "connecting" | "connected" | "failed" | "needs_auth" | "disabled";
  readonly reason?: string;
  /** Its tools and their cost in each request; known from an earlier run before it is connected. */
  readonly tools: readonly Pick<McpTool, "agentName" | "name" | "tokens">[];
  readonly dropped: readonly DroppedTool[];
}

interface HubServer {
  readonly server: McpServer;
  readonly namePart: string;
  dropped: readonly DroppedTool[];
  listed: readonly ListedTool[];
  prompts: readonly ListedPrompt[];
  isKnown: boolean;
  isFailureReported?: boolean;
  isChangeReported?: boolean;
}

/**
 * The MCP servers of one agent. Their tools are known from earlier runs before any server runs; {@link
 * McpHub.start} starts all of them. Tools that arrive later are appended to the agent's tools, so that the
 * beginning of its requests stays the same.
 */
export class McpHub {
  readonly #options: McpHubOptions;
  readonly #servers = new Map<string, HubServer>();
  readonly #tools: OfferedTools;
  #changed = Promise.withResolvers<void>();
  #opener: Promise<OpenConnection> | undefined;
  #isClosed = false;

  constructor(options: McpHubOptions) {
    this.#options = options;
    this.#tools = new OfferedTools({
      defer: options.defer,
      forbids: (name) => options.forbids?.(name) === true,
      servers: () => this.#searchable().map(({ server }) => server),
      nextChange: () => this.#changed.promise,
    });
    const remembered: (readonly [string, readonly McpTool[]])[] = [];
    const parts = serverNameParts(options.servers.map(({ name }) => name));
    for (const definition of options.servers) {
      const namePart = parts.get(definition.name) ?? definition.name;
      const server = this.#newServer(definition);
      const known = definition.enabled ? options.known.read(definition.hash) : undefined;
      const { tools: listed, prompts } = known ?? { tools: [], prompts: [] };
      const made = toMcpTools(listed, server, namePart, true);
      const isKnown = known !== undefined;
      const entry: HubServer = { server, namePart, dropped: made.dropped, listed, prompts, isKnown };
      this.#servers.set(definition.name, entry);
      remembered.push([definition.name, made.tools]);
    }
    this.#tools.update(...remembered);
  }

  /** Tools for the first request: the known ones, or `find_tools` if they are many or unknown. */
  tools(): readonly Tool[] {
    return this.#tools.initialTools(this.#searchable().some(({ isKnown }) => !isKnown));
  }

  attach(registry: ToolRegistry): void {
    this.#tools.attach(registry);
  }

  revealUsed(names: ReadonlySet<string>): void {
    this.#tools.revealNamed(names);
  }

  start(): void {
    if (this.#isClosed) return;
    for (const { server } of this.#enabled()) server.ensureStarted();
  }

  async waitUntilSettled(): Promise<void> {
    await Promise.all(this.#enabled().map(({ server }) => server.waitUntilSettled()));
  }

  statuses(): readonly McpServerStatus[] {
    return [...this.#servers.values()].map(({ server, dropped }) => {
      const { definition, lifecycle } = server;
      return {
        name: definition.name,
        status: definition.enabled ? STATUS_BY_STATE[lifecycle.state] : "disabled",
        ...("reason" in lifecycle ? { reason: lifecycle.reason } : {}),
        tools: this.#tools.ofServer(definition.name),
        dropped,
      };
    });
  }

  /** Calls a tool by the server's own name for it. Returns the answer unchanged. */
  async call(server: string, tool: string, input: object, signal: AbortSignal): Promise<unknown> {
    return this.#servers.get(server)?.server.call(tool, input, { signal });
  }

  knownPrompts(): readonly McpPrompt[] {
    return this.#enabled().flatMap(promptsOf);
  }

  async prompts(): Promise<readonly McpPrompt[]> {
    const lists = this.#ready().map(async (entry) => {
      await this.#fetchPrompts(entry, new AbortController().signal).catch(() => undefined);
      return promptsOf(entry);
    });
    return (await Promise.all(lists)).flat();
  }

  /** Finds a prompt by name; starts its server if it is unknown. Rejects if the server is unavailable. */
  async findPrompt(name: string, signal: AbortSignal): Promise<McpPrompt | undefined> {
    const entry = this.#enabled().find(({ namePart }) => name.startsWith(`${MCP_PREFIX}${namePart}__`));
    if (entry === undefined) return undefined;
    const find = (): McpPrompt | undefined => promptsOf(entry).find((each) => each.name === name);
    const known = find();
    if (known !== undefined) return known;
    await this.#fetchPrompts(entry, signal);
    return find();
  }

  /** The messages of a prompt with its arguments. Rejects for an unknown name, or if its server does. */
  async expandPrompt(
    name: string,
    args: { readonly [name: string]: string },
    signal: AbortSignal,
  ): Promise<readonly PromptMessage[]> {
    const prompt = await this.findPrompt(name, signal);
    const server = prompt && this.#servers.get(prompt.server)?.server;
    if (prompt === undefined || server === undefined) throw new Error(`There is no MCP prompt ${name}.`);
    return promptMessages(
      await server.use(signal, (connection) => connection.getPrompt(prompt.serverName, args, signal)),
    );
  }

  /** The resources of connected servers, each with the name by which a person mentions it: `@server:uri`. */
  async resources(): Promise<readonly (ListedResource & { readonly mention: string })[]> {
    const lists = this.#ready().map(async ({ server }) => {
      const found = await server
        .use(new AbortController().signal, (connection) => connection.listResources())
        .catch(() => []);
      return found.map((each) => ({ ...each, mention: `@${server.definition.name}:${each.uri}` }));
    });
    return (await Promise.all(lists)).flat();
  }

  /** The contents of `server:uri` or `@server:uri`, bounded; `undefined`: no such server. May reject. */
  async readResource(
    mention: string,
    signal: AbortSignal,
  ): Promise<readonly (TextBlock | ImageBlock)[] | undefined> {
    const [, name = "", uri = ""] = /^@?([^:]+):(.+)$/s.exec(mention) ?? [];
    const server = this.#servers.get(name)?.server;
    if (server === undefined || !server.definition.enabled) return undefined;
    const answer = await server.use(signal, (connection) => connection.readResource(uri, signal));
    const contents = (answer as { readonly contents?: unknown } | null)?.contents;
    return contentBlocks(
      (Array.isArray(contents) ? contents : []).map((resource) => ({ type: "resource", resource })),
    );
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#servers.values()].map(({ server }) => server.close()));
  }

  killNow(): void {
    this.#isClosed = true;
    for (const { server } of this.#servers.values()) server.killNow();
  }

  #newServer(definition: McpServerDefinition): McpServer {
    const { host, clock, random } = this.#options;
    return new McpServer(definition, {
      host,
      clock,
      random,
      open: async (...args) => {
        this.#opener ??= this.#options.loadOpener();
        return (await this.#opener)(...args);
      },
      onLifecycle: () => this.#onLifecycle(definition.name),
      onTools: (tools) => this.#onTools(definition, tools),
      onPrompts: (prompts) => this.#onPrompts(this.#servers.get(definition.name), prompts),
    });
  }

  #enabled(): readonly HubServer[] {
    return [...this.#servers.values()].filter(({ server }) => server.definition.enabled);
  }

  #ready(): readonly HubServer[] {
    return this.#enabled().filter(({ server }) => server.lifecycle.state === "ready");
  }

  /** Without servers whose tools a rule forbids all at once by their name prefix. */
  #searchable(): readonly HubServer[] {
    const { forbids } = this.#options;
    return this.#enabled().filter(({ namePart }) => forbids?.(`${MCP_PREFIX}${namePart}__`) !== true);
  }

  #onTools(definition: McpServerDefinition, listed: readonly ListedTool[]): void {
    const entry = this.#servers.get(definition.name);
    if (entry === undefined || this.#isClosed) return;
    const { tools, dropped } = toMcpTools(listed, entry.server, entry.namePart);
    const unusable = new Set(dropped.map(({ name }) => name));
    entry.listed = listed.filter(({ name }) => !unusable.has(name));
    entry.isKnown = true;
    this.#remember(entry);
    if (dropped.length > 0 && JSON.stringify(dropped) !== JSON.stringify(entry.dropped))
      this.#options.onNotice(droppedNotice(definition.name, dropped), "tools");
    entry.dropped = dropped;
    const changed = this.#tools.update([definition.name, tools]);
    if (changed.length > 0 && !entry.isChangeReported)
      this.#options.onNotice(changedNotice(definition.name, changed), "tools");
    entry.isChangeReported ||= changed.length > 0;
  }

  async #fetchPrompts(entry: HubServer, signal: AbortSignal): Promise<void> {
    this.#onPrompts(entry, await entry.server.use(signal, (connection) => connection.listPrompts()));
  }

  #onPrompts(entry: HubServer | undefined, prompts: readonly ListedPrompt[]): void {
    if (entry === undefined || this.#isClosed) return;
    entry.prompts = prompts;
    this.#remember(entry);
  }

  #remember({ server, listed: tools, prompts, isKnown }: HubServer): void {
    if (isKnown) this.#options.known.write(server.definition.hash, { tools, prompts });
  }

  #onLifecycle(name: string): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
    const entry = this.#servers.get(name);
    if (entry === undefined || this.#isClosed) return;
    const { lifecycle } = entry.server;
    if (!("reason" in lifecycle)) {
      if (lifecycle.state === "ready") entry.isFailureReported = false;
      return;
    }
    if (!entry.isFailureReported) this.#options.onNotice(`MCP server ${name}: ${lifecycle.reason}`, "server");
    entry.isFailureReported = true;
  }
}

const STATUS_BY_STATE = {
  idle: "connecting",
  starting: "connecting",
  ready: "connected",
  waiting: "failed",
  failed: "failed",
  needs_login: "needs_auth",
  stopped: "disabled",
} as const;
