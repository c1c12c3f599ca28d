import { defined } from "../../../core/base/defined.ts";
import { counted } from "../../../core/base/text.ts";
import type { ToolInput } from "../../../core/message/block.ts";
import { hiddenCharacter, withHiddenShown } from "../../../permission/hidden-characters.ts";
import type { FileDiff } from "../../../view/file-diff.ts";
import type { Question, QuestionReply } from "../../../view/question.ts";
import { questionSubject } from "../../../view/question-kind.ts";
import { choiceText, questionHeading, questionNotes } from "../../../view/question-text.ts";
import { mostColumnsOf, wrapColumns } from "../../text/columns.ts";
import { editsText, markedText } from "../../text/edit-text.ts";
import type { Style } from "../style.ts";

/** How a question is put on a terminal. */
export interface QuestionLook {
  readonly style: Style;
  readonly width: number;
  /** False: a long call is shown by its beginning and its end. */
  readonly whole: boolean;
}

/** Rows of one text before its middle is left out. */
const MAX_ROWS = 24;
const HEAD_ROWS = 15;
const TAIL_ROWS = 8;

/** A key, what it means, and the answer it gives. */
export interface Offer {
  readonly key: string;
  readonly meaning: string;
  readonly reply: QuestionReply;
}

/** The answers of a question, each with its number. Stopping the run is a key of its own. */
export function offersOf(question: Question): readonly Offer[] {
  return question.choices
    .filter(({ choice }) => choice !== "stop")
    .map((offered, index) => ({
      key: String(index + 1),
      meaning: choiceText(offered, question),
      reply: { choice: offered.choice, ...defined({ rule: offered.rule }) },
    }));
}

/**
 * A question as lines for a terminal: what would run behind a bar that no text of the call can imitate, what
 * it reaches and why, and the answers. Characters that do not show stand as their names.
 */
export function questionLines(question: Question, look: QuestionLook): readonly string[] {
  const { style } = look;
  const { diff } = question;
  const { title, target, note } = questionHeading(question);
  const heading = [title, target, note && `(${note})`].filter((each) => each !== undefined).join(" ");
  const subject = subjectOf(question);
  const offers = offersOf(question);
  const hides = [subject, target ?? "", ...offers.map(({ meaning }) => meaning)].some(
    (text) => hiddenCharacter(text) !== undefined,
  );
  return [
    ...rowsOf(`? ${heading.replaceAll("\n", "‹U+000A›")}`, look, 0).map((row) =>
      style.yellow(style.bold(row)),
    ),
    ...rowsOf(subject, look, 2).map((row) => `${style.yellow("│")} ${row}`),
    ...(diff === undefined ? [] : noteRows(diffText(diff), look)),
    ...(hides ? [style.red("  It has characters that do not show; they stand here as ‹U+…›.")] : []),
    ...questionNotes(question).flatMap((text) => noteRows(text, look)),
    ...offers.flatMap(({ key, meaning }) =>
      rowsOf(meaning, look, 5).map(
        (row, index) => `${index === 0 ? `  ${style.bold(key)}  ` : "     "}${row}`,
      ),
    ),
  ];
}

function diffText({ isNew, added, removed }: FileDiff): string {
  return isNew ? "A new file." : `${counted(added, "line")} more, ${counted(removed, "line")} less.`;
}

/** The keys beside the answers. `whole`: no key would show more. */
export function keyLine(question: Question, { style, whole }: QuestionLook): string {
  const count = offersOf(question).length;
  const keys = [`1-${count} answer`, "esc stops the run", ...(whole ? [] : ["v shows all of it"])];
  return style.dim(`  ${keys.join(", ")}`);
}

function subjectOf(question: Question): string {
  const { tool, input = {} } = question;
  const subject = questionSubject(question);
  if (subject === undefined) return JSON.stringify(input, null, 2);
  const { main, others } = subject;
  const { content, ...beside } = others;
  if (tool === "write" && typeof content === "string")
    return `${main}${argumentsText(beside)}\n${markedText("+", content)}`;
  const { edits, ...more } = others;
  const edited = tool === "edit" ? editsText(edits) : undefined;
  if (edited !== undefined) return `${main}${argumentsText(more)}\n${edited}`;
  return `${main}${argumentsText(others)}`;
}

function argumentsText(others: ToolInput): string {
  const texts = Object.entries(others).map(([key, value]) => `${key}: ${JSON.stringify(value)}`);
  return texts.length === 0 ? "" : `\n(${texts.join(", ")})`;
}

function noteRows(text: string, look: QuestionLook): readonly string[] {
  return rowsOf(text.replaceAll(/\s+/g, " "), look, 2).map((row) => look.style.dim(`  ${row}`));
}

/** Rows that fit beside a margin; of too many the middle is left out, and said so. */
function rowsOf(text: string, { width, whole, style }: QuestionLook, margin: number): readonly string[] {
  const rows = withHiddenShown(text)
    .split("\n")
    .flatMap((line) => wrapColumns(line.replaceAll("\t", "    "), width - margin - 1, mostColumnsOf));
  if (whole || rows.length <= MAX_ROWS) return rows;
  const left = rows.length - HEAD_ROWS - TAIL_ROWS;
  return [
    ...rows.slice(0, HEAD_ROWS),
    style.red(`… ${left} more rows, shown with v …`),
    ...rows.slice(-TAIL_ROWS),
  ];
}
