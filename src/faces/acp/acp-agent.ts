import { isAbsolute } from "node:path";
import {
  type AgentApp,
  type AgentContext,
  agent as acpAgent,
  type ClientCapabilities,
  type LoadSessionRequest,
  methods,
  type NewSessionRequest,
  type NewSessionResponse,
  PROTOCOL_VERSION,
  RequestError,
} from "@agentclientprotocol/sdk";
import type { CodingSessionOptions } from "../../coding/session/coding-session.ts";
import { createCodingSession } from "../../coding/session/prepare-coding-session.ts";
import { userPaths } from "../../coding/settings/paths.ts";
import { loadSettings } from "../../coding/settings/settings.ts";
import { availableModels } from "../../coding/setup/available-models.ts";
import { sessionStore } from "../../coding/setup/open-session.ts";
import { isNanoAgentError } from "../../core/base/errors.ts";
import { newUuid } from "../../core/base/ids.ts";
import { chooseModel } from "../../providers/model-choice.ts";
import { summarizeSession } from "../../session/read-session.ts";
import type { Environment } from "../../system/env.ts";
import { noticeText } from "../../view/notice-text.ts";
import { AcpSession } from "./acp-session.ts";
import { clientPorts } from "./client-ports.ts";
import { changeOption, configOptions, modeState, toMode } from "./config-options.ts";
import { mcpConfigs } from "./mcp-configs.ts";
import { inProtocol } from "./protocol-error.ts";
import { sessionName } from "./updates.ts";

/** Options that an editor's sessions have in common. */
export interface AcpAgentOptions {
  readonly environment: Environment;
  readonly version: string;
  /** Options of the command line, for every session. */
  readonly session: Pick<
    CodingSessionOptions,
    "settings" | "keep" | "addDirs" | "mcp" | "permissionMode" | "adoptErrors"
  >;
  /** Hears what a session notices, as a line for a person. */
  readonly onNotice: NonNullable<CodingSessionOptions["onNotice"]>;
}

/** Fields of all requests that open a session. */
type OpenRequest = Pick<NewSessionRequest, "cwd" | "additionalDirectories"> &
  Partial<Pick<NewSessionRequest, "mcpServers">>;

const AUTH_METHOD = {
  id: "environment",
  name: "API key in the environment",
  description:
    "Set the variable of a provider, such as ANTHROPIC_API_KEY, where the editor starts the agent.",
};

/** Sessions a list shows at once. */
const PAGE = 50;

/** The agent side of the protocol over any number of coding sessions. */
export class AcpAgent {
  readonly #options: AcpAgentOptions;
  readonly #sessions = new Map<string, AcpSession>();
  #capabilities: ClientCapabilities | undefined;

  constructor(options: AcpAgentOptions) {
    this.#options = options;
  }

  /** The handlers of the protocol, to be connected to a stream. */
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
        await inProtocol(() => session.setMode(toMode(params.modeId, session)));
        return {};
      })
      .onRequest(agent.session.setConfigOption, async ({ params }) => {
        const { session } = this.#find(params.sessionId);
        await inProtocol(() => changeOption(session, params.configId, params.value));
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
    const session = await inProtocol(() =>
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
      // The beginning of an id names a session for people; an editor would hear of it under another name.
      await session.close();
      throw RequestError.sessionNotFound(id);
    }
    const opened = new AcpSession({ session, client, capabilities: this.#capabilities });
    this.#sessions.set(id, opened);
    // The editor learns the id from the answer: what concerns the session comes behind it.
    setImmediate(() => {
      opened.tellCommands();
      for (const text of untrusted) opened.tell(text);
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
        const { cwd: folder, title } = summarizeSession(path);
        // One that was opened and never used has nothing to go on with.
        if (folder === undefined && title === undefined) return [];
        const updatedAt = new Date(changedAt).toISOString();
        const name = title === undefined ? null : sessionName(title);
        return [{ sessionId, cwd: folder ?? cwd ?? "/", title: name, updatedAt }];
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
    await inProtocol(async () => {
      const cwd = userPaths(environment).home;
      const { config } = await loadSettings({ environment, cwd, flags: session.settings ?? {} });
      await chooseModel({ config, environment }).catch((error: unknown) => {
        // One that was chosen and still loads is there: who opens a session waits for it.
        if (!isNanoAgentError(error, "provider_error")) throw error;
      });
    });
  }
}
