import { literalWord, type ShellWord, type SimpleCommand } from "./shell-command.ts";
import { START } from "./work-folders.ts";

/** A command of words alone, which runs where the line starts. */
export function bareCommand(words: readonly ShellWord[], source: string): SimpleCommand {
  return { words, assignments: NONE, input: NONE, piped: NONE, folders: START, source };
}

/** The words of a text that has nothing but plain ones, with a blank between them. */
export function plainWords(text: string): readonly ShellWord[] {
  return text.split(" ").map(literalWord);
}

/** The texts that could be commands in one that does not parse: cut at every operator, quotes taken away. */
export function roughCommands(text: string): ReadonlySet<string> {
  const commands = new Set<string>();
  for (const piece of text.split(/[;&|\n(){}<>`]+|\$\(/)) {
    const command = piece
      .replaceAll(/["'\\]/g, "")
      .replaceAll(/\s+/g, " ")
      .trim();
    if (command !== "") commands.add(command);
  }
  return commands;
}

const NONE: readonly never[] = [];
