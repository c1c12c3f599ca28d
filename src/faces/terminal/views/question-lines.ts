import { findInvisible, revealInvisible } from "../../../core/base/hidden-characters.ts";
import { omitUndefined } from "../../../core/base/json.ts";
import type { Question, QuestionReply } from "../../../view/question.ts";
import { questionKind, questionSubject } from "../../../view/question-kind.ts";
import { choiceText, questionHeading, questionNotes } from "../../../view/question-text.ts";
import { maxColumnsOf } from "../../text/columns.ts";
import { editsText } from "../../text/edit-text.ts";
import {
  cutLine,
  cutRows,
  fitLine,
  type Line,
  line,
  lineColumns,
  type Span,
  span,
  textLines,
  type ViewContext,
  wrapLine,
} from "../paint/line.ts";
import type { Role, Style } from "../paint/theme.ts";
import { diffLines } from "./diff-lines.ts";
import { keysLine } from "./list-lines.ts";

interface QuestionOption {
  readonly label: string;
  /** It adds a rule, which must be readable in full. */
  readonly hasRule: boolean;
}

/** The answers of a question in numbered order. Stopping has its own key. */
export function questionOptions(question: Question): readonly QuestionOption[] {
  const plain = (label: string): QuestionOption => ({ label, hasRule: false });
  const offered = question.choices
    .filter(({ choice }) => choice !== "stop")
    .map((each) => ({ label: choiceText(each, question), hasRule: each.rule !== undefined }));
  return [...(question.options ?? []).map(({ label }) => plain(label)), ...offered];
}

interface QuestionState {
  /** The marked option; undefined until an arrow is pressed. */
  readonly marked: number | undefined;
  readonly maxRows: number;
  readonly more: number;
  /** Rows of the reason being written; they replace the last option. */
  readonly reason?: readonly Line[];
}

export interface QuestionRows {
  readonly rows: readonly Line[];
  /** Indices of answers whose rule only a larger window would show: they cannot be chosen. */
  readonly cut: ReadonlySet<number>;
  readonly reasonRow: number;
}

/** In a smaller window nothing can be approved. */
const MIN_ROWS = 8;

/**
 * A question with its answers; of long text the start and the end. If rows are scarce, blank rows go first,
 * then the keys, the notes, and the middle of the text. Undefined if there is no room: only what is visible
 * can be approved.
 */
export function questionLines(
  question: Question,
  state: QuestionState,
  context: ViewContext,
): QuestionRows | undefined {
  const { maxRows } = state;
  const head = headLines(question, state.more, context);
  const subject = subjectLines(question, context);
  const notes = noteLines(question, context);
  const { rows: answers, cut } = answerLines(question, state, context);
  const minRows = head.length + Math.min(subject.length, 2) + answers.length;
  if (maxRows < MIN_ROWS || minRows > maxRows) return undefined;
  let room = maxRows - minRows;
  const take = (rows: readonly Line[], isWanted = true): readonly Line[] => {
    if (!isWanted || rows.length > room) return [];
    room -= rows.length;
    return rows;
  };
  const shownNotes = take(notes.slice(0, Math.max(0, room)));
  const rest = subject.length - Math.min(subject.length, 2);
  const keys = (isCut: boolean): Line => keyRow(question, state, context, isCut);
  // The key row goes before anything that is asked.
  const isCut = rest > room || shownNotes.length < notes.length;
  const keyRows = take([keys(isCut)], question.choices.length > 0);
  const blankRows = Math.max(0, Math.min(3, room - rest));
  const shown = shorten(subject, Math.min(subject.length, 2) + room - blankRows, context);
  const gap = (wanted: number): readonly Line[] => (blankRows >= wanted ? [[]] : []);
  const above = [
    ...head,
    ...(question.diff === undefined && subject.length > 0 ? gap(3) : []),
    ...shown,
    ...shownNotes,
    ...gap(1),
  ];
  const rows = [...above, ...answers, ...gap(2), ...keyRows];
  const reasonRow = above.length + answers.length - (state.reason?.length ?? 0);
  return { rows, cut, reasonRow };
}

export function tooSmallLines(question: Question, { width, marks }: ViewContext): readonly Line[] {
  const { title } = questionHeading(question);
  const text = `${marks.ask} ${revealInvisible(title)}: Window too small to answer. v shows all, esc stops.`;
  return wrapLine(line(text, { role: "warning" }), { width });
}

export function wholeQuestion(question: Question, context: ViewContext): readonly Line[] {
  const state = { marked: undefined, maxRows: Number.MAX_SAFE_INTEGER, more: 0 };
  const options = questionOptions(question).flatMap(({ label }, index) =>
    optionRows(label, index, state, context),
  );
  const gap: readonly Line[] = options.length === 0 ? [] : [[]];
  return [
    ...headLines(question, 0, context),
    ...subjectLines(question, context),
    ...noteLines(question, context),
    ...gap,
    ...options,
  ];
}

