import type { NoteEntry } from "../core/agent/entries.ts";
import { isRecord } from "../core/base/json.ts";
import { pluralize } from "../core/base/text.ts";
import { oneLine } from "./call-text.ts";

/** One round of a run's required command, as journaled. */
export interface UntilNote {
  readonly command: string;
  /** The call that ran it. */
  readonly callId: string;
  /** From 1. */
  readonly round: number;
  readonly most: number;
  /** `null`: it was ended. */
  readonly exitCode: number | null;
  readonly ms: number;
  /** How it ended, in words, such as `exit code 1`. */
  readonly ended: string;
  /** Number of files it changed itself. */
  readonly changes: number;
  /** Text for the model; absent if the run ends with this round. */
  readonly told?: string;
}

/** The kind of its `note` entry. */
export const UNTIL_NOTE = "until";

/** The round in a `note` entry; `undefined` for any other note. */
export function parseUntilNote({ kind, data }: Pick<NoteEntry, "kind" | "data">): UntilNote | undefined {
  if (kind !== UNTIL_NOTE || !isRecord(data)) return undefined;
  const { command, callId, round, most, exitCode, ms, ended, changes, told } = data;
  if (typeof command !== "string" || typeof callId !== "string" || typeof ended !== "string")
    return undefined;
  if (typeof round !== "number" || typeof most !== "number" || typeof ms !== "number") return undefined;
  const code = typeof exitCode === "number" ? exitCode : null;
  const rest = typeof told === "string" ? { told } : {};
  return { command, callId, round, most, exitCode: code, ms, ended, changes: Number(changes) || 0, ...rest };
}

/** Exit codes of Bash for a program that did not run, with their meanings. */
export const NOT_RUN_REASONS: { readonly [exitCode: number]: string } = {
  126: "cannot be run",
  127: "was not found",
};

/** A round in one line. `evidence`: that of the run, in one line. */
export function roundText(round: UntilNote, evidence: string): string {
  const { command, ended, exitCode, changes, told } = round;
  const name = oneLine(command, 60);
  const own = changes === 0 ? "" : ` · the command itself changed ${pluralize(changes, "file")}`;
  if (exitCode === 0) return `${evidence}${own}`;
  const lost = NOT_RUN_REASONS[exitCode ?? 0];
  if (lost !== undefined) return `${name} ${lost} (exit code ${exitCode}), so nothing was checked`;
  if (told === undefined) return `${name} still fails: ${ended}${own}`;
  return `${name} does not pass yet: ${ended} · round ${round.round} of ${round.most}${own}`;
}

/** A command that a person ran, as journaled. */
interface ShellNote {
  readonly command: string;
  readonly output: string;
  readonly exitCode: number | null;
  readonly shared: boolean;
}

/** The kind of its `note` entry. */
export const SHELL_NOTE = "shell";

/** The command in a `note` entry; `undefined` for any other note. */
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

/** The text that tells the model about it. */
export function sharedText({ command, output, exitCode }: ShellNote): string {
  const end = exitCode === null ? "was stopped" : `ended with exit code ${exitCode}`;
  const said = output.trim() === "" ? "no output" : `this output:\n${output.trimEnd()}`;
  return `The user ran a command, which ${end}.\n$ ${command}\n${said}`;
}
