import fc from "fast-check";
import { expect, test } from "vitest";
import type { ImageBlock } from "../../core/message/block.ts";
import type { Input } from "../../core/message/input.ts";
import { WaitingMessages } from "./waiting-messages.ts";

function queue() {
  const sent: Input[] = [];
  const messages = new WaitingMessages({
    onChange: () => undefined,
    onReady: () => undefined,
    sendNow: (text) => sent.push(text),
    isCommand: (text) => text.startsWith("/"),
    isStored: async () => true,
  });
  return { messages, sent };
}

test("messages go out together up to a command, which goes by itself", () => {
  const { messages } = queue();
  for (const text of ["a", "b", "/c", "d"]) messages.add(text);
  expect([messages.next(), messages.next(), messages.next(), messages.next()]).toEqual([
    "a\n\nb",
    "/c",
    "d",
    undefined,
  ]);
});

test("while the queue is held nothing goes out by itself; a message can be sent all the same", () => {
  const { messages, sent } = queue();
  messages.hold();
  const id = messages.add("a");
  messages.add("b");
  const held = messages.next();
  messages.sendNow(id);
  messages.release();
  expect([held, sent, messages.next()]).toEqual([undefined, ["a"], "b"]);
});

test("an empty message, and an id that does not wait, are refused", () => {
  const { messages } = queue();
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
      const { messages, sent } = queue();
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
  const { messages, sent } = queue();
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