/** One row, unless the title is wider than the window. */
export function titleRule(
  { title, right = "", role }: { readonly title: Line; readonly right?: string; readonly role: Role },
  { width, marks }: ViewContext,
): readonly Line[] {
  const mark = role === "rule" ? "" : `${role === "bad" ? marks.alert : marks.ask} `;
  const first: Line = [span(`${marks.rule}${marks.rule} ${mark}`, { role })];
  const used = lineColumns(first) + title.reduce((sum, each) => sum + maxColumnsOf(each.text), 0);
  const tail: Line =
    right === "" ? [] : [span(` ${right} `, { role: "muted" }), span(`${marks.rule}${marks.rule}`, { role })];
  const fill = width - used - lineColumns(tail) - 1;
  if (fill < 1) return fitWidestFont(wrapLine(title, { width, first, rest: line("   ") }), width);
  return [[...first, ...title, span(` ${marks.rule.repeat(fill)}`, { role }), ...tail]];
}

function headLines(question: Question, more: number, context: ViewContext): readonly Line[] {
  const role = "warning";
  const { title, target, note } = questionHeading(question);
  const { diff } = question;
  const { minus } = context.marks;
  const counts = [
    ...(diff === undefined || diff.added === 0 ? [] : [span(` +${diff.added}`, { role: "added" })]),
    ...(diff === undefined || diff.removed === 0
      ? []
      : [span(` ${minus}${diff.removed}`, { role: "removed" })]),
  ];
  const text: Line = [
    span(revealInvisible(title), { role, bold: true }),
    span(target === undefined ? "" : ` ${revealInvisible(target)}`, { bold: true }),
    ...(counts.length === 0 ? [] : [span(" "), ...counts]),
  ];
  const right = more > 0 ? `1 of ${more + 1}` : (note ?? "");
  return titleRule({ title: text, right, role }, context);
}

/** Rows that fit even on terminals that draw ambiguous letters wide. */
function fitWidestFont(rows: readonly Line[], width: number): readonly Line[] {
  return rows.flatMap((row) => cutLine(row, width, maxColumnsOf));
}

/** Column of the call's text; only our own words are left of it. */
const SUBJECT_INDENT = 4;

function subjectLines(question: Question, context: ViewContext): readonly Line[] {
  const { diff } = question;
  if (diff !== undefined) {
    const inner = { ...context, width: Math.max(8, context.width - 2), isAsked: true };
    return fitWidestFont(diffLines(diff, inner), inner.width).map((row) => [span("  "), ...row]);
  }
  const text = subjectOf(question);
  if (text === "") return [];
  const isCommand = question.tool === "bash";
  const width = Math.max(8, context.width - SUBJECT_INDENT);
  return textRows(text, width).map((row, index): Line => {
    const isPrompt = isCommand && index === 0;
    return [span(isPrompt ? "  $ " : " ".repeat(SUBJECT_INDENT), { role: "muted" }), ...row];
  });
}

/** The exact text without omissions, broken only at the row's end: a person sees what runs. */
function textRows(text: string, width: number): readonly Line[] {
  return textLines(revealInvisible(text)).flatMap((row) => cutLine(line(row), width, maxColumnsOf));
}

function subjectOf(question: Question): string {
  const { type, tool, input = {}, reason } = question;
  if (type !== "permission") return reason;
  const subject = questionSubject(question);
  if (subject === undefined) return JSON.stringify(input, undefined, 1);
  const { others } = subject;
  // The heading names it, unless it is the call itself.
  const isNamed = questionKind(question) !== "call" && tool !== "bash";
  const main = isNamed ? [] : [subject.main];
  const { edits, ...more } = others;
  // Edits that cannot be shown in their file, because the text they replace is missing.
  const edited = tool === "edit" && Object.keys(more).length === 0 ? editsText(edits) : undefined;
  const rest = Object.keys(others).length === 0 ? [] : [edited ?? JSON.stringify(others, undefined, 1)];
  return [...main, ...rest].join("\n");
}

function noteLines(question: Question, { width }: ViewContext): readonly Line[] {
  const texts = [
    questionHeading(question).target ?? "",
    subjectOf(question),
    ...question.choices.map(({ rule }) => rule ?? ""),
  ];
  const hasHidden = texts.some((text) => findInvisible(text.replaceAll("\r\n", "\n")) !== undefined);
  const warning = "It has characters that do not show; they stand here as their numbers.";
  const note = (text: Span): readonly Line[] =>
    fitWidestFont(wrapLine([text], { width, first: line("  "), rest: line("  ") }), width);
  return [
    ...(hasHidden && question.type === "permission" ? note(span(warning, { role: "bad" })) : []),
    ...questionNotes(question).flatMap((text) =>
      note(span(revealInvisible(text).replaceAll(/\s+/g, " "), { role: "muted" })),
    ),
  ];
}

