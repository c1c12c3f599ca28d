import type { Agent } from "../../agent/agent.ts";
import type { NoteEntry } from "../../core/agent/entries.ts";
import { SHELL_NOTE, sharedText } from "../../view/shell-note.ts";
import type { ShellOutcome } from "./coding-session.ts";
import type { SessionParts } from "./session-parts.ts";

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
  const outcome = await composed.builtin.runShell(command, { cwd: settings.cwd, signal });
  const note = { command, ...outcome, shared };
  onEntry(await agent.note(SHELL_NOTE, note));
  if (shared) await agent.observe(sharedText(note));
  return outcome;
}
