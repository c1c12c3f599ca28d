import { defined } from "../../core/base/json.ts";
import { modelWith } from "../../core/model/answer.ts";
import type { Model, ModelCallOptions, ModelRequest, StreamPart } from "../../core/model/model.ts";
import type { ToolRegistry } from "../../core/tool/tool.ts";
import type { Elicit, McpHost } from "../../extensions/mcp/connection.ts";
import type { McpHub } from "../../extensions/mcp/mcp-hub.ts";
import type { ProcessWatcher } from "../../system/process-watcher.ts";
import type { McpServerView } from "../session/coding-session.ts";
import type { SessionCommand } from "../session/session-command.ts";
import type { Settings } from "../settings/settings.ts";
import { type FoundServers, faultText, type ServerFault } from "./find-servers.ts";

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
    model: modelWith(model, (request, options = {}) => {
      if (state !== "open") return model.stream(request, options);
      state = "sent";
      timer = setTimeout(begin, REQUEST_SENT_MS);
      return firstRequest(request, options);
    }),
    cancel: finish,
  };
}

interface OpenMcpOptions {
  readonly found: FoundServers;
  /** Folders of the run, working folder first. */
  readonly roots: readonly string[];
  /** Asks a person for what a server wants to know. Absent: the request is refused. */
  readonly elicit?: Elicit | undefined;
  /** Ends server processes when this one is killed. */
  readonly watcher: ProcessWatcher | undefined;
  readonly onNotice: (message: string) => void;
}

type McpParts = typeof import("./mcp-parts.ts") | undefined;

/** Prepares the MCP servers of a run. Loads the client only if there are any. */
export async function loadMcp(
  settings: Settings,
  options: OpenMcpOptions,
): Promise<(forbids: (name: string) => boolean) => OpenMcp> {
  const { servers, faults } = options.found;
  for (const fault of faults) options.onNotice(faultText(fault));
  const parts = servers.length === 0 ? undefined : await import("./mcp-parts.ts");
  return (forbids) => new OpenMcp(settings, options, parts, forbids);
}

export class OpenMcp {
  readonly #parts: McpParts;
  readonly #faults: readonly ServerFault[];
  #samplingModel: Model | undefined;
  #cancel = (): void => undefined;
  readonly hub: McpHub | undefined;

  /** `forbids`: true for a tool whose calls are all refused. */
  constructor(
    settings: Settings,
    { found, roots, elicit, watcher, onNotice }: OpenMcpOptions,
    parts: McpParts,
    forbids: (name: string) => boolean,
  ) {
    this.#parts = parts;
    this.#faults = found.faults;
    const sample: McpHost["sample"] = async (request, signal) => {
      if (this.#samplingModel === undefined || parts === undefined)
        throw new Error("There is no model to ask.");
      return parts.samplingWith(this.#samplingModel)(request, signal);
    };
    const host = { roots, elicit, sample };
    this.hub = parts?.hubFor(settings, { servers: found.servers, host, watcher, onNotice, forbids });
  }

  commands(): readonly SessionCommand[] {
    const { hub } = this;
    return hub?.knownPrompts().flatMap((prompt) => this.#parts?.promptCommand(prompt, hub) ?? []) ?? [];
  }

  /** The prompt with that name as a command; starts its server if needed. Rejects if that fails. */
  async findCommand(name: string, signal: AbortSignal): Promise<SessionCommand | undefined> {
    return this.hub && this.#parts?.findPromptCommand(name, this.hub, signal);
  }

  statuses(): readonly McpServerView[] {
    const unusable = this.#faults.filter(({ name }) => name !== "*");
    return [
      ...unusable.map(({ name, fault: error }) => ({ name, status: "failed" as const, error })),
      ...(this.hub?.statuses() ?? []).map(({ name, status, reason: error }) => ({
        name,
        status,
        ...defined({ error }),
      })),
    ];
  }

  /** Wraps the model so that the servers start during its first request. */
  modelFor(model: Model): Model {
    const { hub } = this;
    if (hub === undefined) return model;
    this.#samplingModel = model;
    const started = startDuringFirstRequest(model, () => hub.start());
    this.#cancel = started.cancel;
    return started.model;
  }

  /** Connects the agent's registry to the servers' tools; `used`: tools that its conversation has used. */
  attach(registry: ToolRegistry, used: () => ReadonlySet<string>): void {
    this.hub?.attach(registry);
    this.hub?.revealUsed(used());
  }

  async close(): Promise<void> {
    this.#cancel();
    await this.hub?.close();
  }
}
