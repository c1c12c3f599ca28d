import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, test } from "vitest";
import { tempFolder } from "../../test/temp-folder.ts";
import { asOrdinaryUser, callTool, textOf } from "../../test/tools/call-tool.ts";
import type { Tool } from "../core/tool/tool.ts";
import { FileState } from "./files/file-state.ts";
import { createReadTool } from "./read-tool.ts";
import { createWriteTool } from "./write-tool.ts";

/** The two tools with one memory, in a folder. */
function tools(cwd: string) {
  const state = new FileState();
  const [read, write] = [createReadTool({ state }), createWriteTool({ state })];
  const call = async (tool: Tool, input: object, sessionId = "session") =>
    callTool(tool, input, { cwd, sessionId });
  return {
    read: async (path: string, more: object = {}) => textOf(await call(read, { path, ...more })),
    write: async (path: string, content: string, sessionId?: string) =>
      textOf(await call(write, { path, content }, sessionId)),
    result: async (path: string, content: string) => call(write, { path, content }),
  };
}

describe("creating", () => {
  test("a file is created with its folders", async () => {
    const root = tempFolder();
    const text = await tools(root).write("新/deep/文件.txt", "one\ntwo\n");
    expect([text, readFileSync(join(root, "新/deep/文件.txt"), "utf8")]).toEqual([
      "Created 新/deep/文件.txt (2 lines).",
      "one\ntwo\n",
    ]);
  });

  test("the result carries a unified diff", async () => {
    const { content: _text, ...rest } = await tools(tempFolder()).result("a.txt", "one\n");
    expect({ ...rest, metadata: { ...rest.metadata, path: "" } }).toEqual({
      title: "1 line",
      metadata: {
        path: "",
        created: true,
        lines: 1,
        diff: expect.stringContaining("@@ -0,0 +1,1 @@\n+one\n"),
        additions: 1,
        deletions: 0,
      },
    });
  });

  test("a new file gets the mode that the process gives to new files", async () => {
    const root = tempFolder();
    await tools(root).write("a", "");
    writeFileSync(join(root, "b"), "");
    expect(statSync(join(root, "a")).mode).toBe(statSync(join(root, "b")).mode);
  });

  test("a link to a file that is not there yet creates its target", async () => {
    const root = tempFolder();
    symlinkSync("target", join(root, "link"));
    await tools(root).write("link", "text");
    expect([readlinkSync(join(root, "link")), readFileSync(join(root, "target"), "utf8")]).toEqual([
      "target",
      "text",
    ]);
  });

  test("what was created may be written again without reading", async () => {
    const { write } = tools(tempFolder());
    expect([await write("a", "1\n"), await write("a", "1\n2\n")]).toEqual([
      "Created a (1 line).",
      "Updated a (2 lines, was 1, +1 -0).",
    ]);
  });
});

describe("replacing", () => {
  test("a file that was read is replaced, its mode kept", async () => {
    const root = tempFolder({ "run.sh": "old\n" });
    chmodSync(join(root, "run.sh"), 0o754);
    const { read, write } = tools(root);
    await read("run.sh");
    const text = await write("run.sh", "new\n");
    expect([
      text,
      readFileSync(join(root, "run.sh"), "utf8"),
      statSync(join(root, "run.sh")).mode & 0o7777,
    ]).toEqual(["Updated run.sh (1 line, was 1, +1 -1).", "new\n", 0o754]);
  });

  test.runIf(process.geteuid?.() === 0)("the owner is kept where that is permitted", async () => {
    const root = tempFolder({ a: "old" });
    chownSync(join(root, "a"), 1234, 2345);
    const { read, write } = tools(root);
    await read("a");
    await write("a", "new");
    const { uid, gid } = statSync(join(root, "a"));
    expect([uid, gid]).toEqual([1234, 2345]);
  });

  test("a link stays a link and its target is written", async () => {
    const root = tempFolder({ "real/a": "old" });
    symlinkSync("real/a", join(root, "link"));
    const { read, write } = tools(root);
    await read("real/a");
    await write("link", "new");
    expect([readlinkSync(join(root, "link")), readFileSync(join(root, "real/a"), "utf8")]).toEqual([
      "real/a",
      "new",
    ]);
  });

  test("no temporary file is left", async () => {
    const root = tempFolder({ a: "old" });
    const { read, write } = tools(root);
    await read("a");
    await write("a", "new");
    expect(readdirSync(root)).toEqual(["a"]);
  });

  test("writing the same content again is reported as no change", async () => {
    const { write } = tools(tempFolder());
    await write("a", "1\n");
    expect(await write("a", "1\n")).toBe("Updated a (1 line, was 1, +0 -0).");
  });
});

