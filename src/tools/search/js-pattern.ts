/** How a pattern is to be read. */
export interface PatternOptions {
  readonly pattern: string;
  readonly ignoresCase: boolean;
  readonly isMultiline: boolean;
}

/**
 * The regular expression of the language that means what ripgrep would make of the pattern, as far as their notations differ:
 * leading flags, named groups, `\A`, `\z`, and POSIX classes. Throws a `SyntaxError` for what cannot be expressed.
 */
export function toRegExp({ pattern, ignoresCase, isMultiline }: PatternOptions): RegExp {
  const leading = /^\(\?([imsux]+)\)/u.exec(pattern);
  const given = leading?.[1] ?? "";
  if (/[x]/u.test(given))
    throw new SyntaxError("The flag x is not supported here: write the pattern without it.");
  const source = translate(pattern.slice(leading?.[0].length ?? 0));
  const flags = `${isMultiline ? "gms" : given.includes("s") ? "s" : ""}${ignoresCase || given.includes("i") ? "i" : ""}`;
  try {
    return new RegExp(source, `${flags}u`);
  } catch {
    // Escapes that are not needed (`\-`, `\"`) are errors only in Unicode mode.
    return new RegExp(source, flags);
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

const START_OF_TEXT = "(?<![^])";
const END_OF_TEXT = "(?![^])";

function translate(pattern: string): string {
  return pattern.replace(/\\[^]|\(\?P<|\[:(\w+):\]/gu, (token: string, name?: string) => {
    if (token === "(?P<") return "(?<";
    if (token === "\\A") return START_OF_TEXT;
    if (token === "\\z") return END_OF_TEXT;
    return (name === undefined ? undefined : POSIX_CLASSES.get(name)) ?? token;
  });
}
