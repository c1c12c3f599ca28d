import { literalWord, type ShellWord, type SimpleCommand } from "./shell-command.ts";
import { LOOSE_WRAPPERS, OTHER_SHELLS, SHELLS, WRAPPERS, type Wrapper } from "./wrappers.ts";

/** What a wrapper runs. */
export interface Unwrapped {
  /** The program it runs, with its arguments. */
  readonly words?: readonly ShellWord[];
  /** Command lines it hands to a shell. */
  readonly scripts?: readonly string[];
  /** Why nobody can see (all of) what it runs. */
  readonly unseen?: string;
  /** Words that are assignments. */
  readonly assigns?: readonly number[];
  /** Words that name a file of commands: `bash build.sh`. */
  readonly file?: number;
}

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

interface OptionEnd {
  /** Index of the first word that is no option. */
  readonly at: number;
  readonly scripts: readonly string[];
  /** An option nobody knows, or one that cannot be read. */
  readonly unknown?: string;
  readonly looksUp?: true;
}

function readOptions(words: readonly ShellWord[], wrapper: Wrapper): OptionEnd {
  const scripts: string[] = [];
  for (let at = 1; at < words.length; at++) {
    const word = words[at];
    const text = word?.text ?? "";
    if (!text.startsWith("-") && word?.literal === true) return { at, scripts };
    if (word?.literal !== true) return { at, scripts, unknown: text };
    if (text === "--") return { at: at + 1, scripts };
    if (wrapper.looksUp?.includes(text) === true || text === "--help" || text === "--version")
      return { at: words.length, scripts, looksUp: true };
    const option = wrapper.script?.find(
      (each) => text === each || (text.startsWith(`${each}=`) && each.startsWith("--")),
    );
    const taken = option === undefined ? optionLength(text, wrapper) : text === option ? 2 : 1;
    if (taken === undefined) return { at, scripts, unknown: text };
    if (option !== undefined) {
      const value = text === option ? words[at + 1] : literalWord(text.slice(option.length + 1));
      if (value?.literal !== true) return { at, scripts, unknown: value?.text ?? text };
      scripts.push(value.text);
    }
    at += taken - 1;
  }
  return { at: words.length, scripts };
}

/** Words an option takes: 1, or 2 with a value of its own. `undefined`: not a known option. */
function optionLength(
  text: string,
  { flags = "", valued = "", optional = "", long = [], longValued = [] }: Wrapper,
): 1 | 2 | undefined {
  if (text === "-") return 1;
  if (text.startsWith("--")) {
    const [name = "", value] = text.slice(2).split("=", 2);
    if (long.includes(name)) return 1;
    if (longValued.includes(name)) return value === undefined ? 2 : 1;
    return undefined;
  }
  for (let place = 1; place < text.length; place++) {
    const letter = text.charAt(place);
    if (flags.includes(letter)) continue;
    if (optional.includes(letter)) return 1;
    if (valued.includes(letter)) return place === text.length - 1 ? 2 : 1;
    return undefined;
  }
  return 1;
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
  const line = words.map(({ text }) => text).join(" ");
  if (words.every(({ literal, glob }) => literal || glob)) return { scripts: [line] };
  return {
    scripts: [line, words.map(({ resolved }) => resolved).join(" ")],
    unseen: "part of what it runs comes from an expansion",
  };
}

/** The program cannot be told from its options: every word could be where it begins. */
function unseenFrom(words: readonly ShellWord[], from: number, unseen: string): Unwrapped {
  const scripts: string[] = [];
  const long = words.length > 200;
  const count = long ? 2 : 16;
  for (let at = from; at < words.length && scripts.length < count; at++) {
    if (words[at]?.text.startsWith("-") === true) continue;
    scripts.push(
      words
        .slice(at, at + (long ? 500 : 200))
        .map(({ resolved }) => resolved)
        .join(" "),
    );
    if (words[at]?.text.includes(" ") === true) scripts.push(words[at]?.resolved ?? "");
  }
  return { unseen, scripts };
}

function stringsOf(words: readonly ShellWord[]): readonly string[] {
  return words.slice(1, 20).map(({ resolved }) => resolved);
}

function unwrapShell({ words, input, piped }: SimpleCommand): Unwrapped {
  let command = false;
  let stdin = false;
  let at = 1;
  for (; at < words.length; at++) {
    const word = words[at];
    const text = word?.text ?? "";
    if (word?.literal !== true || !/^[-+]/.test(text)) break;
    if (text === "--" || text === "-") {
      at++;
      break;
    }
    if (text === "--version" || text === "--help") return {};
    if (text === "--rcfile" || text === "--init-file")
      return unseenFrom(words, at, `${text} names a file of commands`);
    if (text.startsWith("--")) {
      if (!/^--(?:no\w+|posix|login|verbose|restricted)$/.test(text))
        return unseenFrom(words, at, `${text} is not known here`);
      continue;
    }
    if (text.includes("i") && text.startsWith("-"))
      return unseenFrom(words, at, "it is an interactive shell");
    if (text.includes("c")) command = true;
    if (text.includes("s")) stdin = true;
    if (/[oO]$/.test(text)) at++;
  }
  const first = words[at];
  if (command && first !== undefined) {
    if (first.literal) return { scripts: [first.text] };
    return {
      scripts: [first.text, first.resolved],
      unseen: "part of what the shell runs comes from an expansion",
    };
  }
  if (first !== undefined && !stdin) return { file: at, words: words.slice(at) };
  return shellInput(input, piped);
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

function unwrapSu(words: readonly ShellWord[]): Unwrapped {
  const at = words.findIndex(({ text }) => /^(?:-[a-z]*c|--command|--session-command)$/.test(text));
  const attached = words.find(({ text }) => /^--(?:session-)?command=/.test(text));
  const script =
    attached === undefined ? words[at + 1] : literalWord(attached.text.slice(attached.text.indexOf("=") + 1));
  if ((at === -1 && attached === undefined) || script === undefined)
    return unseenFrom(words, 1, "su starts a shell");
  const others = words.filter(
    (word, index) => index > 0 && index !== at && index !== at + 1 && word !== attached,
  );
  const plain = others.every(({ text, literal }) => literal && /^(?:-|-l|-m|-p|--login|[\w.]+)$/.test(text));
  if (plain && script.literal) return { scripts: [script.text] };
  return { scripts: [script.text, script.resolved], unseen: "what su runs cannot be told with certainty" };
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