describe("only what was read is replaced", () => {
  const unread = "Error: a is there already and was not read in this session. Read it first, then change it.";
  const changed = "Error: a was changed since it was read in this session. Read it again, then change it.";

  test("an existing file that was not read is left alone", async () => {
    const root = tempFolder({ a: "old" });
    expect([await tools(root).write("a", "new"), readFileSync(join(root, "a"), "utf8")]).toEqual([
      unread,
      "old",
    ]);
  });

  test("another session's reading does not count", async () => {
    const root = tempFolder({ a: "old" });
    const { read, write } = tools(root);
    await read("a");
    expect(await write("a", "new", "other")).toBe(unread);
  });

  test("a file changed since is left alone, also when size and time are the same", async () => {
    const root = tempFolder({ a: "old" });
    const { read, write } = tools(root);
    await read("a");
    const { atime, mtime } = statSync(join(root, "a"));
    writeFileSync(join(root, "a"), "OLD");
    utimesSync(join(root, "a"), atime, mtime);
    expect([await write("a", "new"), readFileSync(join(root, "a"), "utf8")]).toEqual([changed, "OLD"]);
  });

  test("a file that was only touched may be replaced", async () => {
    const root = tempFolder({ a: "old" });
    const { read, write } = tools(root);
    await read("a");
    utimesSync(join(root, "a"), 1, 1);
    expect(await write("a", "new")).toBe("Updated a (1 line, was 1, +1 -1).");
  });

  test("of a large file a page read is enough, and its time and size are compared", async () => {
    const root = tempFolder({ a: "line\n".repeat(100_000), b: "line\n".repeat(100_000) });
    const { read, write } = tools(root);
    await read("a");
    await read("b");
    truncateSync(join(root, "b"), 10);
    // The machine decides if such a change is compared in time.
    const said = (await write("a", "new\n")).replace(", +1 -100000", "");
    expect([said, await write("b", "new\n")]).toEqual([
      "Updated a (1 line, was 100000).",
      changed.replace("a was", "b was"),
    ]);
  });

  test("two writes at once happen one after the other", async () => {
    const root = tempFolder();
    const { write } = tools(root);
    const texts = await Promise.all([write("a", "1\n"), write("a", "2\n")]);
    expect([texts, readFileSync(join(root, "a"), "utf8")]).toEqual([
      ["Created a (1 line).", "Updated a (1 line, was 1, +1 -1)."],
      "2\n",
    ]);
  });
});

describe("what is refused", () => {
  test("a file without a write bit, whoever asks", async () => {
    const root = tempFolder({ a: "old" });
    chmodSync(join(root, "a"), 0o444);
    const { read, write } = tools(root);
    await read("a");
    expect([await write("a", "new"), readFileSync(join(root, "a"), "utf8")]).toEqual([
      "Error: a is read-only (no write bit): it is left as it is.",
      "old",
    ]);
  });

  test("a folder, a FIFO and a device", async () => {
    const root = tempFolder();
    mkdirSync(join(root, "folder"));
    execFileSync("mkfifo", [join(root, "fifo")]);
    const { write } = tools(root);
    expect([await write("folder", ""), await write("fifo", ""), await write("/dev/null", "")]).toEqual([
      "Error: folder is a folder: only regular files can be read and written.",
      "Error: fifo is a FIFO (named pipe): only regular files can be read and written.",
      "Error: /dev/null is a device: only regular files can be read and written.",
    ]);
  });

  test("half a surrogate pair", async () => {
    expect(await tools(tempFolder()).write("a", "\ud83d")).toBe(
      "Error: content holds half a surrogate pair, which no file in UTF-8 can hold. Write the whole character.",
    );
  });

  test("a name that is too long, and a file used as a folder", async () => {
    const root = tempFolder({ a: "text" });
    const { write } = tools(root);
    const name = "长".repeat(90);
    expect([await write(name, ""), await write("a/b", ""), readdirSync(root)]).toEqual([
      `Error: ${name}: the name is too long; choose a shorter one (ENAMETOOLONG).`,
      "Error: a/b: a part of the path is a file, not a folder (ENOTDIR).",
      ["a"],
    ]);
  });

  test("a folder and a file without permission", async () => {
    const root = tempFolder({ "closed/a": "old", mine: "old" });
    chmodSync(join(root, "closed"), 0o555);
    chmodSync(join(root, "mine"), 0o644);
    const { read, write } = tools(root);
    const texts = await asOrdinaryUser(root, async () => {
      await read("mine");
      return [await write("closed/b", "new"), await write("mine", "new")];
    });
    expect(texts).toEqual([
      "Error: closed/b: permission denied (EACCES).",
      process.geteuid?.() === 0
        ? "Error: mine: permission denied (EACCES)."
        : "Updated mine (1 line, was 1, +1 -1).",
    ]);
  });

  test("an aborted call changes nothing", async () => {
    const root = tempFolder();
    const signal = AbortSignal.abort(new Error("stopped"));
    const call = callTool(createWriteTool(), { path: "a", content: "" }, { cwd: root, signal });
    await expect(call).rejects.toThrow("stopped");
    expect(readdirSync(root)).toEqual([]);
  });
});

test("a write that runs out of room keeps the old content and leaves nothing behind", () => {
  const root = realpathSync(tempFolder({ a: "old" }));
  const script = `
    const { writeAtomically } = await import(${JSON.stringify(pathToFileURL(join(import.meta.dirname, "files/write-atomically.ts")).href)});
    await writeAtomically(${JSON.stringify(join(root, "a"))}, Buffer.alloc(100_000), { beforeRename: async () => {} })
      .catch((error) => console.log(error.code));`;
  const command = 'ulimit -f 8; trap "" XFSZ; exec "$0" --input-type=module -e "$1"';
  const { stdout } = spawnSync("bash", ["-c", command, process.execPath, script], { encoding: "utf8" });
  expect([stdout.trim(), readFileSync(join(root, "a"), "utf8"), readdirSync(root)]).toEqual([
    "EFBIG",
    "old",
    ["a"],
  ]);
});
