import type { Input } from "../../core/message/input.ts";
import type { CommandPorts } from "../../extensions/commands/expand-command.ts";
import type { CommandView } from "./coding-session.ts";

export interface SessionCommand extends CommandView {
  /** Permission rules in effect while it runs. */
  readonly allowedTools?: readonly string[];
  readonly model?: string;
  /** The subagent that handles it. */
  readonly agent?: string;
  readonly expand: (args: string, use: CommandUse) => Promise<Input | undefined>;
}

export interface CommandUse extends CommandPorts {
  readonly sessionId: string;
  readonly signal: AbortSignal;
  readonly notify: (text: string) => void;
}

/** The source of commands, called whenever the list is needed. */
export type CommandSource = () => readonly SessionCommand[];

/** The commands of several sources; the first of a name wins. */
export function commandsOf(sources: readonly CommandSource[]): readonly SessionCommand[] {
  const commands = new Map<string, SessionCommand>();
  for (const command of sources.flatMap((source) => source()))
    if (!commands.has(command.name)) commands.set(command.name, command);
  return [...commands.values()];
}
