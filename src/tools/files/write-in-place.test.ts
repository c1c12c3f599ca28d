import { spawnSync } from "node:child_process";
import { linkSync, readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, test } from "vitest";
import { tempFolder } from "../../../test/temp-folder.ts";
import { writeAtomically } from "./write-atomically.ts";

const MODULE = pathToFileURL(join(import.meta.dirname, "write-atomically.ts")).href;

/** A program of its own that replaces `path` after `prelude`, started through `command`. */
function replaceIn(
  command: readonly string[],
  path: string,
  text: { readonly data: string; readonly prelude?: string },
) {
  const script = `
    import { open } from "node:fs/promises";
    import { stat } from "node:fs/promises";
    const { writeAtomically } = await import(${JSON.stringify(MODULE)});
    const path = ${JSON.stringify(path)};
    const replaced = await stat(path);
    ${text.prelude ?? ""}
    await writeAtomically(path, Buffer.from(${text.data}), { replaced, beforeRename: async () => {} })
      .catch((error) => console.log(error.code));`;
  const words = [...command, process.execPath, "--input-type=module", "-e", script];
  return spawnSync("env", words, { encoding: "utf8" });
}

function linked() {
  const root = realpathSync(tempFolder({ a: "old content\n" }));
  linkSync(join(root, "a"), join(root, "b"));
  return { root, path: join(root, "a") };
}

describe("a file with two names", () => {
  test("keeps both, and nothing is left beside it", async () => {
    const { root, path } = linked();
    const replaced = statSync(path);
    await writeAtomically(path, Buffer.from("new\n"), { replaced, beforeRename: async () => undefined });
    expect([readFileSync(join(root, "b"), "utf8"), statSync(path).ino, readdirSync(root)]).toEqual([
      "new\n",
      replaced.ino,
      ["a", "b"],
    ]);
  });

  test("has its old content beside it when the process is killed before the new one is whole", () => {
    const { root, path } = linked();
    const prelude = `
      const file = await open(path);
      Object.getPrototypeOf(file).truncate = () => process.kill(process.pid, "SIGKILL");`;
    const { signal } = replaceIn([], path, { data: `"new"`, prelude });
    const copy = readdirSync(root).find((name) => name.startsWith("a.saved-"));
    expect([signal, readFileSync(path, "utf8"), readFileSync(join(root, copy ?? ""), "utf8")]).toEqual([
      "SIGKILL",
      "new content\n",
      "old content\n",
    ]);
  });

  test("gets its old content back when the disk has no room for the new one", () => {
    const { root, path } = linked();
    const limited = ["bash", "-c", 'ulimit -f 8; trap "" XFSZ; exec "$0" "$@"'];
    const { stdout } = replaceIn(limited, path, { data: `"x".repeat(100_000)` });
    expect([stdout.trim(), readFileSync(join(root, "b"), "utf8"), readdirSync(root)]).toEqual([
      "EFBIG",
      "old content\n",
      ["a", "b"],
    ]);
  });
});

const MOUNTED = ["unshare", "-rm", "sh", "-c", 'mount --bind "$1" "$1" && shift && exec "$@"', "sh"];

test.skipIf(spawnSync("unshare", ["-rm", "true"]).status !== 0)(
  "a file that is a mount point is overwritten (needs user namespaces)",
  () => {
    const root = realpathSync(tempFolder({ a: "old" }));
    const path = join(root, "a");
    const { stdout, stderr } = replaceIn([...MOUNTED, path], path, { data: `"new"` });
    expect([stdout, stderr, readFileSync(path, "utf8"), readdirSync(root)]).toEqual(["", "", "new", ["a"]]);
  },
);

/** Runs a line of Python on a file: Node knows no extended attributes. */
function attribute(path: string, line: string): string | undefined {
  const { status, stdout } = spawnSync("python3", ["-c", `import os, sys; ${line}`, path], {
    encoding: "utf8",
  });
  return status === 0 ? stdout.trim() : undefined;
}

test("extended attributes are kept", async ({ skip }) => {
  const path = join(realpathSync(tempFolder({ a: "old" })), "a");
  const isSet = attribute(path, "os.setxattr(sys.argv[1], 'user.note', b'kept')") !== undefined;
  skip(!isSet, "needs Linux, Python and a file system with extended attributes");
  await writeAtomically(path, Buffer.from("new"), {
    replaced: statSync(path),
    beforeRename: async () => undefined,
  });
  expect([
    readFileSync(path, "utf8"),
    attribute(path, "print(os.getxattr(sys.argv[1], 'user.note'))"),
  ]).toEqual(["new", "b'kept'"]);
});
