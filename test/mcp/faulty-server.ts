import { appendFileSync, readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What a scripted server does wrong when it is started. */
export type StartFault = "hangs" | "dies" | "garbage" | "version" | "refuses" | "floods";

/** What its tools do wrong, each the name of a tool, in the words of the documentation. */
export const CALL_FAULTS = {
  hangs: "never answers",
  dies: "dies",
  garbage: "prints something that is not a message",
  wrong_id: "answers calls that were not made",
  answers_twice: "answers twice",
  huge: "sends 50 MB",
  floods: "sends 5,000 notifications",
  refuses: "answers with an error",
  unknown_block: "sends unknown content",
  no_object: "answers with something that is not a result",
  no_content: "sends only structured content",
  nulls: "sends `null` for an absent field",
  unreadable: "sends an answer that is not JSON",
} as const;

/** One of {@link CALL_FAULTS}. */
export type CallFault = keyof typeof CALL_FAULTS;

/** What tools ask of the client, each the name of a tool; what comes of it is their result. */
const QUESTIONS = {
  ask_roots: { method: "roots/list" },
  ask_model: {
    method: "sampling/createMessage",
    params: { messages: [{ role: "user", content: { type: "text", text: "2+2?" } }], maxTokens: 10 },
  },
  ask_person: {
    method: "elicitation/create",
    params: {
      message: "Which?",
      requestedSchema: { type: "object", properties: { color: { type: "string" } } },
    },
  },
} as const;

type QuestionName = keyof typeof QUESTIONS;
type ToolName = CallFault | QuestionName | "echo" | "slow" | "new_tool";

/** The script of a server. */
export interface FaultPlan {
  /** `nulls`: it works, with a byte order mark and `null` wherever there may be nothing. */
  readonly start?: StartFault | "nulls";
  /** Starts that go wrong before one does not; counted in the file. Default: all. */
  readonly until?: { readonly starts: number; readonly counter: string };
  /** Descriptions of tools beside those that every scripted server has. */
  readonly tools?: readonly object[];
  /** Descriptions of its prompts; each says its own name and its arguments. */
  readonly prompts?: readonly { readonly name: string }[];
  /** What `ask_person` asks instead of its own question. */
  readonly asks?: object;
  /** Ignores the end of its input and requests to end, and starts a process that does so too. */
  readonly stubborn?: boolean;
}

/** A message of the protocol. */
export interface Message {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: {
    readonly name?: string;
    readonly arguments?: object;
    readonly _meta?: { readonly progressToken?: number };
  };
  readonly result?: object;
  readonly error?: object;
}

/** How a scripted server speaks. */
export interface Voice {
  readonly send: (message: object) => void;
  /** Sends text as a message; `raw` as it stands. */
  readonly text: (text: string) => void;
  readonly raw: (text: string) => void;
  readonly die: () => void;
}

const TOOLS = [...Object.keys(CALL_FAULTS), ...Object.keys(QUESTIONS), "echo", "slow", "new_tool"].map(
  (name) => ({
    name,
    description: `Scripted: ${name}`,
    inputSchema: { type: "object", properties: { text: { type: "string" } } },
  }),
);

/** Tools that every scripted server has. */
export const TOOL_COUNT: number = TOOLS.length;

/** What one connection to a server does with each message. */
export type Answers = (message: Message, voice: Voice) => void;

/** One connection to a scripted server: answers messages after its plan. */
export function scriptedAnswers(plan: FaultPlan): Answers {
  const fault = faultOfStart(plan);
  let hasNewTool = false;
  let asked: { readonly id: number | string; readonly voice: Voice } | undefined;
  return (message, voice) => {
    const { id, method, params } = message;
    const answer = (result: object): void => voice.send({ jsonrpc: "2.0", id, result });
    if (id === undefined) return;
    if (method === undefined) {
      asked?.voice.send({
        jsonrpc: "2.0",
        id: asked.id,
        result: textResult(JSON.stringify(message.result ?? message.error)),
      });
      return;
    }
    if (method === "initialize") {
      if (fault === undefined) answer(initialized("2025-11-25", plan));
      else failStart(fault, { id, voice });
    } else if (method === "tools/list") {
      const extra = hasNewTool ? [{ ...TOOLS[0], name: "brand_new" }] : [];
      answer({ tools: [...TOOLS, ...(plan.tools ?? []), ...extra] });
    } else if (method.startsWith("prompts/")) answer(promptAnswer(method, params, plan));
    else if (method === "tools/call") {
      const name = params?.name as ToolName;
      if (name === "new_tool") {
        hasNewTool = true;
        voice.send({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });
        answer(textResult("there is a new one"));
      } else if (name in QUESTIONS) {
        asked = { id, voice };
        voice.send({ jsonrpc: "2.0", id: "question-1", ...questionOf(name as QuestionName, plan) });
      } else play(name, { id, voice, params });
    } else voice.send({ jsonrpc: "2.0", id, error: { code: -32601, message: "unknown method" } });
  };
}

function questionOf(name: QuestionName, { asks }: FaultPlan): object {
  const question = QUESTIONS[name];
  return name === "ask_person" && asks !== undefined ? { ...question, params: asks } : question;
}

function promptAnswer(method: string, params: Message["params"], { prompts }: FaultPlan): object {
  if (method === "prompts/list") return { prompts };
  const text = `${params?.name} with ${JSON.stringify(params?.arguments)}`;
  return { messages: [{ role: "user", content: { type: "text", text } }] };
}

function faultOfStart({ start, until }: FaultPlan): FaultPlan["start"] {
  if (until === undefined) return start;
  appendFileSync(until.counter, "x");
  return readFileSync(until.counter, "utf8").length > until.starts ? undefined : start;
}

function initialized(protocolVersion: string, { prompts }: FaultPlan = {}): object {
  return {
    protocolVersion,
    capabilities: { tools: { listChanged: true }, ...(prompts === undefined ? {} : { prompts: {} }) },
    serverInfo: { name: "scripted", version: "1" },
  };
}

function textResult(text: string): object {
  return { content: [{ type: "text", text }] };
}

interface Turn {
  readonly id: number | string;
  readonly voice: Voice;
  readonly params?: Message["params"];
}

function failStart(fault: NonNullable<FaultPlan["start"]>, { id, voice }: Turn): void {
  switch (fault) {
    case "hangs":
      return;
    case "dies":
      return voice.die();
    case "garbage":
      voice.raw("this is not the protocol\n{]\n");
      return voice.die();
    case "version":
      return voice.send({ jsonrpc: "2.0", id, result: initialized("1999-01-01") });
    case "refuses":
      return voice.send({ jsonrpc: "2.0", id, error: { code: -32603, message: "not today" } });
    case "nulls": {
      const { serverInfo, ...rest } = initialized("2025-11-25") as { readonly serverInfo: object };
      const result = { ...rest, serverInfo: { ...serverInfo, title: null }, instructions: null, _meta: null };
      Object.assign(result, { capabilities: { tools: {}, prompts: null, experimental: null } });
      voice.raw("\uFEFF");
      return voice.send({ jsonrpc: "2.0", id, result, error: null });
    }
    case "floods":
      return voice.raw("nothing\n".repeat(20_000));
  }
}

const WORKS = textResult("it works");

type Answer = (turn: Turn, answer: (result: unknown) => void) => void;

const PLAYS: { readonly [name in ToolName]?: Answer } = {
  hangs: () => undefined,
  dies: ({ voice }) => voice.die(),
  garbage: ({ voice }, answer) => {
    voice.raw("a line that somebody printed\n");
    answer(WORKS);
  },
  wrong_id: ({ voice }, answer) => {
    voice.send({ jsonrpc: "2.0", id: 987_654, result: textResult("not yours") });
    answer(WORKS);
  },
  answers_twice: (_turn, answer) => {
    answer(WORKS);
    answer(textResult("again"));
  },
  huge: (_turn, answer) => answer(textResult("x".repeat(50 * 1024 * 1024))),
  floods: ({ voice }, answer) => {
    for (let data = 0; data < 5_000; data++)
      voice.send({ jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data } });
    answer(WORKS);
  },
  refuses: ({ id, voice }) =>
    voice.send({ jsonrpc: "2.0", id, error: { code: -32602, message: "wrong arguments" } }),
  unknown_block: (_turn, answer) =>
    answer({
      content: [
        { type: "hologram", beam: 1 },
        { type: "text", text: "it works" },
      ],
    }),
  no_object: (_turn, answer) => answer("nonsense"),
  nulls: ({ id, voice }) =>
    voice.send({ jsonrpc: "2.0", id, error: null, result: { _meta: null, isError: null, ...WORKS } }),
  unreadable: ({ id, voice }) => voice.text(`{"jsonrpc":"2.0","id":${id},"result":{"sum":NaN}}`),
  no_content: (_turn, answer) => answer({ structuredContent: { sum: 3 } }),
  slow: ({ voice, params }, answer) => {
    const progressToken = params?._meta?.progressToken;
    for (const progress of [1, 2])
      voice.send({
        jsonrpc: "2.0",
        method: "notifications/progress",
        params: { progressToken, progress, total: 2, message: `step ${progress}` },
      });
    answer(WORKS);
  },
};

