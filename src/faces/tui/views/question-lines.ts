import { homedir } from "node:os";
import { callSubject } from "../../../app/coding-session/call-subject.ts";
import type { Question, QuestionPart } from "../../../app/coding-session/question.ts";
import { hiddenCharacter, withHiddenShown } from "../../../permission/hidden-characters.ts";
import { mostColumnsOf } from "../../terminal/columns.ts";
import { editsText } from "../../terminal/edit-text.ts";
import {
  cutLine,
  fitLine,
  type Line,
  line,
  oneLine,
  type Span,
  span,
  textLines,
  wrapLine,
} from "../paint/line.ts";
import { diffLines } from "./diff-lines.ts";
import { keysLine } from "./list-lines.ts";
import type { ViewContext } from "./view-context.ts";

/** Something that can be chosen below a question. */
export interface QuestionOption {
  readonly label: string;
  /** Dim, behind the label. */
  readonly note?: string | undefined;
  /** Where the rule stands that it adds: up to there it must be read whole. */
  readonly rule?: "label" | "note";
}

/** The answers of a question, in the order of their numbers. */
export function questionOptions(question: Question): readonly QuestionOption[] {
  if (question.type === "choice")
    return [...(question.options ?? []).map(({ label }) => ({ label })), { label: "None of these" }];
  return question.choices.map(({ choice, rule, savedTo }) => {
    switch (choice) {
      case "once":
        return { label: "Allow once" };
      case "session":
        return { label: "Allow for this session", note: rule, rule: "note" };
      case "always":
        return {
          label: `Always allow ${rule ?? ""}`.trim(),
          rule: "label",
          note: savedTo && `for this folder, kept in ${savedTo.replace(homedir(), "~")}`,
        };
      case "no":
        return { label: "No, and tell it why" };
      case "stop":
        return { label: "No, and stop" };
    }
  });
}

/** How a question stands on the screen. */
export interface QuestionState {
  /** The option that is marked; undefined as long as no arrow was pressed. */
  readonly marked: number | undefined;
  /** Rows there are for all of it. */
  readonly maxRows: number;
  readonly more: number;
}

/** The rows of a question, and what of its answers cannot be read in them. */
export interface QuestionRows {
  readonly rows: readonly Line[];
  /** Answers whose rule a larger window would show, by their places: nobody can say yes to them. */
  readonly cut: ReadonlySet<number>;
}

/** Rows that say why, before some of them are left out. */
const FACT_ROWS = 8;
/** In a window with so many rows the answers stand apart. */
const ROOMY = 16;

/**
 * A question with its answers; of something long the beginning and the end, never less than the end. Where
 * rows are scarce the notes of the answers are cut first, then the reasons. Undefined where there is no room
 * for the end of what is asked and all answers: nobody can say yes to what they do not see.
 */
export function questionLines(
  question: Question,
  state: QuestionState,
  context: ViewContext,
): QuestionRows | undefined {
  const options = questionOptions(question);
  const head = headLines(question, context);
  const subject = subjectLines(question, context);
  const facts = factLines(question, context);
  const least = head.length + Math.min(subject.length, 2);
  const wrapped = options.flatMap((each, index) => optionLines(each, index, { state, context }));
  const keys = options.length === 0 ? [] : [choiceKeys(context)];
  const waiting = state.more > 0 ? [waitingLine(state.more, context)] : [];
  const whole = [...(state.maxRows >= ROOMY ? [[]] : []), ...wrapped, ...keys, ...waiting];
  const fits = least + 2 + whole.length <= state.maxRows;
  const short = options.map((each, index) => optionLine(each, index, { state, context }));
  const foot = fits ? whole : [...short.map((each, index) => each ?? larger(index, context)), ...keys];
  const cut = new Set(fits ? [] : short.flatMap((each, index) => (each === undefined ? [index] : [])));
  const room = state.maxRows - foot.length - head.length;
  if (room < least - head.length) return undefined;
  const kept = Math.min(facts.length, FACT_ROWS, Math.max(0, room - Math.min(subject.length, 3)));
  const shown = shortened(subject, room - kept, context);
  return { rows: [...head, ...shown, ...firstOf(facts, room - shown.length, context), ...foot], cut };
}

