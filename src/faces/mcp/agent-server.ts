import { isAbsolute, resolve } from "node:path";
import { fromJsonSchema, McpServer, type ServerContext } from "@modelcontextprotocol/server";
import type { CodingSession, CodingSessionOptions } from "../../coding/session/coding-session.ts";
import { createCodingSession } from "../../coding/session/prepare-coding-session.ts";
import { existingFolder } from "../../coding/settings/paths.ts";
import type { Settings } from "../../coding/settings/settings.ts";
import { describedTools } from "../../coding/setup/builtin-tools.ts";
import { sessionStore } from "../../coding/setup/open-session.ts";
import type { AgentEvent } from "../../core/agent/entries.ts";
import { errorMessage, invalidArgument, NanoAgentError } from "../../core/base/errors.ts";
import type { JsonSchema } from "../../core/base/schema.ts";
import type { Model } from "../../core/model/model.ts";
import type { ToolResult } from "../../core/tool/tool.ts";
import { SCHEMA_VALIDATOR } from "../../extensions/mcp/schema-validator.ts";
import { sessionTitle } from "../../session/read-session.ts";
import { callTitle } from "../../view/call-text.ts";

export interface AgentServerOptions {
  /** Settings of the folder the server was started in. */
  readonly settings: Settings;
  readonly session: CodingSessionOptions;
  readonly tools: boolean;
  readonly version: string;
}

/** The server for one client, or for all clients that send full state with each request. */
export interface AgentServer {
  /** Creates an unconnected server; the runs started by one client belong together. */
  readonly newServer: () => McpServer;
  /** True while a tool call is unanswered. */
  readonly isBusy: () => boolean;
  /** Ends every run it has started. */
  readonly close: () => Promise<void>;
}

type Answer = Awaited<ReturnType<Parameters<McpServer["registerTool"]>[2]>>;

/**
 * The agent as an MCP server: `run` and `resume` perform a task, `sessions` lists sessions; optionally the
 * built-in tools. Nobody can be asked, so a call not allowed by a startup rule is refused.
 */
export function createAgentServer(options: AgentServerOptions): AgentServer {
  const schemas = { jsonSchemaValidator: SCHEMA_VALIDATOR };
  const ending = new AbortController();
  const work = new AgentWork(options, ending.signal);
  return {
    newServer: () => {
      const server = new McpServer({ name: "nano-agent", version: options.version }, schemas);
      const add = (tool: OfferedTool, answer: ToolHandler): void =>
        register(server, tool, (input, context) => work.track(() => answer(input, context)));
      add(RUN, (input, context) => work.run(input, context));
      add(RESUME, (input, context) => work.run(input, context));
      add(SESSIONS, async (input) => work.sessions(input));
      if (options.tools)
        for (const { name, description, schema } of describedTools(options.settings))
          add({ name, description, schema: schema.jsonSchema }, (input, context) =>
            work.callTool(name, input, context),
          );
      return server;
    },
    isBusy: () => work.isBusy,
    close: async () => {
      ending.abort(new NanoAgentError("aborted", "The client of the server is gone."));
      await work.close();
    },
  };
}

interface OfferedTool {
  readonly name: string;
  readonly description: string;
  readonly schema: JsonSchema;
}

type Input = { readonly [key: string]: unknown };

type ToolHandler = (input: Input, context: ServerContext) => Promise<Answer>;

const PROMPT = { type: "string", description: "The task, or what to do next" } as const;

const RUN: OfferedTool = {
  name: "run",
  description:
    "Hands a task to a coding agent, which reads, changes files and runs commands in a folder as far as it is allowed to, and says what came of it. Its session_id is in the structured content, for resume.",
  schema: {
    type: "object",
    properties: {
      prompt: PROMPT,
      cwd: { type: "string", description: "Folder to work in; default: where the server was started" },
      model: { type: "string", description: "provider/id; default: what the server was started with" },
    },
    required: ["prompt"],
    additionalProperties: false,
  },
};

const RESUME: OfferedTool = {
  name: "resume",
  description: "Goes on with a session of run or of the command line.",
  schema: {
    type: "object",
    properties: {
      session_id: { type: "string", description: "Id of the session" },
      prompt: PROMPT,
      cwd: { type: "string", description: "Folder of the session; default: where the server was started" },
    },
    required: ["session_id", "prompt"],
    additionalProperties: false,
  },
};

const SESSIONS: OfferedTool = {
  name: "sessions",
  description: "Lists sessions, the newest first.",
  schema: {
    type: "object",
    properties: {
      cwd: { type: "string", description: "Only those of this folder; default: of every folder" },
      limit: { type: "integer", minimum: 1, maximum: 200, description: "Default 20" },
    },
    additionalProperties: false,
  },
};

function register(server: McpServer, { name, description, schema }: OfferedTool, work: ToolHandler): void {
  const inputSchema = fromJsonSchema<Input>({ ...schema }, SCHEMA_VALIDATOR);
  server.registerTool(name, { description, inputSchema }, async (input, context) => {
    try {
      return await work(input, context);
    } catch (error) {
      return { content: [{ type: "text", text: errorMessage(error) }], isError: true };
    }
  });
}

