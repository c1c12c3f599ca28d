import { isRecord } from "../../../core/base/json.ts";
import type { ToolInput } from "../../../core/message/block.ts";
import type { ApprovalQuestion } from "../../../permission/approval-prompt.ts";
import { hiddenCharacter, withHiddenShown } from "../../../permission/hidden-characters.ts";
import { wrapColumns } from "../../terminal/columns.ts";
import type { Style } from "../style.ts";

/** How a question is put on a terminal. */
export interface QuestionLook {
  readonly style: Style;
  /** Columns of the terminal. */
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

/**
 * A question as lines for a terminal: what would run behind a bar that no text of the call can imitate, the
 * part that made it a question, why, and the rule that is offered. Characters that do not show stand as their
 * names.
 */
export function questionLines(question: ApprovalQuestion, look: QuestionLook): readonly string[] {
  const { style } = look;
  const { input, reason, rule, wider } = question;
  const subject = subjectOf(question.tool, input);
  const parts = partsOf(question, subject);
  const shows = [subject, ...parts, rule ?? "", wider ?? ""].some(
    (text) => hiddenCharacter(text) !== undefined,
  );
  return [
    style.yellow(style.bold(`? ${askerOf(question)} wants to run:`)),
    ...barred(subject, look),
    ...(shows ? [style.red("  It has characters that do not show; they stand here as ‹U+…›.")] : []),
    ...partLines(parts, look),
    ...labelled("why", reason, look),
    ...(rule === undefined ? [] : labelled("rule", rule, look)),
    ...(wider === undefined ? [] : labelled("wider", wider, look)),
    ...(`${rule ?? ""}${wider ?? ""}`.includes("*")
      ? [style.dim("        (each * stands for any text)")]
      : []),
  ];
}

/** The parts that need a yes, unless that is the whole call. */
function partsOf({ part, parts }: ApprovalQuestion, subject: string): readonly string[] {
  const open = parts ?? (part === undefined ? [] : [part]);
  const isWhole = (text: string): boolean =>
    text.trim() === subject.split("\n", 1)[0]?.trim() || text.trim() === subject.trim();
  return open.length === 1 && open.every(isWhole) ? [] : open;
}

/** Each part that needs a yes, the most dangerous first. */
function partLines(parts: readonly string[], look: QuestionLook): readonly string[] {
  if (parts.length <= 1) return parts.flatMap((part) => labelled("part", part, look));
  const shown = look.whole ? parts : parts.slice(0, MAX_PARTS);
  const left = parts.length - shown.length;
  return [
    ...shown.flatMap((part, index) => labelled(index === 0 ? "asks" : "", part, look)),
    ...(left === 0 ? [] : [look.style.red(`        … ${left} more, shown with v …`)]),
  ];
}

/**
 * What the keys do, in one line, or in as many as a narrow terminal takes. `whole`: nothing is left out that
 * a key could show.
 */
export function keyLine(
  { rule, wider, canAlways }: ApprovalQuestion,
  { style, width, whole }: QuestionLook,
): string {
  const keys: readonly (readonly [key: string, meaning: string])[] = [
    ["y", "once"],
    ...(rule === undefined ? [] : [["s", "this session"] as const]),
    ...(canAlways ? [["a", "always here"] as const] : []),
    ...(wider === undefined ? [] : [["w", "wider, this session"] as const]),
    ...(wider === undefined || !canAlways ? [] : [["W", "wider, always here"] as const]),
    ["n", "no"],
    ["r", "no, with a reason"],
    ...(whole ? [] : [["v", "all of it"] as const]),
  ];
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

/** The tool, and the subagent that calls it. */
function askerOf({ tool, agent }: ApprovalQuestion): string {
  const name = withHiddenShown(tool).slice(0, 200);
  return agent === undefined ? name : `${withHiddenShown(agent).slice(0, 80)} · ${name}`;
}

/** What a call is about, as a person reads it. */
function subjectOf(tool: string, input: ToolInput): string {
  const { path, command, url } = input;
  if (tool === "bash" && typeof command === "string") return command + others(input, ["command"]);
  if (tool === "write" && typeof path === "string" && typeof input["content"] === "string")
    return `${path}\n${prefixed("+ ", input["content"])}`;
  if (tool === "edit" && typeof path === "string" && Array.isArray(input["edits"]))
    return `${path}\n${input["edits"].map(editText).join("\n")}`;
  if (typeof path === "string") return path + others(input, ["path"]);
  if (typeof url === "string") return url + others(input, ["url"]);
  return JSON.stringify(input, null, 2);
}

function editText(edit: unknown): string {
  if (!isRecord(edit)) return JSON.stringify(edit) ?? "";
  const all = edit["replace_all"] === true ? "\n(everywhere in the file)" : "";
  return `${prefixed("- ", String(edit["old_string"] ?? ""))}\n${prefixed("+ ", String(edit["new_string"] ?? ""))}${all}`;
}

function prefixed(prefix: string, text: string): string {
  return text
    .split("\n")
    .map((line) => prefix + line)
    .join("\n");
}

function others(input: ToolInput, known: readonly string[]): string {
  const rest = Object.entries(input).filter(([key, value]) => !known.includes(key) && value !== undefined);
  return rest.length === 0
    ? ""
    : `\n(${rest.map(([key, value]) => `${key}: ${JSON.stringify(value)}`).join(", ")})`;
}

function barred(text: string, look: QuestionLook): readonly string[] {
  return rowsOf(text, look, 2).map((row) => `${look.style.yellow("│")} ${row}`);
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
    .flatMap((line) => wrapColumns(line.replaceAll("\t", "    "), width - margin - 1));
  if (whole || rows.length <= MAX_ROWS) return rows;
  const left = rows.length - HEAD_ROWS - TAIL_ROWS;
  return [
    ...rows.slice(0, HEAD_ROWS),
    style.red(`… ${left} more rows, shown with v …`),
    ...rows.slice(-TAIL_ROWS),
  ];
}
