import { isAbsolute } from "node:path";
import { Readable, Writable } from "node:stream";
import {
  type AgentApp,
  type AgentContext,
  type AnyMessage,
  agent as acpAgent,
  type ClientCapabilities,
  type LoadSessionRequest,
  type McpServer,
  MessageTooLargeError,
  methods,
  type NewSessionRequest,
  type NewSessionResponse,
  ndJsonStream,
  PROTOCOL_VERSION,
  RequestError,
  type SessionConfigOption,
  type SessionModeState,
} from "@agentclientprotocol/sdk";
import type { CodingSession, CodingSessionOptions } from "../../coding/session/coding-session.ts";
import { createCodingSession } from "../../coding/session/prepare-coding-session.ts";
import { userPaths } from "../../coding/settings/paths.ts";
import { loadSettings } from "../../coding/settings/settings.ts";
import { availableModels } from "../../coding/setup/open-model.ts";
import { sessionStore } from "../../coding/setup/open-session.ts";
import { invalidArgument, isNanoAgentError } from "../../core/base/errors.ts";
import { newUuid } from "../../core/base/ids.ts";
import { EFFORTS } from "../../core/model/model.ts";
import type { PermissionMode } from "../../permission/permission-mode.ts";
import { chooseModel } from "../../providers/model-choice.ts";
import { summarizeSession } from "../../session/read-session.ts";
import type { Environment } from "../../system/env.ts";
import { LISTED_MODES, MODE_EFFECTS, modeName, modeNamed } from "../../view/mode-names.ts";
import { noticeText } from "../../view/notice-text.ts";
import { AcpSession, withProtocolErrors } from "./acp-session.ts";
import { clientPorts } from "./client-ports.ts";
import { sessionName } from "./updates.ts";

/** Maximum bytes of a message: a prompt with images, or a file open in the editor. */
const MAX_MESSAGE_BYTES = 128 * 1024 * 1024;

/**
 * Speaks the Agent Client Protocol with an editor on a pair of streams until the editor disconnects or
 * `signal` aborts; then every run is ended. Nothing else may be written to `output`. Rejects with
 * `invalid_argument` after a message that is too long.
 */
export async function serveAcp(
  options: AcpAgentOptions,
  input: Readable,
  output: Writable,
  signal: AbortSignal,
): Promise<void> {
  const agent = new AcpAgent(options);
  const { readable, writable } = ndJsonStream(
    Writable.toWeb(output) as WritableStream<Uint8Array>,
    Readable.toWeb(input) as ReadableStream<Uint8Array>,
    { maxMessageBytes: MAX_MESSAGE_BYTES },
  );
  const connection = agent.app().connect({ readable: readable.pipeThrough(cancelInOrder()), writable });
  const onAbort = (): void => connection.close();
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    await connection.closed;
  } finally {
    signal.removeEventListener("abort", onAbort);
    await agent.close();
  }
  if (connection.signal.reason instanceof MessageTooLargeError)
    throw invalidArgument(
      `The editor sent a message of more than ${MAX_MESSAGE_BYTES >> 20} MiB, so its sessions were ended. Load them again, and leave out what is that large.`,
    );
}

/**
 * Delays messages after a cancel: handlers of notifications start later than those of requests, so a cancel
 * would hit the next prompt.
 */
function cancelInOrder(): TransformStream<AnyMessage, AnyMessage> {
  return new TransformStream({
    transform: async (message, controller) => {
      controller.enqueue(message);
      if ("method" in message && message.method === methods.agent.session.cancel)
        await new Promise((resolve) => setImmediate(resolve));
    },
  });
}

interface AcpAgentOptions {
  readonly environment: Environment;
  readonly version: string;
  /** Command-line options for every session. */
  readonly session: Pick<
    CodingSessionOptions,
    "settings" | "keep" | "addDirs" | "mcp" | "permissionMode" | "adoptErrors"
  >;
  readonly onNotice: NonNullable<CodingSessionOptions["onNotice"]>;
}

type OpenRequest = Pick<NewSessionRequest, "cwd" | "additionalDirectories"> &
  Partial<Pick<NewSessionRequest, "mcpServers">>;

const AUTH_METHOD = {
  id: "environment",
  name: "API key in the environment",
  description:
    "Set the variable of a provider, such as ANTHROPIC_API_KEY, where the editor starts the agent.",
};

const PAGE = 50;

class AcpAgent {
  readonly #options: AcpAgentOptions;
  readonly #sessions = new Map<string, AcpSession>();
  #capabilities: ClientCapabilities | undefined;

  constructor(options: AcpAgentOptions) {
    this.#options = options;
  }