function larger(index: number, { width }: ViewContext): Line {
  return fitLine(line(`  ${index + 1}. in a larger window`, { role: "muted" }), width);
}

function choiceKeys({ marks, width }: ViewContext): Line {
  const [long, short] = ["1-9 or arrows and enter choose", "1-9 choose"];
  const all = "v shows all of it";
  const fits = long.length + all.length + 5 <= width;
  return keysLine(fits ? [long, all] : [short, "v all"], { marks, width });
}

function waitingLine(more: number, { marks, width }: ViewContext): Line {
  const text = `${marks.more} ${more} more ${more === 1 ? "question waits" : "questions wait"}`;
  return fitLine(line(text, { role: "muted" }), width);
}

/** The lines in the place of a question that a window has no room for. */
export function tooSmallLines(question: Question, { width }: ViewContext): readonly Line[] {
  const what = line(`? ${withHiddenShown(question.tool ?? "A question")}: `, { role: "warning" });
  const text = "make the window larger to answer, v shows all, esc stops the run";
  return wrapLine([...what, span(text, { role: "warning" })], { width });
}

/** All of what is asked and what can be answered, for reading. */
export function wholeQuestion(question: Question, context: ViewContext): readonly Line[] {
  const state = { marked: undefined, maxRows: Number.MAX_SAFE_INTEGER, more: 0 };
  return [
    ...headLines(question, context),
    ...subjectLines(question, context),
    ...factLines(question, context),
    ...questionOptions(question).flatMap((each, index) => optionLines(each, index, { state, context })),
  ];
}

function headLines({ type, tool, agent, diff }: Question, { width }: ViewContext): readonly Line[] {
  const who = agent === undefined ? "" : `${withHiddenShown(agent)}: `;
  const verb = diff === undefined ? "run" : diff.isNew ? "make a file" : "change a file";
  const what = type === "permission" ? `${withHiddenShown(tool ?? "a tool")} wants to ${verb}` : "A question";
  const text = span(`${who}${what}`, { role: "warning", bold: true });
  return unclipped(wrapLine([text], { width, first: line("? ", { role: "warning", bold: true }) }), width);
}

/** Rows that stay whole on a terminal which draws some of their letters wider than others do. */
function unclipped(rows: readonly Line[], width: number): readonly Line[] {
  return rows.flatMap((row) => cutLine(row, width, mostColumnsOf));
}

function subjectLines(question: Question, context: ViewContext): readonly Line[] {
  const bar = span(`${context.marks.column} `, { role: "warning" });
  const inner = { ...context, width: Math.max(8, context.width - mostColumnsOf(bar.text)) };
  const rows =
    question.diff === undefined
      ? textRows(subjectOf(question), inner.width)
      : changeRows(question.diff, inner);
  return rows.map((row): Line => [bar, ...row]);
}

function changeRows(diff: NonNullable<Question["diff"]>, context: ViewContext): readonly Line[] {
  const what = `${diff.isNew ? "new file, " : ""}+${diff.added} -${diff.removed}`;
  const name: Line = [span(withHiddenShown(diff.path), { bold: true }), span(`  ${what}`, { role: "muted" })];
  const rows = [...cutLine(name, context.width), ...diffLines(diff, { ...context, isAsked: true })];
  return unclipped(rows, context.width);
}

/** Text as it is, cut where the row ends and nowhere left out: what a person sees is what runs. */
function textRows(text: string, width: number): readonly Line[] {
  return textLines(withHiddenShown(text)).flatMap((row) => cutLine(line(row), width, mostColumnsOf));
}

function subjectOf({ type, tool, input = {}, reason }: Question): string {
  if (type !== "permission") return reason;
  const subject = callSubject(tool ?? "", input);
  if (subject === undefined) return JSON.stringify(input, undefined, 1);
  const { main, others } = subject;
  const { edits, ...more } = others;
  // Edits that cannot be shown in their file, because what they replace is not there.
  const edited = tool === "edit" && Object.keys(more).length === 0 ? editsText(edits) : undefined;
  if (edited !== undefined) return `${main}\n${edited}`;
  return Object.keys(others).length === 0 ? main : `${main}\n${JSON.stringify(others, undefined, 1)}`;
}

