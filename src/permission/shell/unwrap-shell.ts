import { literalWord, type ShellWord, type SimpleCommand, textAt } from "./shell-command.ts";
import { type Unwrapped, unseenFrom } from "./unwrapped.ts";

/** What a shell runs: the script behind `-c`, a file, or its standard input. */
export function unwrapShell({ words, input, piped }: SimpleCommand): Unwrapped {
  const options = shellOptions(words);
  if (options.result !== undefined) return options.result;
  const first = words[options.at];
  if (options.command && first !== undefined) {
    if (first.literal) return { scripts: [first.text] };
    const unseen = "part of what the shell runs comes from an expansion";
    return { scripts: [first.text, first.resolved], unseen };
  }
  if (first !== undefined && !options.stdin) return { file: options.at, words: words.slice(options.at) };
  return shellInput(input, piped);
}

interface ShellOptions {
  /** Index of the first word that is no option. */
  readonly at: number;
  /** `-c` is among them. */
  readonly command: boolean;
  /** `-s` is among them. */
  readonly stdin: boolean;
  /** What the options alone decide. */
  readonly result?: Unwrapped;
}

function shellOptions(words: readonly ShellWord[]): ShellOptions {
  let [command, stdin] = [false, false];
  for (let at = 1; at < words.length; at++) {
    const text = textAt(words, at);
    if (words[at]?.literal !== true || !/^[-+]/.test(text)) return { at, command, stdin };
    if (text === "--" || text === "-") return { at: at + 1, command, stdin };
    const result = text.startsWith("--") ? longOption(words, at) : interactive(words, at);
    if (result !== undefined) return { at, command, stdin, result };
    if (text.startsWith("--")) continue;
    command ||= text.includes("c");
    stdin ||= text.includes("s");
    if (/[oO]$/.test(text)) at++;
  }
  return { at: words.length, command, stdin };
}

function longOption(words: readonly ShellWord[], at: number): Unwrapped | undefined {
  const text = textAt(words, at);
  if (text === "--version" || text === "--help") return {};
  if (/^--(?:no\w+|posix|login|verbose|restricted)$/.test(text)) return undefined;
  return unseenFrom(words, at, `${text} may name a file of commands`);
}

function interactive(words: readonly ShellWord[], at: number): Unwrapped | undefined {
  return /^-\w*i/.test(textAt(words, at)) ? unseenFrom(words, at, "it is an interactive shell") : undefined;
}

/** A shell that reads its commands from standard input. */
function shellInput(input: readonly string[], piped: readonly SimpleCommand[]): Unwrapped {
  const plain = input.length === 1 && piped.length === 0 && !/[$`\\]/.test(input[0] ?? "");
  if (plain) return { scripts: input };
  const texts = piped.flatMap(({ words, input: fed }) => {
    const rest = words.slice(1).map(({ resolved }) => resolved);
    return [...fed, ...rest, rest.join(" ")];
  });
  return { scripts: [...input, ...texts], unseen: "the shell reads its commands from its input" };
}

/** What `su` runs: the command line behind `-c`. */
export function unwrapSu(words: readonly ShellWord[]): Unwrapped {
  const at = words.findIndex(({ text }) => /^(?:-[a-z]*c|--command|--session-command)$/.test(text));
  const attached = words.find(({ text }) => /^--(?:session-)?command=/.test(text));
  const value = attached?.text.slice(attached.text.indexOf("=") + 1);
  const script = value === undefined ? words[at + 1] : literalWord(value);
  if ((at === -1 && attached === undefined) || script === undefined)
    return unseenFrom(words, 1, "su starts a shell");
  const others = words.filter(
    (word, index) => index > 0 && index !== at && index !== at + 1 && word !== attached,
  );
  const plain = others.every(({ text, literal }) => literal && /^(?:-|-l|-m|-p|--login|[\w.]+)$/.test(text));
  if (plain && script.literal) return { scripts: [script.text] };
  return { scripts: [script.text, script.resolved], unseen: "what su runs cannot be told with certainty" };
}
