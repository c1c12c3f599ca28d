import { execFile, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { createCodingSession } from "../../src/coding/session/prepare-coding-session.ts";
import { systemClock } from "../../src/core/base/async.ts";
import { messageText } from "../../src/core/message/message.ts";
import { McpServer } from "../../src/extensions/mcp/mcp-server.ts";
import { connectionOpener } from "../../src/extensions/mcp/open-connection.ts";
import { toMcpResult } from "../../src/extensions/mcp/tool-result.ts";
import { calls, says } from "../../src/testing/script.ts";
import { ScriptedModel } from "../../src/testing/scripted-model.ts";
import { startCommand } from "../e2e/command.ts";
import { onLoopback } from "../on-loopback.ts";
import { tempFolder } from "../temp-folder.ts";
import { type Answers, startFaultyHttp, type Voice } from "./faulty-server.ts";
import { definitionOf } from "./server-room.ts";

const ROOT = join(import.meta.dirname, "../..");
/** Where the programs of others lie. */
const PROGRAMS = {
  everything: import.meta.resolve("@modelcontextprotocol/server-everything/dist/index.js"),
  filesystem: import.meta.resolve("@modelcontextprotocol/server-filesystem/dist/index.js"),
  memory: import.meta.resolve("@modelcontextprotocol/server-memory/dist/index.js"),
  "sequential-thinking": import.meta.resolve(
    "@modelcontextprotocol/server-sequential-thinking/dist/index.js",
  ),
  conformance: import.meta.resolve("@modelcontextprotocol/conformance/dist/index.js"),
  inspector: import.meta.resolve("@modelcontextprotocol/inspector/clients/launcher/build/index.js"),
};

/** The scenarios for clients, with the reason why one does not pass. */
const CONFORMANCE = JSON.parse(readFileSync(join(import.meta.dirname, "conformance.json"), "utf8")) as {
  readonly passes: readonly string[];
  readonly fails: { readonly [scenario: string]: string };
};

type ProgramName = keyof typeof PROGRAMS;

const pathOf = (name: ProgramName): string => fileURLToPath(PROGRAMS[name]);
const NEVER = new AbortController().signal;

/** Programs of others, with a call that each can answer. */
const SERVERS: readonly {
  readonly name: ProgramName;
  readonly args: (folder: string) => readonly string[];
  readonly tools: number;
  readonly call: readonly [tool: string, input: (folder: string) => object, answer: RegExp];
}[] = [
  { name: "everything", args: () => [], tools: 13, call: ["get-sum", () => ({ a: 2, b: 3 }), /5/] },
  {
    name: "filesystem",
    args: (folder) => [folder],
    tools: 10,
    call: ["read_text_file", (folder) => ({ path: join(folder, "a.txt") }), /inside/],
  },
  { name: "memory", args: () => [], tools: 9, call: ["read_graph", () => ({}), /entities/] },
  {
    name: "sequential-thinking",
    args: () => [],
    tools: 1,
    call: [
      "sequentialthinking",
      () => ({ thought: "x", nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 }),
      /thoughtNumber/,
    ],
  },
];

function clientOf(
  definition: object,
  folder: string,
): { readonly server: McpServer; readonly tools: string[] } {
  const tools: string[] = [];
  const server = new McpServer(definitionOf(definition), {
    host: { roots: [folder], environment: () => ({ PATH: process.env["PATH"] ?? "" }) },
    open: connectionOpener({ version: "1", watcher: undefined }),
    clock: systemClock,
    onLifecycle: () => undefined,
    onTools: (listed) => tools.push(...listed.map(({ name }) => name)),
  });
  onTestFinished(() => server.close());
  return { server, tools };
}

/** A server on standard input and output as one over HTTP, a process for each session. */
function bridged(args: readonly string[], env: NodeJS.ProcessEnv): () => Answers {
  return () => {
    const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "ignore"], env });
    onTestFinished(() => void child.kill("SIGKILL"));
    const voices = new Map<unknown, Voice>();
    let last: Voice | undefined;
    createInterface({ input: child.stdout }).on("line", (line) => {
      const message = JSON.parse(line) as { readonly id?: unknown; readonly method?: string };
      (message.method === undefined ? voices.get(message.id) : last)?.send(message);
    });
    return (message, voice) => {
      if (message.id !== undefined && message.method !== undefined) voices.set(message.id, (last = voice));
      child.stdin.write(`${JSON.stringify(message)}\n`);
    };
  };
}

