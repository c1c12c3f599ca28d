import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { checkConfigText } from "../../src/coding/settings/load-config.ts";
import { tempFolder } from "../temp-folder.ts";
import { runCommand } from "./command.ts";

type Files = Readonly<Record<string, string>>;

const CONFIG = ".config/nano-agent/config.json";

/** A home with files of other agents, and the command in it. */
function place(files: Files) {
  const home = tempFolder(files);
  const run = (...args: readonly string[]) =>
    runCommand(["import-settings", ...args], { cwd: tempFolder(), env: { HOME: home } });
  const read = (path: string): string => readFileSync(join(home, path), "utf8");
  const settings = async () => checkConfigText(read(CONFIG), CONFIG);
  return { home, run, read, settings };
}

const CLAUDE = {
  permissions: {
    allow: ["Bash(git status:*)", "WebSearch"],
    deny: ["Read(./.env)", "Bash("],
    defaultMode: "plan",
  },
  hooks: {
    PreToolUse: [
      {
        matcher: "Bash",
        hooks: [
          { type: "command", command: "check.sh", timeout: 5 },
          { type: "prompt", prompt: "x" },
        ],
      },
      { matcher: "", hooks: [{ type: "command", command: "every.sh" }] },
    ],
    Elicitation: [],
  },
  model: "opus",
  outputStyle: "Explanatory",
  cleanupPeriodDays: 30,
};

test("settings of Claude Code: what can be taken over is, what cannot is named, comments stay", async () => {
  const { run, read, settings } = place({
    ".claude/settings.json": JSON.stringify(CLAUDE),
    ".claude.json": JSON.stringify({
      mcpServers: {
        db: { command: "npx", args: ["db"], env: { A: "${B}" } },
        mine: { command: "other" },
        bad: { type: "odd" },
      },
      projects: { "/p": { mcpServers: { local: { command: "x" } } } },
    }),
    ".claude/commands/x.md": "X",
    [CONFIG]:
      '{\n  // mine\n  "permissions": { "allow": ["bash(ls)"] },\n  "mcpServers": { "mine": { "command": "own" } }\n}\n',
  });
  const asked = await run("claude");
  expect([asked.code, read(CONFIG).includes("check.sh")]).toEqual([3, false]);
  const text = asked.stdout.replaceAll(/\s+/g, " ");
  for (const part of [
    "allow: Bash(git status:*)",
    "PreToolUse for Bash: check.sh",
    "starts npx db",
    "permissions.allow: WebSearch: there is no tool WebSearch here",
    "permissions.deny: Bash(",
    '"prompt"',
    "Elicitation",
    "MCP server bad",
    "MCP server local of /p: add it in that folder",
    "outputStyle, cleanupPeriodDays: nothing here has this name",
    "permissionMode: plan",
    'model: "opus": choose one',
    "~/.claude/commands are used where they are",
  ])
    expect(text).toContain(part);
  const done = await run("claude", "--yes");
  expect([done.code, done.stdout.includes("there is an MCP server mine already")]).toEqual([0, true]);
  expect(read(CONFIG)).toContain("// mine");
  expect(await settings()).toEqual({
    permissionMode: "plan",
    permissions: { allow: ["bash(ls)", "Bash(git status:*)"], deny: ["Read(./.env)"] },
    mcpServers: { mine: { command: "own" }, db: { command: "npx", args: ["db"], env: { A: "${B}" } } },
    hooks: {
      PreToolUse: [
        { matcher: "Bash", hooks: [{ type: "command", command: "check.sh", timeout: 5 }] },
        // Its script looks for Bash, not for bash.
        {
          matcher: expect.stringMatching(/^\(\?!\(\?:.*bash.*\)\$\)\(\?:\.\*\)$/),
          hooks: [{ type: "command", command: "every.sh", timeout: 60 }],
        },
      ],
    },
  });
  const before = read(CONFIG);
  await run("claude", "--yes");
  expect(read(CONFIG)).toBe(before);
});

