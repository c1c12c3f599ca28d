import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { methods } from "@agentclientprotocol/sdk";
import fc from "fast-check";
import { expect, test } from "vitest";
import { calls, says } from "../../src/testing/script.ts";
import type { RecordedRequest } from "../../src/testing/server-step.ts";
import { modelServer, runCommand } from "../e2e/command.ts";
import { isAlive, pidsIn, until } from "../faults/until.ts";
import { tempFolder } from "../temp-folder.ts";
import { startEditor } from "./editor.ts";

const { session } = methods.agent;
/** In the sandbox a process has another number than outside. */
const OUTSIDE = ["--sandbox", "off"];

/** What has been said in a conversation: results of calls count its turns. */
function resultsIn({ body }: RecordedRequest): number {
  const { messages } = body as { readonly messages: readonly { readonly role: string }[] };
  return messages.filter(({ role }) => role === "tool").length;
}

/** A run with everything in it: text, a read, a change that is asked about, a command, an answer. */
const BUSY = (request: RecordedRequest) => {
  const last = JSON.stringify((request.body as { readonly messages: readonly object[] }).messages.at(-1));
  if (last.includes("Are you there?")) return says("Still here.");
  switch (resultsIn(request)) {
    case 0:
      return [says("I look first."), calls("read", { path: "a.txt" })];
    case 1:
      return calls("write", { path: "b.txt", content: "b" });
    case 2:
      return calls("bash", { command: "echo $$ >> pids; sleep 0.05" });
    default:
      return says("Done with all of it.");
  }
};

test("a prompt can be cancelled at every message: it ends at once, nothing follows, and the session goes on", async () => {
  const server = await modelServer(Array.from({ length: 500 }, () => BUSY));
  let count = 0;
  let onMessage: () => void = () => undefined;
  const editor = await startEditor({
    server,
    cwd: tempFolder({ "a.txt": "hello\n" }),
    args: OUTSIDE,
    onMessage: () => onMessage(),
    answer: ({ options }) => options.find(({ kind }) => kind === "allow_once")?.optionId ?? "",
  });
  const say = (sessionId: string, text: string) =>
    editor.agent.request(session.prompt, { sessionId, prompt: [{ type: "text", text }] });
  const wrong: string[] = [];
  let isWhole = false;
  let at = 0;
  for (; !isWhole; at++) {
    onMessage = () => undefined;
    const { sessionId } = await editor.agent.request(session.new, { cwd: editor.cwd, mcpServers: [] });
    count = 0;
    let isCancelled = false;
    onMessage = () => {
      if (count++ !== at) return;
      isCancelled = true;
      void editor.agent.notify(session.cancel, { sessionId });
    };
    const { stopReason } = await say(sessionId, "Go");
    onMessage = () => undefined;
    const heard = editor.updates.length;
    const again = await say(sessionId, "Are you there?");
    const between = editor.updates[heard];
    if (stopReason !== "cancelled" && stopReason !== "end_turn") wrong.push(`${at}: ${stopReason}`);
    if (again.stopReason !== "end_turn") wrong.push(`${at}: then ${again.stopReason}`);
    if (between !== undefined && "toolCallId" in between) wrong.push(`${at}: a call after the end`);
    isWhole = stopReason === "end_turn" && !isCancelled;
  }
  const pids = pidsIn(join(editor.cwd, "pids"));
  expect([wrong, editor.problems, at > 10]).toEqual([[], [], true]);
  await until(() => !pids.some(isAlive));
});

