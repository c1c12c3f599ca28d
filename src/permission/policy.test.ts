import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempFolder } from "../../test/temp-folder.ts";
import { createPolicy, type PolicyOptions } from "./policy.ts";
import { parseRules } from "./rule.ts";

interface Case extends Partial<Omit<PolicyOptions, "rules">> {
  readonly rules?: unknown;
}

function room(): {
  readonly cwd: string;
  readonly check: (tool: string, input: object, options?: Case) => string;
} {
  const root = tempFolder({ "work/src/a.ts": "", "work/.git/config": "", "work/.env": "", "outside/x": "" });
  const cwd = join(root, "work");
  symlinkSync("../outside", join(cwd, "way"));
  symlinkSync(".git", join(cwd, "hidden"));
  const check = (tool: string, input: object, { rules, ...options }: Case = {}): string =>
    createPolicy({
      cwd,
      home: root,
      workspace: [cwd],
      rules: parseRules(rules ?? []),
      ...options,
    }).check({ tool, input }).decision;
  return { cwd, check };
}

test("by default reads inside the workspace are allowed, and the rest is asked about", () => {
  const { check } = room();
  const decisions = [
    check("read", { path: "src/a.ts" }),
    check("grep", { pattern: "x" }),
    check("glob", { pattern: "**/*.ts", path: "src" }),
    check("glob", { pattern: "app/[...slug]/page.tsx" }),
    check("read", { path: "way/x" }),
    check("read", { path: "../outside/x" }),
    check("glob", { pattern: "../*" }),
    check("glob", { pattern: "{a,/etc}/*" }),
    check("glob", { pattern: "x", path: "way" }),
    check("write", { path: "src/a.ts", content: "" }),
    check("edit", { path: "src/a.ts", edits: [] }),
    check("bash", { command: "make" }),
    check("web_fetch", { url: "https://example.com" }),
    check("mcp__server__tool", {}),
    check("read", {}),
    check("read", { path: 1 }),
    check("read", { path: "a\0b" }),
    check("bash", {}),
  ];
  expect(decisions).toEqual([...Array<string>(4).fill("allow"), ...Array<string>(14).fill("ask")]);
});

test("an allow rule covers where a path leads, a deny rule also how it is written", () => {
  const { check, cwd } = room();
  const edit = (path: string, rules: object): string => check("edit", { path }, { rules });
  expect([
    edit("src/a.ts", { allow: ["edit(src/**)"] }),
    edit("src/new/b.ts", { allow: ["edit(src/**)"] }),
    edit("src/new/b.ts", { allow: ["edit(src/*)"] }),
    edit("./src/../src/a.ts", { allow: ["edit(src/*)"] }),
    edit(join(cwd, "src/a.ts"), { allow: ["edit(src/*)"] }),
    edit("src/a.ts", { allow: ["edit(./src/a.ts)"] }),
    edit("src/../x", { allow: ["edit(src/**)"] }),
    edit("way/x", { allow: ["edit(way/**)"] }),
    edit("way/x", { allow: ["edit(**)"] }),
    edit("way/x", { allow: ["edit"] }),
    edit("way/x", { allow: ["edit(~/outside/**)"] }),
    edit("way/x", { allow: [`edit(${cwd}/../outside/**)`] }),
    edit("way/x", { allow: ["edit(~/outside/**)"], deny: ["edit(way/**)"] }),
    edit("way/x", { allow: ["edit(~/outside/**)"], deny: ["edit(~/outside/x)"] }),
    edit("src/a.ts", { allow: ["edit"], ask: ["edit(src/**)"] }),
    edit("src/a.ts", { allow: ["write(src/**)"] }),
  ]).toEqual([
    "allow",
    "allow",
    "ask",
    "allow",
    "allow",
    "allow",
    "ask",
    "ask",
    "ask",
    "ask",
    "allow",
    "ask",
    "deny",
    "deny",
    "ask",
    "ask",
  ]);
});

