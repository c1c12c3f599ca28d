import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type McpServer, methods, type SessionUpdate } from "@agentclientprotocol/sdk";
import { expect, onTestFinished, test } from "vitest";
import { calls, says } from "../../src/testing/script.ts";
import { type RecordedRequest, replies } from "../../src/testing/server-step.ts";
import { modelServer } from "../e2e/command.ts";
import { until } from "../faults/until.ts";
import { startLoopback } from "../loopback-server.ts";
import { type FaultPlan, startFaultyHttp } from "../mcp/faulty-server.ts";
import { stdioCommand } from "../mcp/server-room.ts";
import { tempFolder } from "../temp-folder.ts";
import { newSession, prompt, startEditor } from "./editor.ts";

const { session } = methods.agent;

const textsOf = (updates: readonly SessionUpdate[], kind: SessionUpdate["sessionUpdate"]): string =>
  updates
    .flatMap((update) =>
      update.sessionUpdate === kind &&
      "content" in update &&
      update.content !== null &&
      typeof update.content === "object" &&
      "text" in update.content
        ? [update.content.text]
        : [],
    )
    .join("");

test("a prompt is answered in pieces, with what was read on the way, and every message fits the schema", async () => {
  const server = await modelServer([calls("read", { path: "a.txt" }), says("It says hello.")]);
  const editor = await startEditor({ server, cwd: tempFolder({ "a.txt": "hello\n" }) });
  const id = await newSession(editor);
  const end = await prompt(editor, id, "What does a.txt say?");
  const tools = editor.updates.filter((update) => update.sessionUpdate.startsWith("tool_call"));
  expect([end, textsOf(editor.updates, "agent_message_chunk"), editor.problems]).toEqual([
    { stopReason: "end_turn" },
    "It says hello.",
    [],
  ]);
  expect([tools[0]?.sessionUpdate, tools.at(-1)]).toEqual([
    "tool_call",
    expect.objectContaining({
      status: "completed",
      kind: "read",
      locations: [{ path: join(editor.cwd, "a.txt") }],
    }),
  ]);
});

test("what of an untrusted project is left out is said to the person, behind the answer that opened the session", async () => {
  const server = await modelServer([says("never")]);
  const cwd = tempFolder({ ".nano-agent/extensions/mine.ts": "export default () => undefined;" });
  const editor = await startEditor({ server, cwd });
  await newSession(editor);
  await until(() => editor.updates.some(({ sessionUpdate }) => sessionUpdate === "agent_message_chunk"));
  const said = editor.updates.find((update) => update.sessionUpdate === "agent_message_chunk");
  expect([said, editor.problems]).toMatchObject([
    { content: { type: "text", text: expect.stringContaining("nano-agent trust") } },
    [],
  ]);
});

test("cancel ends the prompt with cancelled, also when it comes right behind it; nothing follows the answer", async () => {
  const server = await modelServer([replies({ answer: says("never"), stall: "before_headers" })]);
  const editor = await startEditor({ server });
  const id = await newSession(editor);
  const ending = prompt(editor, id, "Wait");
  await editor.agent.notify(session.cancel, { sessionId: id });
  expect(await ending).toEqual({ stopReason: "cancelled" });
  const count = editor.updates.length;
  await editor.agent.request(session.list, {});
  expect(editor.updates).toHaveLength(count);
});

test("an editor that cancels the request of a prompt ends the run", async () => {
  const server = await modelServer([
    replies({ answer: says("never"), stall: "before_headers" }),
    says("Here I am."),
  ]);
  const editor = await startEditor({ server });
  const sessionId = await newSession(editor);
  const request = { sessionId, prompt: [{ type: "text" as const, text: "Wait" }] };
  const cancelled = new AbortController();
  const ending = editor.agent.request(session.prompt, request, { cancellationSignal: cancelled.signal });
  await expect.poll(() => server.requests.length).toBe(1);
  cancelled.abort();
  expect(await ending).toEqual({ stopReason: "cancelled" });
  expect(await prompt(editor, sessionId, "Go on")).toEqual({ stopReason: "end_turn" });
});

test("a cancel that was written before a prompt does not end it, also in the same write", async () => {
  const server = await modelServer([says("Hi.")]);
  const answers: string[] = [];
  const editor = await startEditor({ server, onMessage: (line) => answers.push(line) });
  const sessionId = await newSession(editor);
  const cancel = { jsonrpc: "2.0", method: session.cancel, params: { sessionId } };
  const text = { type: "text", text: "Hello" };
  const asked = { jsonrpc: "2.0", id: "mine", method: session.prompt, params: { sessionId, prompt: [text] } };
  editor.write(`${JSON.stringify(cancel)}\n${JSON.stringify(asked)}`);
  const answer = (): string | undefined => answers.find((line) => line.includes('"id":"mine"'));
  await expect.poll(answer).toContain('"stopReason":"end_turn"');
});

