import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempFolder } from "../../../test/temp-folder.ts";
import { CODING_PROMPT, readInstructions, systemPrompt } from "./system-prompt.ts";

test("each folder speaks through AGENTS.md, else CLAUDE.md, the nearest last", () => {
  const root = tempFolder({
    "AGENTS.md": "root\n",
    "CLAUDE.md": "not read",
    "a/CLAUDE.md": "inner",
    "a/b/x": "",
  });
  const folders = [root, join(root, "a"), join(root, "a/b")];
  expect(readInstructions(folders)).toEqual([
    { path: join(root, "AGENTS.md"), text: "root" },
    { path: join(root, "a/CLAUDE.md"), text: "inner" },
  ]);
});

test("a long file is cut at a whole character, and far files are left out when all together have too many bytes", () => {
  const root = tempFolder({
    "AGENTS.md": "far",
    "a/AGENTS.md": "é".repeat(20_000),
    "a/b/AGENTS.md": `x${"é".repeat(20_000)}`,
    "a/b/c/AGENTS.md": "é".repeat(10_000),
    "a/b/c/d/AGENTS.md": `x${"é".repeat(40_000)}`,
  });
  const folders = ["", "a", "a/b", "a/b/c", "a/b/c/d"].map((folder) => join(root, folder));
  const notices: string[] = [];
  const found = readInstructions(folders, (message) => notices.push(message));
  expect(found.map(({ path, text }) => [path, text.length])).toEqual([
    [join(root, "a/b/c/AGENTS.md"), 10_000],
    [join(root, "a/b/c/d/AGENTS.md"), 16_384 + "\n\n(cut; read the file for the rest)".length],
  ]);
  expect(notices).toEqual([
    `${join(root, "a/b/c/d/AGENTS.md")} is too long: only its first 32768 bytes are used.`,
    `${join(root, "a/b/AGENTS.md")} is too long: only its first 32768 bytes are used.`,
    `${join(root, "a/b/AGENTS.md")} and what is above it are left out: instructions have more than 65536 bytes.`,
  ]);
});

test("links within the project are followed, each file is read once, and links out of it are not followed", () => {
  const outside = tempFolder({ "secret.txt": "secret" });
  const root = tempFolder({ "AGENTS.md": "shared", "a/x": "", "b/CLAUDE.md": "inner" });
  symlinkSync("../AGENTS.md", join(root, "a/AGENTS.md"));
  symlinkSync(join(outside, "secret.txt"), join(root, "b/AGENTS.md"));
  const notices: string[] = [];
  const read = (...folders: readonly string[]): readonly string[] =>
    readInstructions(
      folders.map((folder) => join(root, folder)),
      (message) => notices.push(message),
    ).map(({ text }) => text);
  expect([read("", "a"), read("", "b"), notices]).toEqual([
    ["shared"],
    ["shared", "inner"],
    [
      `${join(root, "b/AGENTS.md")} is left out: it is a link that leads out of ${root}, which is not followed.`,
    ],
  ]);
});

test("what is not UTF-8 is left out and told; control characters do no harm", () => {
  const root = tempFolder({ "CLAUDE.md": "a\u001b[2Jb" });
  writeFileSync(join(root, "AGENTS.md"), Buffer.from([0xff, 0xfe, 0x41, 0x00]));
  const notices: string[] = [];
  expect(readInstructions([root], (message) => notices.push(message)).map(({ text }) => text)).toEqual([
    "a\ufffd[2Jb",
  ]);
  expect(notices).toEqual([
    `${join(root, "AGENTS.md")} is left out: it is not UTF-8 text: save it as UTF-8.`,
  ]);
});

test("where AGENTS.md is not a file, CLAUDE.md is used", () => {
  const root = tempFolder({ "CLAUDE.md": "used" });
  mkdirSync(join(root, "AGENTS.md"));
  expect(readInstructions([root]).map(({ text }) => text)).toEqual(["used"]);
});

test("the system prompt is the same bytes each time, with the place at its end", () => {
  const parts = {
    appendSystemPrompt: "Be brief.",
    instructions: [{ path: "/w/AGENTS.md", text: "Use tabs." }],
    cwd: "/w",
    platform: "linux",
    sandbox: { mode: "off" },
  } as const;
  expect(systemPrompt(parts)).toBe(
    `${CODING_PROMPT}\n\n# Instructions from /w/AGENTS.md\n\nUse tabs.\n\nBe brief.\n\nWorking folder: /w\nPlatform: linux`,
  );
  expect(systemPrompt({ ...parts, systemPrompt: "Only this." })).toMatch(/^Only this\.\n\n# Instructions/);
});