/** Start and end of rows, at least one row. */
function shorten(rows: readonly Line[], most: number, context: ViewContext): readonly Line[] {
  const { marks, width } = context;
  return cutRows(rows, most, Math.max(1, Math.floor((most - 1) / 2)), (count) =>
    fitLine(line(`  ${marks.more} ${count} more lines ${marks.dot} v`, { role: "bad" }), width),
  );
}

/** The answers, in as many rows as needed; in a small window one row each, without those that are cut. */
function answerLines(
  question: Question,
  state: QuestionState,
  context: ViewContext,
): { readonly rows: readonly Line[]; readonly cut: ReadonlySet<number> } {
  const options = questionOptions(question);
  const isWritten = state.reason !== undefined;
  const shown = isWritten ? options.slice(0, -1) : options;
  const wrapped = shown.flatMap(({ label }, index) => optionRows(label, index, state, context));
  const reason = state.reason ?? [];
  if (wrapped.length + reason.length <= Math.max(options.length, state.maxRows / 2))
    return { rows: [...wrapped, ...reason], cut: new Set() };
  const cut = new Set<number>();
  const rows = shown.map(({ label, hasRule }, index): Line => {
    const [row = [], ...more] = optionRows(label, index, state, context);
    if (more.length === 0) return row;
    if (hasRule) cut.add(index);
    const text = hasRule ? "in a larger window" : revealInvisible(label);
    return fitLine([...row.slice(0, 1), span(text, { role: "muted" })], context.width);
  });
  return { rows: [...rows, ...reason], cut };
}

interface AnswerStyle {
  readonly isMarked: boolean;
  /** Of the number. Default `warning`. */
  readonly role?: Role;
  /** Of the label, unless it is marked. */
  readonly style?: Style;
}

/** An answer with its number, counted from `index` 0. */
export function answerRows(
  label: string,
  index: number,
  { isMarked, role = "warning", style = {} }: AnswerStyle,
  { width, marks }: ViewContext,
): readonly Line[] {
  const first = [span(`${isMarked ? marks.chosen : " "} ${index + 1}  `, { role })];
  const text = span(revealInvisible(label), isMarked ? { bold: true } : style);
  return wrapLine([text], { width, first, rest: line("     ") });
}

function optionRows(
  label: string,
  index: number,
  state: QuestionState,
  context: ViewContext,
): readonly Line[] {
  const isMarked = state.marked === index;
  const muted = { role: "muted", style: { role: "muted" } } as const;
  const look = { isMarked, ...(state.reason === undefined ? {} : muted) };
  return fitWidestFont(answerRows(label, index, look, context), context.width);
}

function keyRow(question: Question, state: QuestionState, context: ViewContext, isCut: boolean): Line {
  const { marks, width } = context;
  const isPlan = questionKind(question) === "plan";
  if (state.reason !== undefined)
    return keysLine([isPlan ? "enter send it back" : "enter say no", "esc back"], context);
  const count = questionOptions(question).length;
  const whole = question.diff !== undefined ? ["v whole change"] : isCut ? ["v whole call"] : [];
  const leave = isPlan ? "esc keep planning" : "esc stop";
  const long = [`${marks.up}${marks.down} enter choose`, ...whole, leave];
  const fits = long.join(" . ").length + 2 <= width;
  return keysLine(fits ? long : [`1-${count}`, ...(whole.length > 0 ? ["v all"] : []), leave], context);
}

/** The reply for an answer, by its index in the list shown, from 0. */
export function offeredReply(question: Question, index: number): QuestionReply | undefined {
  const { options = [], choices } = question;
  const option = options[index];
  if (option !== undefined) return { value: option.value };
  const offered = choices.filter(({ choice }) => choice !== "stop")[index - options.length];
  return offered && { choice: offered.choice, ...omitUndefined({ rule: offered.rule }) };
}

/** The reply of a typed line: an answer's number, and after that of a refusal its reason. */
export function numberedReply(question: Question, text: string): QuestionReply | undefined {
  const [, number = "", reason = ""] = /^(\d+)(?:\s+(.*))?$/.exec(text.trim()) ?? [];
  const reply = offeredReply(question, Number(number) - 1);
  if (reply === undefined || reason === "") return reply;
  // A sentence starting with a number may be meant for the model: only a refusal takes words.
  const takesWords = question.type === "permission" || questionKind(question) === "plan";
  return takesWords && "choice" in reply && reply.choice === "no" ? { choice: "no", reason } : undefined;
}
