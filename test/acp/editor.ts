import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { Readable, Writable } from "node:stream";
import {
  type ClientCapabilities,
  type ClientContext,
  client,
  methods,
  ndJsonStream,
  type PromptResponse,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type SessionNotification,
  type SessionUpdate,
} from "@agentclientprotocol/sdk";
import { Ajv2020 } from "ajv/dist/2020.js";
import { onTestFinished } from "vitest";
import type { ScriptedServer } from "../../src/testing/scripted-server.ts";
import { serverEnv, startCommand } from "../e2e/command.ts";
import { tempFolder } from "../temp-folder.ts";
import { EditorTerminals } from "./terminals.ts";

/** What a test's editor is like. */
export interface EditorOptions {
  readonly server: ScriptedServer;
  readonly cwd?: string;
  readonly state?: string;
  readonly args?: readonly string[];
  /** Variables beside those of the model. */
  readonly env?: Readonly<Record<string, string>>;
  readonly capabilities?: ClientCapabilities;
  /** Answers a question with the id of an option, or `cancelled`; default: the first option that rejects. */
  readonly answer?: (request: RequestPermissionRequest) => string | Promise<string>;
  readonly files?: Map<string, string>;
  /** Refuses to open terminals. */
  readonly failTerminals?: boolean;
  /** Told of every message of the agent, before anything is done about it. */
  readonly onMessage?: (line: string) => void;
}

/** The agent as an editor meets it: the built command behind the protocol's own client. */
export interface Editor {
  readonly agent: ClientContext;
  readonly cwd: string;
  readonly state: string;
  readonly updates: SessionUpdate[];
  readonly questions: RequestPermissionRequest[];
  readonly terminals: EditorTerminals;
  /** Writes a line to the agent, whatever it is. */
  readonly write: (line: string) => void;
  /** Lines of standard output that are no message of the protocol. */
  readonly problems: string[];
  readonly end: Promise<{ readonly code: number | null; readonly stderr: string }>;
  /** Goes away, as an editor that is closed. */
  readonly leave: () => void;
  /** Ends the agent at once. */
  readonly kill: () => void;
}

/** Starts the agent and the editor, initialised. */
export async function startEditor(options: EditorOptions): Promise<Editor> {
  const { server, cwd = tempFolder(), state = tempFolder(), capabilities = {} } = options;
  const command = startCommand(["acp", ...(options.args ?? [])], {
    cwd,
    env: { XDG_STATE_HOME: state, ...serverEnv(server), ...options.env },
    holdStdin: true,
  });
  const { child } = command;
  if (child.stdin === null || child.stdout === null) throw new Error("The command has no pipes.");
  const problems: string[] = [];
  watchLines(child.stdout, problems, options.onMessage);
  const { app, ...heard } = editorApp(options);
  const stream = ndJsonStream(
    Writable.toWeb(child.stdin) as WritableStream<Uint8Array>,
    Readable.toWeb(Readable.from(requested(child.stdout))) as ReadableStream<Uint8Array>,
  );
  const connection = app.connect(stream);
  onTestFinished(() => connection.close());
  await connection.agent.request(methods.agent.initialize, {
    protocolVersion: 1,
    clientCapabilities: capabilities,
    clientInfo: { name: "test", version: "1" },
  });
  return {
    agent: connection.agent,
    cwd,
    state,
    ...heard,
    write: (line) => void child.stdin?.write(`${line}\n`),
    problems,
    end: command.end,
    leave: () => child.stdin?.end(),
    kill: () => void child.kill("SIGKILL"),
  };
}

