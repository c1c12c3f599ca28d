import fc from "fast-check";
import { expect, test } from "vitest";
import { bareQueue } from "../../../test/coding-session/bare-queue.ts";
import type { JournalEntry, NoteEntry } from "../../core/agent/entries.ts";
import type { Json } from "../../core/base/errors.ts";
import type { Input } from "../../core/message/input.ts";
import type { ImageBlock } from "../../core/message/message.ts";
import type { QueuedMessage } from "../../view/message-queue.ts";
import type { SessionQueue } from "./session-queue.ts";

/** A queue that is stored in a list of entries. */
function storedIn(entries: JournalEntry[], sessionId: string) {
  const note = async (kind: string, data: Json): Promise<NoteEntry> => {
    const entry = { id: String(entries.length), time: 0, type: "note", kind, data } as const;
    entries.push(entry as unknown as JournalEntry);
    return entry as unknown as NoteEntry;
  };
  const agent = { note, sessionId, pendingSteering: [], steer: () => "", unsteer: () => false };
  const session = {
    journal: { entries: () => entries.values() },
    newestOf: () => entries.at(-1),
  } as unknown as Parameters<SessionQueue["restore"]>[0];
  return { ...bareQueue({ agent: () => agent }), session };
}

test("messages go out together up to a command, which goes by itself", () => {
  const { queue: messages } = bareQueue();
  for (const text of ["a", "b", "/c", "d"]) messages.add(text);
  expect([messages.next(), messages.next(), messages.next(), messages.next()]).toEqual([
    "a\n\nb",
    "/c",
    "d",
    undefined,
  ]);
});

test("while the queue is held nothing goes out by itself; a message can be sent all the same", () => {
  const { queue: messages, sent } = bareQueue();
  messages.hold();
  const id = messages.add("a");
  messages.add("b");
  const held = messages.next();
  messages.sendNow(id);
  messages.release();
  expect([held, sent, messages.next()]).toEqual([undefined, ["a"], "b"]);
});

test("an empty message, and an id that does not wait, are refused", () => {
  const { queue: messages } = bareQueue();
  for (const misuse of [
    () => messages.add(" "),
    () => messages.edit("message_1", "a"),
    () => messages.move("message_1", 0),
    () => messages.remove("message_1"),
    () => messages.sendNow("message_1"),
  ])
    expect(misuse).toThrow(expect.objectContaining({ code: "invalid_argument" }));
});

test("whatever is done with the queue, every message goes out once, in the order it stands in, unless it was taken back", () => {
  const step = fc.record({
    act: fc.constantFrom("add", "edit", "move", "remove", "hold", "release", "next", "sendNow"),
    at: fc.nat(9),
    to: fc.integer({ min: -3, max: 9 }),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const { queue: messages, sent } = bareQueue();
      let model: { id: string; text: string }[] = [];
      let held = false;
      const out: Input[] = [];
      const expected: string[] = [];
      steps.forEach(({ act, at, to }, number) => {
        const item = model[at % Math.max(1, model.length)];
        if (act === "add") {
          const text = `${at % 4 === 0 ? "/" : ""}m${number}`;
          model.push({ id: messages.add(text), text });
        } else if (act === "hold" || act === "release") {
          messages[act]();
          held = act === "hold";
        } else if (act === "next") {
          const text = messages.next();
          if (text !== undefined) out.push(text);
          if (held || model.length === 0) return;
          const command = model.findIndex((each) => each.text.startsWith("/"));
          const count = command === 0 ? 1 : command === -1 ? model.length : command;
          expected.push(
            model
              .slice(0, count)
              .map((each) => each.text)
              .join("\n\n"),
          );
          model = model.slice(count);
        } else if (item !== undefined) {
          const others = model.filter((each) => each !== item);
          if (act === "edit") {
            messages.edit(item.id, `e${number}`);
            item.text = `e${number}`;
          } else if (act === "move") {
            messages.move(item.id, to);
            model = others.toSpliced(Math.max(0, to), 0, item);
          } else if (act === "remove") {
            expect(messages.remove(item.id)).toBe(item.text);
            model = others;
          } else {
            messages.sendNow(item.id);
            expect(sent.at(-1)).toBe(item.text);
            model = others;
          }
        }
      });
      expect([out, messages.items, messages.held]).toEqual([expected, model, held]);
    }),
  );
});

test("images wait with their text and go out with it, after the texts of all that go together", () => {
  const { queue: messages, sent } = bareQueue();
  const image = (data: string): ImageBlock => ({
    type: "image",
    source: { type: "base64", media_type: "image/png", data },
  });
  messages.add("a", [image("AA==")]);
  const edited = messages.add("b");
  messages.add("c", [image("BB==")]);
  messages.edit(edited, "b, changed");
  const together = messages.next();
  const alone = messages.add("", [image("CC==")]);
  messages.edit(alone, "with words");
  messages.sendNow(alone);
  expect([together, sent]).toEqual([
    [{ type: "text", text: "a\n\nb, changed\n\nc" }, image("AA=="), image("BB==")],
    [[{ type: "text", text: "with words" }, image("CC==")]],
  ]);
});

test("whatever is done with a queue, what waits is found again, in its order, and a copy of the session has none of it", async () => {
  const step = fc.record({
    act: fc.constantFrom("add", "edit", "move", "remove", "next", "settle"),
    at: fc.nat(9),
    text: fc.string({ minLength: 1 }).filter((text) => text.trim() !== ""),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const entries: JournalEntry[] = [];
      const { queue } = storedIn(entries, "one");
      const image = { type: "image", source: { type: "url", url: "https://a.example/x.png" } } as const;
      for (const { act, at, text } of steps) {
        const id = queue.items[at]?.id;
        if (act === "add") queue.add(text, at > 6 ? [image] : []);
        else if (act === "next") queue.next();
        else if (act === "settle") await queue.settled;
        else if (id !== undefined && act === "edit") queue.edit(id, text);
        else if (id !== undefined && act === "move") queue.move(id, text.length);
        else if (id !== undefined && act === "remove") queue.remove(id);
      }
      await queue.settled;
      const again = storedIn(entries, "one");
      const copy = storedIn(entries, "two");
      for (const each of [again, copy]) each.queue.restore(each.session);
      const texts = (items: readonly QueuedMessage[]) => items.map(({ id: _id, ...message }) => message);
      expect([texts(again.queue.items), again.queue.held, texts(copy.queue.items)]).toEqual([
        texts(queue.items),
        queue.items.length > 0,
        [],
      ]);
    }),
  );
});

test("a message that goes out at once leaves nothing in the journal", async () => {
  const entries: JournalEntry[] = [];
  const { queue } = storedIn(entries, "one");
  queue.add("go");
  queue.next();
  await queue.settled;
  expect(entries).toEqual([]);
});

test("entries that are no queue, or a damaged one, are passed over", () => {
  const note = (kind: string, data: Json): JournalEntry =>
    ({ id: "n", time: 0, type: "note", kind, data }) as unknown as JournalEntry;
  const { queue, session } = storedIn(
    [
      note("queue", { session: "one", messages: [{ text: "kept" }] }),
      note("shell", { command: "ls" }),
      note("queue", ["damaged"]),
      note("queue", { session: "one", messages: "damaged" }),
    ],
    "one",
  );
  queue.restore(session);
  expect(queue.items.map(({ text }) => text)).toEqual(["kept"]);
});
