import type { Agent } from "../../agent/agent.ts";
import type { NoteEntry } from "../../core/agent/entries.ts";
import { isRecord } from "../../core/base/json.ts";
import type { ShellOutcome } from "./coding-session.ts";
import type { SessionParts } from "./session-parts.ts";
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

/** How a command of the user is run. */
export interface UserCommandOptions {
  readonly shared: boolean;
  readonly signal: AbortSignal | undefined;
  readonly agent: Agent;
  readonly onEntry: (entry: NoteEntry) => void;
}

/** Runs a command that a person typed, records it, and lays it before the model where it is shared. */
export async function runUserCommand(
  { composed, settings }: SessionParts,
  command: string,
  { shared, signal = new AbortController().signal, agent, onEntry }: UserCommandOptions,
): Promise<ShellOutcome> {
  const outcome = await composed.runShell(command, { cwd: settings.cwd, signal });
  const note = { command, ...outcome, shared };
  onEntry(await agent.note(SHELL_NOTE, note));
  if (shared) await agent.observe(sharedText(note));
  return outcome;
}
