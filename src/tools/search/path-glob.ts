import { expandBraces } from "./glob-braces.ts";

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
