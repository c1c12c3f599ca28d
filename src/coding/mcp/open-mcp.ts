import { defined } from "../../core/base/json.ts";
import { modelWith } from "../../core/model/answer.ts";
import type { Model, ModelCallOptions, ModelRequest, StreamPart } from "../../core/model/model.ts";
import type { Tool, ToolRegistry } from "../../core/tool/tool.ts";
import type { Elicit, McpHost } from "../../extensions/mcp/connection.ts";
import type { McpHub, McpServerStatus } from "../../extensions/mcp/mcp-hub.ts";
import type { ProcessWatcher } from "../../system/process-watcher.ts";
import type { McpServerView } from "../session/coding-session.ts";
import type { CommandSource, SessionCommand } from "../session/session-command.ts";
import type { Settings } from "../settings/settings.ts";
import { type FoundServers, faultText, type ServerFault } from "./find-servers.ts";

/** Milliseconds after which a first request is on its way, however slow the connection is. */
const ON_ITS_WAY_MS = 200;

/** The same model; calls `start` once its first request is being answered or has surely been sent. */
function besideFirstRequest(
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
  async function* first(request: ModelRequest, options: ModelCallOptions): AsyncGenerator<StreamPart> {
    for await (const part of model.stream(request, options)) {
      begin();
      yield part;
    }
  }
  return {
    model: modelWith(model, (request, options = {}) => {
      if (state !== "open") return model.stream(request, options);
      state = "sent";
      timer = setTimeout(begin, ON_ITS_WAY_MS);
      return first(request, options);
    }),
    cancel: finish,
  };
}

/** The parts {@link loadMcp} needs beside the settings. */
interface OpenMcpOptions {
  readonly found: FoundServers;
  /** Folders of the run, the working folder first. */
  readonly roots: readonly string[];
  /** Asks a person what a server wants to know. Absent: it is refused. */
  readonly elicit?: Elicit | undefined;
  /** Ends the processes of servers when this one is killed. */
  readonly watcher: ProcessWatcher | undefined;
  readonly onNotice: (message: string) => void;
}

export interface OpenMcp {
  readonly tools: () => readonly Tool[];
  /** Undefined where there is no server to be used. */
  readonly hub: McpHub | undefined;
  readonly commands: CommandSource;
  /** The prompt of that name as a command; starts its server where needed. Rejects when that fails. */
  readonly findCommand: (name: string, signal: AbortSignal) => Promise<SessionCommand | undefined>;
  /** Every server with its status, those included that cannot be used. */
  readonly statuses: () => readonly McpServerView[];
  /** The model, beside whose first request the servers start. */
  readonly modelFor: (model: Model) => Model;
  /** Gives the agent's registry what comes later; `used`: tools its conversation has used. */
  readonly attach: (registry: ToolRegistry, used: () => ReadonlySet<string>) => void;
  readonly close: () => Promise<void>;
  readonly killNow: () => void;
}

type McpParts = typeof import("./mcp-parts.ts") | undefined;

/** Prepares the MCP servers of a run. Loads the client only when there are some. */
export async function loadMcp(
  settings: Settings,
  options: OpenMcpOptions,
): Promise<(forbids: (name: string) => boolean) => OpenMcp> {
  const { servers, faults } = options.found;
  for (const fault of faults) options.onNotice(faultText(fault));
  const parts = servers.length === 0 ? undefined : await import("./mcp-parts.ts");
  return (forbids) => openMcp(settings, options, parts, forbids);
}

function openMcp(
  settings: Settings,
  { found, roots, elicit, watcher, onNotice }: OpenMcpOptions,
  parts: McpParts,
  forbids: (name: string) => boolean,
): OpenMcp {
  const { servers, faults } = found;
  let sampled: Model | undefined;
  const sample: McpHost["sample"] = async (request, signal) => {
    if (sampled === undefined || parts === undefined) throw new Error("There is no model to ask.");
    return parts.samplingWith(sampled)(request, signal);
  };
  const host = { roots, elicit, sample };
  const hub = parts?.hubFor(settings, { servers, host, watcher, onNotice, forbids });
  let cancel = (): void => undefined;
  return {
    tools: () => hub?.tools() ?? [],
    hub,
    commands: () => hub?.knownPrompts().flatMap((prompt) => parts?.promptCommand(prompt, hub) ?? []) ?? [],
    findCommand: async (name, signal) => hub && parts?.findPromptCommand(name, hub, signal),
    statuses: () => [...faulty(faults), ...(hub?.statuses() ?? []).map(toView)],
    modelFor: (model) => {
      if (hub === undefined) return model;
      sampled = model;
      const started = besideFirstRequest(model, () => hub.start());
      cancel = started.cancel;
      return started.model;
    },
    attach: (registry, used) => {
      hub?.attach(registry);
      hub?.revealUsed(used());
    },
    close: async () => {
      cancel();
      await hub?.close();
    },
    killNow: () => hub?.killNow(),
  };
}

function toView({ name, status, reason: error }: McpServerStatus): McpServerView {
  return { name, status, ...defined({ error }) };
}

function faulty(faults: readonly ServerFault[]): readonly McpServerView[] {
  return faults
    .filter(({ name }) => name !== "*")
    .map(({ name, fault }) => ({ name, status: "failed", error: fault }));
}
