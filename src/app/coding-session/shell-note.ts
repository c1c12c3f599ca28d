import type { NoteEntry } from "../../core/agent/entry.ts";
import type { Json } from "../../core/base/errors.ts";
import { isRecord } from "../../core/base/json.ts";

/** A command that a person ran, as the journal keeps it. */
export interface ShellNote {
  readonly command: string;
  readonly output: string;
  readonly exitCode: number | null;
  readonly shared: boolean;
}

/** The kind of its `note` entry. */
export const SHELL_NOTE = "shell";

/** Its data. */
export function shellNote({ command, output, exitCode, shared }: ShellNote): Json {
  return { command, output, exitCode, shared };
}

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

/** What the model is told of it. */
export function sharedText({ command, output, exitCode }: ShellNote): string {
  const end = exitCode === null ? "was stopped" : `ended with exit code ${exitCode}`;
  const said = output.trim() === "" ? "no output" : `this output:\n${output.trimEnd()}`;
  return `The user ran a command, which ${end}.\n$ ${command}\n${said}`;
}
