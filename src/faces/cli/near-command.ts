import { misuse } from "../../core/base/errors.ts";
import { editDistance, shellArgument } from "../../core/base/text.ts";
import type { CommandSpec } from "./command-spec.ts";
import { COMMANDS } from "./commands.ts";

/** Words that people type for something that has another name here, or none. */
const MEANT: { readonly [word: string]: string } = {
  version: "nano-agent --version",
  help: "nano-agent --help",
  chat: "nano-agent alone, which opens the screen",
  start: "nano-agent alone, which opens the screen",
  web: "nano-agent serve",
  server: "nano-agent serve",
  login: "nano-agent models, which names the variable for the key of each provider",
  keys: "nano-agent models, which names the variable for the key of each provider",
  logout: "to take the key out of your environment: nano-agent keeps none",
  init: "the screen's /init, which writes an AGENTS.md: start nano-agent without a prompt",
  update: "npm install -g nano-agent@latest",
  upgrade: "npm install -g nano-agent@latest",
  install: "npm install -g nano-agent@latest",
  uninstall: "npm uninstall -g nano-agent",
  settings: "nano-agent config",
  resume: "nano-agent -r [ID]",
  continue: 'nano-agent -c "…"',
  fork: 'nano-agent -c --fork-session "…"',
  list: "nano-agent sessions list",
  history: "nano-agent sessions list",
  export: "nano-agent sessions export [ID]",
  import: "nano-agent sessions import FILE…",
  replay: "nano-agent sessions replay [ID]",
  compact: "nano-agent sessions compact [ID]",
  stats: "nano-agent sessions show --stats",
  plugins: "nano-agent extensions",
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
  const hint = meantBy(first.toLowerCase(), second);
  if (hint === undefined) return;
  throw misuse(
    `${JSON.stringify(words.join(" "))} is not a command. Did you mean ${hint}? To send it as a prompt: nano-agent -p -- ${words.map(shellArgument).join(" ")}`,
  );
}

function meantBy(word: string, second: string | undefined): string | undefined {
  if (second === undefined && Object.hasOwn(MEANT, word)) return MEANT[word];
  const command = commandLike(word === "help" ? (second ?? "") : word);
  if (word === "help") return command && `nano-agent help ${command.name}`;
  if (second === undefined) return command && `nano-agent ${command.name}`;
  const action = command?.actions.find(({ name }) => name === second);
  return action && `nano-agent ${command?.name} ${second}`;
}

function commandLike(word: string): CommandSpec | undefined {
  return COMMANDS.find(({ name }) => name === word || isOneLetterOff(word, name));
}

/** True for words one typing slip apart. Short ones: only swapped letters, since too many are near. */
function isOneLetterOff(left: string, right: string): boolean {
  const sorted = (word: string): string => [...word].sort().join("");
  const isLong = Math.min(left.length, right.length) >= 4;
  return editDistance(left, right) === 1 && (isLong || sorted(left) === sorted(right));
}
