import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempFolder } from "../../../test/temp-folder.ts";
import { TEMPORARY_PREFIX } from "../../system/replace-file.ts";
import { removeStaleTemporaryFiles, temporaryName } from "./write-atomically.ts";

/** A name as another process or another time would have made it. */
function nameOf(changes: {
  readonly pid?: number;
  readonly time?: number;
  readonly machine?: string;
}): string {
  const [machine, pid, time, random] = temporaryName().slice(TEMPORARY_PREFIX.length).split("-");
  const at = changes.time?.toString(36) ?? time;
  return `${TEMPORARY_PREFIX}${changes.machine ?? machine}-${changes.pid ?? pid}-${at}-${random}`;
}

/** The number of a process that has ended. */
function deadPid(): number {
  return spawnSync(process.execPath, ["-e", ""]).pid;
}

test.each([
  ["of a process that is gone", () => nameOf({ pid: deadPid() }), true],
  ["of this number before this process began", () => nameOf({ time: Date.now() - 80_000_000 }), true],
  ["older than a day", () => nameOf({ pid: process.ppid, time: Date.now() - 90_000_000 }), true],
  ["of this process", () => nameOf({}), false],
  ["of a process that runs", () => nameOf({ pid: process.ppid }), false],
  ["of another machine", () => nameOf({ pid: deadPid(), machine: "000000" }), false],
  ["with a name of someone else", () => `${TEMPORARY_PREFIX}notes`, false],
])("a file %s: removed %s", async (_what, name, isRemoved) => {
  const root = tempFolder();
  const path = join(root, name());
  writeFileSync(path, "");
  expect([await removeStaleTemporaryFiles(root), existsSync(path)]).toEqual([
    isRemoved ? [path] : [],
    !isRemoved,
  ]);
});

test("folders below are looked into only on request", async () => {
  const name = nameOf({ pid: deadPid() });
  const root = tempFolder({ [`a/b/${name}`]: "", [`node_modules/${name}`]: "", "a/keep": "" });
  const flat = await removeStaleTemporaryFiles(root);
  const deep = await removeStaleTemporaryFiles(root, { recursive: true });
  expect([flat, deep, readdirSync(join(root, "a/b"))]).toEqual([[], [join(root, "a/b", name)], []]);
});

test("a folder with such a name and a folder that is not there are left alone", async () => {
  const root = tempFolder();
  mkdirSync(join(root, nameOf({ pid: deadPid() })));
  expect([
    await removeStaleTemporaryFiles(root),
    await removeStaleTemporaryFiles(join(root, "none")),
  ]).toEqual([[], []]);
});
