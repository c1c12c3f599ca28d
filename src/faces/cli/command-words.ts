import { nearest } from "../../core/base/text.ts";
import { usageError } from "./usage-error.ts";

/** The words of a sub-command, and whether `--json` is among them. */
export interface CommandWords {
  readonly words: readonly string[];
  readonly json: boolean;
}

/** Takes the words after a sub-command apart. Throws `invalid_argument` for an option other than `--json` and for too many words. */
export function commandWords(
  args: readonly string[],
  command: { readonly name: string; readonly max: number },
): CommandWords {
  const words: string[] = [];
  let json = false;
  for (const word of args) {
    if (word === "--json") json = true;
    else if (word.startsWith("-")) {
      const guess = nearest(word, ["--json", "--help"]);
      const hint = guess === undefined ? "" : ` Did you mean ${guess}?`;
      throw usageError(`nano-agent ${command.name} does not know ${word}.${hint} Options: --json, --help.`);
    } else words.push(word);
  }
  if (words.length > command.max) {
    throw usageError(
      `nano-agent ${command.name}: ${JSON.stringify(words[command.max])} is one word too many. To use it as a prompt: nano-agent -p -- ${command.name} …`,
    );
  }
  return { words, json };
}