test("a session is listed, loaded with its whole conversation before the answer, and goes on", async () => {
  const server = await modelServer([says("First."), says("Second.")]);
  const editor = await startEditor({ server });
  const id = await newSession(editor);
  await prompt(editor, id, "One");
  editor.leave();
  await editor.end;
  const later = await startEditor({ server, cwd: editor.cwd, state: editor.state });
  const { sessions } = await later.agent.request(session.list, { cwd: editor.cwd });
  const place = { cwd: editor.cwd, mcpServers: [] };
  // Updates would come under another id than the editor knows.
  const beginning = later.agent.request(session.load, { sessionId: id.slice(0, 8), ...place });
  await expect(beginning).rejects.toThrow(/not found/i);
  await later.agent.request(session.load, { sessionId: id, ...place });
  const replayed = [
    textsOf(later.updates, "user_message_chunk"),
    textsOf(later.updates, "agent_message_chunk"),
  ];
  const end = await prompt(later, id, "Two");
  const titles = editor.updates.flatMap((update) =>
    update.sessionUpdate === "session_info_update" ? [update.title] : [],
  );
  expect(titles).toEqual(["One"]);
  expect([
    sessions.map(({ sessionId, title, cwd }) => [sessionId, title, cwd]),
    replayed,
    end,
    later.problems,
  ]).toEqual([[[id, "One", editor.cwd]], ["One", "First."], { stopReason: "end_turn" }, []]);
  expect(textsOf(later.updates, "agent_message_chunk")).toBe("First.Second.");
});

test("mode, model and effort are offered and changed; what does not exist is refused", async () => {
  const server = await modelServer([calls("write", { path: "x.txt", content: "x" }), says("Wrote.")]);
  const editor = await startEditor({ server });
  const { sessionId, modes, configOptions } = await editor.agent.request(session.new, {
    cwd: editor.cwd,
    mcpServers: [],
  });
  await editor.agent.request(session.setMode, { sessionId, modeId: "acceptEdits" });
  const changed = await editor.agent.request(session.setConfigOption, {
    sessionId,
    configId: "effort",
    value: "low",
  });
  await prompt(editor, sessionId, "Write");
  expect([
    modes?.currentModeId,
    configOptions?.map(({ id }) => id),
    changed.configOptions.find(({ id }) => id === "effort"),
    readFileSync(join(editor.cwd, "x.txt"), "utf8"),
    editor.questions,
    editor.problems,
  ]).toEqual([
    "default",
    ["model", "effort", "mode"],
    expect.objectContaining({ currentValue: "low" }),
    "x",
    [],
    [],
  ]);
  await expect(editor.agent.request(session.setMode, { sessionId, modeId: "wild" })).rejects.toMatchObject({
    code: -32602,
  });
  await expect(
    editor.agent.request(session.setConfigOption, { sessionId, configId: "tone", value: "x" }),
  ).rejects.toMatchObject({ code: -32602 });
});

test("files are read and written through the editor where it offers that: what is not saved counts", async () => {
  const cwd = tempFolder({ "a.txt": "on disk\n" });
  const files = new Map([[join(cwd, "a.txt"), "not saved\n"]]);
  const edit = { path: "a.txt", edits: [{ old_string: "not saved", new_string: "changed" }] };
  const server = await modelServer([calls("read", { path: "a.txt" }), calls("edit", edit), says("Done.")]);
  const capabilities = { fs: { readTextFile: true, writeTextFile: true } };
  const editor = await startEditor({
    server,
    cwd,
    files,
    capabilities,
    args: ["--permission-mode", "acceptEdits"],
  });
  await prompt(editor, await newSession(editor), "Change it");
  expect([files.get(join(cwd, "a.txt")), readFileSync(join(cwd, "a.txt"), "utf8"), editor.problems]).toEqual([
    "changed\n",
    "on disk\n",
    [],
  ]);
});

test("several sessions live in one process, and one that fails does not touch the other", async () => {
  const server = await modelServer([replies({ status: 400, error: "no such thing" }), says("Fine.")]);
  const editor = await startEditor({ server });
  const [one, two] = [await newSession(editor), await newSession(editor)];
  await expect(prompt(editor, one, "Fail")).rejects.toMatchObject({ code: expect.any(Number) });
  expect([await prompt(editor, two, "Work"), one === two]).toEqual([{ stopReason: "end_turn" }, false]);
});