  /** The protocol handlers, ready to connect to a stream. */
  app(): AgentApp {
    const { agent } = methods;
    return acpAgent({ name: "nano-agent" })
      .onRequest(agent.initialize, ({ params }) => {
        this.#capabilities = params.clientCapabilities;
        return {
          protocolVersion: PROTOCOL_VERSION,
          agentInfo: { name: "nano-agent", title: "nano-agent", version: this.#options.version },
          agentCapabilities: {
            loadSession: true,
            promptCapabilities: { image: true, audio: false, embeddedContext: true },
            mcpCapabilities: { http: true, sse: true },
            sessionCapabilities: { list: {}, resume: {}, close: {}, additionalDirectories: {} },
          },
          authMethods: [AUTH_METHOD],
        };
      })
      .onRequest(agent.authenticate, async ({ params: { methodId } }) => {
        if (methodId !== AUTH_METHOD.id)
          throw RequestError.invalidParams({ methodId }, `The only method to log in is ${AUTH_METHOD.id}.`);
        await this.#assertModel();
        return {};
      })
      .onRequest(agent.session.new, ({ params, client }) => this.#new(params, client))
      .onRequest(agent.session.load, async ({ params, client }) => {
        const opened = await this.#resume(params, client);
        await opened.replay();
        return this.#described(opened);
      })
      .onRequest(agent.session.resume, async ({ params, client }) =>
        this.#described(await this.#resume(params, client)),
      )
      .onRequest(agent.session.list, ({ params }) => this.#list(params))
      .onRequest(agent.session.close, async ({ params }) => {
        const session = this.#find(params.sessionId);
        this.#sessions.delete(params.sessionId);
        await session.close();
        return {};
      })
      .onRequest(agent.session.prompt, ({ params, signal }) =>
        this.#find(params.sessionId).prompt(params.prompt, signal),
      )
      .onRequest(agent.session.setMode, async ({ params }) => {
        const { session } = this.#find(params.sessionId);
        await withProtocolErrors(() => session.setMode(toMode(params.modeId, session)));
        return {};
      })
      .onRequest(agent.session.setConfigOption, async ({ params }) => {
        const { session } = this.#find(params.sessionId);
        await withProtocolErrors(() => changeOption(session, params.configId, params.value));
        return { configOptions: configOptions(session, await this.#models(session.info.cwd)) };
      })
      .onNotification(agent.session.cancel, ({ params }) => this.#sessions.get(params.sessionId)?.cancel());
  }

  async close(): Promise<void> {
    await Promise.allSettled([...this.#sessions.values()].map((session) => session.close()));
    this.#sessions.clear();
  }

  async #new(params: NewSessionRequest, client: AgentContext): Promise<NewSessionResponse> {
    const id = newUuid();
    const opened = await this.#open(params, client, { id, options: { sessionId: id } });
    return { sessionId: id, ...(await this.#described(opened)) };
  }

  async #resume(
    params: OpenRequest & Pick<LoadSessionRequest, "sessionId">,
    client: AgentContext,
  ): Promise<AcpSession> {
    const id = params.sessionId;
    return this.#sessions.get(id) ?? this.#open(params, client, { id, options: { resume: { id } } });
  }

  async #open(
    { cwd, additionalDirectories = [], mcpServers = [] }: OpenRequest,
    client: AgentContext,
    { id, options }: { readonly id: string; readonly options: CodingSessionOptions },
  ): Promise<AcpSession> {
    const relative = [cwd, ...additionalDirectories].find((folder) => !isAbsolute(folder));
    if (relative !== undefined)
      throw RequestError.invalidParams({ path: relative }, `The folder ${relative} is not absolute.`);
    const { environment, session: common, onNotice } = this.#options;
    const untrusted: string[] = [];
    const session = await withProtocolErrors(() =>
      createCodingSession({
        ...common,
        ...options,
        cwd,
        environment,
        addDirs: [...(common.addDirs ?? []), ...additionalDirectories],
        mcp: { configs: [], strict: false, ...common.mcp, literal: mcpConfigs(mcpServers) },
        ports: clientPorts(client, id, this.#capabilities),
        onNotice: (notice) => {
          onNotice(notice);
          if (notice.code === "untrusted") untrusted.push(noticeText(notice));
        },
      }),
    );
    if (session.id !== id) {
      // People may abbreviate ids; an editor would then see the session under another name.
      await session.close();
      throw RequestError.sessionNotFound(id);
    }
    const opened = new AcpSession(session, client, this.#capabilities);
    this.#sessions.set(id, opened);
    // The editor learns the id from the response: updates for the session must follow it.
    setImmediate(() => {
      opened.sendCommands();
      for (const text of untrusted) opened.sendNotice(text);
    });
    return opened;
  }

  async #described({ session }: AcpSession): Promise<Omit<NewSessionResponse, "sessionId">> {
    return {
      modes: modeState(session),
      configOptions: configOptions(session, await this.#models(session.info.cwd)),
    };
  }

  async #models(cwd: string): Promise<readonly string[]> {
    const { environment } = this.#options;
    const { config } = await loadSettings({ environment, cwd });
    return availableModels(config.values, environment);
  }

  #list({ cwd, cursor }: { readonly cwd?: string | null; readonly cursor?: string | null }) {
    const all = sessionStore(userPaths(this.#options.environment)).list(cwd ?? undefined);
    const from = cursor === undefined || cursor === null ? 0 : Number(cursor);
    if (!Number.isInteger(from) || from < 0)
      throw RequestError.invalidParams({ cursor }, "The cursor is not one of a list.");
    const page = all.slice(from, from + PAGE);
    return {
      sessions: page.flatMap(({ sessionId, path, changedAt }) => {
        const { header, title } = summarizeSession(path);
        // A session that was never used has nothing to resume.
        if (header === undefined && title === undefined) return [];
        const updatedAt = new Date(changedAt).toISOString();
        const name = title === undefined ? null : sessionName(title);
        return [{ sessionId, cwd: header?.cwd ?? cwd ?? "/", title: name, updatedAt }];
      }),
      ...(from + PAGE < all.length ? { nextCursor: String(from + PAGE) } : {}),
    };
  }

  #find(sessionId: string): AcpSession {
    const session = this.#sessions.get(sessionId);
    if (session === undefined) throw RequestError.sessionNotFound(sessionId);
    return session;
  }

  async #assertModel(): Promise<void> {
    const { environment, session } = this.#options;
    await withProtocolErrors(async () => {
      const cwd = userPaths(environment).home;
      const { config } = await loadSettings({ environment, cwd, flags: session.settings ?? {} });
      await chooseModel({ config, environment }).catch((error: unknown) => {
        // A chosen model that is still loading counts as available: opening a session waits for it.
        if (!isNanoAgentError(error, "provider_error")) throw error;
      });
    });
  }
}

/** The modes an editor can choose. The one without questions is for the command line only. */
function modesFor(current: PermissionMode) {
  const modes = LISTED_MODES.includes(current) ? LISTED_MODES : [...LISTED_MODES, current];
  return modes.map((id) => ({ id, name: modeName(id), description: MODE_EFFECTS[id] }));
}

function modeState({ view }: CodingSession): SessionModeState {
  return { currentModeId: view.mode, availableModes: modesFor(view.mode) };
}

/** The options that can change between prompts; `models` are offered besides the current one. */
function configOptions({ view }: CodingSession, models: readonly string[]): SessionConfigOption[] {
  const { model, effort = "default", mode } = view;
  const named = (names: readonly string[]) => names.map((name) => ({ value: name, name }));
  const modes = modesFor(mode).map(({ id: value, ...rest }) => ({ value, ...rest }));
  const offered = named([...new Set([model, ...models])]);
  const efforts = named(["default", ...EFFORTS]);
  return [
    { id: "model", name: "Model", category: "model", currentValue: model, options: offered },
    {
      id: "effort",
      name: "Reasoning effort",
      category: "thought_level",
      currentValue: effort,
      options: efforts,
    },
    { id: "mode", name: "Permission mode", category: "mode", currentValue: mode, options: modes },
  ].map((option) => ({ type: "select", ...option }));
}

/** Changes one option. Throws a protocol error for an option or value that does not exist. */
async function changeOption(session: CodingSession, id: string, value: unknown): Promise<void> {
  if (typeof value !== "string") throw invalid({ id, value }, `The option ${id} takes a text.`);
  if (id === "model") return session.setModel(value);
  if (id === "mode") return session.setMode(toMode(value, session));
  if (id !== "effort") throw invalid({ id }, `There is no option ${id}: model, effort and mode can be set.`);
  const effort = EFFORTS.find((each) => each === value);
  if (effort === undefined && value !== "default")
    throw invalid({ value }, `Effort ${value}: one of default, ${EFFORTS.join(", ")}.`);
  return session.setEffort(effort);
}

/** The mode with a name, if an editor can choose it. Throws a protocol error otherwise. */
function toMode(name: string, { view }: CodingSession): PermissionMode {
  const modes = modesFor(view.mode);
  const mode = modeNamed(name);
  if (mode !== undefined && modes.some(({ id }) => id === mode)) return mode;
  const hint = mode === "bypassPermissions" ? " Start nano-agent acp with --permission-mode for that." : "";
  throw invalid({ mode: name }, `There is no mode ${name}: ${modes.map(({ id }) => id).join(", ")}.${hint}`);
}

function invalid(data: object, message: string): RequestError {
  return RequestError.invalidParams(data, message);
}

/** An editor's MCP servers in the form of `--mcp-config`, separately: names may repeat. */
function mcpConfigs(servers: readonly McpServer[]): readonly string[] {
  return servers.map((server) => JSON.stringify({ mcpServers: { [server.name]: serverDefinition(server) } }));
}

function serverDefinition(server: McpServer): object {
  if (!("type" in server)) {
    const { command, args, env } = server;
    return { command, args, env: toRecord(env) };
  }
  const { type, url, headers } = server;
  return { type, url, headers: toRecord(headers) };
}

function toRecord(list: readonly { readonly name: string; readonly value: string }[]): object {
  return Object.fromEntries(list.map(({ name, value }) => [name, value]));
}
