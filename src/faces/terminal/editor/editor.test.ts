import fc from "fast-check";
import { expect, test } from "vitest";
import { columnsOf } from "../../text/columns.ts";
import { span } from "../paint/line.ts";
import { marksOf } from "../paint/theme.ts";
import {
  applyEdit,
  caretLine,
  type EditCommand,
  type Editor,
  EMPTY_EDITOR,
  editorRows,
  insertText,
  isEditCommand,
} from "./editor.ts";
import { ACTIONS } from "./keymap.ts";

/** An editor after a text, in which `|` is the caret, and commands; shown in the same way. */
function after(text: string, ...commands: readonly EditCommand[]): string {
  const editor = { ...EMPTY_EDITOR, text: text.replace("|", ""), caret: text.indexOf("|") };
  return shown(commands.reduce(applyEdit, editor));
}

function shown({ text, caret }: Editor): string {
  return `${text.slice(0, caret)}|${text.slice(caret)}`;
}

test.each<[string, readonly EditCommand[], string]>([
  ["one two|", ["word-left"], "one |two"],
  ["one |two three", ["word-right"], "one two| three"],
  ["one two|", ["delete-word-left"], "one |"],
  ["one |two", ["kill-to-end", "yank", "yank"], "one twotwo|"],
  ["one two|", ["delete-word-left", "delete-word-left", "yank"], "one two|"],
  ["ab\ncd|", ["line-start", "kill-to-start"], "ab|cd"],
  ["a|b\nlonger\nxy", ["down", "down"], "ab\nlonger\nx|y"],
  ["ab\nlonger|\nxy\nlonger", ["down", "down"], "ab\nlonger\nxy\nlonger|"],
  ["x👩‍👩‍👧|y", ["delete-left"], "x|y"],
  ["see [pasted 120 lines]|", ["delete-left"], "see |"],
  ["|[image #2] x", ["right"], "[image #2]| x"],
  ["a|b", ["newline", "undo", "redo"], "a\n|b"],
  ["今天天气很好|", ["word-left", "delete-word-right"], "今天天气|"],
])("%j with %j is %j", (text, commands, wanted) => {
  expect(after(text, ...commands)).toBe(wanted);
});

test("words typed one after the other are undone one by one", () => {
  let editor = EMPTY_EDITOR;
  for (const letter of "one two") editor = insertText(editor, letter);
  editor = applyEdit(editor, "undo");
  expect(shown(editor)).toBe("one|");
  expect(shown(applyEdit(editor, "undo"))).toBe("|");
});

const COMMANDS = Object.keys(ACTIONS).filter(isEditCommand);

test("whatever is pressed, the caret stays between characters, undo goes back to where it was, and the rows hold the text", () => {
  const step = fc.oneof(
    fc.constantFrom(...COMMANDS),
    fc.constantFrom("a", "中", " ", "é", "🇩🇪", "[pasted 9 lines]"),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), fc.integer({ min: 6, max: 40 }), (steps, width) => {
      let editor = EMPTY_EDITOR;
      for (const each of steps)
        editor = isEditCommand(each) ? applyEdit(editor, each) : insertText(editor, each);
      expect(editor.caret).toBeGreaterThanOrEqual(0);
      expect(editor.caret).toBeLessThanOrEqual(editor.text.length);
      expect(caretLine(editor).line).toBeLessThan(caretLine(editor).lines);
      const { rows, caret } = editorRows(editor, {
        width,
        maxRows: 1_000,
        prompt: span("> "),
        placeholder: "",
        marks: marksOf({ unicode: true }),
      });
      const texts = rows.map((row) => row.map((part) => part.text).join(""));
      expect(texts.map((row) => row.slice(2)).join("")).toBe(editor.text.replaceAll("\n", ""));
      expect(caret.column).toBeLessThan(width);
      for (const row of texts) expect(columnsOf(row)).toBeLessThanOrEqual(width);
      while (editor.past.length > 0) editor = applyEdit(editor, "undo");
      expect(editor.text).toBe("");
    }),
  );
});
