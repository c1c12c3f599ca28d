import { wordSet } from "../match-text.ts";
import { type InnerCommand, readWrapper, unseenFrom } from "./inner-command.ts";
import type { FoundOption } from "./option-reader.ts";
import { literalWord, resolvedText, type ShellWord, type SimpleCommand, textOf } from "./shell-command.ts";
import { unwrapShell, unwrapSu } from "./unwrap-shell.ts";
import { LOOSE_WRAPPERS, OTHER_SHELLS, SHELLS, WRAPPERS, type Wrapper } from "./wrappers.ts";

/** The command that the program `name` runs, if it is one that does; `words[0]` is the program itself. */
export function unwrap(name: string, command: SimpleCommand): InnerCommand | undefined {
  const { words } = command;
  if (SHELLS.has(name)) return unwrapShell(command);
  if (OTHER_SHELLS.has(name)) return { unseen: `what ${name} runs is not read`, scripts: stringsOf(words) };
  if (name === "trap") return unwrapTrap(words);
  if (name === "alias")
    return { scripts: words.slice(1).map(({ text }) => text.slice(text.indexOf("=") + 1)) };
  if (LOOSE_WRAPPERS.has(name)) return unwrapLoose(name, words);
  const wrapper = WRAPPERS.get(name);
  if (wrapper === undefined) return undefined;
  switch (name) {
    case "su":
    case "runuser":
      return unwrapUser(name, words, wrapper);
    case "xargs":
    case "gxargs":
      return unwrapXargs(command, wrapper);
    case "parallel":
      return unwrapParallel(words, wrapper);
    case "flock":
      return unwrapFlock(words, wrapper);
    default:
      return unwrapWith(name, wrapper, words);
  }
}

function unwrapUser(name: string, words: readonly ShellWord[], wrapper: Wrapper): InnerCommand {
  // With a user named by an option the words behind are runuser's program, and no shell reads them.
  if (name === "runuser" && words.some(({ text }) => /^(?:-u|--user)/.test(text)))
    return unwrapWith(name, wrapper, words);
  return unwrapSu(name, words, WRAPPERS.get("su") ?? wrapper);
}

function unwrapWith(name: string, wrapper: Wrapper, words: readonly ShellWord[]): InnerCommand {
  const { options, operands: places, scripts: lines, unknown, looksUp } = readWrapper(words, wrapper);
  if (looksUp) return {};
  if (unknown !== undefined) return unseenFrom(words, unknown, unknownOption(name, words[unknown]));
  const folder = options.findLast((option) => wrapper.folder.includes(option.name))?.value;
  const taken = countAssignments(words, places, wrapper);
  const assigns = places.slice(0, taken);
  const before = places.slice(0, taken + wrapper.operands);
  const isOpen = before.some((index) => words[index]?.literal !== true);
  if (isOpen || folder?.literal === false || lines.some(({ literal }) => !literal))
    return unseenFrom(words, places[0] ?? 1, `what ${name} runs depends on an expansion`);
  const rest = places.slice(before.length).flatMap((index) => words[index] ?? []);
  const scripts = lines.map(({ text }) => text);
  if (rest.length === 0) {
    if (scripts.length > 0) return { scripts };
    return wrapper.traits.has("shell") ? { unseen: `${name} starts a shell` } : { assigns };
  }
  const isLine = wrapper.traits.has("line") && !options.some((option) => wrapper.words.includes(option.name));
  if (isLine) return { ...lineOf(rest), assigns };
  return { words: rest, scripts, assigns, folder: folder && placeOf(folder) };
}

function unknownOption(name: string, word: ShellWord | undefined): string {
  return `${word?.text ?? ""} is not an option of ${name} that is known here`;
}

/** A folder as it is found on disk: a tilde that the shell left alone is a name. */
function placeOf({ text }: ShellWord): string {
  return text.startsWith("~") ? `./${text}` : text;
}

/** Any word with a `=` is an assignment to `env` and `sudo`, not only what the shell takes for one. */
function countAssignments(
  words: readonly ShellWord[],
  places: readonly number[],
  { traits }: Wrapper,
): number {
  if (!traits.has("assigns")) return 0;
  const end = places.findIndex((index) => words[index]?.text.includes("=") !== true);
  return end === -1 ? places.length : end;
}