test("settings of Codex, in TOML", async () => {
  const { run, read, settings } = place({
    ".codex/config.toml": `model = "gpt-5.2-codex"\nmodel_reasoning_effort = "high"\n[mcp_servers.docs]\ncommand = "npx"\nargs = ["docs"]\n[mcp_servers.web]\nurl = "https://x.example/mcp"\nbearer_token_env_var = "WEB_TOKEN"\n[mcp_servers.off]\ncommand = "x"\nenabled = false\n`,
    ".codex/prompts/fix.md": "Fix $1",
    ".codex/skills/pdf/SKILL.md": "---\nname: pdf\ndescription: d\n---\nx",
    ".codex/rules/default.rules":
      'prefix_rule(pattern = ["git", ["push", "fetch"]], decision = "prompt")\nprefix_rule(pattern = ["ls"])\nallow()\n',
  });
  const { code, stdout } = await run("codex", "--yes");
  expect(code).toBe(0);
  expect(stdout).toMatch(/off: it is switched off there/);
  expect(stdout).toContain("line 3: it is not a prefix_rule of plain words");
  expect(await settings()).toEqual({
    model: "openai/gpt-5.2-codex:high",
    permissions: { ask: ["Bash(git push:*)", "Bash(git fetch:*)"], allow: ["Bash(ls:*)"] },
    mcpServers: {
      docs: { command: "npx", args: ["docs"] },
      web: { type: "http", url: "https://x.example/mcp", headers: { Authorization: "Bearer ${WEB_TOKEN}" } },
    },
  });
  expect(read(".config/nano-agent/commands/fix.md")).toBe("Fix $1");
  expect(read(".config/nano-agent/skills/pdf/SKILL.md")).toContain("name: pdf");
});

test("settings of gemini: names of tools and commands in TOML", async () => {
  const { run, read, home, settings } = place({
    ".gemini/settings.json": JSON.stringify({
      tools: { allowed: ["run_shell_command(git status)", "google_web_search"], exclude: ["write_file"] },
      model: { name: "gemini-2.5-pro" },
      hooks: {
        BeforeTool: [
          {
            matcher: "write_file|replace",
            hooks: [
              { name: "check", type: "command", command: "check.sh", timeout: 5_000 },
              { name: "old", type: "command", command: "old.sh" },
            ],
          },
        ],
        BeforeModel: [{ hooks: [{ type: "command", command: "model.sh" }] }],
      },
      hooksConfig: { disabled: ["old"] },
      mcpServers: {
        a: { httpUrl: "https://a.example" },
        b: { url: "https://b.example", headers: { X: "1" } },
      },
    }),
    ".gemini/commands/git/log.toml":
      'description = "Log"\nprompt = "Look at !{git log} for {{args}} and @{a.ts}"\n',
    ".gemini/commands/bad.toml": 'prompt = "!{echo {{args}}}"\n',
  });
  const { code, stdout } = await run("gemini", "--yes", "--json");
  const { left } = JSON.parse(stdout) as { readonly left: readonly { readonly what: string }[] };
  expect([code, left.map(({ what }) => what)]).toEqual([
    0,
    ["allow: google_web_search", "hooks.BeforeModel", "/bad"],
  ]);
  expect(await settings()).toEqual({
    model: "google/gemini-2.5-pro",
    hooks: {
      PreToolUse: [
        { matcher: "write_file|replace", hooks: [{ type: "command", command: "check.sh", timeout: 5 }] },
      ],
    },
    permissions: { allow: ["Bash(git status:*)"], deny: ["write"] },
    mcpServers: {
      a: { type: "http", url: "https://a.example" },
      b: { type: "http", url: "https://b.example", headers: { X: "1" } },
    },
  });
  expect(read(".config/nano-agent/commands/git/log.md")).toBe(
    '---\ndescription: "Log"\n---\nLook at !`git log` for $ARGUMENTS and @a.ts\n',
  );
  expect(existsSync(join(home, ".config/nano-agent/commands/bad.md"))).toBe(false);
});

