import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { tool } from "../../../test/scenarios/conversation.ts";
import { settingsIn } from "../../../test/settings.ts";
import { tempFolder } from "../../../test/temp-folder.ts";
import type { GateDecision } from "../../core/agent/ports.ts";
import type { ToolInput } from "../../core/message/message.ts";
import type { ConfigFile } from "../settings/config-schema.ts";
import { createPermissionGate } from "./permission-gate.ts";

const KNOWN = ["read", "write", "edit", "bash"];

function gateIn(cwd: string, values: ConfigFile = {}) {
  const gate = createPermissionGate(settingsIn(cwd, values), { tools: KNOWN, workspace: [cwd] });
  return (name: string, input: ToolInput): Promise<GateDecision> =>
    Promise.resolve(
      gate.check({
        callId: "c",
        tool: tool(name),
        name,
        input,
        cwd,
        sessionId: "s",
        signal: new AbortController().signal,
      }),
    );
}

const action = async (decision: Promise<GateDecision>): Promise<string> => (await decision).action;

test("flags take the names of the field, as rules in settings do", async () => {
  const cwd = tempFolder();
  const decide = gateIn(cwd, { allowedTools: ["WebFetch(domain:a.example)"] });
  const asked = ["https://a.example/x", "https://b.example/x"].map((url) =>
    action(decide("web_fetch", { url })),
  );
  expect(await Promise.all(asked)).toEqual(["allow", "ask"]);
});

test("a name trusts the whole tool, a rule only what it describes, and what is forbidden stays so", async () => {
  const cwd = tempFolder({ "a.ts": "" });
  const named = gateIn(cwd, { allowedTools: ["bash, Edit"], disallowedTools: ["bash(rm *)", "write"] });
  const ruled = gateIn(cwd, { allowedTools: ["bash(npm test*), edit(src/**)"] });
  expect([
    await action(named("bash", { command: "make > log" })),
    await action(named("bash", { command: "ls; rm x" })),
    await action(named("edit", { path: "a.ts" })),
    await action(named("write", { path: "a.ts" })),
    await action(ruled("bash", { command: "npm test -- -t x" })),
    await action(ruled("bash", { command: "npm test && make" })),
    await action(ruled("edit", { path: "src/b.ts" })),
    await action(ruled("edit", { path: "a.ts" })),
  ]).toEqual(["allow", "deny", "allow", "deny", "allow", "ask", "allow", "ask"]);
});

test("forbidden are tools whose every call is denied, by name, by server and by a pattern for anything", () => {
  const cwd = tempFolder();
  const values = {
    disallowedTools: ["Bash(*), mcp__a__write, Write"],
    permissions: { deny: ["mcp__b", "mcp__c__*", "edit(*)", "read(src/**)", "web_fetch(domain:*)"] },
  };
  const gate = createPermissionGate(settingsIn(cwd, values), { tools: KNOWN, workspace: [cwd] });
  const names = ["mcp__a__write", "mcp__a__read", "mcp__b__x", "mcp__bc__x", "mcp__c__y"];
  const forbidden = [...KNOWN, "web_fetch", ...names].filter((name) => gate.forbids(name));
  expect(forbidden).toEqual(["write", "bash", "web_fetch", "mcp__a__write", "mcp__b__x", "mcp__c__y"]);
});

test("rules of the configuration take part, and those that cannot be read are refused at once", async () => {
  const cwd = tempFolder();
  const ask = gateIn(cwd, { permissions: { allow: ["bash(make*)"], deny: ["bash(make clean)"] } });
  expect([
    await action(ask("bash", { command: "make all" })),
    await action(ask("bash", { command: "make clean" })),
  ]).toEqual(["allow", "deny"]);
  expect(() => gateIn(cwd, { permissions: { allow: ["bash("] } })).toThrow("closing bracket");
});

test("a question says which flag would have answered it", async () => {
  const ask = gateIn(tempFolder());
  expect((await ask("bash", { command: "make all" })).reason).toContain(
    "(--allowed-tools 'bash(make all)' would allow it)",
  );
  expect((await ask("write", { path: "a.ts" })).reason).toContain(
    "(--permission-mode acceptEdits or --allowed-tools 'write(a.ts)' would allow it)",
  );
});

test("each mode allows what it says", async () => {
  const cwd = tempFolder({ "a.ts": "" });
  const table: Record<string, readonly string[]> = {};
  for (const mode of ["plan", "dontAsk", "default", "acceptEdits", "bypassPermissions"] as const) {
    const ask = gateIn(cwd, { permissionMode: mode });
    table[mode] = [
      await action(ask("read", { path: "a.ts" })),
      await action(ask("read", { path: "/etc/shadow" })),
      await action(ask("edit", { path: "a.ts" })),
      await action(ask("edit", { path: "../b.ts" })),
      await action(ask("bash", { command: "make" })),
    ];
  }
  expect(table).toEqual({
    plan: ["allow", "ask", "deny", "deny", "deny"],
    dontAsk: ["allow", "deny", "deny", "deny", "deny"],
    default: ["allow", "ask", "ask", "ask", "ask"],
    acceptEdits: ["allow", "ask", "allow", "ask", "ask"],
    bypassPermissions: ["allow", "allow", "allow", "allow", "allow"],
  });
});

test.each([
  [["bahs"], "Did you mean bash?"],
  [["bahs(git *)"], "Did you mean bash?"],
  [["bash(git *"], "expected a closing bracket"],
  [["bash()"], "expected a pattern between the brackets"],
])("a list that cannot be read is refused at once: %j", (allowedTools, message) => {
  expect(() => gateIn(tempFolder(), { allowedTools })).toThrow(message);
});

test.skipIf(process.platform === "win32")(
  "the option that would allow a call means that to a shell, whatever the call has in it",
  async () => {
    const decide = gateIn(tempFolder());
    const path = "a'$(echo ran)'b; c";
    const { reason, suggestion = "" } = await decide("write", { path });
    const [, option = ""] = /or --allowed-tools (.*) would allow it/s.exec(reason ?? "") ?? [];
    const read = execFileSync("/bin/sh", ["-c", `printf %s ${option}`], { encoding: "utf8" });
    expect([read, suggestion]).toEqual([`write(${path})`, `write(${path})`]);
  },
);

test("no option is offered that would be read as another rule, or as several", async () => {
  const cwd = tempFolder();
  const offers = async (name: string, input: ToolInput): Promise<boolean> =>
    (await gateIn(cwd)(name, input)).reason?.includes("would allow it") === true;
  const paths = ["x), bash(*", "x),bash(make", "x) bash write(y", "x (1)", "x, y"];
  const lines = ["touch 'x), bash(make'", "touch 'x),bash,write(y'", "touch '(a' b", "touch 'a,b'"];
  expect([
    await Promise.all(paths.map((path) => offers("write", { path }))),
    await Promise.all(lines.map((command) => offers("bash", { command }))),
  ]).toEqual([
    [false, false, false, true, true],
    [false, false, true, true],
  ]);
});
