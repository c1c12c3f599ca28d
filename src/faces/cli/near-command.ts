import { COMMANDS } from "./commands.ts";
import { usageError } from "./usage-error.ts";

/** Words that people type for something that has another name here, or none. */
const MEANT: { readonly [word: string]: string } = {
  version: "nano-agent --version",
  help: "nano-agent --help",
  login: "nano-agent models, which names the variable for the key of each provider",
  logout: "to take the key out of your environment: nano-agent keeps none",
  init: "the screen's /init, which writes an AGENTS.md: start nano-agent without a prompt",
  update: "npm install -g nano-agent@latest",
  upgrade: "npm install -g nano-agent@latest",
  install: "npm install -g nano-agent@latest",
  uninstall: "npm uninstall -g nano-agent",
  settings: "nano-agent config",
  resume: "nano-agent -r [ID]",
  continue: 'nano-agent -c "…"',
  history: "nano-agent sessions list",
  status: "nano-agent doctor",
  completions: "nano-agent completion bash|zsh|fish",
};

/**
 * Stops a prompt that is most likely a mistyped command, before it becomes a paid request: one bare word that
 * is a known name of something else or differs from a command by one letter, alone or with an action of that
 * command behind it. Throws `invalid_argument` with what was probably meant. `isForced`: the words stand
 * behind `--`, and are a prompt whatever they look like.
 */
export function assertNoCommand(words: readonly string[], isForced: boolean): void {
  const [first = "", second] = words;
  if (isForced || words.length > 2 || !/^[a-z-]+$/i.test(first)) return;
  const word = first.toLowerCase();
  const meant = Object.hasOwn(MEANT, word) && second === undefined ? MEANT[word] : undefined;
  const command = COMMANDS.find(({ name }) => name === word || isOneLetterOff(word, name));
  const action = command?.actions.find(({ name }) => name !== undefined && name === second);
  if (second !== undefined && action === undefined) return;
  const line =
    command === undefined ? undefined : `nano-agent ${[command.name, second].filter(Boolean).join(" ")}`;
  const hint = meant ?? line;
  if (hint === undefined) return;
  throw usageError(
    `${JSON.stringify(words.join(" "))} is not a command. Did you mean ${hint}? To send it as a prompt: nano-agent -p -- ${words.join(" ")}`,
  );
}

/**
 * True when one letter more, less, other or swapped with its neighbour makes one word of the other. Short
 * words must be equal.
 */
function isOneLetterOff(left: string, right: string): boolean {
  if (Math.min(left.length, right.length) < 4 || Math.abs(left.length - right.length) > 1) return false;
  let start = 0;
  while (start < left.length && left[start] === right[start]) start++;
  const rest = (text: string, skip: number): string => text.slice(start + skip);
  if (left.length > right.length) return rest(left, 1) === rest(right, 0);
  if (left.length < right.length) return rest(left, 0) === rest(right, 1);
  const isSwapped = left[start] === right[start + 1] && left[start + 1] === right[start];
  return rest(left, 1) === rest(right, 1) || (isSwapped && rest(left, 2) === rest(right, 2));
}
