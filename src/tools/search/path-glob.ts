/** Any number of items: folders in a path, characters in a name. */
const ANY = Symbol("any");

type NameElement = typeof ANY | string | RegExp;

interface NamePattern {
  readonly text: string;
  readonly elements: readonly NameElement[];
  /** How every matching name begins and ends: this alone rules out most names. */
  readonly beginning: string;
  readonly ending: string;
}

type PathPart = typeof ANY | NamePattern;

/**
 * True if a path (relative, with `/`) matches a glob: `*` and `?` stay within a folder, `**` as a whole part
 * crosses any number of folders, `{a,b}` are alternatives, `[a-z]` and `[!a-z]` sets, a backslash takes the
 * next character literally, and a leading `!` negates the glob. A name spelled like its part of the glob also
 * matches, as there are folders called `[id]` and `{a,b}`. Names starting with a dot are not special, and
 * Unicode spellings of one name are the same. Without a slash the glob matches files directly in the folder,
 * or with `matchesBaseName` in any. The time is bounded by the product of the lengths of glob and path.
 */
export function pathGlob(
  glob: string,
  { matchesBaseName = false }: { readonly matchesBaseName?: boolean } = {},
): (path: string) => boolean {
  const isNegated = glob.startsWith("!");
  const body = glob
    .slice(isNegated ? 1 : 0)
    .replace(/^(?:\.\/)+/u, "")
    .normalize();
  const texts = new Set([body, ...expandBraces(body)]);
  const alternatives = Array.from(texts, (text) => text.split("/").map(parsePart));
  return (path) => {
    const names = path.normalize().split("/");
    const matches = alternatives.some((parts) => {
      const isName = matchesBaseName && parts.length === 1;
      return matchSequence(parts, isName ? names.slice(-1) : names, matchPart);
    });
    return matches !== isNegated;
  };
}

const INNER_BRACES = /(?<!\\)\{([^{},]*,[^{}]*)\}/u;
const MAX_ALTERNATIVES = 1000;

/** The alternatives of text with `{a,b}`, also nested, at most 1,000. */
export function expandBraces(text: string): readonly string[] {
  const texts = [text];
  for (let index = 0; index < texts.length && texts.length < MAX_ALTERNATIVES; ) {
    const current = texts[index] ?? "";
    const group = INNER_BRACES.exec(current);
    if (group === null) index++;
    else {
      const [before, after] = [current.slice(0, group.index), current.slice(group.index + group[0].length)];
      const choices = (group[1] ?? "").split(",").slice(0, MAX_ALTERNATIVES);
      texts.splice(index, 1, ...choices.map((choice) => before + choice + after));
    }
  }
  return texts;
}

/** Globs for ripgrep that together cover every match; `undefined` if its syntax cannot express them. */
export function lastNamesOf(glob: string): readonly string[] | undefined {
  const name = glob.slice(glob.lastIndexOf("/") + 1);
  const rest = glob.slice(0, glob.length - name.length);
  if (name === "**" || /[{}]/u.test(rest) || !/^[\w.*?{},-]+$/u.test(name)) return undefined;
  if (!/^[^{},]*(?:\{[^{}]+\}[^{},]*)*$/u.test(name)) return undefined;
  return name.includes("{") ? [name, name.replace(/[*?{}]/gu, "[$&]")] : [name];
}

/** The first character of a set belongs to it, even `]`. */
const NAME_ELEMENTS = /\*+|\?|\[(?:[!^](?:\\.|[^\\])|\\.|[^\\!^])(?:\\.|[^\]\\])*\]|\\?./gsu;

function parsePart(text: string): PathPart {
  if (text === "**") return ANY;
  const elements = Array.from(text.matchAll(NAME_ELEMENTS), ([token]): NameElement => {
    if (token.startsWith("*")) return ANY;
    if (token === "?") return /^/u;
    if (token.length > 1 && token.startsWith("[")) return setOf(token);
    return token.length > 1 && token.startsWith("\\") ? token.slice(1) : token;
  });
  const first = elements.findIndex((element) => typeof element !== "string");
  const last = elements.findLastIndex((element) => typeof element !== "string");
  return {
    text,
    elements,
    beginning: elements.slice(0, first === -1 ? undefined : first).join(""),
    ending: elements.slice(last + 1).join(""),
  };
}

/** `[a-z]` or `[!a-z]`; an invalid set, such as `[z-a]`, contains nothing. */
function setOf(token: string): RegExp {
  const [, negation = "", body = ""] = /^\[([!^]?)(.*)\]$/su.exec(token) ?? [];
  try {
    return new RegExp(
      `[${negation === "" ? "" : "^"}${body.replace(/\\(.)|[\\\]^[]/gsu, escapedInSet)}]`,
      "u",
    );
  } catch {
    return /(?!)/u;
  }
}

function escapedInSet(token: string, escaped?: string): string {
  if (escaped === undefined) return `\\${token}`;
  return /[\\\]^[-]/u.test(escaped) ? `\\${escaped}` : escaped;
}

function matchPart(part: PathPart, name: string): boolean {
  if (part === ANY) return false;
  if (part.text === name) return true;
  if (!name.endsWith(part.ending) || !name.startsWith(part.beginning)) return false;
  return matchSequence(part.elements, Array.from(name), matchCharacter);
}

function matchCharacter(element: NameElement, character: string): boolean {
  if (typeof element === "string") return element === character;
  return element !== ANY && element.test(character);
}

/** True if items match a pattern. {@link ANY} is any number of items; only its last position is retried. */
function matchSequence<P>(
  pattern: readonly (P | typeof ANY)[],
  items: readonly string[],
  matches: (element: P | typeof ANY, item: string) => boolean,
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
    } else if (element !== undefined && matches(element, item)) {
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
