import type { ShellWord } from "./shell/shell-command.ts";

/** Programs that cannot do more than show, whatever file names they are given. */
const SHOWING: ReadonlySet<string> = new Set([
  "basename",
  "cat",
  "cksum",
  "dirname",
  "egrep",
  "fgrep",
  "grep",
  "head",
  "ls",
  "md5sum",
  "nl",
  "sha1sum",
  "sha256sum",
  "stat",
  "tail",
  "wc",
]);

/**
 * Whether a word stands for names of files that other commands of the line list (`$(git ls-files)`, what `find` hands to `xargs`), and
 * `program` only shows files. `covers` tells whether a command only looks at the workspace.
 */
export function isListOfNames(
  word: ShellWord,
  {
    program,
    covers,
  }: { readonly program: string; readonly covers: (words: readonly ShellWord[]) => boolean },
): boolean {
  const [commands, ...more] = word.substitutions;
  if (commands === undefined || more.length > 0 || !SHOWING.has(program)) return false;
  if (!isNothingElse(word) || commands.length === 0 || commands.length >= MAX_COMMANDS) return false;
  return commands.every(({ words, assignments, input, source }, index) => {
    if (assignments.length + input.length > 0 || /[<>]/.test(source)) return false;
    if (!words.every(({ literal, glob }) => literal || glob)) return false;
    return (index > 0 && isFilter(words)) || (isLister(words) && covers(words));
  });
}

/** A list that may be cut off says nothing. */
const MAX_COMMANDS = 64;

/** No text and no variable beside the list: what `xargs` adds has neither. */
function isNothingElse({ text, names }: ShellWord): boolean {
  if (text === "") return names.every((name) => name === "@");
  return names.length === 0 && /^(?:\$\([^()`]*\)|`[^`]*`)$/.test(text);
}

function isLister(words: readonly ShellWord[]): boolean {
  const texts = words.map(({ text }) => text);
  switch (texts[0]) {
    case "find":
      return !texts.some((text) => text === "-printf" || text === "-ls");
    case "ls":
      // A long listing shows where links lead.
      return texts.slice(1).every((text) => !text.startsWith("-") || /^-[1aAtrRp]+$/.test(text));
    case "rg":
    case "grep":
      return texts.some((text) =>
        /^(?:-[cFHiInrRsw]*l[FHiInrRsw]*|--files|--files-with-matches)$/.test(text),
      );
    case "git":
      return texts[1] === "ls-files" || (texts[1] === "diff" && texts.includes("--name-only"));
    default:
      return false;
  }
}

/** Programs that pass on some of the lines they are given, and read no file. */
function isFilter(words: readonly ShellWord[]): boolean {
  const [program = "", ...rest] = words.map(({ text }) => text);
  const operands = rest.filter((text) => !text.startsWith("-"));
  switch (program) {
    case "sort":
    case "uniq":
      return operands.length === 0 && rest.every((text) => /^-[ruz]+$/.test(text));
    case "head":
    case "tail":
      return /^(?:|-\d+|-n ?\d+)$/.test(rest.join(" "));
    case "grep":
    case "egrep":
      return (
        operands.length === 1 && rest.every((text) => !text.startsWith("-") || /^-[viEFwxz]+$/.test(text))
      );
    default:
      return false;
  }
}