test.each([
  ["a folder that is not absolute", { cwd: "somewhere" }],
  ["a folder that does not exist", { cwd: "/nowhere/at/all" }],
])("%s is refused with a sentence", async (_what, params) => {
  const server = await modelServer([]);
  const editor = await startEditor({ server });
  await expect(editor.agent.request(session.new, { mcpServers: [], ...params })).rejects.toMatchObject({
    code: -32602,
    message: expect.stringContaining(params.cwd),
  });
});

test("sessions of no valid name, folders that are none and prompts with sound are refused with a sentence", async () => {
  const editor = await startEditor({ server: await modelServer([]) });
  const { agent, cwd } = editor;
  const place = { cwd, mcpServers: [] };
  const sessionId = await newSession(editor);
  const sound = { type: "audio", mimeType: "audio/wav", data: "AAAA" } as const;
  const attempts = await Promise.allSettled([
    ...["../../etc/passwd", "a/b", "", "x\0y", "-rf"].map((id) =>
      agent.request(session.load, { sessionId: id, ...place }),
    ),
    agent.request(session.resume, { sessionId: "../x", ...place }),
    agent.request(session.new, { cwd: `${cwd}\0`, mcpServers: [] }),
    agent.request(session.prompt, { sessionId, prompt: [sound] }),
  ]);
  expect([
    attempts.map((each) => each.status === "rejected" && (each.reason as { readonly code: number }).code),
    editor.problems,
  ]).toEqual([Array.from({ length: 8 }, () => -32602), []]);
});

test("a wrong request is told in a sentence of its own, a failed run in that of the command", async () => {
  const server = await modelServer([replies({ status: 400, error: "no such thing" })]);
  const editor = await startEditor({ server });
  const sessionId = await newSession(editor);
  const attempts = await Promise.allSettled([
    editor.agent.request(session.prompt, { sessionId, prompt: [] }),
    editor.agent.request(methods.agent.authenticate, { methodId: "oauth" }),
  ]);
  for (const text of ["/no-such-command", "Fail"])
    attempts.push(...(await Promise.allSettled([prompt(editor, sessionId, text)])));
  expect(attempts.map((each) => each.status === "rejected" && each.reason)).toMatchObject([
    { code: -32602, message: expect.stringMatching(/^The input is empty/) },
    { code: -32602, message: expect.stringContaining("environment") },
    { code: -32602, message: expect.stringMatching(/^There is no command \/no-such-command/) },
    { code: -32603, message: expect.stringContaining("no such thing") },
  ]);
});

test("a session that nothing was said in is not listed", async () => {
  const editor = await startEditor({ server: await modelServer([]) });
  const { agent, cwd } = editor;
  await newSession(editor);
  const lists = [await agent.request(session.list, {}), await agent.request(session.list, { cwd })];
  expect(lists).toEqual([{ sessions: [] }, { sessions: [] }]);
});

test("a message too long to be read ends the agent, which says why", async () => {
  const editor = await startEditor({ server: await modelServer([]) });
  const started = await newSession(editor);
  editor.write(
    `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"${started.repeat(4_000_000)}"}}`,
  );
  const { code, stderr } = await editor.end;
  expect([code, stderr]).toEqual([2, expect.stringContaining("a message of more than 128 MiB")]);
});

test("a second prompt while one is at work is refused, and an unknown session is", async () => {
  const server = await modelServer([replies({ answer: says("never"), stall: "before_headers" })]);
  const editor = await startEditor({ server });
  const id = await newSession(editor);
  const first = prompt(editor, id, "Wait");
  await expect(prompt(editor, id, "Now")).rejects.toMatchObject({
    message: expect.stringContaining("still running"),
  });
  await expect(prompt(editor, "no-such-session", "Now")).rejects.toMatchObject({ code: expect.any(Number) });
  await editor.agent.notify(session.cancel, { sessionId: id });
  expect(await first).toEqual({ stopReason: "cancelled" });
});

test("an editor that goes away in the middle ends the run and the program", async () => {
  const server = await modelServer([calls("bash", { command: "sleep 1000" }), says("never")]);
  const editor = await startEditor({ server, args: ["--allowed-tools", "bash"] });
  const id = await newSession(editor);
  prompt(editor, id, "Sleep").catch(() => undefined);
  await expect
    .poll(() =>
      editor.updates.some(
        (update) => update.sessionUpdate === "tool_call_update" && update.status === "in_progress",
      ),
    )
    .toBe(true);
  editor.leave();
  expect((await editor.end).code).toBe(0);
});

