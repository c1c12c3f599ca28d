import { existsSync } from "node:fs";
import { join } from "node:path";
import { methods, type SessionUpdate } from "@agentclientprotocol/sdk";
import { expect, test } from "vitest";
import { calls, says } from "../../src/testing/script.ts";
import type { RecordedRequest } from "../../src/testing/server-step.ts";
import { modelServer } from "../e2e/command.ts";
import { isAlive, until } from "../faults/until.ts";
import { tempFolder } from "../temp-folder.ts";
import { type Editor, type EditorOptions, startEditor } from "./editor.ts";

const { session } = methods.agent;

/** An editor with terminals, whose agent may run commands, and a session in it. */
async function withTerminal(options: EditorOptions) {
  const args = ["--allowed-tools", "bash", ...(options.args ?? [])];
  const editor = await startEditor({ capabilities: { terminal: true }, ...options, args });
  const { sessionId } = await editor.agent.request(session.new, { cwd: editor.cwd, mcpServers: [] });
  const prompt = (text: string) =>
    editor.agent.request(session.prompt, { sessionId, prompt: [{ type: "text", text }] });
  return { editor, sessionId, prompt };
}

/** Terminals that updates of calls have shown, with the state they were in. */
function shown(updates: readonly SessionUpdate[]): readonly (readonly [string, string])[] {
  return updates.flatMap((update) => {
    if (update.sessionUpdate !== "tool_call_update" && update.sessionUpdate !== "tool_call") return [];
    return (update.content ?? []).flatMap((part) =>
      part.type === "terminal" ? [[part.terminalId, update.status ?? ""] as const] : [],
    );
  });
}

/** What the model was told of its calls. */
const toldOf = ({ body }: RecordedRequest): string =>
  JSON.stringify(
    (body as { readonly messages: readonly { readonly role: string }[] }).messages.filter(
      ({ role }) => role === "tool",
    ),
  );

test("a command runs in the editor's terminal, which the call shows while it runs and after; the model reads its output", async () => {
  const server = await modelServer([
    calls("bash", { command: "echo out; echo err >&2; pwd; exit 3" }),
    says("It failed with 3."),
  ]);
  const { editor, prompt } = await withTerminal({ server });
  const end = await prompt("Run it");
  const [terminal] = editor.terminals.list;
  const states = shown(editor.updates);
  const told = toldOf(server.requests[1] as RecordedRequest);
  expect([
    end,
    terminal?.cwd,
    terminal?.isReleased,
    editor.terminals.list.length,
    states[0],
    states.at(-1),
    editor.problems,
  ]).toEqual([
    { stopReason: "end_turn" },
    editor.cwd,
    true,
    1,
    ["term-0", "in_progress"],
    ["term-0", "failed"],
    [],
  ]);
  for (const part of ["out", "err", editor.cwd, "exit code 3"]) expect(told).toContain(part);
});

test("the terminal sees no key of the agent, and what the call is not allowed to run opens none", async () => {
  const server = await modelServer([
    calls("bash", { command: "env" }),
    calls("bash", { command: "touch made" }),
    says("Done."),
  ]);
  const { editor, prompt } = await withTerminal({ server, args: ["--disallowed-tools", "bash(touch *)"] });
  await prompt("Try both");
  expect([
    editor.terminals.list.map(({ command }) => command),
    Object.keys(editor.terminals.list[0]?.env ?? {}).filter((name) => /KEY|TOKEN/.test(name)),
    toldOf(server.requests[1] as RecordedRequest).includes("OPENAI_API_KEY"),
    editor.problems,
  ]).toEqual([["bash -c :\nexec bash -c 'env'"], [], false, []]);
});

test("cancel kills what runs in the terminal and gives it back, and so does the wall time of the call", async () => {
  const started = join(tempFolder(), "started");
  const server = await modelServer([
    calls("bash", { command: "exec sleep 1000", timeout_ms: 300 }),
    calls("bash", { command: `touch '${started}'; echo started; exec sleep 1000` }),
  ]);
  const { editor, sessionId, prompt } = await withTerminal({ server });
  const ending = prompt("Sleep twice");
  await until(() => editor.terminals.list.length === 2);
  const [first, second] = editor.terminals.list;
  await until(() => existsSync(started));
  await editor.agent.notify(session.cancel, { sessionId });
  expect(await ending).toEqual({ stopReason: "cancelled" });
  await until(() => ![first, second].some((terminal) => isAlive(terminal?.pid ?? 0)));
  await until(() => first?.isReleased === true && second?.isReleased === true);
  expect([toldOf(server.requests[1] as RecordedRequest), editor.problems]).toEqual([
    expect.stringContaining("[timed out, "),
    [],
  ]);
});

test("an editor whose terminal cannot be opened costs the call an error result", async () => {
  const server = await modelServer([calls("bash", { command: "echo hi" }), says("It did not run.")]);
  const editor: Editor = await startEditor({
    server,
    capabilities: { terminal: true },
    args: ["--allowed-tools", "bash"],
    failTerminals: true,
  });
  const { sessionId } = await editor.agent.request(session.new, { cwd: editor.cwd, mcpServers: [] });
  const end = await editor.agent.request(session.prompt, {
    sessionId,
    prompt: [{ type: "text", text: "Run it" }],
  });
  const told = toldOf(server.requests[1] as RecordedRequest);
  expect([end, told.includes("no terminals today"), editor.problems]).toEqual([
    { stopReason: "end_turn" },
    true,
    [],
  ]);
});