function factLines(question: Question, context: ViewContext): readonly Line[] {
  const { width } = context;
  if (question.type !== "permission") return [];
  const parts = question.parts ?? [];
  const texts = [
    subjectOf(question),
    ...parts.map(({ text }) => text),
    ...question.choices.map(({ rule }) => rule ?? ""),
  ];
  const hides = texts.some((text) => hiddenCharacter(text.replaceAll("\r\n", "\n")) !== undefined);
  const warning = hides
    ? wrapLine(
        [span("It has characters that do not show; they stand here as their numbers.", { role: "bad" })],
        {
          width,
          first: line("  "),
        },
      )
    : [];
  const [first] = parts;
  const only = parts.length === 1 && [subjectOf(question), question.diff?.path].includes(first?.text.trim());
  const dim = (text: string): Line => [span(withHiddenShown(text), { role: "muted" })];
  // The part that speaks for all has the reason of the question itself.
  const own = ({ reason }: QuestionPart): string | undefined =>
    reason === question.reason ? undefined : reason;
  const rows = only
    ? []
    : parts.flatMap((part) => {
        const reason = own(part);
        const text = span(oneLine(withHiddenShown(part.text)), { role: "warning" });
        return [
          ...labelled("needs a yes", [text], width),
          ...(reason === undefined ? [] : labelled("", dim(reason), width)),
        ];
      });
  const why = labelled("why", dim(question.reason), width);
  return [...warning, ...rows, ...why];
}

function labelled(label: string, text: Line, width: number): readonly Line[] {
  const first = line(label === "" ? "    " : `  ${label}: `, { role: "muted" });
  return unclipped(wrapLine(text, { width, first, rest: line("    ") }), width);
}

/** Beginning and end of rows, at least one row. */
function shortened(rows: readonly Line[], most: number, context: ViewContext): readonly Line[] {
  if (rows.length <= most) return rows;
  const tail = Math.max(1, Math.floor((most - 1) / 2));
  const head = Math.max(0, most - 1 - tail);
  return [...rows.slice(0, head), leftOut(rows.length - head - tail, context), ...rows.slice(-tail)];
}

/** The beginning of rows; nothing where there is room for no more than saying what is left out. */
function firstOf(rows: readonly Line[], most: number, context: ViewContext): readonly Line[] {
  if (rows.length <= most) return rows;
  if (most < 2) return [];
  return [...rows.slice(0, most - 1), leftOut(rows.length - most + 1, context)];
}

function leftOut(count: number, { marks, width }: ViewContext): Line {
  return fitLine(
    line(`${marks.more} ${count} more rows, v shows them ${marks.more}`, { role: "bad" }),
    width,
  );
}

interface OptionLook {
  readonly state: QuestionState;
  readonly context: ViewContext;
}

/** An answer in one row; `undefined` where that has no room for its rule. */
function optionLine(option: QuestionOption, index: number, look: OptionLook): Line | undefined {
  const { number, text } = optionParts(option, index, look);
  const { width } = look.context;
  const read = option.rule === undefined ? [] : text.slice(0, option.rule === "label" ? 1 : 2);
  // Whether it is marked or not.
  const start = mostColumnsOf(`${look.context.marks.prompt} ${index + 1}. `);
  const columns = read.reduce((sum, each) => sum + mostColumnsOf(each.text), start);
  return columns <= width ? fitLine([number, ...text], width) : undefined;
}

function optionLines(option: QuestionOption, index: number, look: OptionLook): readonly Line[] {
  const { number, text } = optionParts(option, index, look);
  const { width } = look.context;
  return unclipped(wrapLine(text, { width, first: [number] }), width);
}

function optionParts(
  { label, note }: QuestionOption,
  index: number,
  { state, context }: OptionLook,
): { readonly number: Span; readonly text: Line } {
  const isMarked = state.marked === index;
  const number = span(`${isMarked ? context.marks.prompt : " "} ${index + 1}. `, {
    role: isMarked ? "accent" : "muted",
  });
  const text = [span(withHiddenShown(label), isMarked ? { bold: true } : {})];
  if (note !== undefined) text.push(span(`  ${withHiddenShown(note)}`, { role: "muted" }));
  return { number, text };
}