function play(name: ToolName, turn: Turn): void {
  const answer = (result: unknown): void => turn.voice.send({ jsonrpc: "2.0", id: turn.id, result });
  const own = PLAYS[name];
  if (own === undefined) answer(textResult(JSON.stringify(turn.params?.arguments ?? {})));
  else own(turn, answer);
}

/** A scripted server at an address of this machine. */
export interface FaultyHttp {
  readonly url: string;
  /** Headers of every request so far. */
  readonly requests: readonly { readonly method: string; readonly headers: IncomingMessage["headers"] }[];
  /** Forgets every session, as a server does that was started anew. */
  readonly forget: () => void;
  /** Stops listening; `restart` listens again at the same place. */
  readonly stop: () => Promise<void>;
  readonly restart: () => Promise<void>;
}

/** Looks at a request first; true when it has answered it. */
export type Guard = (request: IncomingMessage, response: ServerResponse, body: string) => boolean;

/** Starts a scripted server that speaks Streamable HTTP. Each answer is a stream of events. */
export async function startFaultyHttp(plan: FaultPlan | (() => Answers), guard?: Guard): Promise<FaultyHttp> {
  const newAnswers = typeof plan === "function" ? plan : () => scriptedAnswers(plan);
  const sessions = new Map<string, Answers>();
  const requests: { method: string; headers: IncomingMessage["headers"] }[] = [];
  let count = 0;
  const answer = (request: IncomingMessage, response: ServerResponse, body: string): void => {
    requests.push({ method: request.method ?? "", headers: request.headers });
    if (guard?.(request, response, body) === true) return;
    if (request.method !== "POST") return void response.writeHead(405).end();
    const message = JSON.parse(body) as Message;
    const isNew = message.method === "initialize";
    const session = isNew ? `session-${++count}` : String(request.headers["mcp-session-id"]);
    if (isNew) sessions.set(session, newAnswers());
    const answers = sessions.get(session);
    if (answers === undefined) return void response.writeHead(404).end();
    if (message.method === undefined || message.id === undefined) {
      const none = (): undefined => undefined;
      answers(message, { send: none, text: none, raw: none, die: none });
      return void response.writeHead(202).end();
    }
    response.writeHead(200, { "content-type": "text/event-stream", "mcp-session-id": session });
    answers(message, {
      send: (each) => {
        if (!response.writableEnded) response.write(`data: ${JSON.stringify(each)}\n\n`);
        if ("id" in each && each.id === message.id) response.end();
      },
      text: (text) => response.end(`data: ${text}\n\n`),
      raw: (text) => response.write(text),
      die: () => void request.socket.destroy(),
    });
  };
  const create = (): Server =>
    createServer((request, response) => {
      let body = "";
      request.setEncoding("utf8").on("data", (text: string) => (body += text));
      request.on("end", () => answer(request, response, body));
    });
  let server = create();
  const listen = (port: number): Promise<void> =>
    new Promise((resolve) => void server.listen(port, "127.0.0.1", resolve));
  await listen(0);
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    requests,
    forget: () => sessions.clear(),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
    restart: () => {
      server = create();
      return listen(port);
    },
  };
}
