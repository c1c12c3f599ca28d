import { type InnerCommand, readWrapper, unseenFrom } from "./inner-command.ts";
import { type ShellWord, type SimpleCommand, textAt } from "./shell-command.ts";
import type { Wrapper } from "./wrappers.ts";

/** The command that a shell runs: the script behind `-c`, a file, or its standard input. */
export function unwrapShell({ words, input, piped }: SimpleCommand): InnerCommand {
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
  /** The result that the options alone decide. */
  readonly result?: InnerCommand;
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
    // Each of these takes a word of its own, wherever in the bundle it stands.
    at += text.replaceAll(/[^oO]/g, "").length;
  }
  return { at: words.length, command, stdin };
}

function longOption(words: readonly ShellWord[], at: number): InnerCommand | undefined {
  const text = textAt(words, at);
  if (text === "--version" || text === "--help") return {};
  if (/^--(?:no\w+|posix|login|verbose|restricted)$/.test(text)) return undefined;
  return unseenFrom(words, at, `${text} may name a file of commands`);
}

function interactive(words: readonly ShellWord[], at: number): InnerCommand | undefined {
  return /^-\w*i/.test(textAt(words, at)) ? unseenFrom(words, at, "it is an interactive shell") : undefined;
}

/** A shell that reads its commands from standard input. */
function shellInput(input: readonly string[], piped: readonly SimpleCommand[]): InnerCommand {
  const plain = input.length === 1 && piped.length === 0 && !/[$`\\]/.test(input[0] ?? "");
  if (plain) return { scripts: input };
  const texts = piped.flatMap(({ words, input: fed }) => {
    const rest = words.slice(1).map(({ resolved }) => resolved);
    return [...fed, ...rest, rest.join(" ")];
  });
  return { scripts: [...input, ...texts], unseen: "the shell reads its commands from its input" };
}

/** The command that `su` and `runuser` run: the line behind `-c`. */
export function unwrapSu(name: string, words: readonly ShellWord[], su: Wrapper): InnerCommand {
  const { scripts, operands, unknown, looksUp } = readWrapper(words, su);
  if (looksUp) return {};
  const [script] = scripts;
  const others = operands.map((index) => words[index]?.text ?? "");
  const plain = unknown === undefined && scripts.length === 1 && others.length <= 1;
  const withShell = words.some(({ text }) => /^-[a-z]*s|^--shell/.test(text));
  if (plain && !withShell && script?.literal === true) return { scripts: [script.text] };
  const all = unseenFrom(words, 1, `what ${name} runs cannot be told with certainty`);
  const given = scripts.flatMap(({ text, resolved }) => [text, resolved]);
  return script === undefined && unknown === undefined
    ? unseenFrom(words, 1, `${name} starts a shell`)
    : { ...all, scripts: [...given, ...(all.scripts ?? [])] };
}
