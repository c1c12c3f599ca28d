import { realpathSync } from "node:fs";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../src/core/base/async.ts";
import { McpServer } from "../../src/extensions/mcp/mcp-server.ts";
import { connectionOpener } from "../../src/extensions/mcp/open-connection.ts";
import { calls, says } from "../../src/testing/script.ts";
import { definitionOf } from "../mcp/server-room.ts";
import { tempFolder } from "../temp-folder.ts";
import { modelServer, runCommand, serverEnv, startCommand } from "./command.ts";

const BIN = join(import.meta.dirname, "../../dist/bin.mjs");
const NEVER = new AbortController().signal;

/** A client of a server; closed with the test. */
function clientOf(definition: object): { readonly server: McpServer; readonly tools: string[] } {
  const tools: string[] = [];
  const server = new McpServer(definitionOf(definition, "agent"), {
    host: { roots: [tempFolder()], environment: () => ({ PATH: process.env["PATH"] ?? "" }) },
    open: connectionOpener({ version: "1", watcher: undefined }),
    clock: systemClock,
    onLifecycle: () => undefined,
    onTools: (listed) => tools.push(...listed.map(({ name }) => name)),
  });
  onTestFinished(() => server.close());
  return { server, tools };
}

const stdio = (cwd: string, env: object, ...flags: readonly string[]): object => ({
  command: process.execPath,
  args: [BIN, "mcp", "serve", ...flags],
  cwd,
  env: { HOME: tempFolder(), ...env },
});

interface RunAnswer {
  readonly content: readonly { readonly text: string }[];
  readonly structuredContent: { readonly session_id: string; readonly [field: string]: unknown };
  readonly isError?: boolean;
}

test("a client has a task done, hears how far it is, and goes on with the session", async () => {
  const model = await modelServer([
    calls("write", { path: "hello.txt", content: "hi\n" }),
    says("Written."),
    says("Still here."),
  ]);
  const cwd = realpathSync(tempFolder({}));
  const { server, tools } = clientOf(stdio(cwd, serverEnv(model), "--permission-mode", "acceptEdits"));
  const progress: string[] = [];
  const onProgress = (line: string): void => void progress.push(line.trim());
  const first = (await server.call("run", { prompt: "go" }, { signal: NEVER, onProgress })) as RunAnswer;
  const { session_id } = first.structuredContent;
  const second = (await server.call(
    "resume",
    { session_id, prompt: "and?" },
    { signal: NEVER },
  )) as RunAnswer;
  const list = (await server.call("sessions", { cwd }, { signal: NEVER })) as {
    readonly structuredContent: { readonly sessions: readonly object[] };
  };
  expect(first).toMatchObject({
    content: [{ text: "Written." }],
    structuredContent: { stop_reason: "completed", turns: 2, denials: [] },
  });
  expect([tools, progress, second.content[0]?.text, second.structuredContent.session_id]).toEqual([
    ["run", "resume", "sessions"],
    ["turn 1 (1)", "write hello.txt (2)", "turn 2 (3)"],
    "Still here.",
    session_id,
  ]);
  expect(list.structuredContent.sessions).toMatchObject([{ session_id, title: "go" }]);
  model.assertFinished();
});

test("what no rule allows is refused, and the answer says so", async () => {
  const model = await modelServer([calls("bash", { command: "rm -rf x" }), says("Could not.")]);
  const { server } = clientOf(stdio(tempFolder({}), serverEnv(model)));
  const answer = (await server.call("run", { prompt: "go" }, { signal: NEVER })) as RunAnswer;
  expect(answer).toMatchObject({ isError: true, structuredContent: { denials: [{ tool: "bash" }] } });
});

test("the built-in tools are offered where that is asked for, behind the same rules and without a model", async () => {
  const cwd = tempFolder({ "a.txt": "inside\n" });
  const { server, tools } = clientOf(stdio(cwd, {}, "--tools"));
  const read = (await server.call("read", { path: "a.txt" }, { signal: NEVER })) as RunAnswer;
  const wrong = (await server.call("bash", { command: "touch b" }, { signal: NEVER })) as RunAnswer;
  expect([tools.includes("bash"), read.content[0]?.text.includes("inside"), wrong.isError]).toEqual([
    true,
    true,
    true,
  ]);
});

test("without a model the answer says what to set", async () => {
  const { server } = clientOf(stdio(tempFolder({}), { OLLAMA_HOST: "127.0.0.1:9" }));
  const answer = (await server.call(
    "run",
    { prompt: "go", model: "nowhere/x" },
    { signal: NEVER },
  )) as RunAnswer;
  expect([answer.isError, answer.content[0]?.text]).toEqual([true, expect.stringMatching(/nowhere/)]);
});

