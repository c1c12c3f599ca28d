import { chmodSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempFolder } from "../../../test/temp-folder.ts";
import { findActingFiles } from "./acting-files.ts";

function found(root: string) {
  return findActingFiles(root, [root]).map(({ kind, path, does, blocked }) => ({
    kind,
    path,
    does,
    ...(blocked === undefined ? {} : { blocked }),
  }));
}

const hashes = (root: string): readonly string[] => findActingFiles(root, [root]).map(({ hash }) => hash);

test("servers, skills with scripts, subagents with tools and commands that run something are found", () => {
  const root = tempFolder({
    ".mcp.json":
      '{"mcpServers":{"db":{"command":"npx","args":["-y","db"],"env":{"A":"1"}},"web":{"url":"https://x.example"},"odd":7}}',
    ".agents/skills/plain/SKILL.md": "---\nname: plain\n---\nText.",
    ".agents/skills/plain/more.md": "Text.",
    ".claude/skills/run/SKILL.md": "---\nname: run\n---",
    ".claude/skills/run/a/b.py": "print()",
    ".nano-agent/agents/reader.md": "---\nname: reader\ndescription: reads\n---\ntools: none",
    ".claude/agents/writer.md": "---\nname: writer\ntools: bash, write\n---\nWrite.",
    ".claude/commands/say.md": "Say hello.",
    ".claude/commands/status.md": "State: !`git status`",
  });
  expect(found(root)).toEqual([
    { kind: "mcp_server", path: ".mcp.json#db", does: "starts npx -y db, with A=1" },
    { kind: "mcp_server", path: ".mcp.json#web", does: "connects to https://x.example" },
    { kind: "mcp_server", path: ".mcp.json#odd", does: "is an MCP server of no known form" },
    { kind: "skill", path: ".claude/skills/run", does: "brings a/b.py" },
    { kind: "agent", path: ".nano-agent/agents/reader.md", does: "has every tool" },
    { kind: "agent", path: ".claude/agents/writer.md", does: "tools: bash, write" },
    { kind: "command", path: ".claude/commands/status.md", does: "runs commands when it is used" },
  ]);
});

test("any change of a script, its name or its rights is another content", () => {
  const files = { ".agents/skills/s/SKILL.md": "x", ".agents/skills/s/run.sh": "one" };
  const root = tempFolder(files);
  const before = hashes(root);
  expect(hashes(tempFolder(files))).toEqual(before);
  chmodSync(join(root, ".agents/skills/s/run.sh"), 0o755);
  const executable = hashes(root);
  writeFileSync(join(root, ".agents/skills/s/run.sh"), "two");
  const changed = hashes(root);
  writeFileSync(join(root, ".agents/skills/s/SKILL.md"), "y");
  expect(new Set([before, executable, changed, hashes(root)].flat()).size).toBe(4);
});

test("a skill with a link in it can never be approved, for its content is elsewhere", () => {
  const root = tempFolder({ ".agents/skills/s/SKILL.md": "x" });
  symlinkSync("/bin/sh", join(root, ".agents/skills/s/run"));
  expect(found(root)).toEqual([
    {
      kind: "skill",
      path: ".agents/skills/s",
      does: "brings run",
      blocked: "run is a link or no regular file",
    },
  ]);
});

test("what is broken, too large or no file is nothing that acts", () => {
  for (const text of [
    "{",
    "[]",
    '{"mcpServers":[]}',
    `${" ".repeat(1_000_001)}{}`,
    '{"__proto__":{"mcpServers":{"a":{}}}}',
  ])
    expect(found(tempFolder({ ".mcp.json": text }))).toEqual([]);
  const folder = tempFolder({ ".mcp.json/x": "" });
  expect(found(folder)).toEqual([]);
});
