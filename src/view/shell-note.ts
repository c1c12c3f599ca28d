import type { NoteEntry } from "../core/agent/entries.ts";
import { isRecord } from "../core/base/json.ts";
import type { ShellItem } from "./view.ts";

/** A command that a person ran, as the journal keeps it. */
export type ShellNote = Pick<ShellItem, "command" | "output" | "exitCode" | "shared">;

/** The kind of its `note` entry. */
export const SHELL_NOTE = "shell";

/** The command that a `note` entry holds; `undefined` for any other note. */
export function parseShellNote({ kind, data }: Pick<NoteEntry, "kind" | "data">): ShellNote | undefined {
  if (kind !== SHELL_NOTE || !isRecord(data)) return undefined;
  const { command, output, exitCode, shared } = data;
  if (typeof command !== "string" || typeof output !== "string") return undefined;
  return {
    command,
    output,
    exitCode: typeof exitCode === "number" ? exitCode : null,
    shared: shared === true,
  };
}

/** The text the model is told of it. */
export function sharedText({ command, output, exitCode }: ShellNote): string {
  const end = exitCode === null ? "was stopped" : `ended with exit code ${exitCode}`;
  const said = output.trim() === "" ? "no output" : `this output:\n${output.trimEnd()}`;
  return `The user ran a command, which ${end}.\n$ ${command}\n${said}`;
}
