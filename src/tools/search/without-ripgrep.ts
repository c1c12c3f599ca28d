import { readFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import { createContext, Script } from "node:vm";
import ignore, { type Ignore } from "ignore";
import { errorMessage } from "../../core/base/errors.ts";
import { TEMPORARY_PREFIX } from "../../system/replace-file.ts";
import { systemCode } from "../../system/system-error.ts";
import { FileRefusal } from "../files/file-error.ts";
import { detectEncoding } from "../files/file-text.ts";
import { openRegularFile } from "../files/open-file.ts";
import { pathGlob } from "./path-glob.ts";
import {
  type FileListing,
  MAX_LINE_CHARS,
  type SearchHit,
  type TextSearch,
  type TextSearchOutcome,
} from "./text-search.ts";

/** Lists files by name. Returns the number of folders that could not be read. Does not throw on abort. */
export async function walkFiles(listing: FileListing): Promise<number> {
  const { folder, signal, withNodeModules, onFile } = listing;
  let unread = 0;
  const pending = [{ path: "", rules: rulesAbove(folder) }];
  for (let current = pending.pop(); current !== undefined; current = pending.pop()) {
    const place = join(folder, current.path);
    const rules = [...rulesOf(place), ...current.rules];
    const folders: typeof pending = [];
    const entries = await readdir(place, { withFileTypes: true }).catch(() => undefined);
    if (entries === undefined) unread++;
    for (const entry of entries?.sort((a, b) => (a.name < b.name ? -1 : 1)) ?? []) {
      const { name } = entry;
      if (signal.aborted) return unread;
      const isSkipped = isAlwaysSkipped(name) || (name === "node_modules" && !withNodeModules);
      if (isSkipped || isIgnored(rules, join(place, name), entry.isDirectory())) continue;
      const path = current.path === "" ? name : `${current.path}/${name}`;
      if (entry.isDirectory()) folders.push({ path, rules });
      else if (entry.isFile() && !onFile(path)) return unread;
    }
    pending.push(...folders.reverse());
  }
  return unread;
}

function isAlwaysSkipped(name: string): boolean {
  return name === ".git" || name.startsWith(TEMPORARY_PREFIX);
}

interface FolderRules {
  readonly folder: string;
  readonly rules: Ignore;
}

function rulesOf(folder: string, searched?: string): readonly FolderRules[] {
  const texts = [".gitignore", ".ignore", ".rgignore"].map((name) => textAt(join(folder, name)));
  const lines = texts.join("\n").split(/\r?\n/u);
  const of = (some: readonly string[]) => ({ folder, rules: ignore({ ignorecase: false }).add(some) });
  const names = (line: string) => searched !== undefined && isIgnored([of([line])], searched, true);
  return lines.every((line) => line === "") ? [] : [of(lines.filter((line) => !names(line)))];
}

/** Rules of the parent folders, up to the top of the repository, except lines that match `folder` itself. */
function rulesAbove(folder: string): readonly FolderRules[] {
  const found: FolderRules[] = [];
  let current = folder;
  while (textAt(join(current, ".git")) === "" && dirname(current) !== current) {
    current = dirname(current);
    found.push(...rulesOf(current, folder));
  }
  return found;
}

function textAt(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    // A folder named `.git` exists all the same.
    return systemCode(error) === "EISDIR" ? "#" : "";
  }
}

/** The nearest matching rules decide. */
function isIgnored(all: readonly FolderRules[], path: string, isFolder: boolean): boolean {
  for (const { folder, rules } of all) {
    const below = relative(folder, path).split(sep).join("/");
    const { ignored, unignored } = rules.test(isFolder ? `${below}/` : below);
    if (ignored || unignored) return ignored;
  }
  return false;
}

const MAX_FILE_BYTES = 20 * 1024 * 1024;
const MAX_MS_PER_FILE = 2000;
const MAX_FILES = 200_000;

/**
 * Searches with JavaScript's regular expressions, file by file in path order. Binary files are skipped; files
 * over 20 MB count as unread. A pattern that takes more than two seconds for one file ends the search.
 */
