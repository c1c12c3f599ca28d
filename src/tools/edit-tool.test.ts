import { execFileSync } from "node:child_process";
import {
  chmodSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { tempFolder } from "../../test/temp-folder.ts";
import { callTool, textOf } from "../../test/tools/call-tool.ts";
import { createEditTool } from "./edit-tool.ts";
import type { Edit } from "./edits/plan-edits.ts";
import { FileState } from "./files/file-state.ts";
import { createReadTool } from "./read-tool.ts";

function tools(cwd: string) {
  const state = new FileState();
  const [read, edit] = [createReadTool({ state }), createEditTool({ state })];
  const result = async (path: string, ...edits: readonly Edit[]) => callTool(edit, { path, edits }, { cwd });
  return {
    read: async (path: string) => textOf(await callTool(read, { path }, { cwd })),
    edit: async (path: string, ...edits: readonly Edit[]) => textOf(await result(path, ...edits)),
    result,
  };
}

/** Reads a file with this content, edits it, and tells what the model sees and what is on disk. */
async function edited(content: string | Uint8Array, ...edits: readonly Edit[]) {
  const root = tempFolder();
  const path = join(root, "a");
  writeFileSync(path, content);
  const { read, edit } = tools(root);
  await read("a");
  const text = await edit("a", ...edits);
  return { text, bytes: readFileSync(path), left: readdirSync(root) };
}

describe("editing", () => {
  test("the model sees the changed lines with numbers", async () => {
    const lines = Array.from({ length: 9 }, (_, index) => `line ${index + 1}`).join("\n");
    const { text } = await edited(lines, { old_string: "line 5", new_string: "FIVE\nand" });
    expect(text).toBe(
      "Edited a (1 replacement):\n     3\tline 3\n     4\tline 4\n     5\tFIVE\n     6\tand\n     7\tline 6\n     8\tline 7",
    );
  });

  test("places far apart are shown apart, and a great many not at all", async () => {
    const lines = Array.from({ length: 3000 }, (_, index) => `line ${index + 1};`).join("\n");
    const apart = await edited(
      lines,
      { old_string: "line 1;", new_string: "x" },
      { old_string: "line 3000;", new_string: "y" },
    );
    const many = await edited(lines, { old_string: "line", new_string: "LINE", replace_all: true });
    expect([
      apart.text.split("\n").slice(1),
      many.text.split("\n").length < 65,
      many.text.split("\n").at(-1),
    ]).toEqual([
      [
        "     1\tx",
        "     2\tline 2;",
        "     3\tline 3;",
        "   ...",
        "  2998\tline 2998;",
        "  2999\tline 2999;",
        "  3000\ty",
      ],
      true,
      "   ... (further changed lines not shown)",
    ]);
  });

  test("the diff and the number of replacements are for programs", async () => {
    const root = tempFolder({ a: "one\ntwo\n" });
    const { read, result } = tools(root);
    await read("a");
    const { title, metadata } = await result("a", { old_string: "two", new_string: "2" });
    expect({ title, ...metadata }).toEqual({
      title: "1 replacement",
      path: join(root, "a"),
      replacements: 1,
      diff: expect.stringContaining("@@ -1,2 +1,2 @@\n one\n-two\n+2\n"),
      additions: 1,
      deletions: 1,
    });
  });

  test("CR LF and the byte order mark of a file are kept", async () => {
    const { bytes } = await edited("\uFEFFone\r\ntwo\r\n", { old_string: "one\ntwo", new_string: "1\n2\n3" });
    expect(bytes.toString("utf8")).toBe("\uFEFF1\r\n2\r\n3\r\n");
  });

  test("replacement patterns are plain text", async () => {
    const { bytes } = await edited("price = OLD", { old_string: "OLD", new_string: "cost$& $$" });
    expect(bytes.toString("utf8")).toBe("price = cost$& $$");
  });

  test("one edit that does not fit leaves the file as it was and nothing behind", async () => {
    const { text, bytes, left } = await edited(
      "one\ntwo\n",
      { old_string: "one", new_string: "1" },
      { old_string: "twoo", new_string: "2" },
    );
    expect([text, bytes.toString("utf8"), left]).toEqual([
      'Error: a was not changed (not_found). edits[1]: old_string is not in the file. The nearest text is:\n     2\ttwo\nLine 2 differs (text): the file has "two", old_string has "twoo".',
      "one\ntwo\n",
      ["a"],
    ]);
  });

  test("a file may be edited again and again without reading", async () => {
    const root = tempFolder({ a: "one" });
    const { read, edit } = tools(root);
    await read("a");
    await edit("a", { old_string: "one", new_string: "two" });
    await edit("a", { old_string: "two", new_string: "three" });
    expect(readFileSync(join(root, "a"), "utf8")).toBe("three");
  });

  test("edits of one file at the same time are all kept", async () => {
    const root = tempFolder({ a: "1 2 3 4" });
    const { read, edit } = tools(root);
    await read("a");
    await Promise.all([1, 2, 3, 4].map((n) => edit("a", { old_string: `${n}`, new_string: `<${n}>` })));
    expect(readFileSync(join(root, "a"), "utf8")).toBe("<1> <2> <3> <4>");
  });

  test("the target of a link is edited, its mode kept", async () => {
    const root = tempFolder({ real: "one" });
    chmodSync(join(root, "real"), 0o600);
    symlinkSync("real", join(root, "link"));
    const { read, edit } = tools(root);
    await read("link");
    await edit("link", { old_string: "one", new_string: "two" });
    expect([readFileSync(join(root, "real"), "utf8"), statSync(join(root, "real")).mode & 0o777]).toEqual([
      "two",
      0o600,
    ]);
  });

  test("a large file with a hundred edits", async () => {
    const lines = Array.from({ length: 100_000 }, (_, index) => `const value${index} = compute(${index});`);
    const edits = Array.from({ length: 100 }, (_, index) => ({
      old_string: `value${index * 999} =`,
      new_string: `renamed${index * 999} =`,
    }));
    const { bytes } = await edited(lines.join("\n"), ...edits);
    const expected = lines.map((line, index) =>
      index % 999 === 0 && index < 99_900 ? line.replace("value", "renamed") : line,
    );
    expect(bytes.toString("utf8") === expected.join("\n")).toBe(true);
  });
});

describe("what is refused", () => {
  const change = { old_string: "old", new_string: "new" };

  test("a file that was not read, or changed since", async () => {
    const root = tempFolder({ a: "old", b: "old" });
    const { read, edit } = tools(root);
    await read("b");
    writeFileSync(join(root, "b"), "older");
    expect([await edit("a", change), await edit("b", change)]).toEqual([
      "Error: a is there already and was not read in this session. Read it first, then change it.",
      "Error: b was changed since it was read in this session. Read it again, then change it.",
    ]);
  });

  test("a missing file, with its nearest neighbours", async () => {
    const root = tempFolder({ "config.ts": "" });
    expect(await tools(root).edit("confg.ts", change)).toBe(
      `Error: confg.ts: there is no such file. Did you mean ${join(root, "config.ts")}? To create it, use write.`,
    );
  });

  test.each([
    ["a binary file", Buffer.from([0, 1, 2, 3, 0xff, 0xfe])],
    ["UTF-8 with stray bytes", Buffer.concat([Buffer.from("old 中文 "), Buffer.from("\xe9", "latin1")])],
    ["half of UTF-16", Buffer.from([0xff, 0xfe, 0x6f])],
  ])("%s, whose bytes would not survive", async (_name, content) => {
    const { text, bytes } = await edited(content, change);
    expect([text, bytes.equals(content)]).toEqual([
      "Error: a is binary, or UTF-8 with damaged bytes: changing it as text would lose some. Change it with a program, or remove it first to write a new one.",
      true,
    ]);
  });

  test("an edit that leaves half a character", async () => {
    const { text, bytes } = await edited("a😀b", { old_string: "\ud83d", new_string: "x" });
    expect([text, bytes.toString("utf8")]).toEqual([
      "Error: a was not changed: an edit leaves half a surrogate pair. Replace the whole character.",
      "a😀b",
    ]);
  });

  test("a read-only file and a FIFO", async () => {
    const root = tempFolder({ a: "old" });
    chmodSync(join(root, "a"), 0o400);
    execFileSync("mkfifo", [join(root, "fifo")]);
    const { read, edit } = tools(root);
    await read("a");
    expect([await edit("a", change), await edit("fifo", change)]).toEqual([
      "Error: a is read-only (no write bit): it is left as it is.",
      "Error: fifo is a FIFO (named pipe): only regular files can be read and written.",
    ]);
  });

  test("a file too large to hold in memory", async () => {
    const root = tempFolder({ a: "old" });
    truncateSync(join(root, "a"), 100 * 1024 ** 2);
    const { read, edit } = tools(root);
    await read("a");
    expect(await edit("a", change)).toBe(
      "Error: a is larger than 67108864 bytes: change it with a program, or remove it first to write a new one.",
    );
  });
});
