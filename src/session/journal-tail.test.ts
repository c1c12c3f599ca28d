import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { tempFolder } from "../../test/temp-folder.ts";
import { JournalTail } from "./journal-tail.ts";
import { JsonlJournal } from "./jsonl-journal.ts";
import { readSession } from "./read-session.ts";

const note = (text: string) => ({ type: "note", kind: "test", data: text }) as const;

/** The texts that a tail gives now; a reset takes back what came before. */
function read(tail: JournalTail, seen: string[]): void {
  for (const entry of tail.read())
    if (entry === "reset") seen.length = 0;
    else if (entry.type === "note") seen.push(String(entry.data));
}

const textsIn = (path: string): readonly string[] =>
  readSession(path).entries.flatMap((entry) => (entry.type === "note" ? [String(entry.data)] : []));

const STEPS = fc.array(
  fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({ do: fc.constant("append" as const), text: fc.string({ maxLength: 20 }) }),
    },
    { weight: 3, arbitrary: fc.record({ do: fc.constant("read" as const) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("rewind" as const), to: fc.nat(10) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("damage" as const) }) },
  ),
  { maxLength: 30 },
);

test("whoever reads on has what the file says, whatever is written, rewound or damaged between", async () => {
  await fc.assert(
    fc.asyncProperty(STEPS, async (steps) => {
      const path = join(tempFolder(), "s.jsonl");
      const journal = await JsonlJournal.create(path, { sessionId: "s", cwd: "/" });
      const tail = new JournalTail(path);
      const seen: string[] = [];
      const ids: string[] = [];
      try {
        for (const step of steps) {
          if (step.do === "append") ids.push((await journal.append(note(step.text))).id);
          else if (step.do === "read") read(tail, seen);
          else if (step.do === "damage") appendFileSync(path, "torn by somebody\n");
          else {
            const onPath = new Set(readSession(path).entries.map(({ id }) => id));
            const to = ids.filter((id) => onPath.has(id))[step.to];
            if (to !== undefined) await journal.rewind(to);
          }
        }
        read(tail, seen);
        expect(seen).toEqual(textsIn(path));
      } finally {
        await journal.close();
      }
    }),
    { numRuns: 40 },
  );
});

test("a line that is not ended yet is read once it is", async () => {
  const path = join(tempFolder(), "s.jsonl");
  const journal = await JsonlJournal.create(path, { sessionId: "s", cwd: "/" });
  await journal.append(note("one"));
  await journal.append(note("two"));
  await journal.close();
  const whole = readFileSync(path);
  for (let cut = 0; cut <= whole.length; cut += 37) {
    writeFileSync(path, whole.subarray(0, cut));
    const tail = new JournalTail(path);
    const seen: string[] = [];
    read(tail, seen);
    writeFileSync(path, whole);
    read(tail, seen);
    expect(seen).toEqual(["one", "two"]);
  }
});

test("a record that comes behind another one on its line is read too, wherever the reader was", async () => {
  const path = join(tempFolder(), "s.jsonl");
  const journal = await JsonlJournal.create(path, { sessionId: "s", cwd: "/" });
  await journal.append(note("one"));
  await journal.append(note("two"));
  await journal.close();
  const [header = "", one = "", two = ""] = readFileSync(path, "utf8").split("\n");
  const merged = `${header}\n${one}${two}\n`;
  const between = header.length + 1 + one.length;
  for (let cut = between - 3; cut <= between + 3; cut++) {
    writeFileSync(path, merged.slice(0, cut));
    const tail = new JournalTail(path);
    const seen: string[] = [];
    read(tail, seen);
    writeFileSync(path, merged);
    read(tail, seen);
    expect(seen).toEqual(["one", "two"]);
  }
});

test("it goes on behind any entry, and begins anew behind one that is not there", async () => {
  const path = join(tempFolder(), "s.jsonl");
  const journal = await JsonlJournal.create(path, { sessionId: "s", cwd: "/" });
  const { id } = await journal.append(note("one"));
  await journal.append(note("two"));
  await journal.close();
  const seen: string[] = [];
  read(new JournalTail(path, id), seen);
  expect(seen).toEqual(["two"]);
  expect(
    [...new JournalTail(path, "other").read()].map((entry) => (entry === "reset" ? entry : entry.id)),
  ).toEqual(["reset", id, expect.any(String)]);
});
