import { homedir } from "node:os";
import type { Question, QuestionPart } from "../../../app/coding-session/question.ts";
import { hiddenCharacter, withHiddenShown } from "../../../permission/hidden-characters.ts";
import { cutLine, fitLine, type Line, line, span, textLines, wrapLine } from "../paint/line.ts";
import { diffLines } from "./diff-lines.ts";
import { keysLine } from "./list-lines.ts";
import type { ViewContext } from "./view-context.ts";

/** Something that can be chosen below a question. */
export interface QuestionOption {
  readonly label: string;
  /** Dim, behind the label. */
  readonly note?: string;
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
        return { label: "Allow for this session", ...(rule === undefined ? {} : { note: rule }) };
      case "always":
        return {
          label: `Always allow ${rule ?? ""}`.trim(),
          ...(savedTo === undefined ? {} : { note: `kept in ${savedTo.replace(homedir(), "~")}` }),
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
  /** How many questions wait behind this one. */
  readonly more: number;
}

/** A question with its answers; of something long the beginning and the end, never less than the end. */
export function questionLines(
  question: Question,
  state: QuestionState,
  context: ViewContext,
): readonly Line[] {
  const { marks } = context;
  const options = questionOptions(question).flatMap((option, index) =>
    optionLines(option, index, { state, context }),
  );
  const keys = keysLine(["1-9 or arrows and enter choose", "v shows all of it"], context);
  const more =
    state.more > 0
      ? [
          line(`${marks.more} ${state.more} more ${state.more === 1 ? "question waits" : "questions wait"}`, {
            role: "muted",
          }),
        ]
      : [];
  // The answers stand apart where there is room for it.
  const foot = [...(state.maxRows >= 16 ? [[]] : []), ...options, keys, ...more];
  const facts = factLines(question, context);
  const room = Math.max(3, state.maxRows - foot.length - 1 - Math.min(facts.length, 8));
  const subject = shortened(subjectLines(question, context), room, context);
  const all = [
    headLine(question, context),
    ...subject,
    ...shortened(facts, Math.max(2, state.maxRows - foot.length - 1 - subject.length), context),
    ...foot,
  ];
  // A window too small for all of it shows what the answers are about to allow, and the answers.
  return all.length <= state.maxRows ? all : all.slice(-Math.max(1, state.maxRows));
}

/** All of what is asked, for reading. */
export function wholeQuestion(question: Question, context: ViewContext): readonly Line[] {
  return [headLine(question, context), ...subjectLines(question, context), ...factLines(question, context)];
}

function headLine({ type, tool, agent, diff }: Question, { width }: ViewContext): Line {
  const who = agent === undefined ? "" : `${withHiddenShown(agent)}: `;
  const verb = diff === undefined ? "run" : diff.isNew ? "make a file" : "change a file";
  const what = type === "permission" ? `${withHiddenShown(tool ?? "a tool")} wants to ${verb}` : "A question";
  return fitLine([span(`? ${who}${what}`, { role: "warning", bold: true })], width);
}

function subjectLines(question: Question, context: ViewContext): readonly Line[] {
  const bar = span(`${context.marks.column} `, { role: "warning" });
  const inner = { ...context, width: Math.max(8, context.width - 2) };
  const rows =
    question.diff === undefined
      ? textRows(subjectOf(question), inner.width)
      : changeRows(question.diff, inner);
  return rows.map((row): Line => [bar, ...row]);
}

function changeRows(diff: NonNullable<Question["diff"]>, context: ViewContext): readonly Line[] {
  const what = `${diff.isNew ? "new file, " : ""}+${diff.added} -${diff.removed}`;
  return [
    fitLine(
      [span(withHiddenShown(diff.path), { bold: true }), span(`  ${what}`, { role: "muted" })],
      context.width,
    ),
    ...diffLines(diff, context),
  ];
}

/** Text as it is, cut where the row ends and nowhere left out: what a person sees is what runs. */
function textRows(text: string, width: number): readonly Line[] {
  return textLines(withHiddenShown(text)).flatMap((row) => cutLine(line(row), width));
}

function subjectOf({ type, tool, input = {}, reason }: Question): string {
  if (type !== "permission") return reason;
  const { command, path, url, ...rest } = input;
  const others = Object.keys(rest).length === 0 ? "" : `\n${JSON.stringify(rest, undefined, 1)}`;
  if (tool === "bash" && typeof command === "string") return `${command}${others}`;
  if (typeof path === "string") return `${path}${others}`;
  if (typeof url === "string") return `${url}${others}`;
  return JSON.stringify(input, undefined, 1);
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
        const text = span(withHiddenShown(part.text).replaceAll(/\s+/g, " "), { role: "warning" });
        return [
          ...labelled("needs a yes", [text], width),
          ...(reason === undefined ? [] : labelled("", dim(reason), width)),
        ];
      });
  const isSaid = !only && parts.length > 0 && parts.every((part) => own(part) !== undefined);
  const why = isSaid
    ? []
    : labelled("why", dim((only ? first?.reason : undefined) ?? question.reason), width);
  return [...warning, ...rows, ...why];
}

function labelled(label: string, text: Line, width: number): readonly Line[] {
  const first = line(label === "" ? "    " : `  ${label}: `, { role: "muted" });
  return wrapLine(text, { width, first, rest: line("    ") });
}

function shortened(rows: readonly Line[], most: number, { marks }: ViewContext): readonly Line[] {
  if (rows.length <= most) return rows;
  const tail = Math.max(1, Math.floor((most - 1) / 2));
  const head = Math.max(0, most - 1 - tail);
  return [
    ...rows.slice(0, head),
    line(`${marks.more} ${rows.length - head - tail} more rows, v shows them ${marks.more}`, { role: "bad" }),
    ...rows.slice(-tail),
  ];
}

function optionLines(
  option: QuestionOption,
  index: number,
  look: { readonly state: QuestionState; readonly context: ViewContext },
): readonly Line[] {
  const { state, context } = look;
  const isMarked = state.marked === index;
  const first = span(`${isMarked ? context.marks.prompt : " "} ${index + 1}. `, {
    role: isMarked ? "accent" : "muted",
  });
  const label = span(withHiddenShown(option.label), isMarked ? { bold: true } : {});
  const note =
    option.note === undefined ? [] : [span(`  ${withHiddenShown(option.note)}`, { role: "muted" })];
  return wrapLine([label, ...note], { width: context.width, first: [first] });
}
