import { literalWord, type ShellWord } from "./shell-command.ts";

/** How a program takes its options: see {@link optionTable}. */
export interface OptionTable {
  readonly short: string;
  readonly valued: string;
  readonly optional: string;
  readonly long: string;
  readonly traits: ReadonlySet<string>;
}

/**
 * A table of options from its text, in this order: `-ab` (short ones without a value, alone or bundled),
 * `-c=` (with a value, attached or as the next word), `-d?` (whose value, if any, is attached), and the names
 * of long ones without dashes. A `=` behind a name: with a value, behind `=` or as the next word; `==`: with
 * two more words. A name that stands there with and without `=` takes a value only behind `=`.
 *
 * Traits, between blanks: `ordered` (the first operand ends the options), `numbers` (numbers are options:
 * `head -20`), `apart` (short options are not bundled: what else stands in the word is not looked at, or is
 * the value), `globs` (a glob may be the next word of an option: it becomes as many words as there are files,
 * of which all but the first are operands that stand before those of the line, see
 * {@link FoundWords.shifts}), `words` (one dash begins a whole word, as with `find`: the text is a list of
 * those).
 */
export function optionTable(text: string, traits = ""): OptionTable {
  const kinds = new Set(traits.split(" "));
  const list = text.trim().replaceAll(/\s+/g, " ");
  const found = kinds.has("words") ? undefined : GROUPS.exec(list)?.slice(1);
  const [short = "", valued = "", optional = "", long = ""] = found ?? ["", "", "", list];
  return { short, valued, optional, long, traits: kinds };
}

const GROUPS = /^(?:-([\w@]+)(?: |$))?(?:-([\w@]+)=(?: |$))?(?:-([\w@]+)\?(?: |$))?(.*)$/;

/** A table's cells, a line each, parted by ` | `; a line that begins with blanks continues the last. */
export function tableRows(table: string): readonly (readonly string[])[] {
  const lines = table.replaceAll(/\n +/g, " ").trim().split("\n");
  return lines.map((line) => line.split(/ \|(?= |$)/).map((cell) => cell.trim()));
}

/** An option that was found, with the words it stands in. */
export interface FoundOption {
  /** With its dashes: `-n`, `--include`, `-name`. */
  readonly name: string;
  /** Its first word, and one behind its last. */
  readonly from: number;
  readonly to: number;
  /** Its value; for one in the same word, only the value's part of that word. */
  readonly value?: ShellWord;
}

/** The words of a command behind its name, sorted. */
export interface FoundWords {
  readonly options: readonly FoundOption[];
  /** Indexes of words that are no options. */
  readonly operands: readonly number[];
  /** Indexes of words that look like unknown options, or that an expansion could turn into one. */
  readonly unknown: readonly number[];
  /** The {@link operands} in front of a `--` that ends the options; all where none does. */
  readonly open: readonly number[];
  /** A glob is an option's value: the line's first operand may not be the first the program finds. */
  readonly shifts: boolean;
}

/** Sorts words from the `from`th on into options, values and operands. Abbreviated options are unknown. */
export function readOptions(words: readonly ShellWord[], table: OptionTable, from = 1): FoundWords {
  const options: FoundOption[] = [];
  const operands: number[] = [];
  const unknown: number[] = [];
  const found = (all: readonly number[], open = all): FoundWords => ({
    options,
    operands: all,
    unknown,
    open,
    shifts: options.some(({ from: first, to, value }) => value?.glob === true && to - first > 1),
  });
  for (let at = from; at < words.length; at++) {
    const word = words[at] ?? literalWord("");
    if (isOperand(word, table)) {
      if (table.traits.has("ordered")) return found(range(at, words.length));
      operands.push(at);
      continue;
    }
    const hasWords = table.traits.has("words");
    if (word.text === "--" && !hasWords)
      return found([...operands, ...range(at + 1, words.length)], operands);
    const read = hasWords ? wordAt(words, at, table) : optionAt(words, at, table);
    if (read === undefined) {
      unknown.push(at);
      continue;
    }
    options.push(...read);
    at = (read.at(-1)?.to ?? at + 1) - 1;
  }
  return found(operands);
}

function range(from: number, to: number): readonly number[] {
  const indexes: number[] = [];
  for (let index = from; index < to; index++) indexes.push(index);
  return indexes;
}

function isOperand({ text, literal }: ShellWord, { long, traits }: OptionTable): boolean {
  if (text === "-") return true;
  if (traits.has("words")) {
    if (literal && (hasWord(long, text) || hasWord(long, `${text}=`))) return false;
    if (/^-\d/.test(text)) return true;
  }
  return !text.startsWith("-");
}

function optionAt(
  words: readonly ShellWord[],
  at: number,
  table: OptionTable,
): readonly FoundOption[] | undefined {
  const word = words[at];
  if (word === undefined || !isWhole(word)) return undefined;
  return word.text.startsWith("--") ? longAt(words, at, table) : shortAt(words, at, table);
}

