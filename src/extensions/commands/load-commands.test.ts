import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempFolder } from "../../../test/temp-folder.ts";
import { loadCommands } from "./load-commands.ts";

test("commands are named by their path, described by their head or first line, and the nearest one wins", async () => {
  const own = tempFolder({
    "commit.md":
      "---\ndescription: Commit it\nargument-hint: [message]\nmodel: openai/gpt-5\nagent: plan\n---\nDo.",
    "git/log.md": "# Show the log\n\nNow.",
    "git/deep/a_b.md": "x",
    ".hidden.md": "x",
    "notes.txt": "x",
  });
  const other = tempFolder({ "commit.md": "Other." });
  const { commands, findings } = await loadCommands({
    folders: [
      { path: own, origin: "user" },
      { path: other, origin: "user" },
      { path: join(other, "missing"), origin: "user" },
    ],
  });
  expect(commands.map(({ path: _path, body: _body, ...rest }) => rest)).toEqual([
    {
      name: "commit",
      description: "Commit it",
      argumentHint: "[message]",
      model: "openai/gpt-5",
      agent: "plan",
      allowedTools: [],
      origin: "user",
      mayRun: true,
    },
    { name: "git:deep:a_b", description: "x", allowedTools: [], origin: "user", mayRun: true },
    { name: "git:log", description: "Show the log", allowedTools: [], origin: "user", mayRun: true },
  ]);
  expect(findings.map(({ message }) => message)).toEqual([
    `the command /commit of ${join(own, "commit.md")} is used instead`,
  ]);
});

test("a command of a project that acts waits for trust, and still gives its text", async () => {
  const path = tempFolder({
    "run.md": "Now: !`date`",
    "allow.md": "---\nallowed-tools: Bash(git status:*), Read\n---\nGo.",
    "plain.md": "Say hello.",
  });
  const folders = [{ path, origin: "project", root: path } as const];
  const facts = async (isTrusted: boolean): Promise<unknown> => {
    const { commands } = await loadCommands({ folders, isTrusted: () => isTrusted });
    return commands.map(({ name, mayRun, allowedTools }) => [name, mayRun, allowedTools]);
  };
  expect([await facts(false), await facts(true)]).toEqual([
    [
      ["allow", false, []],
      ["plain", true, []],
      ["run", false, []],
    ],
    [
      ["allow", true, ["Bash(git status:*)", "Read"]],
      ["plain", true, []],
      ["run", true, []],
    ],
  ]);
});

test("what cannot be used is told with its file, and the rest works", async () => {
  const path = tempFolder({
    "bad.md": "---\na: [1\n---\nx",
    "open.md": "---\na: 1\n",
    "empty.md": "---\ndescription: x\n---\n",
    "a b.md": "x",
    "fine.md": "x",
    "args.md": "!`git log $1`",
  });
  symlinkSync("/etc/passwd", join(path, "out.md"));
  const { commands, findings } = await loadCommands({ folders: [{ path, origin: "project", root: path }] });
  expect([
    commands.map(({ name }) => name),
    findings.map((each) => each.path.slice(path.length + 1)),
  ]).toEqual([
    ["args", "fine"],
    ["a b.md", "args.md", "args.md", "bad.md", "empty.md", "open.md", "out.md"],
  ]);
});

test("of very many files the first 500 are looked at, pictures aside, and a finding says that there are more", async () => {
  const many = Object.fromEntries(Array.from({ length: 600 }, (_, at) => [`m/${at}.md`, "Do."]));
  const pictures = Object.fromEntries(Array.from({ length: 600 }, (_, at) => [`a/${at}.png`, ""]));
  const folder = tempFolder({ "a/b/c/d/e/deep.md": "x", ...pictures, ...many });
  const { commands, findings } = await loadCommands({ folders: [{ path: folder, origin: "user" }] });
  expect(commands.length).toBeGreaterThan(480);
  expect(commands.length).toBeLessThanOrEqual(500);
  expect(findings.map(({ message }) => message)).toEqual([
    "has more files or deeper folders than are looked at",
  ]);
});