test.each(["stdio", "http"].flatMap((transport) => SERVERS.map((judge) => ({ transport, ...judge }))))(
  "server-$name works over $transport",
  async ({ transport, name, args, tools, call: [tool, input, answer] }) => {
    const folder = tempFolder({ "a.txt": "inside" });
    const words = [pathOf(name), ...args(folder)];
    const env = {
      PATH: process.env["PATH"] ?? "",
      HOME: folder,
      MEMORY_FILE_PATH: join(folder, "memory.json"),
    };
    let definition: object = { command: process.execPath, args: words, env };
    if (transport === "http") {
      const http = await startFaultyHttp(bridged(words, env));
      onTestFinished(() => http.stop());
      definition = { url: http.url };
    }
    const client = clientOf(definition, folder);
    const { content } = toMcpResult(await client.server.call(tool, input(folder), { signal: NEVER }));
    expect([client.tools.length >= tools, JSON.stringify(content)]).toEqual([
      true,
      expect.stringMatching(answer),
    ]);
  },
);

test.each([
  ["streamableHttp", "/mcp", "http"],
  ["sse", "/sse", "http"],
])("server-everything works over its own %s, asked as an http server", async (mode, path, type) => {
  const folder = tempFolder();
  const port = await freePort();
  const child = spawn(process.execPath, [pathOf("everything"), mode], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH: process.env["PATH"] ?? "", PORT: String(port) },
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  await new Promise<void>((resolve) => {
    const look = (text: Buffer): void => void (/port/i.test(String(text)) && resolve());
    child.stdout.on("data", look);
    child.stderr.on("data", look);
  });
  const { server } = clientOf({ type, url: `http://127.0.0.1:${port}${path}` }, folder);
  const { content } = toMcpResult(await server.call("echo", { message: "hi" }, { signal: NEVER }));
  expect(content).toBe("Echo: hi");
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

interface Judgement {
  readonly failed: boolean;
  readonly output: string;
}

function judged(program: ProgramName, args: readonly string[], home = tempFolder()): Promise<Judgement> {
  return new Promise((resolve) => {
    const env = { PATH: `${join(ROOT, "node_modules/.bin")}:${process.env["PATH"] ?? ""}`, HOME: home };
    execFile(process.execPath, [pathOf(program), ...args], { env, cwd: home }, (error, stdout, stderr) =>
      resolve({ failed: error !== null, output: stdout + stderr }),
    );
  });
}

test.each(CONFORMANCE.passes)("the client passes the conformance scenario %s", async (scenario) => {
  const command = `"${process.execPath}" "${join(import.meta.dirname, "conformance-client.ts")}"`;
  let output = "";
  // One scenario has a clock: a busy machine is late there, and by no means each time.
  for (let turn = 0; turn < 20 && (turn === 0 || output.includes("reconnected very late")); turn++)
    ({ output } = await judged("conformance", ["client", "--command", command, "--scenario", scenario]));
  // A client that is a little late gets a warning, which fails the whole.
  const isLate = /, 0 failed, 1 warnings\n[\s\S]*reconnected slightly late/.test(output);
  expect(isLate ? "OVERALL: PASSED" : output).toContain("OVERALL: PASSED");
});

test("every conformance scenario for clients passes, or is listed with the reason why it does not", async () => {
  const { output } = await judged("conformance", ["list"]);
  const [, clients = ""] = /^Client scenarios.*\n((?: {2}- .*\n)+)/m.exec(output) ?? [];
  const names = [...clients.matchAll(/^ {2}- (\S+)/gm)].map(([, name = ""]) => name);
  const listed = new Set([...CONFORMANCE.passes, ...Object.keys(CONFORMANCE.fails)]);
  expect(listed).toEqual(new Set(names));
});

test("the server passes the conformance scenarios that need no tools of the suite's own", async () => {
  const running = startCommand(["mcp", "serve", "--http", "0"], { cwd: tempFolder({}) });
  let printed = "";
  running.child.stdout?.on("data", (text: string) => (printed += text));
  await running.says("token: ");
  const [, url = "", token = ""] = /^(\S+)\ntoken: (\S+)$/m.exec(printed) ?? [];
  const proxy = await withToken(new URL(url), token);
  const scenarios = [
    "server-initialize",
    "ping",
    "tools-list",
    "server-sse-multiple-streams",
    "dns-rebinding-protection",
  ];
  const failed: string[] = [];
  for (const scenario of scenarios) {
    const { output } = await judged("conformance", ["server", "--url", proxy, "--scenario", scenario]);
    if (!/Passed: [1-9]\d*\/\d+, 0 failed/.test(output)) failed.push(`${scenario}: ${output}`);
  }
  expect(failed).toEqual([]);
});

/** The suite cannot log in: its requests get the token on their way. */
async function withToken(target: URL, token: string): Promise<string> {
  const server = createServer((incoming, response) => {
    const { method, headers, url: path } = incoming;
    const authorization = `Bearer ${token}`;
    const passed = request(
      { hostname: target.hostname, port: target.port, path, method, headers: { ...headers, authorization } },
      (answer) => {
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(response);
      },
    );
    passed.on("error", () => response.destroy());
    incoming.pipe(passed);
  });
  return `${await onLoopback(server)}/mcp`;
}

test("the inspector lists and calls the tools of the server", async () => {
  const serve = ["--cli", process.execPath, join(ROOT, "dist/bin.mjs"), "mcp", "serve"];
  const list = await judged("inspector", [...serve, "--method", "tools/list"]);
  const call = await judged("inspector", [...serve, "--method", "tools/call", "--tool-name", "sessions"]);
  expect([list.failed, list.output.match(/"name": "\w+"/g), call.output]).toEqual([
    false,
    ['"name": "run"', '"name": "resume"', '"name": "sessions"'],
    expect.stringContaining("There are no sessions."),
  ]);
});

test("a coding session offers the prompts and resources of its servers", async () => {
  const home = tempFolder();
  const servers = { every: { command: process.execPath, args: [pathOf("everything")] } };
  const model = new ScriptedModel([calls("find_tools", { query: "echo" }), says("done")]);
  await using session = await createCodingSession({
    cwd: tempFolder({}),
    environment: { HOME: home, PATH: process.env["PATH"] ?? "" },
    keep: false,
    model,
    mcp: { configs: [JSON.stringify({ mcpServers: servers })], strict: true },
  });
  const before = session.info.mcpServers;
  const { exitCode } = await session.send("go");
  const { mcp, mcpServers } = session.info;
  const prompts = (await mcp?.prompts())?.map(({ name }) => name);
  const said = await mcp?.expandPrompt("mcp__every__args-prompt", { city: "Oslo" }, NEVER);
  const [resource] = (await mcp?.resources()) ?? [];
  const inside = await mcp?.readResource(resource?.mention ?? "", NEVER);
  expect([
    before,
    exitCode,
    mcpServers,
    prompts?.includes("mcp__every__args-prompt"),
    inside?.length,
  ]).toEqual([
    [{ name: "every", status: "connecting" }],
    0,
    [{ name: "every", status: "connected" }],
    true,
    1,
  ]);
  expect(JSON.stringify(said)).toContain("Oslo");
});

test("a resource that a message mentions is read, from a server that did not run, and goes before it", async () => {
  const model = new ScriptedModel([says("read")]);
  const servers = { every: { command: process.execPath, args: [pathOf("everything")] } };
  await using session = await createCodingSession({
    cwd: tempFolder({}),
    environment: { HOME: tempFolder(), PATH: process.env["PATH"] ?? "" },
    keep: false,
    model,
    mcp: { configs: [JSON.stringify({ mcpServers: servers })], strict: true },
  });
  const text = "Sum up @every:demo://resource/static/document/architecture.md, please";
  await session.send(text);
  const texts = model.requests[0]?.messages.map((message) => messageText(message));
  expect(texts).toEqual([
    expect.stringContaining('<resource uri="demo://resource/static/document/architecture.md">\n# Everything'),
    text,
  ]);
});