class AgentWork {
  readonly #options: AgentServerOptions;
  readonly #ending: AbortSignal;
  readonly #running = new Set<Promise<unknown>>();
  #toolSession: Promise<CodingSession> | undefined;

  constructor(options: AgentServerOptions, ending: AbortSignal) {
    this.#options = options;
    this.#ending = ending;
  }

  get isBusy(): boolean {
    return this.#running.size > 0;
  }

  async track(answer: () => Promise<Answer>): Promise<Answer> {
    const working = answer();
    this.#running.add(working);
    try {
      return await working;
    } finally {
      this.#running.delete(working);
    }
  }

  /** Runs a prompt until an answer, in a new or an existing session. */
  async run(input: Input, context: ServerContext): Promise<Answer> {
    const { session_id: resumed, prompt, model } = input;
    const options: CodingSessionOptions = {
      ...this.#options.session,
      cwd: this.#folder(input["cwd"]),
      ...(typeof model === "string" ? { model } : {}),
      ...(typeof resumed === "string" ? { resume: { id: resumed } } : {}),
    };
    const signal = AbortSignal.any([context.mcpReq.signal, this.#ending]);
    await using session = await createCodingSession(options);
    const report = progressOf(context);
    session.onEvent((event) => report(event));
    const { text, stopReason, exitCode, turns, cost, denials, advice } = await session.send(String(prompt), {
      signal,
    });
    const texts = [text, ...(exitCode === 0 || advice === undefined ? [] : [advice.text])];
    return {
      content: [{ type: "text", text: texts.filter((each) => each !== "").join("\n\n") }],
      structuredContent: {
        session_id: session.id,
        stop_reason: stopReason,
        turns,
        cost_usd: cost ?? null,
        denials: denials.map(({ name, reason }) => ({ tool: name, reason })),
      },
      ...(exitCode === 0 ? {} : { isError: true }),
    };
  }

  sessions({ cwd, limit = 20 }: Input): Answer {
    const store = sessionStore(this.#options.settings.paths);
    const found = store.list(typeof cwd === "string" ? this.#folder(cwd) : undefined).slice(0, Number(limit));
    const sessions = found.map(({ sessionId, path, changedAt }) => ({
      session_id: sessionId,
      changed_at: new Date(changedAt).toISOString(),
      title: sessionTitle(path) ?? "",
    }));
    const lines = sessions.map((each) => `${each.changed_at}  ${each.session_id}  ${each.title}`);
    return {
      content: [{ type: "text", text: lines.length === 0 ? "There are no sessions." : lines.join("\n") }],
      structuredContent: { sessions },
    };
  }

  /** Makes one call through permission, undo and journal. */
  async callTool(name: string, input: Input, { mcpReq }: ServerContext): Promise<Answer> {
    const { session } = this.#options;
    // No model is called, so none is required.
    this.#toolSession ??= createCodingSession({ ...session, model: NO_MODEL });
    const opened = await this.#toolSession;
    return toAnswer(
      await opened.callTool(name, input, { signal: AbortSignal.any([mcpReq.signal, this.#ending]) }),
    );
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.#running);
    await this.#toolSession?.then(
      (session) => session.close(),
      () => undefined,
    );
  }

  #folder(given: unknown): string {
    const { cwd } = this.#options.settings;
    if (typeof given !== "string") return cwd;
    return existingFolder(isAbsolute(given) ? given : resolve(cwd, given), "cwd");
  }
}

/** Reports a run's progress to a client that asked for it: a running count of turns and calls. */
function progressOf({ mcpReq }: ServerContext): (event: AgentEvent) => void {
  const progressToken = mcpReq._meta?.progressToken;
  let progress = 0;
  return (event) => {
    const message = progressText(event);
    if (progressToken === undefined || message === undefined) return;
    progress++;
    // A client that misses it still receives the answer.
    mcpReq
      .notify({ method: "notifications/progress", params: { progressToken, progress, message } })
      .catch(() => undefined);
  };
}

function progressText(event: AgentEvent): string | undefined {
  if (event.type === "turn_start") return `turn ${event.iteration}`;
  return event.type === "tool_intent" ? `${event.name} ${callTitle(event.input)}`.trim() : undefined;
}

function toAnswer({ content, isError = false }: ToolResult): Answer {
  const blocks = typeof content === "string" ? [{ type: "text" as const, text: content }] : content;
  return {
    content: blocks.map((block) => {
      if (block.type === "text") return { type: "text" as const, text: block.text };
      const { source } = block;
      return source.type === "base64"
        ? { type: "image" as const, data: source.data, mimeType: source.media_type }
        : { type: "text" as const, text: source.url };
    }),
    ...(isError ? { isError } : {}),
  };
}

const NO_MODEL: Model = {
  provider: "none",
  id: "none",
  stream: () => {
    throw invalidArgument("This session calls tools only.");
  },
};