test("what is not a message does not end the agent, and an unknown method gets an answer", async () => {
  const server = await modelServer([says("Still here.")]);
  const editor = await startEditor({ server });
  await expect(editor.agent.request("session/dance", {})).rejects.toMatchObject({ code: -32601 });
  await expect(editor.agent.request(session.prompt, { nonsense: true } as never)).rejects.toMatchObject({
    code: -32602,
  });
  expect(await prompt(editor, await newSession(editor), "Hi")).toEqual({ stopReason: "end_turn" });
});

test("what an editor says of an MCP server is taken as it stands: no variable of the agent is put in", async () => {
  const http = await startFaultyHttp({});
  onTestFinished(() => http.stop());
  const server = await modelServer([calls("find_tools", { query: "echo" }), says("done")]);
  const editor = await startEditor({ server });
  const headers = [{ name: "X-Key", value: "${OPENAI_API_KEY}" }];
  const mcpServers: McpServer[] = [{ type: "http", name: "own", url: http.url, headers }];
  const { sessionId } = await editor.agent.request(session.new, { cwd: editor.cwd, mcpServers });
  await prompt(editor, sessionId, "Look for it");
  await editor.agent.request(session.close, { sessionId });
  expect(new Set(http.requests.map((each) => each.headers["x-key"]))).toEqual(new Set(["${OPENAI_API_KEY}"]));
  await expect(prompt(editor, sessionId, "Again")).rejects.toMatchObject({ code: expect.any(Number) });
});

test("MCP servers of the command line are there beside those of the editor, their files read where it was given", async () => {
  const named = (name: string): FaultPlan => ({ tools: [{ name, inputSchema: { type: "object" } }] });
  const cwd = tempFolder({
    "servers.json": JSON.stringify({ mcpServers: { given: stdioCommand(named("zebra")) } }),
  });
  const server = await modelServer([
    [calls("find_tools", { query: "zebra" }), calls("find_tools", { query: "walrus" })],
    says("Seen."),
  ]);
  const editor = await startEditor({
    server,
    cwd,
    args: ["--mcp-config", "servers.json", "--strict-mcp-config"],
  });
  const command = stdioCommand(named("walrus"));
  const mcpServers: McpServer[] = [{ name: "own", env: [], ...command, args: [...command.args] }];
  const { sessionId } = await editor.agent.request(session.new, { cwd: tempFolder(), mcpServers });
  await prompt(editor, sessionId, "Look");
  const told = JSON.stringify(server.requests[1]?.body);
  expect([told.includes("mcp__given__zebra"), told.includes("mcp__own__walrus")]).toEqual([true, true]);
});

test("an MCP server of the editor brings its tools, judged like any other; a second one of its name is told", async () => {
  const command = stdioCommand({ tools: [{ name: "ping", inputSchema: { type: "object" } }] });
  // The first requests leave without the tools of a server that was never met: the model uses them once it
  // has them.
  const isOffered = (request: RecordedRequest): boolean =>
    JSON.stringify(request.body).includes("mcp__own__ping");
  const looks = Array.from(
    { length: 200 },
    () => (request: RecordedRequest) => (isOffered(request) ? calls("mcp__own__ping", {}) : says("Not yet.")),
  );
  const server = await modelServer(looks);
  const editor = await startEditor({
    server,
    answer: () => "stop",
  });
  const own = { name: "own", env: [] };
  const mcpServers: McpServer[] = [
    { ...own, ...command, args: [...command.args] },
    { ...own, command: "/no/such/program", args: [] },
  ];
  const { sessionId } = await editor.agent.request(session.new, { cwd: editor.cwd, mcpServers });
  while (editor.questions.length === 0) await prompt(editor, sessionId, "Ping it");
  editor.leave();
  const { stderr } = await editor.end;
  expect([editor.questions[0]?.toolCall.title, editor.problems, stderr]).toEqual([
    "Call mcp__own__ping {}",
    [],
    expect.stringContaining("the MCP server own was given twice, and the first one is used"),
  ]);
});

test("a chosen server that loads its model is a model, and the check does not wait for it", async () => {
  const server = await modelServer([]);
  const loads = await startLoopback(
    Array.from(
      { length: 20 },
      () => (response) => response.writeHead(503).end('{"error":{"message":"Loading model"}}'),
    ),
  );
  onTestFinished(() => loads.close());
  const login = async (name: string): Promise<unknown> => {
    const env = { NANO_AGENT_MODEL: name, OPENAI_API_KEY: "", LLAMACPP_BASE_URL: loads.url };
    const { agent } = await startEditor({ server, env });
    return agent
      .request(methods.agent.authenticate, { methodId: "environment" })
      .catch(({ code, message }: { readonly code: number; readonly message: string }) => [code, message]);
  };
  expect(await login("local")).toEqual({});
  expect(await login("")).toEqual([-32_000, expect.stringContaining("(llamacpp) is loading its model")]);
});
