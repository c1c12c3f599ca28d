import type { ToolIntentEntry, ToolResultEntry } from "../../core/agent/entries.ts";
import { counted } from "../../core/base/text.ts";
import { textOf } from "../../core/message/message.ts";
import { describeDuration } from "../../tools/shell/report.ts";
import { byteSize, callTitle, lineCount, withoutEnding } from "../../view/call-text.ts";
import { parseUnifiedDiff } from "../../view/file-diff.ts";
import { terminalLine } from "../../view/safe-text.ts";
import type { Style } from "./style.ts";

const MAX_COLUMNS = 100;
/** A failure that says more is told by its title and the end of its words. */
const MAX_SHOWN_LINES = 3;
const TAIL_LINES = 6;
const DIFF_LINES = 12;

/** A call that begins, in one line. */
export function callLine(event: ToolIntentEntry, style: Style): string {
  const indent = event.parentCallId === undefined ? "" : "  ";
  const input = terminalLine(callTitle(event.input), MAX_COLUMNS);
  return `${indent}${style.bold(`● ${event.name}`)}${input === "" ? "" : ` ${input}`}`;
}

/** How the lines of a result look. */
export interface ResultLook {
  readonly style: Style;
  /** True where other lines stand between call and result. */
  readonly named: boolean;
}

/** How a call ended, and below it the change it made to a file or the end of what a failed one wrote. */
export function resultLines(event: ToolResultEntry, { style, named }: ResultLook): readonly string[] {
  const indent = event.parentCallId === undefined ? "  " : "    ";
  const text = textOf(event.result.content, "\n");
  const time = describeDuration(event.durationMs);
  const name = named ? `${event.name}: ` : "";
  if (event.status === "denied")
    return [`${indent}${style.red(`✗ ${event.name}: ${terminalLine(text, MAX_COLUMNS * 3)}`)}`];
  const title = event.title === undefined ? undefined : terminalLine(event.title, 60);
  if (event.status === "ok") {
    const amount = title === undefined ? size(text) : `${title}, ${byteSize(text)}`;
    return [`${indent}${style.dim(`└ ${name}${amount} · ${time}`)}`, ...changeLines(event, style, indent)];
  }
  if (title === undefined || lineCount(text) <= MAX_SHOWN_LINES)
    return [`${indent}${style.red(`✗ ${name}${terminalLine(text, MAX_COLUMNS)}`)} ${style.dim(`· ${time}`)}`];
  const head = `${indent}${style.red(`✗ ${name}${title}`)} ${style.dim(`· ${size(text)} · ${time}`)}`;
  const tail = withoutEnding(text).split("\n").slice(-TAIL_LINES);
  return [head, ...tail.map((line) => `${indent}  ${style.dim(terminalLine(line, MAX_COLUMNS))}`)];
}

/** The lines that changed in a file, with their numbers. A new file is told by its title. */
function changeLines({ metadata }: ToolResultEntry, style: Style, indent: string): readonly string[] {
  const text = metadata?.["diff"];
  if (typeof text !== "string" || metadata?.["created"] === true) return [];
  const lines = (parseUnifiedDiff("", text, false)?.hunks ?? []).flatMap(({ oldStart, newStart, lines }) => {
    const next = { "-": oldStart, "+": newStart };
    return lines.flatMap((line) => {
      const sign = line.charAt(0);
      if (sign !== "-" && sign !== "+") {
        next["-"]++;
        next["+"]++;
        return [];
      }
      const shown = terminalLine(`${next[sign]++} ${line}`, MAX_COLUMNS);
      return [`${indent}  ${sign === "+" ? style.green(shown) : style.red(shown)}`];
    });
  });
  const left = lines.length - DIFF_LINES;
  if (left <= 0) return lines;
  return [...lines.slice(0, DIFF_LINES), `${indent}  ${style.dim(`… ${counted(left, "more line")}`)}`];
}

function size(text: string): string {
  return `${counted(lineCount(text), "line")}, ${byteSize(text)}`;
}
