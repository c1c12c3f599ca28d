import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  closeSync,
  mkdirSync,
  openSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { tempFolder } from "../../test/temp-folder.ts";
import { asOrdinaryUser, callTool, textOf } from "../../test/tools/call-tool.ts";
import { createReadTool } from "./read-tool.ts";

const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQABpfZFQAAAAABJRU5ErkJggg==",
  "base64",
);

async function read(
  cwd: string,
  path: string,
  more: { readonly offset?: number; readonly limit?: number } = {},
): Promise<string> {
  return textOf(await callTool(createReadTool(), { path, ...more }, { cwd }));
}

function withFile(name: string, content: string | Uint8Array): string {
  const root = tempFolder();
  writeFileSync(join(root, name), content);
  return root;
}

describe("text", () => {
  test("lines are numbered, six wide, with a tab", async () => {
    expect(await read(withFile("a.txt", "one\ntwo\n"), "a.txt")).toBe("     1\tone\n     2\ttwo");
  });

  test("a last line without a line end counts", async () => {
    expect(await read(withFile("a.txt", "one\n\ntwo"), "a.txt")).toBe("     1\tone\n     2\t\n     3\ttwo");
  });

  test("the result carries facts for programs", async () => {
    const root = withFile("a.txt", "one\ntwo\n");
    const result = await callTool(createReadTool(), { path: "a.txt", offset: 2 }, { cwd: root });
    expect({ title: result.title, metadata: { ...result.metadata, path: "" } }).toEqual({
      title: "1 line",
      metadata: { path: "", firstLine: 2, lines: 1, bytes: 8 },
    });
  });

  test("CR LF and a byte order mark are named, not shown", async () => {
    expect(await read(withFile("a.txt", "\uFEFFone\r\ntwo\r\n"), "a.txt")).toBe(
      "     1\tone\n     2\ttwo\n\n[The file is UTF-8 with a byte order mark, CR LF line ends; edit and write keep that.]",
    );
  });

  test("names and text in Chinese are read", async () => {
    expect(await read(withFile("说明 文档.md", "你好\n"), "说明 文档.md")).toBe("     1\t你好");
  });

  test("UTF-16 with a mark is decoded and said so", async () => {
    const little = Buffer.from("\uFEFFAĊ中\nB", "utf16le");
    const big = Buffer.from(little).swap16();
    const texts = [await read(withFile("a", little), "a"), await read(withFile("a", big), "a")];
    expect(texts).toEqual([
      "     1\tAĊ中\n     2\tB\n\n[The file is UTF-16LE, LF line ends; edit and write keep that.]",
      "     1\tAĊ中\n     2\tB\n\n[The file is UTF-16BE, LF line ends; edit and write keep that.]",
    ]);
  });

  test("bytes that are not UTF-8 and stray NULs are marked", async () => {
    const bytes = Buffer.concat([
      Buffer.from("中文 text\ncaf"),
      Buffer.from([0xe9]),
      Buffer.from("\na\0b\n"),
    ]);
    expect(await read(withFile("a", bytes), "a")).toBe(
      "     1\t中文 text\n     2\tcaf\uFFFD\n     3\ta\u2400b\n\n[Bytes that are not UTF-8 are shown as \uFFFD. NUL characters are shown as \u2400.]",
    );
  });

  test("an empty file is said to be empty", async () => {
    expect(await read(withFile("a.txt", ""), "a.txt")).toBe("(a.txt is an empty file)");
  });

  test.each([
    ["bytes", Buffer.from([0, 1, 2, 3, 255])],
    ["a PDF", Buffer.from("%PDF-1.7\nsome text")],
    ["a program", Buffer.from("\x7fELF\x02")],
  ])("binary content is not dumped: %s", async (_name, bytes) => {
    expect(await read(withFile("a", bytes), "a")).toBe(
      `(a is a binary file of ${bytes.length} bytes: not shown)`,
    );
  });

  test("a text is not taken for binary because of escape sequences", async () => {
    expect(await read(withFile("a", "\u001b[31mred\u001b[0m\n"), "a")).toBe("     1\t\u001b[31mred\u001b[0m");
  });
});

