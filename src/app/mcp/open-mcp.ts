import { systemClock } from "../../core/base/clock.ts";
import type { Model } from "../../core/model/model.ts";
import type { ToolRegistry } from "../../core/tool/registry.ts";
import type { Tool } from "../../core/tool/tool.ts";
import type { Elicit, McpHost } from "../../extensions/mcp/connection.ts";
import type { McpHub, McpServerStatus } from "../../extensions/mcp/mcp-hub.ts";
import type { McpServerView } from "../coding-session/coding-session.ts";
import type { CommandSource, SessionCommand } from "../coding-session/session-command.ts";
import type { Settings } from "../settings.ts";
import { type FoundServers, faultText, type ServerFault } from "./find-servers.ts";
import { besideFirstRequest } from "./first-request.ts";
import { serverEnvironment } from "./server-environment.ts";

declare const NANO_AGENT_VERSION: string;

/** What {@link openMcp} needs beside the settings. */
export interface OpenMcpOptions {
  readonly found: FoundServers;
  /** Folders of the run, the working folder first. */
  readonly roots: readonly string[];
  /** Asks a person what a server wants to know. Absent: it is refused. */
  readonly elicit?: Elicit | undefined;
  readonly onNotice: (message: string) => void;
}

/** The MCP servers of an agent. */
export interface OpenMcp {
  /** Tools for the next request. */
  readonly tools: () => readonly Tool[];
  /** Undefined where there is no server to be used. */
  readonly hub: McpHub | undefined;
  /** Prompts that are known, as commands. */
  readonly commands: CommandSource;
  /** The prompt of that name as a command; its server is started where it is not known. Rejects when that does not work. */
  readonly findCommand: (name: string, signal: AbortSignal) => Promise<SessionCommand | undefined>;
  /** Every server with its status, those included that cannot be used. */
  readonly statuses: () => readonly McpServerView[];
  /** The model, beside whose first request the servers start. */
  readonly modelFor: (model: Model) => Model;
  /** The tools of the agent, which get what comes later, and names of those that its conversation has used. */
  readonly attach: (registry: ToolRegistry, used: () => Promise<ReadonlySet<string>>) => Promise<void>;
  readonly close: () => Promise<void>;
  readonly killNow: () => void;
}

/** Makes the MCP servers of a run. Starts none, and loads nothing of the client where there are none. */
export async function openMcp(settings: Settings, options: OpenMcpOptions): Promise<OpenMcp> {
  const { servers, faults } = options.found;
  for (const fault of faults) options.onNotice(faultText(fault));
  if (servers.length === 0) return withoutServers(faults);
  const { createMcpHub, findPromptCommand, promptCommand } = await import("./mcp-parts.ts");
  let sampled: Model | undefined;
  const host: McpHost = {
    roots: options.roots,
    environment: () => serverEnvironment(settings),
    elicit: options.elicit,
    sample: async (request, signal) => {
      if (sampled === undefined) throw new Error("There is no model to ask.");
      const { samplingWith } = await import("./sampling.ts");
      return samplingWith(sampled)(request, signal);
    },
  };
  const hub = createMcpHub({
    servers,
    host,
    settings,
    clock: systemClock,
    version: NANO_AGENT_VERSION,
    onNotice: options.onNotice,
  });
  let cancel = (): void => undefined;
  return {
    tools: () => hub.tools(),
    hub,
    commands: () => hub.knownPrompts().map((prompt) => promptCommand(prompt, hub)),
    findCommand: (name, signal) => findPromptCommand(name, hub, signal),
    statuses: () => [...faulty(faults), ...hub.statuses().map(toView)],
    modelFor: (model) => {
      sampled = model;
      const started = besideFirstRequest(model, () => hub.start());
      cancel = started.cancel;
      return started.model;
    },
    attach: async (registry, used) => {
      hub.attach(registry);
      hub.revealUsed(await used());
    },
    close: async () => {
      cancel();
      await hub.close();
    },
    killNow: () => hub.killNow(),
  };
}

function withoutServers(faults: readonly ServerFault[]): OpenMcp {
  return {
    tools: () => [],
    hub: undefined,
    commands: () => [],
    findCommand: async () => undefined,
    statuses: () => faulty(faults),
    modelFor: (model) => model,
    attach: async () => undefined,
    close: async () => undefined,
    killNow: () => undefined,
  };
}

function toView({ name, status, reason }: McpServerStatus): McpServerView {
  return { name, status, ...(reason === undefined ? {} : { error: reason }) };
}

function faulty(faults: readonly ServerFault[]): readonly McpServerView[] {
  return faults
    .filter(({ name }) => name !== "*")
    .map(({ name, fault }) => ({ name, status: "failed", error: fault }));
}
