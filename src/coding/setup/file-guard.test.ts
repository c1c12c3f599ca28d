import { expect, test } from "vitest";
import { settingsIn } from "../../../test/settings.ts";
import { tempFolder } from "../../../test/temp-folder.ts";
import type { GateRequest } from "../../core/agent/ports.ts";
import type { ToolInput } from "../../core/message/message.ts";
import type { Tool, ToolContext } from "../../core/tool/tool.ts";
import { fileTools } from "../../tools/file-tools.ts";
import type { ConfigFile } from "../settings/config-schema.ts";
import { createPermissionGate, FileGuard } from "./permission-gate.ts";

const FILES = {
  "a.txt": "needle",
  ".env": "needle",
  "keys/server.pem": "needle",
  "private/b.txt": "needle",
  "asked/c.txt": "needle",
};

function toolsIn(cwd: string, values: ConfigFile = {}) {
  const guard = new FileGuard();
  const tools = fileTools({ permitted: guard.permitted, excludes: guard.excludes });
  const names = tools.map(({ name }) => name);
  const gate = createPermissionGate(settingsIn(cwd, values), { tools: names, workspace: [cwd], guard });
  return async (name: string, input: ToolInput): Promise<readonly string[]> => {
    const tool = tools.find((each) => each.name === name) as Tool;
    const request: GateRequest = {
      callId: "c",
      tool,
      name,
      input,
      cwd,
      sessionId: "s",
      signal: new AbortController().signal,
    };
    await gate.check(request);
    const context: ToolContext = {
      ...request,
      idempotencyKey: "key",
      context: undefined,
      transcriptId: "s",
      update: () => undefined,
      listTools: () => [],
      runAgent: () => Promise.reject(new Error("no subagents")),
      callTool: () => Promise.reject(new Error("no nested calls")),
    };
    const result = await tool.execute?.(input as never, context);
    const { content } = result as { readonly content: string };
    return content.split("\n").toSorted((a, b) => a.localeCompare(b));
  };
}

const RULES: ConfigFile = { permissions: { deny: ["read(private/**)"], ask: ["read(asked/**)"] } };

test("searching shows no file that may hold keys, or that a rule denies or asks about", async () => {
  const run = toolsIn(tempFolder(FILES), RULES);
  expect([await run("grep", { pattern: "needle" }), await run("glob", { pattern: "**" })]).toEqual([
    ["a.txt"],
    ["a.txt"],
  ]);
});

test("a file that the call names itself was judged with the call", async () => {
  const run = toolsIn(tempFolder(FILES), RULES);
  expect(await run("grep", { pattern: "needle", path: ".env" })).toEqual([".env"]);
});

test("where permissions are bypassed, rules of the user still hide", async () => {
  const run = toolsIn(tempFolder(FILES), { ...RULES, permissionMode: "bypassPermissions" });
  expect(await run("grep", { pattern: "needle" })).toEqual([".env", "a.txt", "keys/server.pem"]);
});

test("a call that nobody judged is left alone, and a judgement counts once", () => {
  const guard = new FileGuard();
  const request = { callId: "c", sessionId: "s", input: { path: "a" } } as unknown as GateRequest;
  const call = { callId: "c", sessionId: "s", path: "a" };
  const before = guard.permitted(call);
  guard.note(request, "/x/a");
  expect([
    before,
    guard.permitted({ ...call, path: "b" }),
    guard.permitted(call),
    guard.permitted(call),
  ]).toEqual([undefined, undefined, "/x/a", undefined]);
  expect(guard.excludes("/x/a")).toBe(true);
});