export async function searchWithoutRipgrep(search: TextSearch): Promise<TextSearchOutcome> {
  let regExp: RegExp;
  try {
    regExp = toRegExp(search);
  } catch (error) {
    return { unread: 0, problem: errorMessage(error) };
  }
  const run = boundedRunner(MAX_MS_PER_FILE);
  const paths: string[] = search.file === undefined ? [] : [search.file];
  let unread = search.file === undefined ? await collectPaths(search, paths) : 0;
  for (const path of paths.sort()) {
    if (search.signal.aborted) break;
    const text = await textOf(join(search.folder, path));
    if (text === undefined) unread++;
    if (text === undefined || text === "") continue;
    const matched = run(() =>
      search.isMultiline ? linesOfMatches(text, regExp) : matchingLines(text, regExp),
    );
    if (matched === undefined)
      return {
        unread,
        problem: `The pattern takes more than ${MAX_MS_PER_FILE / 1000} s on ${path}. Use a simpler one.`,
      };
    if (matched.length > 0 && !hitsIn(path, text, matched, search).every(search.onHit)) break;
  }
  return { unread };
}

function collectPaths(search: TextSearch, paths: string[]): Promise<number> {
  const matchesGlob =
    search.glob === undefined ? () => true : pathGlob(search.glob, { matchesBaseName: true });
  return walkFiles({
    ...search,
    onFile: (path) => {
      if (matchesGlob(path)) paths.push(path);
      return paths.length < MAX_FILES;
    },
  });
}

/** Reads flags at the beginning (`(?i)`) as ripgrep does. Throws a `SyntaxError`. */
function toRegExp({ pattern, ignoresCase, isMultiline }: TextSearch): RegExp {
  const [given = "", letters = ""] = /^\(\?([ims]+)\)/u.exec(pattern) ?? [];
  const flags = new Set([...letters, ...(isMultiline ? "gms" : ""), ...(ignoresCase ? "i" : "")]);
  const source = pattern.slice(given.length);
  try {
    return new RegExp(source, `${[...flags].join("")}u`);
  } catch {
    // Unnecessary escapes (`\-`, `\"`) are errors only in Unicode mode.
    return new RegExp(source, [...flags].join(""));
  }
}

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

function linesIn(text: string): readonly string[] {
  const lines = text.split(/\r?\n/u);
  return lines.at(-1) === "" ? lines.slice(0, -1) : lines;
}

function matchingLines(text: string, regExp: RegExp): readonly number[] {
  return linesIn(text).flatMap((line, index) => (regExp.test(line) ? [index] : []));
}

function linesOfMatches(text: string, regExp: RegExp): readonly number[] {
  const matched = new Set<number>();
  let line = 0;
  let position = 0;
  for (const match of text.matchAll(regExp)) {
    for (; position < match.index; position++) if (text[position] === "\n") line++;
    const last = line + match[0].replace(/\n$/u, "").split("\n").length - 1;
    for (let at = line; at <= last; at++) matched.add(at);
  }
  return [...matched];
}

function hitsIn(
  path: string,
  text: string,
  matched: readonly number[],
  search: TextSearch,
): readonly SearchHit[] {
  if (search.mode === "files") return [{ path }];
  if (search.mode === "count") return [{ path, count: matched.length }];
  const isMatch = new Set(matched);
  const isNear = (index: number) => {
    for (let at = index - search.context; at <= index + search.context; at++)
      if (isMatch.has(at)) return true;
    return false;
  };
  return linesIn(text).flatMap((line, index): SearchHit[] => {
    if (!isNear(index)) return [];
    const clipped =
      line.length <= MAX_LINE_CHARS
        ? line
        : `${line.slice(0, MAX_LINE_CHARS)} [... omitted end of long line]`;
    return [{ path, line: { number: index + 1, text: clipped, isMatch: isMatch.has(index) } }];
  });
}

/** Runs functions within a time limit that holds even inside a regular expression, unlike any signal. */
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
