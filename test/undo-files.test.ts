import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test } from "vitest";
import { rollbackPlace } from "../src/session/undo/session-checkpoints.ts";
import { type Deed, treeOf, undoRoom } from "./undo-room.ts";

test("a binary file of five megabytes comes back byte for byte", async () => {
  const room = undoRoom();
  const bytes = randomBytes(5_000_000);
  writeFileSync(join(room.root, "big.bin"), bytes);
  await room.run([["head -c 100 big.bin > part && mv part big.bin"]]);
  expect((await room.undo()).status).toBe("done");
  expect(readFileSync(join(room.root, "big.bin")).equals(bytes)).toBe(true);
});

test("a file of five gigabytes is noted and never read, and its change is named", async () => {
  const room = undoRoom({ "sparse.img": "", "small.txt": "one\n" });
  truncateSync(join(room.root, "sparse.img"), 5_000_000_000);
  await room.run([["printf x >> sparse.img; echo two > small.txt"]]);
  const report = await room.undo();
  expect([report.status, report.left]).toEqual(["done", [{ path: "sparse.img", reason: "lost" }]]);
  expect(readFileSync(join(room.root, "small.txt"), "utf8")).toBe("one\n");
});

test("pipes and sockets hold nothing up and are left alone", async () => {
  const room = undoRoom({ "a.txt": "one\n" });
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(join(room.root, "socket"), resolve));
  onTestFinished(() => void server.close());
  await room.run([["mkfifo pipe"], ["echo two > a.txt"]]);
  expect(await room.undo({ to: { run: 1, turn: 2 } })).toMatchObject({ status: "done", left: [] });
  expect(room.tree()).toEqual({ "a.txt": "file 644 one\n", pipe: "special", socket: "special" });
});

test.skipIf(process.getuid?.() === 0)(
  "what the user may not read is noted and the rest is covered",
  async () => {
    const room = undoRoom({ "secret/key": "k", "closed.txt": "c", "a.txt": "one\n" });
    await room.run([["chmod 000 secret closed.txt"], ["echo two > a.txt"]]);
    const report = await room.undo({ to: { run: 1, turn: 2 } });
    expect(report).toMatchObject({ status: "done", omitted: [{ path: "secret", reason: "unreadable" }] });
    await room.run([["chmod 700 secret; chmod 600 closed.txt"]]);
  },
);

test("files that come and go while the workspace is looked at are not a fault", async () => {
  const room = undoRoom({ "a.txt": "one\n" });
  const churn = spawn("bash", ["-c", "while :; do mkdir d; echo > d/x; echo > y; rm -r d y; done"], {
    cwd: room.root,
  });
  const ended = once(churn, "exit");
  onTestFinished(() => void churn.kill("SIGKILL"));
  const texts = await room.run([["echo two > a.txt"], ["echo three > a.txt"], ["echo four > a.txt"]]);
  churn.kill("SIGKILL");
  await ended;
  expect(texts).toEqual(["(no output)", "(no output)", "(no output)"]);
  expect((await room.undo({ paths: [join(room.root, "a.txt")] })).status).toBe("done");
  expect(room.tree()["a.txt"]).toBe("file 644 one\n");
});

test("names that are not UTF-8, and names with line ends, come back", async () => {
  const room = undoRoom();
  await room.run([["mkdir $'d\\xff'; echo 1 > $'d\\xff/\\xfe'; ln -s $'\\xfd' $'l\\n'; echo u > ü"]]);
  const before = room.tree();
  await room.run([["rm -r ./*"]]);
  expect(room.tree()).toEqual({});
  await room.undo();
  expect(room.tree()).toEqual(before);
});

test("small folders of dependencies are covered, large ones are named", async () => {
  const room = undoRoom({ "node_modules/a/index.js": "1" }, { maxBulkEntries: 10 });
  await room.run([["echo 2 > node_modules/a/index.js"]]);
  expect(await room.undo()).toMatchObject({ status: "done", omitted: [] });
  expect(room.tree()["node_modules/a/index.js"]).toBe("file 644 1");
  await room.run([["for i in $(seq 20); do echo $i > node_modules/a/$i.js; done; echo x > b.txt"]]);
  const report = await room.undo();
  expect(report).toMatchObject({
    status: "done",
    omitted: [{ path: "node_modules", reason: "too_many_files" }],
  });
  expect(room.tree()["b.txt"]).toBe(undefined);
});

