import fc from "fast-check";
import { expect, test } from "vitest";
import { messageText, userMessage } from "../../core/message/message.ts";
import { type FileAction, noteMessage, readNote } from "./pinned.ts";

const NOW = Date.UTC(2026, 10, 21);
const TAG = fc.constantFrom(
  "<summary>",
  "</todo_list>",
  "</approved_plan>",
  "<files_touched>",
  "</conversation_summary>",
  "- read: x",
);
const TEXT = fc
  .array(fc.oneof(fc.string({ maxLength: 12 }), TAG), { maxLength: 6 })
  .map((lines) => lines.join("\n"));
const ACTIONS = fc.uniqueArray(fc.constantFrom<FileAction>("read", "written", "edited"), { minLength: 1 });
const PATH = fc.stringMatching(/^[\w./-]{1,12}$/);

/** As a section holds it: without blanks around it, and without tags at the beginning of a line. */
function held(text: string): string | undefined {
  const trimmed = text.trim();
  return trimmed === "" ? undefined : trimmed.replaceAll(/^<(?=\/?[a-z_]+>)/gm, "< ");
}

test("whatever stands in its parts, a note is read as it was written", () => {
  const facts = fc.record({
    summary: TEXT,
    todo: TEXT,
    plan: TEXT,
    files: fc.array(fc.tuple(PATH, ACTIONS), { maxLength: 4 }),
  });
  fc.assert(
    fc.property(facts, ({ summary, todo, plan, files }) => {
      const touched = new Map(files.map(([path, actions]) => [path, new Set(actions)] as const));
      const note = readNote(noteMessage({ now: NOW, leftOut: 3, summary, todo, plan, files: touched }));
      expect(note).toEqual({ summary: held(summary), todo: held(todo), plan: held(plan), files: touched });
    }),
  );
});

test("a path with a line break is quoted, and the files touched last are named when there are too many", () => {
  const files = new Map(
    Array.from({ length: 250 }, (_, at) => [`f${at}`, new Set<FileAction>(["read"])] as const),
  );
  const text = messageText(
    noteMessage({
      now: NOW,
      leftOut: 1,
      summary: undefined,
      todo: undefined,
      plan: undefined,
      files: new Map([...files, ["a\nb", new Set<FileAction>(["edited"])]]),
    }),
  );
  expect(text).toContain('- edited: "a\\nb"');
  expect([text.includes("- read: f50\n"), text.includes("- read: f51\n")]).toEqual([false, true]);
});

test("a message of the user in such tags is none", () => {
  expect(readNote(userMessage("<conversation_summary>\nmine\n</conversation_summary>"))).toBeUndefined();
});
