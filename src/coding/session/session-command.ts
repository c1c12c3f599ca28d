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

/** The commands of several lists; the first of a name wins. */
export function firstOfEachName(
  ...lists: readonly (readonly SessionCommand[] | undefined)[]
): readonly SessionCommand[] {
  const commands = lists.flatMap((list) => list ?? []);
  return commands.filter(({ name }, at) => commands.findIndex((each) => each.name === name) === at);
}
