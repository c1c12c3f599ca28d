import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { calls, says } from "../../src/testing/script.ts";
import type { RecordedRequest } from "../../src/testing/server-step.ts";
import { isAlive, pidsIn, until } from "../faults/until.ts";
import { tempFolder } from "../temp-folder.ts";
import { modelServer, runCommand, serverEnv, TEST_KEY } from "./command.ts";

type Hooks = Readonly<Record<string, unknown>>;

/** The command in a folder of its own, with hooks in the user's settings. */
async function run(
  hooks: Hooks,
  steps: Parameters<typeof modelServer>[0],
  {
    args = [],
    prompt = "go",
    settings = {},
    files = {},
  }: {
    readonly args?: readonly string[];
    readonly prompt?: string;
    readonly settings?: Hooks;
    readonly files?: Readonly<Record<string, string>>;
  } = {},
) {
  const cwd = tempFolder(files);
  const config = tempFolder({ "nano-agent/config.json": JSON.stringify({ hooks, ...settings }) });
  const server = await modelServer(steps);
  const env = { ...serverEnv(server), PATH: process.env["PATH"] ?? "", XDG_CONFIG_HOME: config };
  const end = await runCommand(["-p", ...args, prompt], { cwd, env });
  return {
    ...end,
    cwd,
    config,
    requests: server.requests,
    has: (name: string) => existsSync(join(cwd, name)),
  };
}

const sent = (requests: readonly RecordedRequest[]): string => JSON.stringify(requests.at(-1)?.body);

function hook(command: string, matcher?: string): readonly object[] {
  return [{ ...(matcher === undefined ? {} : { matcher }), hooks: [{ type: "command", command }] }];
}

const answer = (specific: object, event = "PreToolUse"): string =>
  `echo '${JSON.stringify({ hookSpecificOutput: { hookEventName: event, ...specific } })}'`;

const touch = [calls("bash", { command: "touch made" }), says("end")];

test("a hook that ends with 2 keeps a call from running, and the model reads why", async () => {
  const { code, has, requests, stderr } = await run(
    { PreToolUse: hook("echo 'use make instead' >&2; exit 2", "Bash") },
    touch,
    { args: ["--yolo"] },
  );
  expect([code, has("made"), sent(requests).includes("use make instead")]).toEqual([3, false, true]);
  // What allows calls is of no use here.
  expect([stderr.includes("change the hook"), stderr.includes("--allowed-tools")]).toEqual([true, false]);
});

test("a hook's allow answers what no rule speaks of, and neither a rule nor a protected place", async () => {
  const hooks = { PreToolUse: hook(answer({ permissionDecision: "allow" })) };
  const open = await run(hooks, touch);
  expect([open.code, open.has("made")]).toEqual([0, true]);
  for (const permissions of [{ ask: ["bash(touch *)"] }, { deny: ["bash(touch *)"] }]) {
    const ruled = await run(hooks, touch, { settings: { permissions } });
    expect([ruled.code, ruled.has("made")]).toEqual([3, false]);
  }
  const write = calls("write", { path: ".nano-agent/config.json", content: "{}" });
  expect((await run(hooks, [write, says("end")])).code).toBe(3);
});

test("a hook that asks tightens an allow: without a person the call is refused", async () => {
  const { code, has } = await run({ PreToolUse: hook(answer({ permissionDecision: "ask" })) }, touch, {
    args: ["--yolo"],
  });
  expect([code, has("made")]).toEqual([3, false]);
});

test("new arguments are judged again and run in the place of the old", async () => {
  const updated = answer({ updatedInput: { command: "touch other" } });
  const args = ["--allowed-tools", "bash(touch other)"];
  const changed = await run({ PreToolUse: hook(updated) }, touch, { args });
  expect([changed.code, changed.has("made"), changed.has("other")]).toEqual([0, false, true]);
  const refused = await run({ PreToolUse: hook(updated) }, touch, {
    args: ["--allowed-tools", "bash(touch made)"],
  });
  expect([refused.code, refused.has("made"), refused.has("other")]).toEqual([3, false, false]);
});

