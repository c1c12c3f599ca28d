/** How a pattern is to be read. */
export interface PatternOptions {
  readonly pattern: string;
  readonly ignoresCase: boolean;
  readonly isMultiline: boolean;
}

/**
 * The regular expression of the language that means what ripgrep would make of the pattern, as far as their
 * notations differ: leading flags, named groups, `\A`, `\z`, and POSIX classes. Throws a `SyntaxError` for
 * what cannot be expressed.
 */
export function toRegExp({ pattern, ignoresCase, isMultiline }: PatternOptions): RegExp {
  const leading = /^\(\?([imsux]+)\)/u.exec(pattern);
  const given = leading?.[1] ?? "";
  if (/[x]/u.test(given))
    throw new SyntaxError("The flag x is not supported here: write the pattern without it.");
  const body = pattern.slice(leading?.[0].length ?? 0);
  const flags = `${isMultiline ? "gms" : given.includes("s") ? "s" : ""}${ignoresCase || given.includes("i") ? "i" : ""}`;
  try {
    return new RegExp(translate(body, UNICODE_ESCAPES), `${flags}u`);
  } catch {
    // Escapes that are not needed (`\-`, `\"`) are errors only in Unicode mode.
    return new RegExp(translate(body, PLAIN_ESCAPES), flags);
  }
}

const POSIX_CLASSES: ReadonlyMap<string, string> = new Map([
  ["alnum", "0-9A-Za-z"],
  ["alpha", "A-Za-z"],
  ["blank", "\\t "],
  ["cntrl", "\\x00-\\x1f\\x7f"],
  ["digit", "0-9"],
  ["graph", "!-~"],
  ["lower", "a-z"],
  ["print", " -~"],
  ["punct", "!-\\/:-@\\[-`{-~"],
  ["space", "\\t\\n\\v\\f\\r "],
  ["upper", "A-Z"],
  ["word", "0-9A-Za-z_"],
  ["xdigit", "0-9A-Fa-f"],
]);

const PLAIN_ESCAPES: ReadonlyMap<string, string> = new Map([
  ["\\A", "(?<![^])"],
  ["\\z", "(?![^])"],
]);

const WORD = "\\p{L}\\p{M}\\p{N}\\p{Pc}";

/** In ripgrep letters and digits are those of all scripts. */
const UNICODE_ESCAPES: ReadonlyMap<string, string> = new Map([
  ...PLAIN_ESCAPES,
  ["\\w", `[${WORD}]`],
  ["\\W", `[^${WORD}]`],
  ["\\d", "\\p{Nd}"],
  ["\\D", "\\P{Nd}"],
  ["\\b", `(?:(?<=[${WORD}])(?![${WORD}])|(?<![${WORD}])(?=[${WORD}]))`],
  ["\\B", `(?:(?<=[${WORD}])(?=[${WORD}])|(?<![${WORD}])(?![${WORD}]))`],
]);

function translate(pattern: string, escapes: ReadonlyMap<string, string>): string {
  let isInClass = false;
  return pattern.replace(/\\[^]|\(\?P<|\[:(\w+):\]|[[\]]/gu, (token: string, name?: string) => {
    if (token === "(?P<") return "(?<";
    if (name !== undefined) return POSIX_CLASSES.get(name) ?? token;
    if (token === "[") isInClass = true;
    if (token === "]") isInClass = false;
    if (!isInClass) return escapes.get(token) ?? token;
    return token === "\\w" && escapes === UNICODE_ESCAPES ? WORD : token;
  });
}
