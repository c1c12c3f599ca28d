import { misuse } from "../../core/base/errors.ts";
import { editDistance, shellArgument } from "../../core/base/text.ts";
import type { CommandAction, CommandSpec } from "./command-spec.ts";
import { COMMANDS } from "./commands.ts";

/**
 * Stops a prompt that is most likely a mistyped command, before it becomes a paid request: a word one slip
 * away from a command, alone or with an action of that command behind it, and a command that stands behind an
 * option. Throws `invalid_argument` with what was probably meant. `isForced`: the words
 * stand behind `--`, and are a prompt whatever they look like.
 */
export function assertNoCommand(words: readonly string[], isForced: boolean): void {
  const hint = isForced ? undefined : meantBy(words);
  if (hint === undefined) return;
  const isLate = COMMANDS.some(({ name }) => name === words[0]);
  const what = isLate ? "is not a command behind an option" : "is not a command";
  const order = isLate ? " The command comes first, and its options behind it." : "";
  throw misuse(
    `${JSON.stringify(words.join(" "))} ${what}. Did you mean ${hint}?${order} To send it as a prompt: nano-agent -p -- ${words.map(shellArgument).join(" ")}`,
  );
}

function meantBy(words: readonly string[]): string | undefined {
  const isHelp = words.length > 1 && words.length <= 3 && words[0]?.toLowerCase() === "help";
  const asked = isHelp ? words.slice(1) : words;
  // A slash command, or a question, is no slip.
  if (!/^[a-z-]+$/i.test(asked[0] ?? "")) return undefined;
  const [only = ""] = asked.map((word) => word.toLowerCase());
  if (asked.length === 1 && (only === "version" || isOneLetterOff(only, "version")))
    return "nano-agent --version";
  const command = commandMeant(asked);
  return command === undefined ? undefined : `nano-agent ${isHelp ? "help " : ""}${command}`;
}

/** Shorter names are too near to words of a prompt. */
const MAX_SHORT = 4;

/** The command line that words are, or nearly are; undefined where they may be a sentence. */
function commandMeant(words: readonly string[]): string | undefined {
  const [first = "", second] = words.map((word) => word.toLowerCase());
  const command = commandLike(first, second !== undefined);
  if (command === undefined || second === undefined) return command?.name;
  const named = command.actions.find(({ name }) => name === second || (name && isSlip(second, name)));
  const unnamed = command.name === first ? command.actions.find(({ name }) => name === undefined) : undefined;
  const action = named ?? unnamed;
  const behind = words.slice(named === undefined ? 1 : 2);
  if (action === undefined || !areArguments(behind, action)) return undefined;
  return [command.name, action.name ?? [], behind.map(shellArgument)].flat().join(" ");
}

/** With an action behind it the singular of a long name may have a slip too: `sesion list`. */
function commandLike(word: string, hasMore: boolean): CommandSpec | undefined {
  const isNear = (name: string): boolean =>
    isOneLetterOff(word, name) || (hasMore && word.length > MAX_SHORT + 1 && isSlip(`${word}s`, name));
  return COMMANDS.find(({ name }) => name === word) ?? COMMANDS.find(({ name }) => isNear(name));
}

/** True for words that an action takes and no sentence has: ids, files, numbers, quoted commands. */
function areArguments(words: readonly string[], action: CommandAction): boolean {
  return words.length <= action.words.length && words.every((word) => /[^a-z]|^[a-f]+$/i.test(word));
}

/** True for words one typing slip apart. Short ones: only swapped letters, since too many are near. */
function isOneLetterOff(left: string, right: string): boolean {
  const isLong = Math.min(left.length, right.length) >= 4;
  return isLong ? isOneEdit(left, right) : left.length === right.length && isSlip(left, right);
}

/** True for a letter too few, too many or swapped: another letter makes another word, such as `logic`. */
function isSlip(word: string, name: string): boolean {
  const sorted = (letters: string): string => [...letters].sort().join("");
  return isOneEdit(word, name) && (word.length !== name.length || sorted(word) === sorted(name));
}

/** The lengths first: the word may be a long prompt. */
function isOneEdit(left: string, right: string): boolean {
  return Math.abs(left.length - right.length) <= 1 && editDistance(left, right) === 1;
}
