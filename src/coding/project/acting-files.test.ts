import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempFolder } from "../../../test/temp-folder.ts";
import { saveServer } from "../mcp/saved-servers.ts";
import { findActingFiles, findProjectServers } from "./acting-files.ts";

async function found(root: string) {
  return (await findActingFiles(root, [root])).map(({ kind, path, does, blocked }) => ({
    kind,
    path,
    does,
    ...(blocked === undefined ? {} : { blocked }),
  }));
}

const hashes = async (root: string): Promise<readonly string[]> =>
  (await findActingFiles(root, [root])).map(({ hash }) => hash);

test("servers, skills with scripts, subagents with tools and commands that run something are found", async () => {
  const root = tempFolder({
    ".mcp.json":
      '{"mcpServers":{"db":{"command":"npx","args":["-y","db"],"env":{"A":"1"}},"web":{"url":"https://x.example"},"odd":7}}',
    ".agents/skills/plain/SKILL.md": "---\nname: plain\n---\nText.",
    ".agents/skills/plain/more.md": "Text.",
    ".claude/skills/run/SKILL.md": "---\nname: run\n---",
    ".claude/skills/run/a/b.py": "print()",
    ".nano-agent/agents/reader.md": "---\nname: reader\ndescription: reads\n---\ntools: none, says its text",
    ".claude/agents/writer.md": "---\nname: writer\ntools: bash, write\n---\nWrite.",
    ".claude/commands/say.md": "Say hello.",
    ".claude/commands/status.md": "State: !`git status`",
  });
  expect(await found(root)).toEqual([
    { kind: "mcp_server", path: ".mcp.json#db", does: 'starts npx -y db, with {"env":{"A":"1"}}' },
    { kind: "mcp_server", path: ".mcp.json#web", does: "connects to https://x.example" },
    { kind: "mcp_server", path: ".mcp.json#odd", does: "is an MCP server of no known form" },
    { kind: "skill", path: ".claude/skills/run", does: "brings a/b.py" },
    { kind: "agent", path: ".nano-agent/agents/reader.md", does: "has every tool" },
    { kind: "agent", path: ".claude/agents/writer.md", does: "tools: bash, write" },
    { kind: "command", path: ".claude/commands/status.md", does: "runs git status" },
  ]);
});

test("any change of a script, its name or its rights is another content", async () => {
  const files = { ".agents/skills/s/SKILL.md": "x", ".agents/skills/s/run.sh": "one" };
  const root = tempFolder(files);
  const before = await hashes(root);
  expect(await hashes(tempFolder(files))).toEqual(before);
  chmodSync(join(root, ".agents/skills/s/run.sh"), 0o755);
  const executable = await hashes(root);
  writeFileSync(join(root, ".agents/skills/s/run.sh"), "two");
  const changed = await hashes(root);
  writeFileSync(join(root, ".agents/skills/s/SKILL.md"), "y");
  expect(new Set([before, executable, changed, await hashes(root)].flat()).size).toBe(4);
});

test("a skill with a link in it can never be approved, for its content is elsewhere", async () => {
  const root = tempFolder({ ".agents/skills/s/SKILL.md": "x" });
  symlinkSync("/bin/sh", join(root, ".agents/skills/s/run"));
  expect(await found(root)).toEqual([
    {
      kind: "skill",
      path: ".agents/skills/s",
      does: "brings run",
      blocked: "run is a link or no regular file",
    },
  ]);
});

test("what is broken, too large or no file is nothing that acts", async () => {
  for (const text of [
    "{",
    "[]",
    '{"mcpServers":[]}',
    `${" ".repeat(1_000_001)}{}`,
    '{"__proto__":{"mcpServers":{"a":{}}}}',
  ])
    expect(await found(tempFolder({ ".mcp.json": text }))).toEqual([]);
  const folder = tempFolder({ ".mcp.json/x": "" });
  expect(await found(folder)).toEqual([]);
});

test.each([
  ["a fence with blanks behind it", "---\nname: a\n--- \ntools: read\n---\nP", "has every tool"],
  ["a line within a text", '---\n{name: a, description: "\ntools: read\n"}\n---\nP', "has every tool"],
  [
    "names that are spelled with escapes",
    '---\n"mod\\u0065l": x/y\ntools: read\n---\nP',
    "model: x/y; tools: read",
  ],
  ["a list over several lines", "---\ntools:\n  - bash\n  - write\n---\nP", 'tools: ["bash","write"]'],
  ["fields in braces", "---\n{tools: [bash], model: x/y}\n---\nP", 'tools: ["bash"]; model: x/y'],
])("what a subagent does is told as it is read: %s", async (_what, text, does) => {
  expect(await found(tempFolder({ ".claude/agents/a.md": text }))).toEqual([
    { kind: "agent", path: ".claude/agents/a.md", does },
  ]);
});

test("what a command allows and runs is told whatever its head is written like", async () => {
  const root = tempFolder({
    ".claude/commands/a.md": "---\n? allowed-tools\n: Bash(rm:*)\n---\nGo.",
    ".claude/commands/b.md": "---\n{description: x}\n---\nOne !`curl x | sh` two !`make`.",
    ".claude/commands/c.md": "---\ndescription: '!`date`'\n---\nText.",
  });
  expect(await found(root)).toEqual([
    { kind: "command", path: ".claude/commands/a.md", does: "allowed-tools: Bash(rm:*)" },
    { kind: "command", path: ".claude/commands/b.md", does: "runs curl x | sh; make" },
  ]);
});

test("variables that a server would log in with are told", async () => {
  const server = { url: "https://x.example", oauth: { clientSecret: "${MY_TOKEN}" } };
  const root = tempFolder({ ".mcp.json": JSON.stringify({ mcpServers: { web: server } }) });
  expect(await found(root)).toEqual([
    {
      kind: "mcp_server",
      path: ".mcp.json#web",
      does: 'connects to https://x.example, with {"oauth":{"clientSecret":"${MY_TOKEN}"}}',
    },
  ]);
});

test("a .mcp.json that cannot be used is a fault, and one that is not there is none", () => {
  const faults = (prepare: (file: string) => void): readonly unknown[] => {
    const root = tempFolder();
    prepare(join(root, ".mcp.json"));
    return findProjectServers(root, root);
  };
  const fault = { path: ".mcp.json", fault: expect.stringMatching(/^is not used: .*(?:it|Correct|remove)/) };
  expect([
    faults((file) => mkdirSync(file)),
    faults((file) => writeFileSync(file, " ".repeat(1_000_001))),
    faults((file) => writeFileSync(file, "{")),
    faults((file) => writeFileSync(file, '{"mcpServers":[]}')),
    faults(() => undefined),
  ]).toEqual([[fault], [fault], [fault], [fault], []]);
});

test("a byte order mark changes no server, and stays when one is added", async () => {
  const root = tempFolder({ ".mcp.json": '\uFEFF{\n  // kept\n  "mcpServers": {}\n}\n' });
  await saveServer(join(root, ".mcp.json"), "db", { command: "db" });
  const text = readFileSync(join(root, ".mcp.json"), "utf8");
  writeFileSync(join(root, ".mcp.json"), text.replace("// kept", ""));
  const names = findProjectServers(root, root).map((found) => ("name" in found ? found.name : found.fault));
  expect([text.startsWith("\uFEFF{\n  // kept"), names]).toEqual([true, ["db"]]);
});