describe("pages", () => {
  const numbers = Array.from({ length: 4500 }, (_, index) => `line ${index + 1}`).join("\n");

  test("2,000 lines are a page, with a hint how to go on", async () => {
    const text = await read(withFile("a", numbers), "a");
    expect([text.split("\n").length, text.split("\n\n")[1]]).toEqual([
      2002,
      `[Lines 1-2000 of a file of ${numbers.length} bytes. Continue with offset 2001.]`,
    ]);
  });

  test("following the hints reads every line once", async () => {
    const root = withFile("a", numbers);
    const pages: string[] = [];
    for (let offset = 1; offset > 0; ) {
      const text = await read(root, "a", { offset });
      pages.push(text.split("\n\n")[0] ?? "");
      offset = Number(/Continue with offset (\d+)/u.exec(text)?.[1] ?? 0);
    }
    const lines = pages.flatMap((page) => page.split("\n")).map((line) => line.slice(7));
    expect(lines.join("\n")).toBe(numbers);
  });

  test("offset and limit choose the lines", async () => {
    expect(await read(withFile("a", numbers), "a", { offset: 7, limit: 2 })).toBe(
      `     7\tline 7\n     8\tline 8\n\n[Lines 7-8 of a file of ${numbers.length} bytes. Continue with offset 9.]`,
    );
  });

  test("a page that ends with the file has no hint", async () => {
    expect(await read(withFile("a", "1\n2\n3\n"), "a", { offset: 2, limit: 2 })).toBe("     2\t2\n     3\t3");
  });

  test("50 KB are a page", async () => {
    const text = await read(withFile("a", `${"x".repeat(1000)}\n`.repeat(100)), "a");
    expect([Buffer.byteLength(text) < 51 * 1024 + 200, /Lines 1-50 .* offset 51/u.test(text)]).toEqual([
      true,
      true,
    ]);
  });

  test("long lines are cut with a note, characters whole", async () => {
    const line = `${"x".repeat(1999)}${"😀".repeat(10)}`;
    expect(await read(withFile("a", `${line}\nnext\n`), "a")).toBe(
      `     1\t${"x".repeat(1999)} … [line cut: 2039 bytes in all]\n     2\tnext`,
    );
  });

  test("an offset behind the end says how long the file is", async () => {
    expect(await read(withFile("a.txt", "1\n2\n"), "a.txt", { offset: 9 })).toBe(
      "Error: a.txt has only 2 lines: offset 9 is past the end.",
    );
  });

  test("of a file of 5 GB only the page is read", async () => {
    const root = withFile("big", "first\nsecond\n");
    const path = join(root, "big");
    truncateSync(path, 5 * 1024 ** 3);
    appendFileSync(path, "\nlast\n");
    const before = process.memoryUsage().rss;
    const head = await read(root, "big", { limit: 2 });
    const giant = await read(root, "big", { limit: 3 });
    expect(head).toBe(
      "     1\tfirst\n     2\tsecond\n\n[Lines 1-2 of a file of 5368709126 bytes. Continue with offset 3.]",
    );
    expect(giant.split("\n").slice(2)).toEqual([
      "     3\t␀×8000 … [line cut: over 16 MB in all]",
      "",
      "[NUL characters are shown as ␀. Lines 1-3 of a file of 5368709126 bytes. Continue with offset 4.]",
    ]);
    expect(process.memoryUsage().rss - before).toBeLessThan(200 * 1024 ** 2);
  });
});

test("lines far behind in a large file are found without loading it", async () => {
  const root = withFile("big", "first\nsecond\n");
  truncateSync(join(root, "big"), 500 * 1024 ** 2);
  appendFileSync(join(root, "big"), "\nlast\n");
  const before = process.memoryUsage().rss;
  expect(await read(root, "big", { offset: 4 })).toBe("     4\tlast");
  expect(process.memoryUsage().rss - before).toBeLessThan(200 * 1024 ** 2);
});

describe("images", () => {
  test.each([
    ["image/png", PNG],
    ["image/jpeg", Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 1])],
    ["image/gif", Buffer.from("GIF89a......")],
    ["image/webp", Buffer.from("RIFF\x10\0\0\0WEBPVP8 ")],
  ])("%s is told by its bytes, not its name", async (mediaType, bytes) => {
    const result = await callTool(createReadTool(), { path: "a.txt" }, { cwd: withFile("a.txt", bytes) });
    expect(result.content).toEqual([
      { type: "text", text: `a.txt: ${mediaType}, ${bytes.length} bytes` },
      { type: "image", source: { type: "base64", media_type: mediaType, data: bytes.toString("base64") } },
    ]);
  });

  test("a too large image is refused with its size", async () => {
    const root = withFile("a.png", PNG);
    truncateSync(join(root, "a.png"), 4_000_000);
    expect(await read(root, "a.png")).toBe(
      "Error: a.png: image/png, 4000000 bytes. Images over 3750000 bytes cannot be shown: make a smaller copy and read that.",
    );
  });
});