test("nothing allows writing to what steers git, editors or nano-agent, and a deny still denies", () => {
  const { check } = room();
  const everything = { allow: ["edit", "write", "edit(**)", "write(**)", "bash"] };
  const paths = [
    ".git/config",
    "hidden/config",
    "sub/.git/hooks/x",
    ".nano-agent/config.json",
    "nano-agent.json",
    ".mcp.json",
    "sub/.vscode/tasks.json",
    ".claude/settings.json",
    ".idea/x.xml",
    ".git",
  ];
  for (const mode of ["default", "acceptEdits", "bypassPermissions"] as const)
    expect(paths.map((path) => check("write", { path, content: "" }, { rules: everything, mode }))).toEqual(
      paths.map(() => "ask"),
    );
  expect(
    check(
      "write",
      { path: ".git/config", content: "" },
      { rules: { ...everything, deny: ["write(.git/**)"] } },
    ),
  ).toBe("deny");
  expect(check("read", { path: ".git/config" })).toBe("allow");
});

test("files with keys are asked about by every tool, whatever a rule allows", () => {
  const { check } = room();
  const rules = { allow: ["read", "grep", "glob", "edit", "bash"] };
  const decisions = [
    check("read", { path: ".env" }, { rules }),
    check("read", { path: "sub/.env.local" }, { rules }),
    check("edit", { path: ".env" }, { rules }),
    check("grep", { pattern: "x", path: ".env" }, { rules }),
    check("grep", { pattern: "x", glob: ".env*" }, { rules }),
    check("glob", { pattern: "**/*.pem" }, { rules }),
    check("bash", { command: "cat .env" }, { rules }),
    check("bash", { command: "docker run --env-file=.env x" }, { rules }),
    check("read", { path: ".env.example" }, { rules }),
    check("read", { path: ".env" }, { rules: { allow: ["read(.env)"] }, defaults: false }),
    check("read", { path: ".env" }, { defaults: false }),
  ];
  expect(decisions).toEqual([...Array<string>(8).fill("ask"), "allow", "allow", "ask"]);
});

test("modes widen and narrow what no rule decides", () => {
  const { check } = room();
  const calls: readonly (readonly [string, object])[] = [
    ["read", { path: "src/a.ts" }],
    ["read", { path: "../outside/x" }],
    ["edit", { path: "src/a.ts" }],
    ["edit", { path: "way/x" }],
    ["bash", { command: "make" }],
    ["bash", { command: "ls" }],
    ["todo", { todos: [] }],
    ["mcp__a__b", {}],
  ];
  const row = (mode: PolicyOptions["mode"] & string): readonly string[] =>
    calls.map(([tool, input]) => check(tool, input, { mode, rules: { deny: ["bash(rm *)"] } }));
  expect({
    default: row("default"),
    acceptEdits: row("acceptEdits"),
    plan: row("plan"),
    dontAsk: row("dontAsk"),
    bypassPermissions: row("bypassPermissions"),
  }).toEqual({
    default: ["allow", "ask", "ask", "ask", "ask", "allow", "allow", "ask"],
    acceptEdits: ["allow", "ask", "allow", "ask", "ask", "allow", "allow", "ask"],
    plan: ["allow", "ask", "deny", "deny", "deny", "allow", "allow", "deny"],
    dontAsk: ["allow", "deny", "deny", "deny", "deny", "allow", "allow", "deny"],
    bypassPermissions: ["allow", "allow", "allow", "allow", "allow", "allow", "allow", "allow"],
  });
  const planned = (tool: string, input: object, rules: object): string =>
    check(tool, input, { mode: "plan", rules });
  expect([
    planned("write", { path: ".env" }, {}),
    planned("write", { path: ".git/config" }, {}),
    planned("edit", { path: "src/a.ts" }, { ask: ["edit(src/**)"] }),
    planned("write", {}, {}),
    planned("mcp__a__b", {}, { ask: ["mcp__a__*"] }),
    planned("web_fetch", { url: "https://example.com" }, { ask: ["web_fetch"] }),
    planned("task", { agent: "x" }, { ask: ["task"] }),
    planned("task", { agent: "x" }, { allow: ["task(x)"] }),
    planned("job", { action: "output", id: "job_1" }, {}),
    planned("job", { action: "kill", id: "job_1" }, {}),
  ]).toEqual(["deny", "deny", "deny", "deny", "deny", "deny", "ask", "allow", "allow", "deny"]);
  expect(
    check("bash", { command: "sudo rm x" }, { mode: "bypassPermissions", rules: { deny: ["bash(rm *)"] } }),
  ).toBe("deny");
  expect(
    check(
      "bash",
      { command: "git push" },
      { mode: "bypassPermissions", rules: { ask: ["bash(git push*)"] } },
    ),
  ).toBe("ask");
});

