import { literalWord, resolvedText, type ShellWord, type SimpleCommand, textOf } from "./shell-command.ts";
import { unwrapShell, unwrapSu } from "./unwrap-shell.ts";
import { type Unwrapped, unseenFrom } from "./unwrapped.ts";
import { readOptions } from "./wrapper-options.ts";
import { LOOSE_WRAPPERS, OTHER_SHELLS, SHELLS, WRAPPERS, type Wrapper } from "./wrappers.ts";

/** What the program `name` runs, if it is one that runs others; `words[0]` is the program itself. */
export function unwrap(name: string, command: SimpleCommand): Unwrapped | undefined {
  const { words } = command;
  if (SHELLS.has(name)) return unwrapShell(command);
  if (OTHER_SHELLS.has(name)) return { unseen: `what ${name} runs is not read`, scripts: stringsOf(words) };
  switch (name) {
    case "su":
      return unwrapSu(words);
    case "xargs":
    case "gxargs":
      return unwrapXargs(words);
    case "parallel":
      return unwrapParallel(words);
    case "flock":
      return unwrapFlock(words);
    case "watch":
      return unwrapWatch(words);
    case "trap":
      return unwrapTrap(words);
    case "alias":
      return { scripts: words.slice(1).map(({ text }) => text.slice(text.indexOf("=") + 1)) };
    default:
      break;
  }
  if (LOOSE_WRAPPERS.has(name)) return unwrapLoose(name, words);
  const wrapper = WRAPPERS.get(name);
  return wrapper === undefined ? undefined : unwrapWith(name, wrapper, words);
}

function unwrapWith(name: string, wrapper: Wrapper, words: readonly ShellWord[]): Unwrapped {
  const end = readOptions(words, wrapper);
  if (end.looksUp === true) return {};
  if (end.unknown !== undefined)
    return unseenFrom(words, end.at, `${end.unknown} is no option of ${name} that is known here`);
  let at = end.at;
  const assigns: number[] = [];
  while (wrapper.assigns === true && ASSIGNMENT.test(words[at]?.text ?? "")) assigns.push(at++);
  const operands = words.slice(at, at + (wrapper.operands ?? 0));
  if (operands.some(({ literal }) => !literal))
    return unseenFrom(words, at, `what ${name} runs depends on an expansion`);
  at += operands.length;
  const rest = words.slice(at);
  if (rest.length === 0) {
    if (end.scripts.length > 0) return { scripts: end.scripts };
    return wrapper.alone === "unseen" ? { unseen: `${name} starts a shell` } : { assigns };
  }
  if (wrapper.runs === "line") return { ...lineOf(rest), assigns };
  return { words: rest, scripts: end.scripts, assigns };
}

const ASSIGNMENT = /^[A-Za-z_]\w*=/;

/** Words that are joined and read by a shell once more. */
function lineOf(words: readonly ShellWord[]): Unwrapped {
  const line = textOf(words);
  if (words.every(({ literal, glob }) => literal || glob)) return { scripts: [line] };
  return {
    scripts: [line, resolvedText(words)],
    unseen: "part of what it runs comes from an expansion",
  };
}

function stringsOf(words: readonly ShellWord[]): readonly string[] {
  return words.slice(1, 20).map(({ resolved }) => resolved);
}

const XARGS: Wrapper = {
  flags: "0rtpxo",
  valued: "nPLsdaEIJR",
  optional: "iel",
  long: ["null", "no-run-if-empty", "verbose", "interactive", "exit", "open-tty", "show-limits"],
  longValued: ["max-args", "max-procs", "max-chars", "delimiter", "arg-file", "process-slot-var"],
};

function unwrapXargs(words: readonly ShellWord[]): Unwrapped {
  const end = readOptions(words, XARGS);
  if (end.looksUp === true) return {};
  if (end.unknown !== undefined)
    return unseenFrom(words, end.at, `${end.unknown} is no option of xargs that is known here`);
  const program = words.slice(end.at);
  if (program.length === 0) return {};
  const options = words.slice(1, end.at).map(({ text }) => text);
  const at = options.findIndex((text) => /^-[^-]*[IiJR]/.test(text));
  if (at === -1) return { words: [...program, UNKNOWN_ARGUMENTS] };
  const option = options[at] ?? "";
  const attached = option.slice(option.search(/[IiJR]/) + 1);
  const placeholder = attached === "" ? (option.includes("i") ? "{}" : (options[at + 1] ?? "{}")) : attached;
  const mark = (word: ShellWord): ShellWord =>
    word.text.includes(placeholder) ? { ...word, literal: false, names: [...word.names, "@"] } : word;
  return { words: program.map(mark) };
}

