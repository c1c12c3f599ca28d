import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { tempFolder } from "../../test/temp-folder.ts";
import type { GateDecision } from "../core/agent/gate.ts";
import type { ToolInput } from "../core/message/block.ts";
import { defineTool } from "../core/tool/define-tool.ts";
import { PERMISSION_MODES, type PermissionMode } from "./config/permission-mode.ts";
import { isWithin, ModeGate, type ModeGateOptions } from "./mode-gate.ts";

const READ_ONLY = new Set(["read", "glob", "grep"]);

interface Asked {
  readonly cwd: string;
  readonly options?: Partial<Omit<ModeGateOptions, "mode">>;
  readonly mode?: PermissionMode;
}

function ask({ cwd, options = {}, mode = "default" }: Asked, name: string, input: ToolInput): GateDecision {
  const gate = new ModeGate({
    mode,
    allowedTools: new Set(),
    disallowedTools: new Set(),
    workspace: [cwd],
    home: "/home/nobody",
    ...options,
  });
  const tool = defineTool({ name, description: name, readOnly: READ_ONLY.has(name) });
  return gate.check({
    callId: "1",
    tool,
    name,
    input,
    cwd,
    sessionId: "s",
    signal: new AbortController().signal,
  });
}

/** What each mode says about a read inside, a read outside, an edit inside, an edit outside, a command. */
function row(asked: Asked): readonly string[] {
  return [
    ask(asked, "read", { path: "a.txt" }),
    ask(asked, "read", { path: "/etc/passwd" }),
    ask(asked, "edit", { path: "a.txt" }),
    ask(asked, "write", { path: "../a.txt" }),
    ask(asked, "bash", { command: "ls" }),
  ].map(({ action }) => action);
}

test("the modes", () => {
  const cwd = tempFolder();
  expect(Object.fromEntries(PERMISSION_MODES.map((mode) => [mode, row({ cwd, mode })]))).toEqual({
    plan: ["allow", "ask", "deny", "deny", "deny"],
    dontAsk: ["allow", "deny", "deny", "deny", "deny"],
    default: ["allow", "ask", "ask", "ask", "ask"],
    acceptEdits: ["allow", "ask", "allow", "ask", "ask"],
    bypassPermissions: ["allow", "allow", "allow", "allow", "allow"],
  });
});

test("a denied tool is denied in every mode, allowed or not", () => {
  const cwd = tempFolder();
  const options = { allowedTools: new Set(["bash"]), disallowedTools: new Set(["bash"]) };
  for (const mode of PERMISSION_MODES)
    expect(ask({ cwd, mode, options }, "bash", { command: "ls" }).action).toBe("deny");
});

test("an allowed tool runs inside the workspace, and in plan mode not even there", () => {
  const cwd = tempFolder();
  const options = { allowedTools: new Set(["bash", "write"]) };
  expect(row({ cwd, options })).toEqual(["allow", "ask", "ask", "ask", "allow"]);
  expect(row({ cwd, options, mode: "plan" })).toEqual(["allow", "ask", "deny", "deny", "deny"]);
});

test("paths are judged where they lead", () => {
  const outside = tempFolder({ "secret.txt": "" });
  const cwd = tempFolder();
  symlinkSync(outside, join(cwd, "door"));
  symlinkSync(join(outside, "not-there-yet"), join(cwd, "later"));
  const mode = "acceptEdits";
  const actions = [
    ask({ cwd }, "read", { path: "door/secret.txt" }),
    ask({ cwd, mode }, "write", { path: "later" }),
    ask({ cwd, mode }, "write", { path: "door/../new" }),
    ask({ cwd }, "read", { path: "~/x" }),
    ask({ cwd }, "grep", { pattern: "x", path: "door" }),
    ask({ cwd }, "glob", { pattern: "*", path: "door" }),
    ask({ cwd }, "glob", { pattern: "/etc/*" }),
    ask({ cwd }, "glob", { pattern: "{a,/etc/*}" }),
    ask({ cwd }, "glob", { pattern: "a/../../*" }),
  ].map(({ action }) => action);
  expect(actions).toEqual(Array.from({ length: 9 }, () => "ask"));
  expect(ask({ cwd }, "glob", { pattern: "**/*.ts" }).action).toBe("allow");
});

test("an added folder counts as inside", () => {
  const [cwd, more] = [tempFolder(), tempFolder()];
  const options = { workspace: [cwd, more] };
  expect(ask({ cwd, options }, "read", { path: join(more, "x") }).action).toBe("allow");
});

test("edits below .git and of our own settings are asked about whatever is allowed", () => {
  const cwd = tempFolder();
  mkdirSync(join(cwd, ".git"));
  const options = { allowedTools: new Set(["write"]) };
  for (const path of [".git/hooks/pre-commit", "sub/.nano-agent/config.json", "nano-agent.json"])
    expect(ask({ cwd, options, mode: "acceptEdits" }, "write", { path }).action).toBe("ask");
});

test("a refusal names the narrowest thing that would allow the call", () => {
  const cwd = tempFolder();
  expect([
    ask({ cwd }, "bash", { command: "ls" }).suggestion,
    ask({ cwd }, "edit", { path: "a" }).suggestion,
    ask({ cwd }, "read", { path: "/etc" }).suggestion,
    ask({ cwd }, "write", { path: "/srv/site/a.txt" }).suggestion,
  ]).toEqual([
    "--allowed-tools bash",
    "--permission-mode acceptEdits",
    "--add-dir /etc",
    "--add-dir /srv/site",
  ]);
});

test("a batch runs, for each call inside is asked about by itself", () => {
  expect(ask({ cwd: tempFolder() }, "batch", { calls: [] }).action).toBe("allow");
});

test("no path with a way out is within a folder", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom("..", "a", "b", ".git")), (parts) => {
      const path = join("/w/x", ...parts);
      expect(isWithin(path, "/w/x")).toBe(path === "/w/x" || path.startsWith("/w/x/"));
    }),
  );
  expect(isWithin("/w/xy", "/w/x")).toBe(false);
});