test("a hook that always blocks the end costs three requests more, and no endless run", async () => {
  const { code, stdout, requests, cwd } = await run(
    { Stop: hook("cat >> stops; echo 'not yet' >&2; exit 2") },
    ["one", "two", "three", "four", "five"].map((text) => says(text)),
  );
  expect([code, stdout, requests.length]).toEqual([0, "four\n", 4]);
  const told = readFileSync(join(cwd, "stops"), "utf8").trim().split("\n");
  expect(told.map((line) => (JSON.parse(line) as { stop_hook_active: boolean }).stop_hook_active)).toEqual([
    false,
    true,
    true,
  ]);
  expect(sent(requests).split("not yet").length - 1).toBe(3);
});

test("what a hook has to say of a result and of a message reaches the model", async () => {
  const { code, requests } = await run(
    {
      SessionStart: hook("echo branch: main"),
      UserPromptSubmit: hook(answer({ additionalContext: "today is Monday" }, "UserPromptSubmit")),
      PostToolUse: hook("echo 'lint: unused x' >&2; exit 2", "Bash"),
    },
    touch,
    { args: ["--yolo"] },
  );
  const text = sent(requests);
  expect([
    code,
    ...["branch: main", "today is Monday", "lint: unused x"].map((each) => text.includes(each)),
  ]).toEqual([0, true, true, true]);
});

test("a hook that blocks a message costs no request and ends with 3", async () => {
  const { code, stdout, stderr, requests } = await run(
    { UserPromptSubmit: hook("grep -q secret && { echo 'no secrets' >&2; exit 2; }; exit 0") },
    [],
    { prompt: "my secret is 7" },
  );
  expect([code, stdout, requests.length]).toEqual([3, "", 0]);
  expect(stderr).toContain("The message was not sent: no secrets");
});

test("hooks see no credentials, and know the folder of the project", async () => {
  const { cwd } = await run({ SessionStart: hook("env > seen") }, [says("end")]);
  const seen = readFileSync(join(cwd, "seen"), "utf8");
  expect([seen.includes(TEST_KEY), /OPENAI_API_KEY/.test(seen)]).toEqual([false, false]);
  expect(seen).toContain(`CLAUDE_PROJECT_DIR=${cwd}\n`);
  expect(seen).toContain(`NANO_AGENT_PROJECT_DIR=${cwd}\n`);
});

test("hooks that cannot be used, fail or print garbage are told, and the run goes on", async () => {
  const { code, stdout, stderr } = await run(
    {
      PreToolUse: [{ matcher: "(", hooks: [{ type: "command", command: "exit 2" }] }, ...hook("echo '{'")],
      PostToolUse: hook("exit 1"),
      Nonsense: [],
      Stop: 7,
    },
    touch,
    { args: ["--yolo"] },
  );
  expect([code, stdout]).toEqual([0, "end\n"]);
  const text = stderr.replaceAll(/\s+/g, " ");
  for (const part of [
    "matcher is not a regular expression",
    "not JSON",
    "ended with 1",
    '"Nonsense"',
    "hooks.Stop is not a list",
  ])
    expect(text).toContain(part);
});

test.each([
  ["kills its parent", "kill -9 $PPID; sleep 1000"],
  ["kills the group of its parent", "kill -9 -- -$PPID; sleep 1000"],
  ["kills its own group", "kill -9 0"],
  ["kills itself", "kill -9 $$"],
  ["hangs", "sleep 1000"],
  ["prints garbage", 'printf "{\\0\\377oops"'],
])("a hook that does this costs itself, and the run goes on: it %s", async (_what, command) => {
  const events = ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd"];
  const within = async (timeout: number) => {
    const group = [{ hooks: [{ type: "command", command: `echo $$ >> pids; ${command}`, timeout }] }];
    const hooks = Object.fromEntries(events.map((event) => [event, group]));
    const end = await run(hooks, touch, { args: ["--allowed-tools", "bash"] });
    return { ...end, pids: pidsIn(join(end.cwd, "pids")) };
  };
  let end = await within(0.5);
  // A busy machine may take longer than that to start one of them.
  for (let timeout = 1; end.pids.length < 5; timeout *= 2) end = await within(timeout);
  const { code, has, stdout, stderr, pids } = end;
  expect([code, has("made"), stdout]).toEqual([0, true, "end\n"]);
  await until(() => !pids.some(isAlive));
  expect(stderr).toContain("the hook");
});