/** What an editor answers and hears. */
function editorApp({ answer, files, failTerminals }: EditorOptions) {
  const updates: SessionUpdate[] = [];
  const questions: RequestPermissionRequest[] = [];
  const terminals = new EditorTerminals(failTerminals);
  onTestFinished(() => terminals.close());
  const app = terminals.serve(
    client({ name: "test" })
      .onNotification(
        methods.client.session.update,
        ({ params }: { readonly params: SessionNotification }) => {
          updates.push(params.update);
        },
      )
      .onRequest(
        methods.client.session.requestPermission,
        async ({ params }): Promise<RequestPermissionResponse> => {
          questions.push(params);
          const rejecting = params.options.find(({ kind }) => kind.startsWith("reject"))?.optionId ?? "";
          const optionId = await (answer?.(params) ?? rejecting);
          return {
            outcome: optionId === "cancelled" ? { outcome: "cancelled" } : { outcome: "selected", optionId },
          };
        },
      )
      .onRequest(methods.client.fs.readTextFile, ({ params }) => {
        const content = files?.get(params.path);
        if (content === undefined) throw new Error(`The editor does not know ${params.path}.`);
        return { content };
      })
      .onRequest(methods.client.fs.writeTextFile, ({ params }) => {
        files?.set(params.path, params.content);
        return {};
      }),
  );
  return { app, updates, questions, terminals };
}

/** Without the answers to what no client of ours asked, which it would only print. */
async function* requested(output: Readable): AsyncGenerator<Buffer> {
  for await (const line of createInterface({ input: output })) {
    const { id, method } = JSON.parse(line) as { readonly id?: unknown; readonly method?: string };
    if (method !== undefined || (typeof id === "number" && id < 10_000)) yield Buffer.from(`${line}\n`);
  }
}

/**
 * Looks at every line the agent writes: a message of JSON-RPC whose parts fit the published schema of the
 * protocol.
 */
function watchLines(
  output: Readable,
  problems: string[],
  onMessage: (line: string) => void = () => undefined,
): void {
  const check = messageChecker();
  let rest = "";
  output.on("data", (chunk: Buffer | string) => {
    rest += String(chunk);
    const lines = rest.split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      problems.push(...check(line));
      onMessage(line);
    }
  });
}

const PARAMS: { readonly [method: string]: string } = {
  "session/update": "SessionNotification",
  "session/request_permission": "RequestPermissionRequest",
  "fs/read_text_file": "ReadTextFileRequest",
  "fs/write_text_file": "WriteTextFileRequest",
  "terminal/create": "CreateTerminalRequest",
};

function messageChecker(): (line: string) => readonly string[] {
  const require = createRequire(import.meta.url);
  const path = require.resolve("@agentclientprotocol/sdk/schema/v1/schema.json");
  const schema = JSON.parse(readFileSync(path, "utf8")) as object;
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema(schema, "acp");
  return (line) => {
    let message: { readonly jsonrpc?: unknown; readonly method?: string; readonly params?: unknown };
    try {
      message = JSON.parse(line) as typeof message;
    } catch {
      return [`not JSON: ${line.slice(0, 200)}`];
    }
    if (message.jsonrpc !== "2.0") return [`not JSON-RPC: ${line.slice(0, 200)}`];
    const name = message.method === undefined ? undefined : PARAMS[message.method];
    if (name === undefined) return [];
    const validate = ajv.getSchema(`acp#/$defs/${name}`);
    if (validate === undefined) return [`no schema of ${name}`];
    return validate(message.params) === true
      ? []
      : [`${name}: ${ajv.errorsText(validate.errors)}: ${line.slice(0, 300)}`];
  };
}

/** Opens a session in the folder of an editor; its id. */
export async function newSession({ agent, cwd }: Pick<Editor, "agent" | "cwd">): Promise<string> {
  return (await agent.request(methods.agent.session.new, { cwd, mcpServers: [] })).sessionId;
}

/** Opens a session of before, which sends its whole conversation again. */
export async function loadSession(
  { agent, cwd }: Pick<Editor, "agent" | "cwd">,
  sessionId: string,
): Promise<void> {
  await agent.request(methods.agent.session.load, { sessionId, cwd, mcpServers: [] });
}

/** Sends a prompt, and resolves to how it ended. */
export function prompt(
  { agent }: Pick<Editor, "agent">,
  sessionId: string,
  text: string,
): Promise<PromptResponse> {
  return agent.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: "text", text }] });
}
