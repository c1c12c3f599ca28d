import { callSubject } from "../../../app/coding-session/call-subject.ts";
import type { FileDiff } from "../../../app/coding-session/file-diff.ts";
import type { Question, QuestionReply } from "../../../app/coding-session/question.ts";
import { defined } from "../../../core/base/defined.ts";
import { counted } from "../../../core/base/text.ts";
import type { ToolInput } from "../../../core/message/block.ts";
import { hiddenCharacter, withHiddenShown } from "../../../permission/hidden-characters.ts";
import { mostColumnsOf, wrapColumns } from "../../terminal/columns.ts";
import { editsText, markedText } from "../../terminal/edit-text.ts";
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
/** Parts that are shown before the others are left out. */
const MAX_PARTS = 12;

/** A key, what it means, and the answer it gives. */
export interface Offer {
  readonly key: string;
  readonly meaning: string;
  readonly reply: QuestionReply;
}

/** The answers that a key gives, in the order they are shown. */
export function offersOf({ choices }: Question): readonly Offer[] {
  const [session, widerSession] = choices.filter(({ choice }) => choice === "session");
  const [always, widerAlways] = choices.filter(({ choice }) => choice === "always");
  const offers = [
    { key: "y", meaning: "once", reply: choices.find(({ choice }) => choice === "once") },
    { key: "s", meaning: "this session", reply: session },
    { key: "a", meaning: "always here", reply: always },
    { key: "w", meaning: "wider, this session", reply: widerSession },
    { key: "W", meaning: "wider, always here", reply: widerAlways },
    { key: "n", meaning: "no", reply: { choice: "no" } as const },
  ];
  return offers.flatMap(({ reply, ...offer }) => {
    if (reply === undefined) return [];
    const { choice, rule } = { rule: undefined, ...reply };
    return [{ ...offer, reply: { choice, ...defined({ rule }) } }];
  });
}

/**
 * A question as lines for a terminal: what would run behind a bar that no text of the call can imitate, the
 * parts that made it a question, why, and the rules that are offered. Characters that do not show stand as
 * their names.
 */
export function questionLines(question: Question, look: QuestionLook): readonly string[] {
  const { style } = look;
  const { tool = "", input = {}, agent, reason, choices, diff } = question;
  const subject = subjectOf(tool, input);
  const parts = partsOf(question, subject);
  const [rule, wider] = choices.flatMap((each) => (each.choice === "session" ? (each.rule ?? []) : []));
  const rules = [rule ?? "", wider ?? ""];
  const hides = [subject, ...parts, ...rules].some((text) => hiddenCharacter(text) !== undefined);
  const name = withHiddenShown(tool).slice(0, 200);
  const asker = agent === undefined ? name : `${withHiddenShown(agent).slice(0, 80)} · ${name}`;
  return [
    style.yellow(style.bold(`? ${asker} wants to run:`)),
    ...rowsOf(subject, look, 2).map((row) => `${style.yellow("│")} ${row}`),
    ...(diff === undefined ? [] : labelled("file", diffText(diff), look)),
    ...(hides ? [style.red("  It has characters that do not show; they stand here as ‹U+…›.")] : []),
    ...partLines(parts, look),
    ...labelled("why", reason, look),
    ...(rule === undefined ? [] : labelled("rule", rule, look)),
    ...(wider === undefined ? [] : labelled("wide", wider, look)),
    ...(rules.join("").includes("*") ? [style.dim("        (each * stands for any text)")] : []),
  ];
}

function diffText({ isNew, added, removed }: FileDiff): string {
  return isNew ? "a new one" : `${counted(added, "line")} more, ${counted(removed, "line")} less`;
}

function partsOf({ parts = [] }: Question, subject: string): readonly string[] {
  const texts = parts.map(({ text }) => text);
  const [only = ""] = texts;
  const isWhole = [subject, subject.split("\n", 1)[0]].some((text) => text?.trim() === only.trim());
  return texts.length === 1 && isWhole ? [] : texts;
}

function partLines(parts: readonly string[], look: QuestionLook): readonly string[] {
  if (parts.length <= 1) return parts.flatMap((part) => labelled("part", part, look));
  const shown = look.whole ? parts : parts.slice(0, MAX_PARTS);
  const left = parts.length - shown.length;
  return [
    ...shown.flatMap((part, index) => labelled(index === 0 ? "asks" : "", part, look)),
    ...(left === 0 ? [] : [look.style.red(`        … ${left} more, shown with v …`)]),
  ];
}

/** The keys with their meaning, in as many lines as they need. `whole`: no key would show more. */
export function keyLine(question: Question, { style, width, whole }: QuestionLook): string {
  const keys = offersOf(question).map(({ key, meaning }) => [key, meaning] as const);
  keys.push(["r", "no, with a reason"], ...(whole ? [] : [["v", "all of it"] as const]));
  let columns = 0;
  const texts = keys.map(([key, meaning]) => {
    const length = key.length + meaning.length + 3;
    const fits = columns > 0 && columns + 2 + length < width;
    const before = columns === 0 ? "" : fits ? "  " : "\n";
    columns = fits ? columns + 2 + length : length;
    return `${before}${style.bold(`[${key}]`)} ${meaning}`;
  });
  return texts.join("");
}

function subjectOf(tool: string, input: ToolInput): string {
  const subject = callSubject(tool, input);
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

function labelled(label: string, text: string, look: QuestionLook): readonly string[] {
  return rowsOf(text, look, 8).map(
    (row, index) =>
      `${look.style.dim(index === 0 && label !== "" ? `  ${label}:`.padEnd(8) : "        ")}${row}`,
  );
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