test("a project's hooks run from the moment they are trusted", async () => {
  const cwd = tempFolder({
    "nano-agent.json": JSON.stringify({ hooks: { SessionStart: hook("touch hooked") } }),
  });
  mkdirSync(join(cwd, ".git"));
  const home = tempFolder();
  const server = await modelServer([says("one"), says("two")]);
  const env = { ...serverEnv(server), HOME: home };
  const before = await runCommand(["-p", "go"], { cwd, env });
  expect([existsSync(join(cwd, "hooked")), before.stderr.includes("hook SessionStart")]).toEqual([
    false,
    true,
  ]);
  const shown = await runCommand(["trust", "--yes"], { cwd, env });
  expect(shown.stdout).toContain("runs touch hooked");
  await runCommand(["-p", "go"], { cwd, env });
  expect(existsSync(join(cwd, "hooked"))).toBe(true);
});

// The shapes that people publish.
const JQ = `#!/bin/bash
path=$(jq -r '.tool_input.file_path // empty')
case "$path" in *.env|*/.git/*) echo "Blocked: $path is protected" >&2; exit 2;; esac
exit 0
`;
const PYTHON = `#!/usr/bin/env python3
import json, re, sys
data = json.load(sys.stdin)
if data.get("tool_name", "") != "Bash":
    sys.exit(1)
if re.search(r"^grep\\b", data.get("tool_input", {}).get("command", "")):
    print("Use rg instead of grep", file=sys.stderr)
    sys.exit(2)
`;
const NODE = `
let text = "";
process.stdin.on("data", (chunk) => (text += chunk)).on("end", () => {
  const { tool_response: response, tool_input: input } = JSON.parse(text);
  const said = response.success + " " + (input.file_path === response.filePath);
  console.log(JSON.stringify({ hookSpecificOutput: { hookEventName: "PostToolUse", additionalContext: "node saw " + said } }));
});
`;

test.skipIf(!existsSync("/usr/bin/jq"))("a published script of bash and jq protects files", async () => {
  const { code, has, requests } = await run(
    { PreToolUse: hook('bash "$CLAUDE_PROJECT_DIR"/.claude/hooks/protect.sh', "Edit|Write") },
    [
      calls("write", { path: "a.env", content: "x" }),
      calls("write", { path: "a.txt", content: "x" }),
      says("end"),
    ],
    { files: { ".claude/hooks/protect.sh": JQ }, args: ["--permission-mode", "acceptEdits"] },
  );
  expect([code, has("a.env"), has("a.txt")]).toEqual([3, false, true]);
  expect(sent(requests)).toContain("is protected");
});

test.skipIf(!existsSync("/usr/bin/python3"))("a published script of python judges commands", async () => {
  const { code, stderr, requests } = await run(
    { PreToolUse: hook("/usr/bin/python3 .claude/hooks/validate.py", "Bash") },
    [calls("bash", { command: "grep x y" }), says("end")],
    { files: { ".claude/hooks/validate.py": PYTHON }, args: ["--yolo"] },
  );
  expect([code, sent(requests).includes("Use rg instead of grep"), stderr.includes("ended with 1")]).toEqual([
    3,
    true,
    false,
  ]);
});

test("a published script of node looks at results", async () => {
  const { code, requests } = await run(
    { PostToolUse: hook(`${process.execPath} .claude/hooks/look.cjs`, "Write|Edit") },
    [calls("write", { path: "a.txt", content: "x" }), says("end")],
    { files: { ".claude/hooks/look.cjs": NODE }, args: ["--permission-mode", "acceptEdits"] },
  );
  expect([code, sent(requests).includes("node saw true true")]).toEqual([0, true]);
});