test("pages are judged by their host", () => {
  const { check } = room();
  const fetch = (url: string, rules: object): string => check("web_fetch", { url }, { rules });
  const only = { allow: ["web_fetch(domain:example.com)"] };
  expect([
    fetch("https://example.com/x", only),
    fetch("https://EXAMPLE.com./x", only),
    fetch("https://sub.example.com", only),
    fetch("https://example.com.evil.org", only),
    fetch("https://example.com@evil.org", only),
    fetch("https://evil.org/example.com", only),
    fetch("file:///etc/passwd", { allow: ["web_fetch"] }),
    fetch("no address", { allow: ["web_fetch"] }),
    fetch("https://sub.example.com", { allow: ["web_fetch(domain:*.example.com)"] }),
    fetch("https://sub.example.com", { allow: ["web_fetch"], deny: ["web_fetch(domain:example.com)"] }),
  ]).toEqual(["allow", "allow", "ask", "ask", "ask", "ask", "ask", "ask", "allow", "deny"]);
});

test("tools of servers are described by name, with * or as a whole server", () => {
  const { check } = room();
  const mcp = (tool: string, rule: string): string => check(tool, {}, { rules: { allow: [rule] } });
  expect([
    mcp("mcp__a__b", "mcp__a__*"),
    mcp("mcp__a__b", "mcp__a"),
    mcp("mcp__a__b", "mcp__a__b"),
    mcp("mcp__ab__b", "mcp__a__*"),
    mcp("mcp__ab__b", "mcp__a"),
    mcp("mcp__a__b", "*"),
  ]).toEqual(["allow", "allow", "allow", "ask", "ask", "allow"]);
});

test("the temporary folder of the session is read and written as the workspace is", () => {
  const { check } = room();
  const temporary = tempFolder({ x: "" });
  const paths = [join(temporary, "x"), join(temporary, "../../etc/x")];
  const row = (tool: string): readonly string[] =>
    paths.map((path) => check(tool, { path }, { temporary: () => temporary, mode: "acceptEdits" }));
  expect([row("read"), row("write"), check("read", { path: paths[0] })]).toEqual([
    ["allow", "ask"],
    ["allow", "ask"],
    "ask",
  ]);
});

test("a batch is judged by its worst call", () => {
  const { check } = room();
  const batch = (...calls: readonly unknown[]): string =>
    check("batch", { calls }, { rules: { deny: ["bash(rm *)"] } });
  const read = { tool: "read", input: { path: "src/a.ts" } };
  expect([
    batch(read),
    batch(read, { tool: "bash", input: { command: "make" } }),
    batch({ tool: "bash", input: { command: "make" } }, { tool: "bash", input: { command: "rm x" } }),
    batch({ tool: "batch", input: { calls: [read] } }),
    batch(),
    batch("x"),
    check("batch", {}),
  ]).toEqual(["allow", "ask", "deny", "ask", "ask", "ask", "ask"]);
});

test("a policy needs a known mode and a workspace", () => {
  expect(() => createPolicy({ cwd: "/", home: "/", workspace: [] })).toThrow("at least one workspace folder");
  expect(() => createPolicy({ cwd: "/", home: "/", workspace: ["/"], mode: "yolo" as "plan" })).toThrow(
    '"yolo" is not a permission mode',
  );
});