test("settings of opencode: permissions, servers, commands and agents", async () => {
  const { run, read, settings } = place({
    ".config/opencode/opencode.jsonc": `{ // mine
      "model": "anthropic/claude-sonnet-4-5",
      "permission": { "edit": "ask", "bash": { "git *": "allow", "*": "ask" }, "webfetch": "deny", "odd": "maybe" },
      "mcp": { "a": { "type": "local", "command": ["npx", "a"], "environment": { "K": "v" } }, "b": { "type": "remote", "url": "https://b.example" } },
      "command": { "test": { "template": "Test $ARGUMENTS", "description": "Runs tests" } },
    }`,
    ".config/opencode/agent/look.md": "---\ndescription: Looks\n---\nLook.",
    ".config/opencode/plugin/x.ts": "",
  });
  const { code, stdout } = await run("opencode", "--yes");
  expect([code, /plugin: plugins of other agents/.test(stdout)]).toEqual([0, true]);
  expect(await settings()).toEqual({
    model: "anthropic/claude-sonnet-4-5",
    permissions: { ask: ["edit", "bash"], allow: ["bash(git *)"], deny: ["web_fetch"] },
    mcpServers: {
      a: { command: "npx", args: ["a"], env: { K: "v" } },
      b: { type: "http", url: "https://b.example" },
    },
  });
  expect(read(".config/nano-agent/commands/test.md")).toContain("Test $ARGUMENTS");
  expect(read(".config/nano-agent/agents/look.md")).toContain("Look.");
});

test("files that are broken or not there cost themselves, an unknown agent is wrong use", async () => {
  const { run } = place({
    ".codex/config.toml": "= =",
    ".claude/settings.json": "{",
    ".gemini/settings.json": "[]",
  });
  for (const [agent, part] of [
    ["codex", "it is not TOML"],
    ["claude", "line 1"],
    ["gemini", "it is not an object"],
    ["opencode", "There is nothing to take over"],
  ] as const) {
    const { code, stdout } = await run(agent);
    expect([agent, code, stdout.includes(part)]).toEqual([agent, 0, true]);
  }
  expect((await run("copilot")).code).toBe(2);
});

test("extensions list says what each brings, and names those that cannot be used", async () => {
  const home = tempFolder({
    ".config/nano-agent/config.json": '{ "extensions": ["kit", "missing", "./own.mjs"] }',
    ".config/nano-agent/extensions/a.ts":
      "export default (agent: any): void => { agent.command({ name: 'a', description: 'x', run: () => 'a' }); agent.hook('Stop', () => undefined); };",
    ".config/nano-agent/extensions/bad.mjs": "export default 7;",
    ".config/nano-agent/extensions/enum.ts": "export default () => {};\nenum Color { Red }",
    ".config/nano-agent/own.mjs": "export default (agent) => agent.status(() => 'x');",
    ".config/nano-agent/node_modules/kit/package.json":
      '{ "name": "kit", "exports": { ".": { "import": "./main.mjs" } } }',
    ".config/nano-agent/node_modules/kit/main.mjs":
      "export default (agent) => agent.provider({ name: 'k', wire: 'anthropic', baseUrl: 'http://x.example' });",
  });
  const cwd = tempFolder({ ".nano-agent/extensions/p.mjs": "throw 1" });
  const { code, stdout } = await runCommand(["extensions", "list", "--json"], { cwd, env: { HOME: home } });
  const { extensions, findings } = JSON.parse(stdout) as {
    readonly extensions: readonly { readonly name: string }[];
    readonly findings: readonly { readonly message: string }[];
  };
  expect([code, extensions.map(({ name }) => name)]).toEqual([0, ["a.ts", "kit", "./own.mjs"]]);
  expect(extensions[0]).toMatchObject({ commands: ["/a"], hooks: ["Stop"], origin: "user" });
  const said = findings.map(({ message }) => message).join("\n");
  for (const part of [
    "the extension missing is not used",
    "bad.mjs is not used",
    "enum is not supported in strip-only mode",
    "loads p.mjs into the agent once you trust it",
  ])
    expect(said).toContain(part);
  const shown = await runCommand(["extensions", "list"], { cwd, env: { HOME: home } });
  expect(shown.stdout).toContain("providers: k");
});