/** An option that expands to nothing else: after `=` a glob is fine, all it finds begins the same. */
function isWhole({ text, literal, glob, names, substitutions, braces, tilde }: ShellWord): boolean {
  if (literal) return true;
  const plain = names.length === 0 && substitutions.length === 0 && !braces && !tilde;
  return plain && glob && /^--[\w-]+=/.test(text);
}

function longAt(
  words: readonly ShellWord[],
  at: number,
  table: OptionTable,
): readonly FoundOption[] | undefined {
  const { long } = table;
  const text = words[at]?.text ?? "";
  const equals = text.indexOf("=");
  const name = text.slice(2, equals === -1 ? undefined : equals);
  const option = { name: `--${name}`, from: at, to: at + 1 };
  if (equals !== -1)
    return hasWord(long, `${name}=`) ? [{ ...option, value: valueOf(words[at], equals + 1) }] : undefined;
  if (hasWord(long, name)) return [option];
  if (hasWord(long, `${name}=`)) return withNext(words, { option, count: 1 }, table);
  return hasWord(long, `${name}==`) ? withNext(words, { option, count: 2 }, table) : undefined;
}

function shortAt(
  words: readonly ShellWord[],
  at: number,
  table: OptionTable,
): readonly FoundOption[] | undefined {
  const text = words[at]?.text ?? "";
  if (table.traits.has("numbers") && /^-\d+$/.test(text)) return [{ name: text, from: at, to: at + 1 }];
  const found: FoundOption[] = [];
  for (let place = 1; place < text.length; place++) {
    const letter = text.charAt(place);
    const option = { name: `-${letter}`, from: at, to: at + 1 };
    if (table.short.includes(letter)) {
      if (table.traits.has("apart") && text.length > 2) return undefined;
      found.push(option);
      continue;
    }
    const last = valuedAt(words, { option, letter, place }, table);
    return last === undefined ? undefined : [...found, ...last];
  }
  return found;
}

/** A short option with a value, which the bundle it stands in ends with. */
function valuedAt(
  words: readonly ShellWord[],
  {
    option,
    letter,
    place,
  }: { readonly option: FoundOption; readonly letter: string; readonly place: number },
  table: OptionTable,
): readonly FoundOption[] | undefined {
  const { valued, optional } = table;
  const word = words[option.from];
  const isLast = place === (word?.text.length ?? 0) - 1;
  if (!isLast && (valued + optional).includes(letter))
    return [{ ...option, value: valueOf(word, place + 1) }];
  if (optional.includes(letter)) return [option];
  return valued.includes(letter) ? withNext(words, { option, count: 1 }, table) : undefined;
}

function wordAt(
  words: readonly ShellWord[],
  at: number,
  table: OptionTable,
): readonly FoundOption[] | undefined {
  const { text, literal } = words[at] ?? literalWord("");
  const option = { name: text, from: at, to: at + 1 };
  if (!literal) return undefined;
  if (hasWord(table.long, text)) return [option];
  return hasWord(table.long, `${text}=`) ? withNext(words, { option, count: 1 }, table) : undefined;
}

/** An option whose value is the next word or two: words that stay one each, whatever they expand to. */
function withNext(
  words: readonly ShellWord[],
  { option, count }: { readonly option: FoundOption; readonly count: 1 | 2 },
  { traits }: OptionTable,
): readonly FoundOption[] | undefined {
  const values = words.slice(option.to, option.to + count);
  const value = values.at(-1);
  if (value === undefined || values.length < count || !values.every(isPlainValue)) return undefined;
  if (!traits.has("globs") && values.some(({ glob }) => glob)) return undefined;
  return [{ ...option, to: option.to + count, value }];
}

/** A glob may become several words: these must not be options, nor lie outside. */
function isPlainValue({ text, names, substitutions, braces, glob }: ShellWord): boolean {
  if (names.length > 0 || substitutions.length > 0 || braces) return false;
  return !glob || (/^[\w./]|\.\w+$/.test(text) && !/^[-/~]|\.\./.test(text));
}

function valueOf(word: ShellWord | undefined, from: number): ShellWord {
  const { text = "", resolved = "" } = word ?? {};
  return { ...(word ?? literalWord("")), text: text.slice(from), resolved: resolved.slice(from) };
}

/** True when a list of words between blanks holds `word`. */
export function hasWord(list: string, word: string): boolean {
  if (word === "" || word.includes(" ")) return false;
  for (let at = list.indexOf(word); at !== -1; at = list.indexOf(word, at + 1)) {
    const end = at + word.length;
    if ((at === 0 || list[at - 1] === " ") && (end === list.length || list[end] === " ")) return true;
  }
  return false;
}

/** True when a word of a list between blanks begins with `start`. */
export function hasBeginning(list: string, start: string): boolean {
  return !start.includes(" ") && (list.startsWith(start) || list.includes(` ${start}`));
}
