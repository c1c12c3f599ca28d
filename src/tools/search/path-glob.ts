/**
 * The alternatives of a text with `{a,b}` and `{1..3}`, nested ones too; a backslash takes the next character
 * literally and stays in the result. Braces without a comma or a range, or without their counterpart, stay as
 * they are, as do all beyond 1,000 alternatives.
 */
export function expandBraces(text: string): readonly string[] {
  let expanded = [text];
  const done: string[] = [];
  while (expanded.length > 0) {
    const next: string[] = [];
    for (const candidate of expanded) {
      const group =
        done.length + next.length + expanded.length < MAX_ALTERNATIVES ? firstGroup(candidate) : undefined;
      if (group === undefined) done.push(candidate);
      else for (const choice of group.choices) next.push(group.before + choice + group.after);
    }
    expanded = next;
  }
  return done;
}

const MAX_ALTERNATIVES = 1000;
const MAX_RANGE = 100;

interface BraceGroup {
  readonly before: string;
  readonly choices: readonly string[];
  readonly after: string;
}

function firstGroup(text: string): BraceGroup | undefined {
  for (let start = nextBrace(text, 0); start !== -1; start = nextBrace(text, start + 1)) {
    const group = groupAt(text, start);
    if (group !== undefined) return group;
  }
  return undefined;
}

function groupAt(text: string, start: number): BraceGroup | undefined {
  const commas: number[] = [];
  let depth = 0;
  for (let index = start; index < text.length; index++) {
    const character = text[index];
    if (character === "\\") index++;
    else if (character === "{") depth++;
    else if (character === "," && depth === 1) commas.push(index);
    else if (character === "}" && --depth === 0) {
      const choices = choicesOf(text, [start, ...commas, index]);
      return choices && { before: text.slice(0, start), choices, after: text.slice(index + 1) };
    }
  }
  return undefined;
}

function choicesOf(text: string, borders: readonly number[]): readonly string[] | undefined {
  const choices = borders.slice(1).map((border, index) => text.slice((borders[index] ?? 0) + 1, border));
  return choices.length > 1 ? choices : rangeOf(choices[0] ?? "");
}

function rangeOf(text: string): readonly string[] | undefined {
  const match = /^(\d{1,9})\.\.(\d{1,9})$/u.exec(text);
  if (match === null) return undefined;
  const [from, to] = [Number(match[1]), Number(match[2])];
  if (Math.abs(to - from) >= MAX_RANGE) return undefined;
  return Array.from({ length: Math.abs(to - from) + 1 }, (_, index) => String(Math.min(from, to) + index));
}

function nextBrace(text: string, from: number): number {
  for (let index = from; index < text.length; index++) {
    if (text[index] === "\\") index++;
    else if (text[index] === "{") return index;
  }
  return -1;
}

/** How a glob without a slash is meant. */
export interface PathGlobOptions {
  /** True: it names files in any folder, as in ignore files. Default false: files directly in the folder. */
  readonly matchesBaseName?: boolean;
}

/**
 * True when a path (relative, with `/`) fits a glob: `*` and `?` stay within a folder, `**` as a whole part
 * crosses any number of folders, `{a,b}` are alternatives, `[a-z]` and `[!a-z]` sets, a backslash takes the
 * next character literally, and a leading `!` turns the glob round. A name that is spelled like its part of
 * the glob fits whatever that means: folders are called `[id]` and `{a,b}`. Names that start with a dot are
 * like others, and spellings of one name that Unicode holds for the same are. The time is bounded by the
 * product of the lengths of glob and path: no glob can make it explode.
 */
export function pathGlob(glob: string, options: PathGlobOptions = {}): (path: string) => boolean {
  const isNegated = glob.startsWith("!");
  const body = glob
    .slice(isNegated ? 1 : 0)
    .replace(/^(?:\.\/)+/u, "")
    .normalize();
  const texts = new Set([body, ...expandBraces(body)]);
  const alternatives = Array.from(texts, (text) => text.split("/").map(parsePart));
  return (path) => {
    const names = path.normalize().split("/");
    const fits = alternatives.some((parts) => {
      const isName = options.matchesBaseName === true && parts.length === 1;
      return matchSequence(parts, isName ? names.slice(-1) : names, matchPart);
    });
    return fits !== isNegated;
  };
}

/**
 * Globs of names for ripgrep, one of which the name of every match fits; `undefined` when the last name of
 * the glob cannot be told in its words.
 */