/** Words that are joined and read by a shell once more. */
function lineOf(words: readonly ShellWord[]): InnerCommand {
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

const PLACEHOLDERS: ReadonlySet<string> = new Set(["-I", "-i", "--replace"]);
/** Options that take back the placeholder, and have arguments added. */
const ADDING: ReadonlySet<string> = wordSet("-n -L -l --max-args --max-lines");

function unwrapXargs({ words, piped, input, source }: SimpleCommand, wrapper: Wrapper): InnerCommand {
  const { options, operands, unknown, looksUp } = readWrapper(words, wrapper);
  if (looksUp) return {};
  if (unknown !== undefined) return unseenFrom(words, unknown, unknownOption("xargs", words[unknown]));
  const program = operands.flatMap((index) => words[index] ?? []);
  if (program.length === 0) return {};
  const slot = options.find(({ name }) => name === "--process-slot-var");
  if (slot !== undefined)
    return unseenFrom(words, operands[0] ?? 1, `--process-slot-var sets ${slot.value?.text ?? "a variable"}`);
  const placeholders = options.filter(({ name }) => PLACEHOLDERS.has(name)).map(placeholderOf);
  const mark = (word: ShellWord): ShellWord =>
    placeholders.some((each) => word.text.includes(each))
      ? { ...word, literal: false, names: [...word.names, "@"] }
      : word;
  const marked = program.map(mark);
  if (placeholders.length > 0 && !options.some(({ name }) => ADDING.has(name))) return { words: marked };
  const fed = options.every(({ name }) => FEEDS_PLAINLY.has(name))
    ? fedWords(piped, input, source)
    : undefined;
  return { words: [...marked, ...(fed ?? [UNKNOWN_ARGUMENTS])] };
}

function placeholderOf({ value }: FoundOption): string {
  return value === undefined || value.text === "" ? "{}" : value.text;
}

/** Options with which blanks part the arguments. */
const FEEDS_PLAINLY: ReadonlySet<string> = wordSet("-n -P -r -t --max-args --max-procs --no-run-if-empty");
const PLAIN_ARGUMENTS = /^[\w./@:+,%][\w./@:+,%=-]*(?:[ \n]+[\w./@:+,%][\w./@:+,%=-]*)*\n*$/;

/** Arguments that the line itself spells: `printf '%s\n' a b | xargs …`, `xargs … <<< 'a b'`. */
function fedWords(
  piped: readonly SimpleCommand[],
  input: readonly string[],
  source: string,
): readonly ShellWord[] | undefined {
  const text =
    input.length === 0 ? printedBy(piped) : piped.length === 0 && input.length === 1 ? input[0] : undefined;
  if (text === undefined || !PLAIN_ARGUMENTS.test(text) || (input.length === 0 && source.includes("<")))
    return undefined;
  return text
    .split(/[ \n]+/)
    .filter((each) => each !== "")
    .map(literalWord);
}

function printedBy(piped: readonly SimpleCommand[]): string | undefined {
  const [printer] = piped;
  if (piped.length !== 1 || printer === undefined || /[<>]/.test(printer.source)) return undefined;
  const { words, assignments } = printer;
  if (assignments.length > 0 || !words.every(({ literal }) => literal)) return undefined;
  const texts = words.slice(1).map(({ text }) => text);
  if (words[0]?.text === "echo") return texts.join(" ");
  return words[0]?.text === "printf" && /^%s(?:\\n| )$/.test(texts[0] ?? "")
    ? texts.slice(1).join(" ")
    : undefined;
}

/** Stands for arguments that come from elsewhere: any number of them. */
export const UNKNOWN_ARGUMENTS: ShellWord = {
  ...literalWord(""),
  literal: false,
  splits: true,
  names: ["@"],
};

function unwrapParallel(words: readonly ShellWord[], wrapper: Wrapper): InnerCommand {
  const { operands, unknown, looksUp } = readWrapper(words, wrapper);
  if (looksUp) return {};
  const mark = words.findIndex(({ text }) => /^::::?\+?$/.test(text));
  const stop = mark === -1 ? words.length : mark;
  const from = operands[0] ?? words.length;
  const program = words.slice(from, stop);
  if (unknown !== undefined || program.length === 0 || program.some(({ text }) => /[{}]|\s/.test(text))) {
    const given = words.slice(stop + 1).map(({ resolved }) => resolved);
    const all = unseenFrom(words, unknown ?? from, "what parallel runs cannot be told with certainty");
    return { ...all, scripts: [...(all.scripts ?? []), ...given] };
  }
  // The words are read by a shell once more: only plain ones mean the same to it.
  if (program.some(({ text, literal }) => !literal || !/^[\w./:=@%+,-]+$/.test(text)))
    return unseenFrom(words, from, "parallel hands its words to a shell");
  return { words: [...program, UNKNOWN_ARGUMENTS] };
}

function unwrapFlock(words: readonly ShellWord[], wrapper: Wrapper): InnerCommand {
  const { operands, unknown } = readWrapper(words, wrapper);
  const option = words[operands[1] ?? words.length]?.text;
  if (unknown !== undefined || (option !== "-c" && option !== "--command"))
    return unwrapWith("flock", wrapper, words);
  const script = words[operands[2] ?? words.length];
  if (script === undefined) return {};
  return script.literal && words[operands[0] ?? 0]?.literal === true
    ? { scripts: [script.text] }
    : unseenFrom(words, operands[2] ?? 1, "what flock runs comes from an expansion");
}

function unwrapTrap(words: readonly ShellWord[]): InnerCommand {
  const action = words[1]?.text === "--" ? words[2] : words[1];
  if (action === undefined || action.text === "" || action.text === "-" || /^-[lp]$/.test(action.text))
    return {};
  if (action.literal) return { scripts: [action.text] };
  return { scripts: [action.text, action.resolved], unseen: "what the trap runs comes from an expansion" };
}

function unwrapLoose(name: string, words: readonly ShellWord[]): InnerCommand | undefined {
  const first = words[1];
  if (first === undefined) return undefined;
  if (first.literal && !first.text.startsWith("-") && !first.text.includes(" ") && LOOSE_WORDS.has(name))
    return { words: words.slice(1) };
  return unseenFrom(words, 1, `what ${name} runs cannot be told with certainty`);
}

/** Loose wrappers whose first word, when it is no option, is the program. */
const LOOSE_WORDS = wordSet(`
  unshare nsenter strace ltrace valgrind systemd-run firejail setpriv linux64 linux32 rlwrap torsocks
  torify proxychains proxychains4 entr`);
