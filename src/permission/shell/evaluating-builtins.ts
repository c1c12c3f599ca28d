import { wordSet } from "../match-text.ts";
import { type ShellWord, type SimpleCommand, textAt } from "./shell-command.ts";

const EVALUATING = wordSet(`
  test [ printf read unset declare typeset local export readonly let wait mapfile readarray getopts`);

/** Why nobody can see what a builtin runs: it evaluates a given text as part of the line, or calls back. */
export function evaluates(name: string, words: readonly ShellWord[]): string | undefined {
  const reason = callsBack(name, words);
  if (reason !== undefined) return reason;
  if (name === "printf") return printfSets(words);
  if (!EVALUATING.has(name)) return undefined;
  if (name === "let" && words.some(({ text }) => /\$|`/.test(text))) return "let evaluates a text";
  const hiding = words.find(
    ({ text, substitutions }) =>
      substitutions.length === 0 && /\$\(|`|\$\{/.test(text) && /\[|^[^$]*=/.test(text),
  );
  return hiding === undefined ? undefined : `${name} evaluates ${hiding.text}`;
}

/** `%n` puts the number of characters into the variable that an argument names. */
function printfSets(words: readonly ShellWord[]): string | undefined {
  const format = textAt(words, 1) === "--" ? words[2] : words[1];
  if (format === undefined) return undefined;
  if (/%[^a-zA-Z%]*[hlLqjzt]*n/.test(format.text) || /%[^a-zA-Z%]*[hlLqjzt]*n/.test(format.resolved))
    return "%n makes printf set a variable";
  const isKnown = format.names.length + format.substitutions.length === 0 && !format.braces && !format.glob;
  return isKnown || words.at(-1) === format ? undefined : "nobody knows what its format makes printf set";
}

/** Builtins that run commands or set variables with some of their options. */
const CALLING: ReadonlyMap<string, { readonly option?: RegExp; readonly reason: string }> = new Map([
  ["fc", { reason: "fc runs commands again" }],
  ["jobs", { option: /^-x/, reason: "jobs -x runs a command" }],
  ["mapfile", { option: /^-\w*C/, reason: "mapfile -C runs a command" }],
  ["readarray", { option: /^-\w*C/, reason: "readarray -C runs a command" }],
  ["compgen", { reason: "compgen can run commands" }],
  ["complete", { reason: "complete can run commands" }],
  ["bind", { reason: "bind can run commands" }],
  ["printf", { option: /^-v/, reason: "printf -v sets a variable" }],
]);

function callsBack(name: string, words: readonly ShellWord[]): string | undefined {
  const calling = CALLING.get(name);
  if (calling === undefined) return undefined;
  const { option, reason } = calling;
  return option === undefined || words.slice(1).some(({ text }) => option.test(text)) ? reason : undefined;
}

/** Variables that builtins of the line set to something nobody knows. */
export function assignedByBuiltins(commands: readonly SimpleCommand[]): readonly string[] {
  const names: string[] = [];
  for (const { words } of commands) {
    const program = words[0]?.text ?? "";
    if (!EVALUATING.has(program) || program === "test" || program === "[") continue;
    for (let index = 1; index < words.length; index++) {
      const name = /^([A-Za-z_]\w*)(?:=|$)/.exec(textAt(words, index))?.[1];
      if (name !== undefined) names.push(name);
    }
  }
  return names;
}
