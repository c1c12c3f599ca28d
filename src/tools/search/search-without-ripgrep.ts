import { join } from "node:path";
import { createContext, Script } from "node:vm";
import { errorMessage } from "../../core/base/errors.ts";
import { systemCode } from "../../system/system-error.ts";
import { FileRefusal } from "../files/file-error.ts";
import { openRegularFile } from "../files/open-regular-file.ts";
import { detectEncoding } from "../files/text-encoding.ts";
import { walkFiles } from "./list-files.ts";
import { pathGlob } from "./path-glob.ts";
import { type FoundText, MAX_LINE_CHARS, type TextSearch, type TextSearchEnd } from "./text-search.ts";

/**
 * Searches with the regular expressions of the language, file by file in the order of paths. Binary files are
 * passed over; files over 20 MB count as unread. A pattern that keeps one file busy for more than two seconds
 * ends the search.
 */
export async function searchWithoutRipgrep(search: TextSearch): Promise<TextSearchEnd> {
  let regExp: RegExp;
  try {
    regExp = toRegExp(search);
  } catch (error) {
    return { unread: 0, problem: errorMessage(error) };
  }
  const run = boundedRunner(MAX_MS_PER_FILE);
  const { paths, unreadFolders } = await pathsOf(search);
  let unread = unreadFolders;
  for (const path of paths) {
    if (search.signal.aborted) break;
    const text = await textOf(join(search.folder, path));
    if (text === undefined) unread++;
    if (text === undefined || text === "") continue;
    const lines = text.split("\n");
    const matched = run(() =>
      search.isMultiline ? linesOfMatches(text, regExp) : matchingLines(lines, regExp),
    );
    if (matched === undefined)
      return {
        unread,
        problem: `The pattern takes more than ${MAX_MS_PER_FILE / 1000} s on ${path}. Use a simpler one.`,
      };
    if (matched.length > 0 && !foundIn(path, lines, matched, search).every(search.onFound)) break;
  }
  return { unread };
}

const MAX_FILE_BYTES = 20 * 1024 * 1024;
const MAX_MS_PER_FILE = 2000;
const MAX_FILES = 200_000;

async function pathsOf(
  search: TextSearch,
): Promise<{ readonly paths: readonly string[]; readonly unreadFolders: number }> {
  if (search.file !== undefined) return { paths: [search.file], unreadFolders: 0 };
  const fits = search.glob === undefined ? undefined : pathGlob(search.glob, { matchesBaseName: true });
  const paths: string[] = [];
  const unreadFolders = await walkFiles(search.folder, {
    withNodeModules: search.withNodeModules,
    signal: search.signal,
    onFile: (path) => {
      if (fits?.(path) !== false) paths.push(path);
      return paths.length < MAX_FILES;
    },
  });
  return { paths: paths.sort(), unreadFolders };
}

/** The text of a file, empty for a binary one; `undefined` when it cannot be read or is too large. */
async function textOf(path: string): Promise<string | undefined> {
  try {
    const file = openRegularFile(path, path);
    try {
      if (file.stat().size > BigInt(MAX_FILE_BYTES)) return undefined;
      const bytes = await file.readAll();
      const encoding = detectEncoding(bytes);
      if (encoding === "binary" || (encoding === "utf-8" && bytes.includes(0))) return "";
      return new TextDecoder(encoding).decode(bytes);
    } finally {
      file.close();
    }
  } catch (error) {
    if (systemCode(error) === undefined && !(error instanceof FileRefusal)) throw error;
    return undefined;
  }
}

function matchingLines(lines: readonly string[], regExp: RegExp): readonly number[] {
  const matched: number[] = [];
  const last = lines.at(-1) === "" ? lines.length - 1 : lines.length;
  for (const [index, line] of lines.entries()) {
    if (index < last && regExp.test(withoutReturn(line))) matched.push(index);
  }
  return matched;
}

function linesOfMatches(text: string, regExp: RegExp): readonly number[] {
  const matched = new Set<number>();
  let line = 0;
  let position = 0;
  for (const match of text.matchAll(regExp)) {
    for (; position < match.index; position++) if (text[position] === "\n") line++;
    let at = line;
    matched.add(at);
    for (const char of match[0].replace(/\n$/u, "")) if (char === "\n") matched.add(++at);
  }
  return [...matched];
}

function foundIn(
  path: string,
  lines: readonly string[],
  matched: readonly number[],
  search: TextSearch,
): readonly FoundText[] {
  if (search.mode === "files") return [{ path }];
  if (search.mode === "count") return [{ path, count: matched.length }];
  const isMatch = new Set(matched);
  const shown = new Set<number>();
  for (const index of matched) {
    for (let near = index - search.context; near <= index + search.context; near++) shown.add(near);
  }
  const last = lines.at(-1) === "" ? lines.length - 1 : lines.length;
  return [...shown]
    .filter((index) => index >= 0 && index < last)
    .sort((a, b) => a - b)
    .map((index) => ({
      path,
      line: { number: index + 1, text: clip(lines[index] ?? ""), isMatch: isMatch.has(index) },
    }));
}

function clip(line: string): string {
  const text = line.replace(/(?<!\r)\r+$/u, "");
  return text.length <= MAX_LINE_CHARS
    ? text
    : `${text.slice(0, MAX_LINE_CHARS)} [... omitted end of long line]`;
}

function withoutReturn(line: string): string {
  return line.endsWith("\r") ? line.slice(0, -1) : line;
}

/** Runs functions within a time that holds inside a regular expression too, which no signal can interrupt. */
function boundedRunner(timeoutMs: number): <T>(action: () => T) => T | undefined {
  const script = new Script("run()");
  const context = createContext({});
  return (action) => {
    try {
      context["run"] = action;
      return script.runInContext(context, { timeout: timeoutMs }) as ReturnType<typeof action>;
    } catch (error) {
      if (systemCode(error) === "ERR_SCRIPT_EXECUTION_TIMEOUT") return undefined;
      throw error;
    }
  };
}

/** How a pattern is to be read. */
interface PatternOptions {
  readonly pattern: string;
  readonly ignoresCase: boolean;
  readonly isMultiline: boolean;
}

/**
 * The regular expression of the language that means what ripgrep would make of the pattern, as far as their
 * notations differ: leading flags, named groups, `\A`, `\z`, and POSIX classes. Throws a `SyntaxError` for
 * what cannot be expressed.
 */
function toRegExp({ pattern, ignoresCase, isMultiline }: PatternOptions): RegExp {
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