test("a workspace with too many files is covered from the outside in, and that is said", async () => {
  const files = Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`deep/${at}.txt`, `${at}`]));
  const room = undoRoom({ ...files, "a.txt": "one\n" }, { maxEntries: 20 });
  await room.run([["echo two > a.txt; echo two > deep/1.txt"]]);
  expect(room.notices).toEqual([expect.stringContaining("deep has too many files")]);
  expect(await room.undo()).toMatchObject({
    status: "done",
    omitted: [{ path: "deep", reason: "too_many_files" }],
  });
  expect([room.tree()["a.txt"], room.tree()["deep/1.txt"]]).toEqual(["file 644 one\n", "file 644 two\n"]);
});

test("folders further down that have too many files are said before anything is undone, each once", async () => {
  const many = (folder: string): readonly [string, string][] =>
    Array.from({ length: 20 }, (_, at) => [`${folder}/${at}.js`, "one\n"]);
  const modules = ["a", "b", "c"].map((name) => `packages/${name}/node_modules`);
  const files = Object.fromEntries(modules.slice(0, 2).flatMap(many));
  const room = undoRoom(files, { maxBulkEntries: 10 });
  await room.run([["true"], [`mkdir -p ${modules[2]}; touch ${modules[2]}/{1..20}.js`], ["true"]]);
  const rest = "; what commands change there is not kept.";
  expect(room.notices).toEqual([
    `undo: ${room.root}/${modules[0]} has too many files${rest}`,
    `undo: ${room.root}/${modules[1]} has too many files${rest}`,
    `undo: ${room.root}/${modules[2]} has too many files${rest}`,
  ]);
});

test("a command goes ahead of what takes too long to read for the first time; that is said, and the rest is read beside later commands", async () => {
  const names = Array.from({ length: 9 }, (_, at) => `${at}.txt`);
  const room = undoRoom(Object.fromEntries(names.map((name) => [name, "one\n"])), { maxWaitMs: 5 });
  const all = Object.fromEntries(names.map((name) => [name, "file 644 one\n"]));
  expect(await room.run([["echo two > 0.txt; echo two > 8.txt; echo new > 9.txt"]])).toEqual(["(no output)"]);
  expect(room.notices).toEqual([
    expect.stringMatching(
      /^undo: reading \S+ for the first time takes longer than 0\.005 s\. Until 6 files are read, in parallel with the next commands, changes/,
    ),
  ]);
  expect((await room.undo()).left).toEqual([{ path: "8.txt", reason: "lost" }]);
  expect(room.tree()).toEqual({ ...all, "8.txt": "file 644 two\n" });
  await room.run([["true"]]);
  await room.run([["for f in *.txt; do echo three > $f; done; rm 3.txt"]]);
  expect((await room.undo()).left).toEqual([]);
  expect(room.tree()).toEqual({ ...all, "8.txt": "file 644 two\n" });
});

test("folders that there was no time for are looked into beside later commands, and what stood in them is nobody's change", async () => {
  const files = Object.fromEntries(["a/b/c/1", "a/b/2", "a/3", "z/4"].map((path) => [path, "one\n"]));
  const room = undoRoom(files, { maxWaitMs: 2 });
  const before = room.tree();
  await room.run([["echo two > a/b/c/1"], ["true"], ["true"], ["true"]]);
  expect(await room.undo()).toMatchObject({
    status: "nothing",
    omitted: expect.arrayContaining([{ path: "z", reason: "no_time" }]),
  });
  await room.run(Array.from({ length: 9 }, () => ["true"]));
  await room.run([["rm -r a z"]]);
  expect(await room.undo()).toMatchObject({ status: "done", left: [] });
  expect(room.tree()).toEqual({ ...before, "a/b/c/1": "file 644 two\n" });
});

