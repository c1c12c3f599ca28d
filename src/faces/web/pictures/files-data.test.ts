import fc from "fast-check";
import { expect, test } from "vitest";
import { countReads, JournalMaker } from "../../../../test/web/made-journal.ts";
import type { JournalEntry } from "../../../core/agent/entries.ts";
import { changedFiles, patchOf } from "./files-data.ts";

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
  changedFiles(entries).map(
    ({ path, kind, moments }) =>
      `${path} ${kind}: ${moments.map((each) => `${each.by} ${each.kind} ${each.run}.${each.turn}`).join(", ")}`,
  );

test("every change stands at its run and turn, and a file is what it is compared with before", () => {
  expect(states(session())).toEqual([
    "a.ts created: call created 1.1, call changed 1.2",
    "b.ts deleted: call changed 1.1, call deleted 2.1",
  ]);
});

test("an undo and a redo are changes of their own, and the lines of a state come back with it", () => {
  const lines = { run: 1, turn: 1, time: 1, kind: "changed", callId: "c", removed: 0 } as const;
  const entries = session();
  const known = entries
    .filter(({ type }) => type === "checkpoint")
    .flatMap(({ id: entryId }, at) =>
      ["a.ts", "b.ts"].map((path) => ({ entryId, path, added: 10 ** at, ...lines })),
    );
  const undo = rollback({ to: { run: 1, turn: 2 } }, change("a.ts", "2", "1"), change("b.ts", null, "y"));
  const redo = rollback(
    { direction: "redo", redoes: undo.id },
    change("a.ts", "1", "2"),
    change("b.ts", "y", null),
  );
  const added = (all: readonly JournalEntry[]): readonly unknown[] =>
    changedFiles(all, { known }).map((file) => [file.kind, file.added, file.moments.at(-1)?.by]);
  expect([added(entries), added([...entries, undo]), added([...entries, undo, redo])]).toEqual([
    [
      ["created", 11, "call"],
      ["deleted", 101, "call"],
    ],
    [
      ["created", 1, "undo"],
      ["changed", 1, "undo"],
    ],
    [
      ["created", 11, "redo"],
      ["deleted", 101, "redo"],
    ],
  ]);
  const all = rollback({ to: { run: 1, turn: 0 } }, change("a.ts", "2", null));
  expect(changedFiles([...entries, all])[0]?.kind).toBe("unchanged");
});

test("a file that could not be put back is as it was, and is told", () => {
  const undo = rollback({ to: { run: 2, turn: 0 } }, change("b.ts", null, "y"));
  const end = at({ type: "rollback_end", rollback: undo.id, failed: ["b.ts"] });
  const file = changedFiles([...session(), undo, end])[1];
  expect([file?.moments.at(-1)?.isFailed, file?.kind]).toEqual([true, "deleted"]);
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
  const own = changedFiles(entries)[0]?.moments[0];
  expect([own?.added, own?.removed, own?.diff?.hunks.length]).toEqual([2, 1, 1]);
  const fact = { callId: "c", run: 1, turn: 1, time: 1, kind: "changed", removed: 7, binary: true } as const;
  const told = [{ entryId: point.id, path: "a.ts", added: 9, ...fact }];
  const known = changedFiles(entries, { known: told })[0]?.moments[0];
  expect([known?.added, known?.removed, known?.isBinary, known?.diff]).toEqual([9, 7, true, undefined]);
});

test("a patch has the counts of its parts, and nothing stands for a file that was not there", () => {
  const diff = { path: "a.ts", added: 2, removed: 1, isNew: false };
  const hunks = [{ oldStart: 1, newStart: 1, lines: ["-one", "+two", "+three", " four"] }];
  expect(patchOf([{ kind: "changed", diff: { ...diff, hunks } }])).toBe(
    "--- a/a.ts\n+++ b/a.ts\n@@ -1,2 +1,3 @@\n-one\n+two\n+three\n four\n",
  );
  expect(patchOf([{ kind: "created", diff: { ...diff, hunks: [] } }])).toBe("--- /dev/null\n+++ b/a.ts\n");
});

test("every change of the journal is in the picture once, in order", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2 ** 31 }), fc.integer({ min: 0, max: 300 }), (seed, size) => {
      const entries = new JournalMaker(seed).make(size);
      const files = changedFiles(entries);
      const all = entries.flatMap((entry) =>
        entry.type === "checkpoint" || entry.type === "rollback"
          ? entry.changes.map(({ path }) => `${path} ${entry.id}`)
          : [],
      );
      const told = files.flatMap(({ path, moments }) => moments.map(({ entryId }) => `${path} ${entryId}`));
      expect(told.toSorted()).toEqual(all.toSorted());
    }),
  );
});

test("ten times the entries take ten times the steps", () => {
  const entries = new JournalMaker(7).make(100_000);
  const few = countReads(entries.slice(0, 10_000), (watched) => changedFiles(watched));
  const many = countReads(entries, (watched) => changedFiles(watched));
  expect(many / few).toBeLessThan(10.5);
});

test("folders that come with a file are no files", () => {
  const folder = { path: "src", before: null, after: { type: "folder", mode: 493 } };
  const entries = [run(), turn(), checkpoint(folder, change("src/a.ts", null, "1"))];
  expect(states(entries)).toEqual(["src/a.ts created: call created 1.1"]);
});