test("over HTTP it answers who has the token, on this machine, and ends with its signal", async () => {
  const model = await modelServer([says("Over HTTP.")]);
  const running = startCommand(["mcp", "serve", "--http", "0"], {
    env: serverEnv(model),
    cwd: tempFolder({}),
  });
  let printed = "";
  running.child.stdout?.on("data", (text: string) => (printed += text));
  await running.says("token: ");
  const [, url = "", token = ""] = /^(\S+)\ntoken: (\S+)$/m.exec(printed) ?? [];
  const { server } = clientOf({ url, headers: { Authorization: `Bearer ${token}` } });
  const answer = (await server.call("run", { prompt: "go" }, { signal: NEVER })) as RunAnswer;
  const status = async (headers: { readonly [name: string]: string }, body = "{}"): Promise<unknown> => {
    const response = await fetch(url, { method: "POST", headers, body });
    return [response.status, await response.text()];
  };
  const authorization = `bearer ${token}`;
  const statuses = [
    await status({}),
    await status({ authorization: "Bearer wrong" }),
    await status({ authorization, origin: "https://evil.example" }),
    await status({ authorization, "mcp-session-id": "none" }),
    await status({ authorization }, "x".repeat(10_000_001)),
  ];
  await server.close();
  running.child.kill("SIGTERM");
  expect([answer.content[0]?.text, statuses, (await running.end).code]).toEqual([
    "Over HTTP.",
    [
      [401, expect.stringContaining("Authorization: Bearer")],
      [401, expect.stringContaining("Authorization: Bearer")],
      [403, expect.stringContaining("another origin")],
      [404, expect.stringContaining("a session begins with initialize")],
      [413, expect.stringContaining("10 MB")],
    ],
    143,
  ]);
});

test("the bodies of a client with a session may be as long as those of others, said or not", async () => {
  const model = await modelServer([]);
  const running = startCommand(["mcp", "serve", "--http", "0"], {
    env: serverEnv(model),
    cwd: tempFolder({}),
  });
  let printed = "";
  running.child.stdout?.on("data", (text: string) => (printed += text));
  await running.says("token: ");
  const [, url = "", token = ""] = /^(\S+)\ntoken: (\S+)$/m.exec(printed) ?? [];
  const post = (body: string, more: { readonly [name: string]: string } = {}): Promise<Response> =>
    fetch(url, {
      method: "POST",
      headers: {
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        ...more,
      },
      body: new Blob([body]).stream(),
      duplex: "half",
    });
  const clientInfo = { name: "test", version: "1" };
  const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo };
  const begun = await post(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params }));
  await begun.text();
  const session = { "mcp-session-id": begun.headers.get("mcp-session-id") ?? "" };
  const notify = async (length: number): Promise<number> => {
    const said = { jsonrpc: "2.0", method: "notifications/initialized", params: { x: "x".repeat(length) } };
    const { status, body } = await post(JSON.stringify(said), session);
    await body?.cancel();
    return status;
  };
  const statuses = [begun.status, await notify(6_000_000), await notify(11_000_000)];
  running.child.kill("SIGTERM");
  await running.end;
  expect(statuses).toEqual([200, 202, 413]);
});

test.each(["stdio", "http"])(
  "a client of the newest version of the protocol is answered in it (%s)",
  async (over) => {
    const model = await modelServer([calls("read", { path: "a.txt" }), says("Seen.")]);
    const cwd = tempFolder({ "a.txt": "inside\n" });
    const client = new Client(
      { name: "test", version: "1" },
      { versionNegotiation: { mode: { pin: "2026-07-28" } } },
    );
    const progress: unknown[] = [];
    if (over === "stdio") {
      const env = { PATH: process.env["PATH"] ?? "", HOME: tempFolder(), ...serverEnv(model) };
      const args = [BIN, "mcp", "serve", "--tools"];
      await client.connect(new StdioClientTransport({ command: process.execPath, args, cwd, env }));
    } else {
      const running = startCommand(["mcp", "serve", "--tools", "--http", "0"], {
        env: serverEnv(model),
        cwd,
      });
      onTestFinished(async () => {
        running.child.kill("SIGTERM");
        await running.end;
      });
      let printed = "";
      running.child.stdout?.on("data", (text: string) => (printed += text));
      await running.says("token: ");
      const [, url = "", token = ""] = /^(\S+)\ntoken: (\S+)$/m.exec(printed) ?? [];
      const requestInit = { headers: { Authorization: `Bearer ${token}` } };
      await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
    }
    onTestFinished(() => client.close());
    const { tools } = await client.listTools();
    const onprogress = ({ message }: { readonly message?: string | undefined }): void =>
      void progress.push(message);
    const ran = await client.callTool({ name: "run", arguments: { prompt: "go" } }, { onprogress });
    const read = await client.callTool({ name: "read", arguments: { path: "a.txt" } });
    expect([
      client.getNegotiatedProtocolVersion(),
      tools.map(({ name }) => name).slice(0, 4),
      ran.content,
      progress,
      JSON.stringify(read.content).includes("inside"),
    ]).toEqual([
      "2026-07-28",
      ["run", "resume", "sessions", "read"],
      [{ type: "text", text: "Seen." }],
      ["turn 1", "read a.txt", "turn 2"],
      true,
    ]);
  },
);

test("a port that is none is refused", async () => {
  const { code, stderr } = await runCommand(["mcp", "serve", "--http", "99999"]);
  expect([code, stderr.split("\n")[0]]).toEqual([
    2,
    'nano-agent: --http "99999": write a port from 1 to 65535, or 0 for a free one.',
  ]);
});