test("what write changes is kept, however little time there was to read the rest", async () => {
  const room = undoRoom({ "a.txt": "one\n", "b.txt": "one\n" }, { maxWaitMs: 0 });
  const put: Deed = { path: "b.txt", act: (path) => writeFileSync(path, "two\n") };
  await room.run([["true"], [put]]);
  expect(await room.undo()).toMatchObject({ status: "done", left: [] });
  expect(room.tree()["b.txt"]).toBe("file 644 one\n");
});

test("when a folder that was not looked into is removed, undo says that it knows nothing of what stood there", async () => {
  const files = Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`deep/${at}.txt`, `${at}`]));
  const room = undoRoom({ ...files, "a.txt": "one\n" }, { maxEntries: 20 });
  await room.run([["rm -r deep a.txt"]]);
  expect(await room.undo()).toMatchObject({
    status: "done",
    omitted: [{ path: "deep", reason: "too_many_files", changed: true }],
  });
  expect(room.tree()).toMatchObject({ "a.txt": "file 644 one\n" });
});

test("when the space is used up, that is said, and the call runs", async () => {
  const room = undoRoom({}, { maxStoreBytes: 20_000 });
  writeFileSync(join(room.root, "a.bin"), randomBytes(9_000));
  writeFileSync(join(room.root, "b.bin"), randomBytes(9_000));
  expect(await room.run([["rm a.bin b.bin"]])).toEqual(["(no output)"]);
  expect(room.notices).toEqual([expect.stringContaining("the space for undo is used up")]);
  expect((await room.undo()).left).toEqual([{ path: "b.bin", reason: "lost" }]);
  expect(Object.keys(room.tree())).toEqual(["a.bin"]);
});

test("a call whose changes cannot be kept does not run", async () => {
  const room = undoRoom({ "a.txt": "one\n" });
  mkdirSync(join(room.store, ".."), { recursive: true });
  writeFileSync(room.store, "no folder");
  const [text] = await room.run([["rm a.txt"]]);
  expect(text).toMatch(/Not run: its changes could not be undone\. .*--no-undo/);
  expect(room.tree()).toEqual({ "a.txt": "file 644 one\n" });
});

test("changes of calls side by side are each found once", async () => {
  const put = (path: string) => ({ path, act: (full: string) => writeFileSync(full, path) });
  const room = undoRoom();
  await room.run([[put("a"), put("b"), "cat a b > c", put("a"), put("d")]]);
  const paths = [...room.journal.entries()].flatMap((entry) =>
    entry.type === "checkpoint" ? entry.changes.map(({ path }) => path) : [],
  );
  expect(paths.toSorted()).toEqual(["a", "b", "c", "d"]);
  await room.undo();
  expect(room.tree()).toEqual({});
});

test("an undo that was cut in the middle is brought to its end by the next one", async () => {
  const room = undoRoom({ "a.txt": "one\n", "b.txt": "one\n" });
  const before = room.tree();
  await room.run([["echo two | tee a.txt > b.txt"]]);
  const entry = [...room.journal.entries()].find(({ type }) => type === "checkpoint");
  if (entry?.type !== "checkpoint") throw new Error("no checkpoint");
  const changes = entry.changes.map(({ path, before: after, after: now }) => ({ path, before: now, after }));
  room.journal.append({
    type: "rollback",
    direction: "undo",
    root: room.root,
    changes,
    to: { run: 1, turn: 0 },
  });
  writeFileSync(join(room.root, "a.txt"), "one\n");
  expect((await room.undo()).status).toBe("finished");
  expect(room.tree()).toEqual(before);
  expect((await room.redo()).status).toBe("done");
  expect(room.tree()).toMatchObject({ "a.txt": "file 644 two\n", "b.txt": "file 644 two\n" });
});

test("without its index, and with a damaged one, everything is read again and nothing is lost", async () => {
  const room = undoRoom({ "a.txt": "one\n" });
  await room.run([["echo two > a.txt"]]);
  for (const change of ["UPDATE workspace SET facts = 'damaged'", "DELETE FROM workspace"]) {
    inStores(room.store, change);
    await room.run([["echo three >> a.txt"]]);
  }
  await room.undo({ to: { run: 1, turn: 0 } });
  expect(room.tree()).toEqual({ "a.txt": "file 644 one\n" });
});

