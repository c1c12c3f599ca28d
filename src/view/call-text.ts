import type { ToolResultEntry } from "../core/agent/entries.ts";
import { isRecord } from "../core/base/json.ts";
import { pluralize, utf8Length } from "../core/base/text.ts";
import { type ToolInput, textOf } from "../core/message/message.ts";

const MAX_TITLE = 200;

/** The most relevant argument in one line: command, pattern, path, question; else all of them. */
export function callTitle(input: ToolInput): string {
  const { questions } = input;
  const [firstQuestion] = Array.isArray(questions) ? questions : [];
  const named = ["command", "pattern", "path", "file_path", "url", "query", "agent", "name"];
  const value = [
    ...named.map((key) => input[key]),
    isRecord(firstQuestion) ? firstQuestion["question"] : undefined,
  ].find((each) => typeof each === "string");
  const text =
    typeof value === "string" ? value : Object.keys(input).length === 0 ? "" : JSON.stringify(input);
  return oneLine(text, MAX_TITLE);
}

/** A result in a few words: its tool's summary, else its size; for a failure the first line. */
export function briefResult({
  title,
  status,
  result,
}: Pick<ToolResultEntry, "title" | "status" | "result">): string {
  if (title !== undefined && status !== "denied") return oneLine(title, MAX_TITLE);
  const text = textOf(result.content, "\n");
  if (status !== "ok") return oneLine(text.replace(/^Error: /, "").split("\n", 1)[0] ?? "", MAX_TITLE);
  return `${pluralize(lineCount(text), "line")}, ${byteSize(text)}`;
}

/** A call's output without the line that tells how it ended: its title shows that. */
export function withoutEnding(text: string): string {
  return text.trimEnd().replace(/\n?\[exit code -?\d+[^\]\n]*\]$/, "");
}

/** The size of text in bytes, for people: `340 B`, `2.4 kB`. */
export function byteSize(text: string): string {
  const bytes = utf8Length(text);
  return bytes < 1_000 ? `${bytes} B` : `${(bytes / 1_000).toFixed(1)} kB`;
}

/** Number of lines; a final line end starts no further line. */
export function lineCount(text: string): number {
  return text === "" ? 0 : text.replace(/\n$/, "").split("\n").length;
}

/** Text on one line, truncated to `maxChars`. */
export function oneLine(text: string, maxChars: number): string {
  const line = text
    .slice(0, maxChars * 2)
    .replaceAll(/\s+/g, " ")
    .trim();
  return line.length <= maxChars ? line : `${line.slice(0, maxChars - 1).toWellFormed()}…`;
}
