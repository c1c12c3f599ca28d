import fc from "fast-check";
import { expect, test } from "vitest";
import { MemoryJournal } from "../core/agent/journal.ts";
import { assistantMessage, type Message, messageText, userMessage } from "../core/message/message.ts";
import { transcriptViolations } from "../core/message/transcript.ts";
import { InMemoryMemory, type MemoryItem } from "./in-memory-memory.ts";

const asks = (id: string): Message => ({
  role: "assistant",
  content: [{ type: "tool_use", id, name: "look", input: {} }],
});
const answers = (id: string): Message => ({
  role: "user",
  content: [{ type: "tool_result", tool_use_id: id, content: `result ${id}` }],
});

function texts(memory: InMemoryMemory): readonly string[] {
  return memory
    .getMemory()
    .map((message) => messageText(message) || message.content.map(({ type }) => type).join());
}

test("nothing is added for null, one message and many are, and text is a message of the user", async () => {
  const memory = new InMemoryMemory();
  await memory.add(null);
  await memory.add(undefined);
  await memory.add([]);
  expect([memory.size, memory.getMemory()]).toEqual([0, []]);
  await memory.add("one");
  await memory.add(assistantMessage("two"));
  await memory.add([userMessage("three"), assistantMessage("four")]);
  expect(texts(memory)).toEqual(["one", "two", "three", "four"]);
});

test("a call and its result may come one after the other, and a call nobody answers is closed", async () => {
  const memory = new InMemoryMemory();
  await memory.add("go");
  await memory.add(asks("a"));
  await memory.add(answers("a"));
  await memory.add([answers("a"), answers("nobody asked")]);
  await memory.add(asks("b"));
  await memory.add("never mind");
  expect(texts(memory)).toEqual(["go", "tool_use", "tool_result", "tool_use", "tool_result", "never mind"]);
  expect(transcriptViolations(memory.getMemory())).toEqual([]);
});

test("marks tell messages apart, and what has one can be found, left out and removed", async () => {
  const memory = new InMemoryMemory();
  await memory.add("question");
  await memory.add("look at the date", { marks: ["hint"] });
  await memory.add(assistantMessage("answer"), { marks: ["hint", "compressed"] });
  expect(memory.getMemory({ mark: "hint" }).map((message) => messageText(message))).toEqual([
    "look at the date",
    "answer",
  ]);
  expect(memory.getMemory({ mark: "hint", excludeMark: "compressed" })).toHaveLength(1);
  await memory.unmark(memory.getMemory({ mark: "compressed" }), "hint");
  await memory.mark(memory.getMemory()[0] ?? [], "asked");
  expect(memory.items().map(({ marks }) => marks)).toEqual([["asked"], ["hint"], ["compressed"]]);
  expect([await memory.deleteByMark("hint"), await memory.deleteByMark("hint"), memory.size]).toEqual([
    1, 0, 2,
  ]);
});

test("what is deleted goes with its tool results, by message or by id, and what is not there is no fault", async () => {
  const memory = new InMemoryMemory();
  await memory.add(["go", "on"].map((text) => userMessage(text)));
  await memory.add([asks("a"), answers("a"), assistantMessage("done"), asks("b")]);
  const [go, , call] = memory.items();
  expect(await memory.delete(go?.message ?? [])).toBe(1);
  expect(await memory.delete([call?.id ?? "", "unknown", userMessage("stranger")])).toBe(2);
  expect(texts(memory)).toEqual(["on", "done", "tool_use"]);
  expect(await memory.delete(memory.getMemory().slice(-1))).toBe(1);
  await memory.add(answers("b"));
  expect(texts(memory)).toEqual(["on", "done"]);
  await memory.clear();
  expect(memory.size).toBe(0);
});

test("one message object added twice is two messages", async () => {
  const memory = new InMemoryMemory();
  const twice = userMessage("again");
  await memory.add([twice, twice]);
  const ids = memory.items().map(({ id }) => id);
  expect([new Set(ids).size, await memory.delete(ids[0] ?? ""), memory.size]).toEqual([2, 1, 1]);
});

test("another role and a call id that is in use are refused, and nothing is added", async () => {
  const memory = new InMemoryMemory();
  await memory.add(asks("a"));
  const system = { role: "system", content: [] } as unknown as Message;
  await expect(memory.add([userMessage("x"), system])).rejects.toThrow(/messages\[1\] has the role "system"/);
  await expect(memory.add(asks("a"))).rejects.toThrow(/"a" is in use already/);
  expect(memory.size).toBe(1);
});

type Step = readonly [what: number, which: number];

test("whatever is added, marked and removed, it can be sent, and the journal read again gives the same", async () => {
  const steps = fc.array(fc.tuple(fc.nat(7), fc.nat(9)), { maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(steps, async (script) => {
      const journal = new MemoryJournal();
      const memory = new InMemoryMemory({ journal });
      let calls = 0;
      for (const step of script) await apply(memory, step, () => `call_${++calls}`);
      const again = new InMemoryMemory({ journal });
      expect(again.items()).toEqual(memory.items());
      await memory.add("end");
      expect(transcriptViolations(memory.getMemory())).toEqual([]);
    }),
  );
});

async function apply(memory: InMemoryMemory, [what, which]: Step, newId: () => string): Promise<void> {
  const item = memory.items()[which];
  if (what > 3) return change(memory, [what, which], item);
  const open = memory
    .getMemory()
    .at(-1)
    ?.content.find((block) => block.type === "tool_use");
  if (what === 0) await memory.add(`text ${which}`, { marks: which > 5 ? ["hint"] : [] });
  else if (what === 1) await memory.add(assistantMessage("answer"));
  else if (what === 2) await memory.add(asks(newId()));
  else if (what === 3) await memory.add(answers(open?.type === "tool_use" ? open.id : "nobody"));
}

async function change(
  memory: InMemoryMemory,
  [what, which]: Step,
  item: MemoryItem | undefined,
): Promise<void> {
  if (what === 4) await memory.delete(item?.id ?? "unknown");
  else if (what === 5) await memory.mark(item?.message ?? [], `mark ${which}`);
  else if (what === 6) await memory.deleteByMark("hint");
  else if (which === 0) await memory.clear();
}