test.each([0, 2, 4, 6, 8, 10])(
  "an editor that disappears at message %i ends the program; the session can be read and nothing is left running",
  async (at) => {
    const server = await modelServer(Array.from({ length: 50 }, () => BUSY));
    let count = 0;
    const editor = await startEditor({
      server,
      cwd: tempFolder({ "a.txt": "hello\n" }),
      args: OUTSIDE,
      onMessage: () => {
        if (count++ === at + 2) editor.leave();
      },
      answer: ({ options }) => options.find(({ kind }) => kind === "allow_once")?.optionId ?? "",
    });
    const { sessionId } = await editor.agent.request(session.new, { cwd: editor.cwd, mcpServers: [] });
    editor.agent
      .request(session.prompt, { sessionId, prompt: [{ type: "text", text: "Go" }] })
      .catch(() => undefined);
    const { code } = await editor.end;
    const files = filesBelow(editor.state).filter((path) => path.endsWith(".jsonl"));
    const verified = await runCommand(["sessions", "verify", ...files]);
    const pids = filesBelow(editor.cwd).filter((path) => path.endsWith("pids"));
    const left = pids.flatMap(pidsIn);
    await until(() => !left.some(isAlive));
    expect([code, files.length === 0 ? 0 : verified.code]).toEqual([0, 0]);
  },
);

function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true })
    .map((name) => join(folder, String(name)))
    .filter((path) => statSync(path).isFile());
}

const WORDS = fc.constantFrom(
  "session/new",
  "session/prompt",
  "session/cancel",
  "session/load",
  "session/set_mode",
  "session/set_config_option",
  "session/close",
  "initialize",
  "nonsense",
  "$/cancel_request",
);
const NONSENSE = fc.oneof(
  fc.string({ unit: "binary" }).map((text) => text.replaceAll("\n", " ")),
  fc.json(),
  fc
    .record(
      {
        jsonrpc: fc.constantFrom("2.0", "1.0", 2),
        id: fc.oneof(fc.integer({ min: 1_000_000 }), fc.string(), fc.constant(null), fc.constant({})),
        method: fc.oneof(WORDS, fc.jsonValue()),
        params: fc.oneof(
          fc.jsonValue(),
          fc.record({ sessionId: fc.jsonValue(), cwd: fc.jsonValue(), prompt: fc.jsonValue() }),
        ),
        result: fc.jsonValue(),
      },
      { requiredKeys: [] },
    )
    .map((message) => JSON.stringify(message)),
);

test("whatever an editor writes, the agent answers the next request and writes messages alone", async () => {
  const server = await modelServer([says("Still here.")]);
  const editor = await startEditor({ server });
  await fc.assert(
    fc.asyncProperty(fc.array(NONSENSE, { minLength: 1, maxLength: 20 }), async (lines) => {
      for (const line of lines) editor.write(line);
      const { sessions } = await editor.agent.request(session.list, {});
      expect(Array.isArray(sessions)).toBe(true);
    }),
    { numRuns: 60 },
  );
  const { sessionId } = await editor.agent.request(session.new, { cwd: editor.cwd, mcpServers: [] });
  const end = await editor.agent.request(session.prompt, {
    sessionId,
    prompt: [{ type: "text", text: "Are you there?" }],
  });
  expect([end, editor.problems]).toEqual([{ stopReason: "end_turn" }, []]);
});

test("what a title leaves out is shown below it, and as it is", async () => {
  const parts = [`rm a <!-- ${"x".repeat(300)} -->`, "rm b```"];
  const server = await modelServer([calls("bash", { command: parts.join(" && ") }), says("ok")]);
  const contents: unknown[] = [];
  const editor = await startEditor({
    server,
    answer: ({ toolCall, options }) => {
      contents.push(...(toolCall.content ?? []));
      return options.find(({ kind }) => kind === "reject_once")?.optionId ?? "";
    },
  });
  const { sessionId } = await editor.agent.request(session.new, { cwd: editor.cwd, mcpServers: [] });
  const prompt = [{ type: "text" as const, text: "Make it" }];
  await editor.agent.request(session.prompt, { sessionId, prompt });
  const [shown] = contents as { readonly content: { readonly text: string } }[];
  expect(shown?.content.text.includes(`\`\`\`\`\n${parts.join(" && ")}\n\`\`\`\``)).toBe(true);
});
