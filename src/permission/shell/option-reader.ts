import { literalWord, type ShellWord } from "./shell-command.ts";

/** How a program takes its options. */
export interface OptionTable {
  /** Short options without a value, alone or bundled. */
  readonly short?: string;
  /** Short options with a value, attached or as the next word. */
  readonly valued?: string;
  /** Short options whose value, if any, is attached. */
  readonly optional?: string;
  /**
   * Long options, without dashes, between blanks; a `=` at the end: with a value, behind `=` or as the next word; `==`: with two more
   * words. A name that stands there with and without `=` takes a value only behind `=`.
   */
  readonly long?: string;
  /** Numbers are options: `head -20`. */
  readonly numbers?: true;
  /** Short options are not bundled: what else stands in the word is not looked at, or is the value. */
  readonly apart?: true;
  /**
   * A glob may be the next word of an option. It becomes as many words as there are files: all but the first are operands, and stand
   * before those of the line (see {@link FoundWords.shifts}).
   */
  readonly globs?: true;
  /** One dash begins a whole word, as with `find`; written like {@link long}, dashes included. */
  readonly words?: string;
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
  /** Indexes of words that look like options and are none that is known, or that an expansion could turn into one. */
  readonly unknown: readonly number[];
  /** The {@link operands} in front of a `--` that ends the options; all where none does. */
  readonly open: readonly number[];
  /** A glob is the value of an option: the first operand of the line may not be the first that the program finds. */
  readonly shifts: boolean;
}

/** What {@link readOptions} goes by. */
export interface ReadOptions {
  /** Index of the first word to look at. Default 1. */
  readonly from?: number;
  /** Whether the first operand ends the options. Default false. */
  readonly ordered?: boolean;
}

/** Sorts the words of a command into options, their values, and operands. Abbreviations of long options are unknown. */
export function readOptions(
  words: readonly ShellWord[],
  table: OptionTable,
  { from = 1, ordered = false }: ReadOptions = {},
): FoundWords {
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
      if (ordered) return found(range(at, words.length));
      operands.push(at);
      continue;
    }
    if (word.text === "--" && table.words === undefined)
      return found([...operands, ...range(at + 1, words.length)], operands);
    const read = table.words === undefined ? optionAt(words, at, table) : wordAt(words, at, table);
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

function isOperand({ text, literal }: ShellWord, { words }: OptionTable): boolean {
  if (text === "-") return true;
  if (words !== undefined) {
    if (literal && (hasWord(words, text) || hasWord(words, `${text}=`))) return false;
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

/** An option that expands to nothing else: a glob may stand behind `=`, where every name it finds begins as it does. */
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
  const { long = "" } = table;
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
  if (table.numbers === true && /^-\d+$/.test(text)) return [{ name: text, from: at, to: at + 1 }];
  const found: FoundOption[] = [];
  for (let place = 1; place < text.length; place++) {
    const letter = text.charAt(place);
    const option = { name: `-${letter}`, from: at, to: at + 1 };
    if (table.short?.includes(letter) === true) {
      if (table.apart === true && text.length > 2) return undefined;
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
  const { valued = "", optional = "" } = table;
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
  const { words: known = "" } = table;
  const { text, literal } = words[at] ?? literalWord("");
  const option = { name: text, from: at, to: at + 1 };
  if (!literal) return undefined;
  if (hasWord(known, text)) return [option];
  return hasWord(known, `${text}=`) ? withNext(words, { option, count: 1 }, table) : undefined;
}

/** An option whose value is the next word, or the next two: words that stay one each, whatever they expand to. */
function withNext(
  words: readonly ShellWord[],
  { option, count }: { readonly option: FoundOption; readonly count: 1 | 2 },
  { globs }: OptionTable,
): readonly FoundOption[] | undefined {
  const values = words.slice(option.to, option.to + count);
  const value = values.at(-1);
  if (value === undefined || values.length < count || !values.every(isPlainValue)) return undefined;
  if (globs !== true && values.some(({ glob }) => glob)) return undefined;
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

/** Whether a list of words between blanks holds `word`. */
export function hasWord(list: string, word: string): boolean {
  if (word === "" || word.includes(" ")) return false;
  for (let at = list.indexOf(word); at !== -1; at = list.indexOf(word, at + 1)) {
    const end = at + word.length;
    if ((at === 0 || list[at - 1] === " ") && (end === list.length || list[end] === " ")) return true;
  }
  return false;
}
