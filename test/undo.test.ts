import { chmodSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { undoRoom } from "./undo-room.ts";

test("undo puts back what tools and commands changed, turn by turn, and redo brings it again", async () => {
  const room = undoRoom({ "a.txt": "one\n", "sub/b.txt": "two\n" });
  const trees = [room.tree()];
  await room.run([["echo changed > a.txt; mkdir -p new/deep; echo x > new/deep/c; chmod 600 sub/b.txt"]]);
  trees.push(room.tree());
  await room.run([
    [{ path: "sub/b.txt", act: (path) => writeFileSync(path, "edited") }],
    ["mv a.txt z.txt; ln -s z.txt link; rm -r new"],
  ]);
  trees.push(room.tree());
  expect(await room.undo()).toMatchObject({ status: "done", to: { run: 2, turn: 0 }, left: [], failed: [] });
  expect(room.tree()).toEqual(trees[1]);
  expect((await room.undo()).status).toBe("done");
  expect(room.tree()).toEqual(trees[0]);
  expect((await room.undo()).status).toBe("nothing");
  expect((await room.redo()).status).toBe("done");
  expect(room.tree()).toEqual(trees[1]);
  expect((await room.redo()).status).toBe("done");
  expect(room.tree()).toEqual(trees[2]);
  expect((await room.redo()).status).toBe("nothing");
  expect((await room.undo({ to: { run: 1, turn: 0 } })).status).toBe("done");
  expect(room.tree()).toEqual(trees[0]);
  expect((await room.redo()).status).toBe("done");
  expect(room.tree()).toEqual(trees[2]);
});

test("what somebody else changed since is refused, and forced only when asked", async () => {
  const room = undoRoom({ "a.txt": "one\n", "b.txt": "two\n" });
  await room.run([["echo agent > a.txt; echo agent > b.txt"]]);
  writeFileSync(join(room.root, "a.txt"), "mine\n");
  const before = room.tree();
  expect(await room.undo()).toMatchObject({
    status: "refused",
    left: [{ path: "a.txt", reason: "changed" }],
  });
  expect(room.tree()).toEqual(before);
  expect(await room.undo({ paths: [join(room.root, "b.txt")] })).toMatchObject({ status: "done" });
  expect(room.tree()).toMatchObject({ "a.txt": "file 644 mine\n", "b.txt": "file 644 two\n" });
  expect(await room.undo({ force: true })).toMatchObject({ status: "done" });
  expect(room.tree()).toMatchObject({ "a.txt": "file 644 one\n" });
  expect(await room.redo()).toMatchObject({ status: "done" });
  expect(room.tree()).toMatchObject({ "a.txt": "file 644 mine\n" });
});

test("an edit of somebody else between two calls is not lost unseen", async () => {
  const room = undoRoom({ "a.txt": "one\n" });
  await room.run([["echo agent > a.txt"]]);
  writeFileSync(join(room.root, "a.txt"), "mine\n");
  await room.run([["echo more >> a.txt"]]);
  expect((await room.undo({ dryRun: true })).status).toBe("done");
  expect(await room.undo({ to: { run: 1, turn: 0 } })).toMatchObject({
    status: "refused",
    left: [{ reason: "changed_between" }],
  });
  expect((await room.undo()).status).toBe("done");
  expect(room.tree()).toEqual({ "a.txt": "file 644 mine\n" });
});

test("a link put in the place of a folder leads nothing outside of the workspace", async () => {
  const room = undoRoom({ "sub/a.txt": "one\n" });
  const other = undoRoom({ "a.txt": "theirs\n" });
  await room.run([["echo two > sub/a.txt"]]);
  rmSync(join(room.root, "sub"), { recursive: true });
  symlinkSync(other.root, join(room.root, "sub"));
  const report = await room.undo({ force: true });
  expect(other.tree()).toEqual({ "a.txt": "file 644 theirs\n" });
  expect(report.failed).toHaveLength(1);
});

test("files that cannot be kept are named and not restored half", async () => {
  const room = undoRoom({ "small.txt": "x" }, { maxFileBytes: 1000 });
  await room.run([["head -c 5000 /dev/zero > big.bin; echo y > small.txt; mkfifo pipe"]]);
  const report = await room.undo();
  expect(report.left).toEqual([
    { path: "big.bin", reason: "not_kept" },
    { path: "pipe", reason: "not_kept" },
  ]);
  expect(room.tree()["small.txt"]).toBe("file 644 x");
  await room.undo({ force: true, to: { run: 1, turn: 0 } });
  expect(room.tree()).toEqual({ "small.txt": "file 644 x" });
  chmodSync(room.root, 0o755);
});

test("one file comes back with the folders it stood in, and a folder with files of others stays", async () => {
  const room = undoRoom({ "deep/er/a.txt": "one\n", "deep/b.txt": "two\n" });
  await room.run([["rm -r deep; mkdir made; echo x > made/x"]]);
  writeFileSync(join(room.root, "made/mine"), "mine");
  expect((await room.undo({ paths: [join(room.root, "deep/er/a.txt")] })).status).toBe("done");
  expect(room.tree()).toMatchObject({ "deep/er/a.txt": "file 644 one\n", "made/x": "file 644 x\n" });
  expect(room.tree()["deep/b.txt"]).toBe(undefined);
  const report = await room.undo();
  expect(report.failed).toEqual([
    { path: "made", reason: expect.stringContaining("still holds"), isKeptFolder: true },
  ]);
  expect(room.tree()).toEqual({
    deep: "folder 755",
    "deep/b.txt": "file 644 two\n",
    "deep/er": "folder 755",
    "deep/er/a.txt": "file 644 one\n",
    made: "folder 755",
    "made/mine": "file 644 mine",
  });
});