describe("folders", () => {
  test("entries are listed and marked", async () => {
    const root = tempFolder({ "b.txt": "", "a/x": "", ".hidden": "" });
    symlinkSync("b.txt", join(root, "c"));
    expect(await read(root, ".")).toBe(".hidden\na/\nb.txt\nc@");
  });

  test("an empty folder is said to be empty", async () => {
    expect(await read(tempFolder(), ".")).toBe("(. is an empty folder)");
  });

  test("a huge folder is listed in parts", async () => {
    const root = tempFolder();
    for (let index = 0; index < 2500; index++)
      closeSync(openSync(join(root, `f${String(index).padStart(4, "0")}`), "w"));
    const [first, last] = [await read(root, "."), await read(root, ".", { offset: 2499 })];
    expect([first.split("\n").length, first.split("\n").at(-1), last]).toEqual([
      1001,
      "[Entries 1-1000 of 2500. Continue with offset 1001, or use glob.]",
      "f2498\nf2499\n[Entries 2499-2500 of 2500.]",
    ]);
  });
});

describe("what cannot be read", () => {
  test("a missing file names its nearest neighbours", async () => {
    const root = tempFolder({ "src/config.ts": "", "src/confirm.ts": "", "src/zebra.ts": "" });
    expect(await read(root, "src/confg.ts")).toBe(
      `Error: src/confg.ts: there is no such file or folder. Did you mean ${join(root, "src/config.ts")}, ${join(root, "src/confirm.ts")}?`,
    );
  });

  test("a missing folder names the nearest folder", async () => {
    const root = tempFolder({ "source/a.ts": "" });
    expect(await read(root, "sorce/a.ts")).toBe(
      `Error: sorce/a.ts: there is no such file or folder. Did you mean ${join(root, "source")}?`,
    );
  });

  test("a FIFO, a socket and a device are refused at once", async () => {
    const root = tempFolder();
    execFileSync("mkfifo", [join(root, "fifo")]);
    const server = createServer().listen(join(root, "socket"));
    await new Promise((resolve) => server.once("listening", resolve));
    const texts = [await read(root, "fifo"), await read(root, "socket"), await read(root, "/dev/zero")];
    await new Promise((resolve) => server.close(resolve));
    expect(texts).toEqual([
      "Error: fifo is a FIFO (named pipe): only regular files can be read and written.",
      "Error: socket is a socket: only regular files can be read and written.",
      "Error: /dev/zero is a device: only regular files can be read and written.",
    ]);
  });

  test("a link to a FIFO is refused too, and a link to a file is followed", async () => {
    const root = withFile("a", "text");
    execFileSync("mkfifo", [join(root, "fifo")]);
    symlinkSync("fifo", join(root, "x"));
    symlinkSync("a", join(root, "y"));
    expect([await read(root, "x"), await read(root, "y")]).toEqual([
      "Error: x is a FIFO (named pipe): only regular files can be read and written.",
      "     1\ttext",
    ]);
  });

  test("missing permission is named", async () => {
    const root = tempFolder({ "a.txt": "a", "closed/b.txt": "b" });
    chmodSync(join(root, "a.txt"), 0);
    chmodSync(join(root, "closed"), 0);
    const texts = await asOrdinaryUser(root, async () => [
      await read(root, "a.txt"),
      await read(root, "closed"),
      await read(root, "closed/b.txt"),
    ]);
    chmodSync(join(root, "closed"), 0o700);
    expect(texts).toEqual([
      "Error: a.txt: permission denied (EACCES).",
      "Error: closed: permission denied (EACCES).",
      "Error: closed/b.txt: permission denied (EACCES).",
    ]);
  });

  test("links in a circle and NUL in a name are errors", async () => {
    const root = tempFolder();
    symlinkSync("circle", join(root, "circle"));
    expect([await read(root, "circle"), await read(root, "a\0b")]).toEqual([
      "Error: circle: its links form a loop, or it became a link in the meantime (ELOOP).",
      "Error: a\0b: a path cannot hold a NUL character (ERR_INVALID_ARG_VALUE).",
    ]);
  });

  test("an aborted call throws the reason", async () => {
    const root = withFile("a", "text");
    const signal = AbortSignal.abort(new Error("stopped"));
    await expect(callTool(createReadTool(), { path: "a" }, { cwd: root, signal })).rejects.toThrow("stopped");
  });
});

test("the call reads the canonical path, which the scheduler learns", () => {
  const root = tempFolder({ "real/a": "a" });
  mkdirSync(join(root, "x"));
  symlinkSync("real", join(root, "link"));
  const { access } = createReadTool();
  const known =
    typeof access === "function"
      ? access({ path: "link/a" } as never, { cwd: root, accessOf: () => "none" })
      : access;
  expect(known).toEqual({ read: [join(root, "real/a")] });
});

test("lines split over chunks come out whole", async () => {
  const root = tempFolder();
  const fd = openSync(join(root, "a"), "w");
  for (let index = 0; index < 600; index++) writeSync(fd, `${"中".repeat(150)}${index}\n`);
  closeSync(fd);
  expect(await read(root, "a", { offset: 583, limit: 1 })).toContain(`   583\t${"中".repeat(150)}582`);
});
