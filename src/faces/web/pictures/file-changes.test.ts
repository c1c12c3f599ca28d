import fc from "fast-check";
import { expect, test } from "vitest";
import { countReads, JournalMaker } from "../../../../test/web/made-journal.ts";
import type { JournalEntry } from "../../../core/agent/entries.ts";
import { filesAt, filesPicture } from "./file-changes.ts";

let made = 0;
const at = (entry: object): JournalEntry =>
  ({ id: `e${made++}`, parent: null, time: made, ...entry }) as unknown as JournalEntry;
const run = (): JournalEntry => at({ type: "run_start", sessionId: "s", model: "m", tools: [] });
const turn = (): JournalEntry =>
  at({
    type: "assistant_message",
    message: { role: "assistant", content: [] },
    usage: { inputTokens: 1, outputTokens: 1 },
  });
const version = (hash: string | null): object | null =>
  hash === null ? null : { type: "file", hash, size: 1, mode: 420 };
const change = (path: string, before: string | null, after: string | null): object => ({
  path,
  before: version(before),
  after: version(after),
});
const checkpoint = (...changes: readonly object[]): JournalEntry =>
  at({ type: "checkpoint", callId: `c${made}`, name: "edit", root: "/w", changes });
const rollback = (more: object, ...changes: readonly object[]): JournalEntry =>
  at({ type: "rollback", direction: "undo", root: "/w", changes, ...more });

const session = (): readonly JournalEntry[] => [
  run(),
  turn(),
  checkpoint(change("a.ts", null, "1"), change("b.ts", "x", "y")),
  turn(),
  checkpoint(change("a.ts", "1", "2")),
  run(),
  turn(),
  checkpoint(change("b.ts", "y", null)),
];

const states = (entries: readonly JournalEntry[]): readonly string[] =>
  filesPicture(entries).moments.map(
    ({ path, kind, by, run: number, turn: place, isUndone }) =>
      `${path} ${by} ${kind} ${number}.${place}${isUndone ? " undone" : ""}`,
  );

test("every change stands at its run and turn, and a file is what it is against what it was first", () => {
  expect(states(session())).toEqual([
    "a.ts call created 1.1",
    "b.ts call changed 1.1",
    "a.ts call changed 1.2",
    "b.ts call deleted 2.1",
  ]);
  expect(filesPicture(session()).files.map(({ path, kind, moments }) => [path, kind, moments])).toEqual([
    ["a.ts", "created", [0, 2]],
    ["b.ts", "deleted", [1, 3]],
  ]);
});

test("what was put back does not stand, and what was brought back stands again", () => {
  const undo = rollback({ to: { run: 1, turn: 2 } }, change("a.ts", "2", "1"), change("b.ts", null, "y"));
  const undone = [...session(), undo];
  expect(states(undone).slice(2)).toEqual([
    "a.ts call changed 1.2 undone",
    "b.ts call deleted 2.1 undone",
    "a.ts undo changed 2.1",
    "b.ts undo created 2.1",
  ]);
  const changes = [change("a.ts", "1", "2"), change("b.ts", "y", null)];
  const redo = rollback({ direction: "redo", redoes: undo.id }, ...changes);
  expect(states([...undone, redo]).filter((state) => state.endsWith("undone"))).toEqual([]);
  expect(filesPicture([...undone, redo]).files.map(({ kind }) => kind)).toEqual(["created", "deleted"]);
});

test("a file that came and went is taken back with the rest, and an undo of some files leaves the others", () => {
  const session = [
    run(),
    turn(),
    checkpoint(change("made.txt", null, "1"), change("a.ts", "1", "2")),
    turn(),
    checkpoint(change("made.txt", "1", null)),
  ];
  const all = rollback({ to: { run: 1, turn: 0 } }, change("a.ts", "2", "1"));
  const some = rollback({ to: { run: 1, turn: 0 }, partial: true }, change("a.ts", "2", "1"));
  const undone = (entries: readonly JournalEntry[]): readonly boolean[] =>
    filesPicture(entries).moments.map(({ isUndone }) => isUndone);
  expect([undone([...session, all]), undone([...session, some]), undone([...session, some, all])]).toEqual([
    [true, true, true, false],
    [false, true, false, false],
    [true, true, true, false, false],
  ]);
});

test("a file that could not be put back is as it was, and is told", () => {
  const undo = rollback({ to: { run: 2, turn: 0 } }, change("b.ts", null, "y"));
  const end = at({ type: "rollback_end", rollback: undo.id, failed: ["b.ts"] });
  const { moments, files } = filesPicture([...session(), undo, end]);
  expect([moments.at(-1)?.isFailed, files[1]?.kind, moments[3]?.isUndone]).toEqual([true, "deleted", false]);
});

test("a diff is the server's, else that of the call's result", () => {
  const diff = "@@ -1,1 +1,2 @@\n-one\n+two\n+three\n";
  const point = checkpoint(change("a.ts", "1", "2"));
  const result = at({
    type: "tool_result",
    callId: point.type === "checkpoint" ? point.callId : "",
    name: "edit",
    status: "ok",
    metadata: { diff },
    result: { type: "tool_result", tool_use_id: "c", content: "" },
  });
  const entries = [run(), turn(), point, result];
  const own = filesPicture(entries).moments[0];
  expect([own?.added, own?.removed, own?.diff?.hunks.length]).toEqual([2, 1, 1]);
  const fact = { callId: "c", run: 1, turn: 1, time: 1, kind: "changed", removed: 7, binary: true } as const;
  const [known] = filesPicture(entries, [{ entryId: point.id, path: "a.ts", added: 9, ...fact }]).moments;
  expect([known?.added, known?.removed, known?.isBinary, known?.diff]).toEqual([9, 7, true, undefined]);
});

test("files at a moment are those that were changed by then", () => {
  const entries = session();
  expect(
    [2, 3, 5, 8].map((count) => filesAt(entries, count).map(({ path, kind }) => `${path} ${kind}`)),
  ).toEqual([
    [],
    ["a.ts created", "b.ts changed"],
    ["a.ts created", "b.ts changed"],
    ["a.ts created", "b.ts deleted"],
  ]);
});

test("every change of the journal is in the picture once, in order", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2 ** 31 }), fc.integer({ min: 0, max: 300 }), (seed, size) => {
      const entries = new JournalMaker(seed).make(size);
      const { moments, files } = filesPicture(entries);
      const all = entries.flatMap((entry) =>
        entry.type === "checkpoint" || entry.type === "rollback" ? entry.changes.map(({ path }) => path) : [],
      );
      expect(moments.map(({ path }) => path)).toEqual(all);
      expect(files.flatMap((file) => file.moments).sort((left, right) => left - right)).toEqual([
        ...moments.keys(),
      ]);
    }),
  );
});

test("ten times the entries take ten times the steps", () => {
  const entries = new JournalMaker(7).make(100_000);
  const few = countReads(entries.slice(0, 10_000), (watched) => filesPicture(watched));
  const many = countReads(entries, (watched) => filesPicture(watched));
  expect(many / few).toBeLessThan(10.5);
});

test("folders that come with a file are no files", () => {
  const folder = { path: "src", before: null, after: { type: "folder", mode: 493 } };
  const entries = [run(), turn(), checkpoint(folder, change("src/a.ts", null, "1"))];
  expect([states(entries), filesAt(entries, 3).map(({ path }) => path)]).toEqual([
    ["src/a.ts call created 1.1"],
    ["src/a.ts"],
  ]);
});
