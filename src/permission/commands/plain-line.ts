export interface PlainWord {
  readonly text: string;
  /** True if it has `*`, `?` or `[` outside quotes, which Bash replaces by file names. */
  readonly isGlob: boolean;
  readonly isHome: boolean;
}

export type Joiner = "" | "&&" | "||" | ";" | "|";

export interface PlainCommand {
  readonly joiner: Joiner;
  readonly words: readonly [PlainWord, ...PlainWord[]];
}

export type PlainLine = { readonly commands: readonly PlainCommand[] } | { readonly problem: string };

/**
 * Reads a line that Bash runs exactly as written: words without expansions (except a leading `~/`, and `* ? [
 * ]` after the first character), joined by `&& || ; |`, redirected only from or to `/dev/null` and between
 * descriptors. Anything else has a `problem`.
 */
export function readPlainLine(line: string): PlainLine {
  const commands: PlainCommand[] = [];
  let joiner: Joiner = "";
  let words: PlainWord[] = [];
  const end = (): string | undefined => {
    const [name, ...rest] = words;
    if (name === undefined) return "a command is missing in it";
    const problem = problemOfName(name);
    commands.push({ joiner, words: [name, ...rest] });
    words = [];
    return problem;
  };
  const text = line.replace(/[ \t\n]+$/, "");
  for (let at = skipBlanks(text, 0); at < text.length; at = skipBlanks(text, at)) {
    const redirection = matchAt(REDIRECTION, text, at);
    const operator = matchAt(OPERATOR, text, at);
    if (redirection !== undefined) at += redirection.length;
    else if (operator !== undefined) {
      const problem = end();
      if (problem !== undefined) return { problem };
      joiner = operator as Joiner;
      at += operator.length;
      if (operator === ";" && at === text.length) return { commands };
    } else {
      const read = readWord(text, at);
      if (typeof read === "string") return { problem: read };
      words.push(read.word);
      at = read.end;
    }
  }
  const problem = end();
  return problem === undefined ? { commands } : { problem };
}

export function commandText({ words }: Pick<PlainCommand, "words">): string {
  return words.map(({ text }) => text).join(" ");
}

const REDIRECTION = /(?:(?:\d?(?:>>?|<)|&>>?)[ \t]*\/dev\/null|\d?[<>]&\d)(?=$|[ \t;|&<>])/y;
const BLANKS = /[ \t]*/y;
const OPERATOR = /&&|\|\||;|\|/y;
const PART = /[\w@%+=:,./^-]+|'[^']*'|"[^"$`\\!]*"|([*?[\]])/y;
const RESERVED = new Set(
  "if then elif else fi for in do done while until case esac select function time coproc".split(" "),
);

function readWord(line: string, start: number): { readonly word: PlainWord; readonly end: number } | string {
  const isHome = line.startsWith("~/", start);
  let text = isHome ? "~/" : "";
  let isGlob = false;
  let at = start + text.length;
  for (PART.lastIndex = at; ; at = PART.lastIndex) {
    const [part, glob] = PART.exec(line) ?? [];
    if (part === undefined || (glob !== undefined && text === "")) break;
    text += /^['"]/.test(part) ? part.slice(1, -1) : part;
    isGlob ||= glob !== undefined;
  }
  const next = line.charAt(at);
  // Redirections to files and a lone & also end up here. Shells disagree about which numbers before
  // a redirection are descriptors.
  const isWord = at > start && /^(?:$|[ \t;|&<>])/.test(next);
  if (!isWord || (/[<>]/.test(next) && /^\d+$/.test(line.slice(start, at))))
    return `${next === "\n" ? "a line break" : next} is not plain text`;
  return { word: { text, isGlob, isHome }, end: at };
}

function problemOfName({ text, isGlob }: PlainWord): string | undefined {
  if (RESERVED.has(text)) return `${text} is a word of the shell`;
  if (text.includes("=")) return "it sets a variable";
  return isGlob || text === "" ? "the name of a program in it is not plain text" : undefined;
}

function skipBlanks(line: string, from: number): number {
  return from + (matchAt(BLANKS, line, from)?.length ?? 0);
}

function matchAt(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}