/** Stands for arguments that come from elsewhere: any number of them. */
export const UNKNOWN_ARGUMENTS: ShellWord = { ...literalWord(""), literal: false, names: ["@"] };

const PARALLEL: Wrapper = {
  flags: "kqtvX0mu",
  valued: "jNnLSsIaP",
  optional: "il",
  long: [
    "keep-order",
    "bar",
    "progress",
    "eta",
    "dry-run",
    "verbose",
    "line-buffer",
    "no-notice",
    "will-cite",
    "null",
    "ungroup",
  ],
  longValued: ["jobs", "max-args", "delay", "timeout", "retries", "halt"],
};

function unwrapParallel(words: readonly ShellWord[]): Unwrapped {
  const end = readOptions(words, PARALLEL);
  if (end.looksUp === true) return {};
  const mark = words.findIndex(({ text }) => /^::::?\+?$/.test(text));
  const stop = mark === -1 ? words.length : mark;
  const program = words.slice(end.at, stop);
  if (end.unknown !== undefined || program.length === 0 || program.some(({ text }) => /[{}]|\s/.test(text))) {
    const given = words.slice(stop + 1).map(({ resolved }) => resolved);
    const all = unseenFrom(words, end.at, "what parallel runs cannot be told with certainty");
    return { ...all, scripts: [...(all.scripts ?? []), ...given] };
  }
  // The words are read by a shell once more: only plain ones mean the same to it.
  if (program.some(({ text, literal }) => !literal || !/^[\w./:=@%+,-]+$/.test(text)))
    return unseenFrom(words, end.at, "parallel hands its words to a shell");
  return { words: [...program, UNKNOWN_ARGUMENTS] };
}

const FLOCK: Wrapper = {
  flags: "sxeuonFv",
  valued: "wE",
  long: ["shared", "exclusive", "unlock", "nonblock", "nb", "close", "no-fork", "verbose"],
  longValued: ["timeout", "wait", "conflict-exit-code"],
  operands: 1,
};

function unwrapFlock(words: readonly ShellWord[]): Unwrapped {
  const end = readOptions(words, FLOCK);
  if (end.unknown !== undefined)
    return unseenFrom(words, end.at, `${end.unknown} is no option of flock that is known here`);
  const next = words[end.at + 1];
  if (next?.text !== "-c" && next?.text !== "--command") return unwrapWith("flock", FLOCK, words);
  const script = words[end.at + 2];
  if (script === undefined) return {};
  return script.literal
    ? { scripts: [script.text] }
    : unseenFrom(words, end.at + 2, "what flock runs comes from an expansion");
}

const WATCH: Wrapper = {
  flags: "bcegtwxC",
  valued: "nq",
  optional: "d",
  long: [
    "beep",
    "color",
    "errexit",
    "chgexit",
    "no-title",
    "exec",
    "no-wrap",
    "no-color",
    "precise",
    "differences",
  ],
  longValued: ["interval", "equexit"],
  runs: "line",
};

function unwrapWatch(words: readonly ShellWord[]): Unwrapped {
  const end = readOptions(words, WATCH);
  const exec = words.slice(1, end.at).some(({ text }) => text === "--exec" || /^-[a-wyzA-Z]*x/.test(text));
  return unwrapWith("watch", exec ? { ...WATCH, runs: "words" } : WATCH, words);
}

function unwrapTrap(words: readonly ShellWord[]): Unwrapped {
  const action = words[1]?.text === "--" ? words[2] : words[1];
  if (action === undefined || action.text === "" || action.text === "-" || /^-[lp]$/.test(action.text))
    return {};
  if (action.literal) return { scripts: [action.text] };
  return { scripts: [action.text, action.resolved], unseen: "what the trap runs comes from an expansion" };
}

function unwrapLoose(name: string, words: readonly ShellWord[]): Unwrapped | undefined {
  const first = words[1];
  if (first === undefined) return undefined;
  if (first.literal && !first.text.startsWith("-") && !first.text.includes(" ") && LOOSE_WORDS.has(name))
    return { words: words.slice(1) };
  return unseenFrom(words, 1, `what ${name} runs cannot be told with certainty`);
}

/** Loose wrappers whose first word, when it is no option, is the program. */
const LOOSE_WORDS = new Set([
  "unshare",
  "nsenter",
  "strace",
  "ltrace",
  "valgrind",
  "systemd-run",
  "firejail",
  "setpriv",
  "linux64",
  "linux32",
  "rlwrap",
  "torsocks",
  "torify",
  "proxychains",
  "proxychains4",
  "entr",
]);
