import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { tempFolder } from "../../test/temp-folder.ts";
import { callTool, textOf } from "../../test/tools/call-tool.ts";
import { createEditTool } from "./edit-tool.ts";
import { FileState } from "./files/file-state.ts";
import { encodeText, type FileEncoding } from "./files/file-text.ts";
import { createReadTool } from "./read-tool.ts";
import { createWriteTool } from "./write-tool.ts";

function bytesOf(text: string, encoding: FileEncoding): Buffer {
  const bytes = encodeText({ text, encoding });
  if (!(bytes instanceof Uint8Array)) throw new Error(`no ${bytes.missing} in ${encoding}`);
  return bytes;
}

/** The file tools on one file with this content. */
function fileOf(content: Uint8Array) {
  const cwd = tempFolder();
  const path = join(cwd, "a");
  writeFileSync(path, content);
  const state = new FileState();
  const call = async (tool: ReturnType<typeof createReadTool>, input: object) =>
    textOf(await callTool(tool, { path: "a", ...input }, { cwd }));
  const [read, write, edit] = [
    createReadTool({ state }),
    createWriteTool({ state }),
    createEditTool({ state }),
  ];
  return {
    read: () => call(read, {}),
    write: (text: string) => call(write, { content: text }),
    edit: (old_string: string, new_string: string) => call(edit, { edits: [{ old_string, new_string }] }),
    bytes: () => readFileSync(path),
  };
}

/** The text as a model knows it from numbered lines. */
function asRead(numbered: string): string {
  const [lines = ""] = numbered.split("\n\n[");
  return lines.replace(/^ *\d+\t/gmu, "");
}

const FORMS: readonly (readonly [string, string, FileEncoding])[] = [
  ["UTF-8, LF", "port = 80\nname = 中é\n", "utf-8"],
  ["UTF-8 with a mark, CR LF", "\uFEFFport = 80\r\nname = 中é\r\n", "utf-8"],
  ["UTF-16LE, CR LF", "\uFEFFport = 80\r\nname = 中é😀\r\n", "utf-16le"],
  ["UTF-16BE, LF", "\uFEFFport = 80\nname = 中é😀\n", "utf-16be"],
  ["GBK, CR LF", "port = 80\r\nname = 端口号，镕\r\n", "gbk"],
  ["Latin-1, LF", "port = 80\nname = café, naïve, Straße, ÆØÅ\n", "windows-1252"],
  ["mixed line ends", "port = 80\r\nname = x\nhost = y\r\n\r\n\nend\n", "utf-8"],
];

describe.each(FORMS)("%s", (_name, before, encoding) => {
  const expected = bytesOf(before.replace("80", "8080"), encoding);

  test("one digit changed by write changes one digit", async () => {
    const file = fileOf(bytesOf(before, encoding));
    await file.write(`${asRead(await file.read()).replace("80", "8080")}\n`);
    expect(file.bytes()).toEqual(expected);
  });

  test("so it does by edit", async () => {
    const file = fileOf(bytesOf(before, encoding));
    await file.read();
    await file.edit("port = 80", "port = 8080");
    expect(file.bytes()).toEqual(expected);
  });
});

test("what the model cannot see is said", async () => {
  const texts = await Promise.all(FORMS.map(([, text, encoding]) => fileOf(bytesOf(text, encoding)).read()));
  expect(texts.map((text) => /\[The file is (.*)\]$/u.exec(text)?.[1])).toEqual([
    undefined,
    "UTF-8 with a byte order mark, CR LF line ends; edit and write keep that.",
    "UTF-16LE, CR LF line ends; edit and write keep that.",
    "UTF-16BE, LF line ends; edit and write keep that.",
    "GBK, CR LF line ends; edit and write keep that.",
    "Windows-1252 (Latin-1), LF line ends; edit and write keep that.",
    "UTF-8, some lines end in CR LF, others in LF; edit and write keep that.",
  ]);
});

test("a character that the file's encoding lacks is refused by both tools, and nothing is changed", async () => {
  const bytes = bytesOf("Größe\nzwei\n", "windows-1252");
  const file = fileOf(bytes);
  await file.read();
  const texts = [await file.write("Größe\n二\n"), await file.edit("zwei", "二")];
  const refusal = `Error: a was not changed: it is Windows-1252 (Latin-1), which has no "二" (U+4E8C, line 2 of the new text). Use other characters, or convert the file first.`;
  expect([texts, file.bytes()]).toEqual([[refusal, refusal], bytes]);
});

test("the answer to write says what was kept where the model wrote it otherwise", async () => {
  const file = fileOf(Buffer.from("one\n"));
  await file.read();
  expect([await file.write("one\r\ntwo\r\n"), file.bytes().toString()]).toEqual([
    "Updated a (2 lines, was 1, +1 -0). Kept unchanged: UTF-8, LF line ends.",
    "one\ntwo\n",
  ]);
});

test("whatever the bytes of a text file, writing back what was read changes none", async () => {
  const line = fc.string({
    unit: fc.constantFrom("a", "7", " ", "é", "ß", "“", "中", "镕", "，", "😀"),
    maxLength: 8,
  });
  const text = fc.array(fc.tuple(line, fc.constantFrom("\n", "\r\n")), { minLength: 1, maxLength: 6 });
  const encoding = fc.constantFrom<FileEncoding>("utf-8", "utf-16le", "utf-16be", "gbk", "windows-1252");
  await fc.assert(
    fc.asyncProperty(text, encoding, fc.boolean(), async (lines, stored, hasMark) => {
      const mark = stored.startsWith("utf-16") || (stored === "utf-8" && hasMark) ? "\uFEFF" : "";
      const bytes = encodeText({ text: mark + lines.flat().join(""), encoding: stored });
      if (!(bytes instanceof Uint8Array)) return;
      const file = fileOf(bytes);
      await file.write(`${asRead(await file.read())}\n`);
      expect(file.bytes()).toEqual(bytes);
    }),
    { numRuns: 150 },
  );
});