export function lastNamesOf(glob: string): readonly string[] | undefined {
  const name = glob.slice(glob.lastIndexOf("/") + 1);
  const rest = glob.slice(0, glob.length - name.length);
  if (name === "**" || /[{}]/u.test(rest) || !/^[\w.*?{},-]+$/u.test(name)) return undefined;
  if (!/^[^{},]*(?:\{[^{}]+\}[^{},]*)*$/u.test(name)) return undefined;
  const asItStands = name.replace(/[*?{}]/gu, "[$&]");
  return name.includes("{") ? [name, asItStands] : [name];
}

/** Any number of items: folders in a path, characters in a name. */
const ANY = Symbol("any");

type NameElement = typeof ANY | string | ((character: string) => boolean);

interface NamePattern {
  readonly text: string;
  readonly elements: readonly NameElement[];
  /** How every name that fits begins and ends: most names are told apart by this alone. */
  readonly beginning: string;
  readonly ending: string;
  readonly isOneStar: boolean;
}

type PathPart = typeof ANY | NamePattern;

function parsePart(text: string): PathPart {
  if (text === "**") return ANY;
  const elements = parseElements(Array.from(text));
  const first = elements.findIndex((element) => typeof element !== "string");
  const last = elements.findLastIndex((element) => typeof element !== "string");
  return {
    text,
    elements,
    beginning: elements.slice(0, first === -1 ? undefined : first).join(""),
    ending: elements.slice(last + 1).join(""),
    isOneStar: first === last && elements[first] === ANY,
  };
}

function parseElements(characters: readonly string[]): readonly NameElement[] {
  const elements: NameElement[] = [];
  for (let index = 0; index < characters.length; index++) {
    const character = characters[index] ?? "";
    if (character === "*") {
      if (elements.at(-1) !== ANY) elements.push(ANY);
    } else if (character === "?") elements.push(() => true);
    else if (character === "[") {
      const set = parseSet(characters, index);
      elements.push(set?.has ?? "[");
      index = set?.end ?? index;
    } else if (character === "\\" && index + 1 < characters.length) elements.push(characters[++index] ?? "");
    else elements.push(character);
  }
  return elements;
}

/** The set that begins at `start`; `undefined` when its bracket is never closed. */
function parseSet(
  characters: readonly string[],
  start: number,
): { readonly has: (character: string) => boolean; readonly end: number } | undefined {
  const isNegated = characters[start + 1] === "!" || characters[start + 1] === "^";
  const ranges: (readonly [string, string])[] = [];
  let index = start + (isNegated ? 2 : 1);
  for (let isFirst = true; characters[index] !== "]" || isFirst; isFirst = false) {
    if (characters[index] === "\\") index++;
    const from = characters[index++];
    if (from === undefined) return undefined;
    const to = characters[index + 1];
    const isRange = characters[index] === "-" && to !== undefined && to !== "]";
    ranges.push([from, isRange ? to : from]);
    if (isRange) index += 2;
  }
  const has = (character: string) =>
    ranges.some(([from, to]) => from <= character && character <= to) !== isNegated;
  return { has, end: index };
}

function matchPart(part: PathPart, name: string): boolean {
  if (part === ANY) return false;
  if (part.text === name) return true;
  if (!name.endsWith(part.ending) || !name.startsWith(part.beginning)) return false;
  if (part.isOneStar) return name.length >= part.beginning.length + part.ending.length;
  return matchSequence(part.elements, Array.from(name), matchCharacter);
}

function matchCharacter(element: NameElement, character: string): boolean {
  if (typeof element === "string") return element === character;
  return element !== ANY && element(character);
}

/** True when items fit a pattern; {@link ANY} is any number of them, and only its last place is retried. */
function matchSequence<P>(
  pattern: readonly (P | typeof ANY)[],
  items: readonly string[],
  fits: (element: P | typeof ANY, item: string) => boolean,
): boolean {
  let at = 0;
  let lastAny = -1;
  let retryAt = 0;
  let index = 0;
  while (index < items.length) {
    const element = pattern[at];
    const item = items[index] ?? "";
    if (element === ANY) {
      lastAny = at++;
      retryAt = index;
    } else if (element !== undefined && fits(element, item)) {
      at++;
      index++;
    } else if (lastAny === -1) return false;
    else {
      at = lastAny + 1;
      index = ++retryAt;
    }
  }
  while (pattern[at] === ANY) at++;
  return at === pattern.length;
}
