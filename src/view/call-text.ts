import type { ToolResultEntry } from "../core/agent/entries.ts";
import { isRecord } from "../core/base/json.ts";
import { counted, utf8Length } from "../core/base/text.ts";
import { type ToolInput, textOf } from "../core/message/message.ts";

const MAX_TITLE = 200;

/** The argument a person would look for, on one line: command, pattern, path, question; else all of them. */
export function callTitle(input: ToolInput): string {
  const { questions } = input;
  const [asked] = Array.isArray(questions) ? questions : [];
  const named = ["command", "pattern", "path", "file_path", "url", "query", "agent", "name"];
  const value = [...named.map((key) => input[key]), isRecord(asked) ? asked["question"] : undefined].find(
    (each) => typeof each === "string",
  );
  const text =
    typeof value === "string" ? value : Object.keys(input).length === 0 ? "" : JSON.stringify(input);
  return oneLine(text, MAX_TITLE);
}

/** A result in a few words: what its tool says of it, else its size; of a failure the first line. */
export function briefResult({
  title,
  status,
  result,
}: Pick<ToolResultEntry, "title" | "status" | "result">): string {
  if (title !== undefined && status !== "denied") return oneLine(title, MAX_TITLE);
  const text = textOf(result.content, "\n");
  if (status !== "ok") return oneLine(text.replace(/^Error: /, "").split("\n", 1)[0] ?? "", MAX_TITLE);
  return `${counted(lineCount(text), "line")}, ${byteSize(text)}`;
}

/** The text a call wrote, without the line that says how it ended: its title says that. */
export function withoutEnding(text: string): string {
  return text.trimEnd().replace(/\n?\[exit code -?\d+[^\]\n]*\]$/, "");
}

/** Bytes of a text for people: `340 B`, `2.4 kB`. */
export function byteSize(text: string): string {
  const bytes = utf8Length(text);
  return bytes < 1_000 ? `${bytes} B` : `${(bytes / 1_000).toFixed(1)} kB`;
}

/** Lines of a text; an end of the last line begins no further one. */
export function lineCount(text: string): number {
  return text === "" ? 0 : text.replace(/\n$/, "").split("\n").length;
}

/** A text on one line, cut where it is longer. */
export function oneLine(text: string, maxChars: number): string {
  const line = text
    .slice(0, maxChars * 2)
    .replaceAll(/\s+/g, " ")
    .trim();
  return line.length <= maxChars ? line : `${line.slice(0, maxChars - 1).toWellFormed()}…`;
}
