import fc from "fast-check";
import { expect, test } from "vitest";
import type { JournalEntry, NoteEntry } from "../../core/agent/entries.ts";
import type { Json } from "../../core/base/errors.ts";
import { KeptQueue } from "./kept-queue.ts";
import { WaitingMessages } from "./waiting-messages.ts";

/** A queue that is kept in a list of entries, and what another process finds in it. */
function keptIn(entries: JournalEntry[], sessionId: string) {
  const faults: unknown[] = [];
  const note = async (kind: string, data: Json): Promise<NoteEntry> => {
    const entry = { id: String(entries.length), time: 0, type: "note", kind, data } as const;
    entries.push(entry as unknown as JournalEntry);
    return entry as unknown as NoteEntry;
  };
  const kept = new KeptQueue({
    agent: () => ({ note, sessionId }),
    onFault: (error) => faults.push(error),
  });
  const session = {
    journal: { entries: () => entries.values() },
    newestOf: () => entries.at(-1),
  } as unknown as Parameters<KeptQueue["restored"]>[0];
  const queue: WaitingMessages = new WaitingMessages({
    onChange: () => kept.keep(() => queue.items),
    onReady: () => undefined,
    sendNow: () => undefined,
    isCommand: () => false,
    isStored: () => kept.stored,
  });
  return { kept, queue, session, faults };
}

test("whatever is done with a queue, what waits is found again, in its order, and a copy of the session has none of it", async () => {
  const step = fc.record({
    act: fc.constantFrom("add", "edit", "move", "remove", "next", "settle"),
    at: fc.nat(9),
    text: fc.string({ minLength: 1 }).filter((text) => text.trim() !== ""),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const entries: JournalEntry[] = [];
      const { kept, queue } = keptIn(entries, "one");
      const image = { type: "image", source: { type: "url", url: "https://a.example/x.png" } } as const;
      for (const { act, at, text } of steps) {
        const id = queue.items[at]?.id;
        if (act === "add") queue.add(text, at > 6 ? [image] : []);
        else if (act === "next") queue.next();
        else if (act === "settle") await kept.stored;
        else if (id !== undefined && act === "edit") queue.edit(id, text);
        else if (id !== undefined && act === "move") queue.move(id, text.length);
        else if (id !== undefined && act === "remove") queue.remove(id);
      }
      await kept.stored;
      const again = keptIn(entries, "one");
      const copy = keptIn(entries, "two");
      expect([again.kept.restored(again.session), copy.kept.restored(copy.session)]).toEqual([
        queue.items.map(({ id: _id, ...message }) => message),
        [],
      ]);
    }),
  );
});

test("a message that goes out at once leaves nothing in the journal", async () => {
  const entries: JournalEntry[] = [];
  const { kept, queue } = keptIn(entries, "one");
  queue.add("go");
  queue.next();
  await kept.stored;
  expect(entries).toEqual([]);
});

test("entries that are no queue, or a damaged one, are passed over", () => {
  const note = (kind: string, data: Json): JournalEntry =>
    ({ id: "n", time: 0, type: "note", kind, data }) as unknown as JournalEntry;
  const { kept, session } = keptIn(
    [
      note("queue", { session: "one", messages: [{ text: "kept" }] }),
      note("shell", { command: "ls" }),
      note("queue", ["damaged"]),
      note("queue", { session: "one", messages: "damaged" }),
    ],
    "one",
  );
  expect(kept.restored(session)).toEqual([{ text: "kept" }]);
});