test("contents that are gone or damaged are named, never replaced by others", async () => {
  const room = undoRoom({ "a.txt": "one\n", "b.txt": "other\n" });
  await room.run([["echo two > a.txt"]]);
  inStores(room.store, "UPDATE objects SET bytes = zeroblob(stored)");
  const report = await room.undo();
  expect([report.failed.map(({ path }) => path), room.tree()["a.txt"]]).toEqual([
    ["a.txt"],
    "file 644 two\n",
  ]);
  rmSync(room.store, { recursive: true });
  expect((await room.undo({ to: { run: 1, turn: 0 } })).left).toEqual([{ path: "a.txt", reason: "lost" }]);
});

test("a damaged store is set aside and named, and what follows can be undone", async () => {
  const room = undoRoom({ "a.txt": "one\n" });
  await room.run([["echo two > a.txt"]]);
  for (const path of storesIn(room.store)) writeFileSync(path, "no database");
  await room.run([["echo three > a.txt"]]);
  expect(room.notices).toEqual([expect.stringMatching(/undo\.sqlite is damaged and is now .*set-aside/)]);
  expect((await room.undo()).status).toBe("done");
  expect(room.tree()).toEqual({ "a.txt": "file 644 two\n" });
  expect((await room.undo()).left).toEqual([{ path: "a.txt", reason: "lost" }]);
});

test("a store of a newer version is left as it is, and calls that need it do not run", async () => {
  const room = undoRoom({ "a.txt": "one\n" });
  await room.run([["echo two > a.txt"]]);
  inStores(room.store, "PRAGMA user_version = 7");
  await expect(room.run([["echo three > a.txt"]])).rejects.toThrow(/is of version 7.*Update nano-agent/);
});

function storesIn(folder: string): readonly string[] {
  return Object.keys(treeOf(folder)).flatMap((path) =>
    path.endsWith(".sqlite") ? [join(folder, path)] : [],
  );
}

function inStores(folder: string, sql: string): void {
  for (const path of storesIn(folder)) {
    const database = new DatabaseSync(path);
    database.exec(sql);
    database.close();
  }
}

test("a journal that names paths outside of its root moves nothing there", async () => {
  const room = undoRoom({ "a.txt": "one\n" });
  const other = undoRoom({ "b.txt": "theirs\n" });
  await room.run([["echo two > a.txt"]]);
  const name = other.root.slice(other.root.lastIndexOf("/") + 1);
  for (const path of [`../${name}/b.txt`, `/${other.root}/b.txt`, ".git/hooks/post-checkout", "\0../x"]) {
    const version = { type: "link", target: "x" } as const;
    room.journal.append({
      type: "checkpoint",
      callId: "c",
      name: "bash",
      root: room.root,
      changes: [{ path, before: version, after: null }],
    });
  }
  expect(await room.undo({ force: true, to: { run: 1, turn: 0 } })).toMatchObject({
    status: "done",
    changes: [{ path: "a.txt" }],
  });
  expect([other.tree(), room.tree()]).toEqual([
    { "b.txt": "file 644 theirs\n" },
    { "a.txt": "file 644 one\n" },
  ]);
  expect(rollbackPlace({ folder: room.store, journal: room.journal, cwd: room.root }).cwd).toBe(room.root);
});

test("commands that change nothing write nothing for undo, however new the files are", async () => {
  const room = undoRoom({ "a.txt": "one\n", "b.txt": "two\n" });
  // SQLite counts the writes to a database at the 24th byte of its file.
  const writes = `od -An -j24 -N4 -tu1 '${room.store}'/*/undo.sqlite`;
  const [first, second] = await room.run([[writes], [writes]]);
  expect(second).toBe(first);
  const [before, after] = await room.run([[`${writes}; echo three > a.txt`], [writes]]);
  expect(after).not.toBe(before);
});
