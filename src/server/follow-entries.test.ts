import { expect, test } from "vitest";
import type { JournalEntry } from "../core/agent/entries.ts";
import { followEntries, LoopTurns } from "./create-handler.ts";
import type { EntrySource, EntryTail } from "./session-host.ts";

/** As many as may wait. */
const MAX_WAITING = 10_000;

type Listener = Parameters<EntrySource["listen"]>[0];

function source(read: EntryTail["read"]): {
  readonly source: EntrySource;
  readonly tell: (...told: Parameters<Listener>) => number;
} {
  const listeners = new Set<Listener>();
  return {
    source: {
      tail: () => ({ read }),
      listen: (listener) => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
      current: () => Promise.resolve([]),
    },
    tell: (passing) => {
      for (const listener of listeners) listener(passing);
      return listeners.size;
    },
  };
}

function follow(entries: EntrySource, turns = new LoopTurns()): ReturnType<typeof followEntries> {
  return followEntries(entries, undefined, new AbortController().signal, turns);
}

test("however many read a long session, everything else gets its turn between two batches", async () => {
  const note = { type: "note", parent: null, time: 0, kind: "test", data: "" } as const;
  const all = Array.from({ length: 1_000 }, (_, id): JournalEntry => ({ ...note, id: String(id) }));
  const turns = new LoopTurns();
  let ticks = 0;
  let isOver = false;
  const tick = (): void => {
    ticks++;
    if (!isOver) setImmediate(tick);
  };
  setImmediate(tick);
  const batches: number[] = [];
  const readers = Array.from({ length: 5 }, async () => {
    const unread = [...all];
    let count = 0;
    for await (const items of follow(source(() => unread.splice(0)).source, turns)) {
      batches.push(ticks);
      count += items.filter(({ type }) => type === "entry").length;
      if (count === all.length) return count;
    }
    return count;
  });
  expect(await Promise.all(readers)).toEqual(readers.map(() => all.length));
  isOver = true;
  expect([batches.length >= 80, new Set(batches).size]).toEqual([true, batches.length]);
});

test("what cannot be read ends the stream it is read for, and nothing else", async () => {
  let isGone = false;
  const { source: entries, tell } = source(() => {
    if (isGone) throw new Error("The file is gone.");
    return [];
  });
  const items = follow(entries);
  expect((await items.next()).value).toHaveLength(1);
  isGone = true;
  expect(() => tell("entries")).not.toThrow();
  await expect(items.next()).rejects.toThrow("The file is gone.");
});

test("a reader that does not read is cut when too much waits for it, and what waited is let go", async () => {
  const { source: entries, tell } = source(() => []);
  const items = follow(entries);
  await items.next();
  for (let told = 0; told < MAX_WAITING; told++) tell({ type: "ready" });
  expect((await items.next()).value).toHaveLength(MAX_WAITING);
  expect(tell({ type: "ready" })).toBe(1);
  for (let told = 0; told < MAX_WAITING; told++) tell({ type: "ready" });
  expect(tell({ type: "ready" })).toBe(0);
  expect(await items.next()).toEqual({ done: true, value: undefined });
});

test("a reader that does not read is cut when few but long entries wait for it", async () => {
  const long = (id: number): JournalEntry => ({
    type: "note",
    id: String(id),
    parent: null,
    time: 0,
    kind: "test",
    data: "x".repeat(10_000_000),
  });
  let written: JournalEntry[] = [];
  const { source: entries, tell } = source(() => written.splice(0));
  const items = follow(entries);
  await items.next();
  const listeners: number[] = [];
  for (let id = 0; id < 6; id++) {
    written = [long(id)];
    listeners.push(tell("entries"));
  }
  expect(listeners).toEqual([1, 1, 1, 1, 0, 0]);
  expect(await items.next()).toEqual({ done: true, value: undefined });
});

test("a reader that does not read is cut when few but long events of subagents wait for it", async () => {
  const { source: entries, tell } = source(() => []);
  const items = follow(entries);
  await items.next();
  const message = "x".repeat(10_000_000);
  const event = {
    type: "subagent",
    callId: "call",
    agent: "look",
    event: { type: "warning", message },
  } as const;
  const listeners = Array.from({ length: 6 }, () => tell({ type: "event", event }));
  expect(listeners).toEqual([1, 1, 1, 1, 0, 0]);
  expect(await items.next()).toEqual({ done: true, value: undefined });
});
