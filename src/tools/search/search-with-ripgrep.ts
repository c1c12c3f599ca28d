import { join } from "node:path";
import { pathOfOpen } from "../../system/opened-place.ts";
import { openRegularFile } from "../files/open-regular-file.ts";
import { lastNamesOf, pathGlob } from "./path-glob.ts";
import { runRipgrep } from "./ripgrep.ts";
import { ripgrepFileArgs } from "./skipped-names.ts";
import { type FoundText, MAX_LINE_CHARS, type TextSearch, type TextSearchEnd } from "./text-search.ts";

/** Searches with ripgrep. Lines and counts come in the order of paths, files in no particular order. */
export async function searchWithRipgrep(command: string, search: TextSearch): Promise<TextSearchEnd> {
  if (search.file === undefined) return runSearch(command, search, { place: "./" });
  const path = join(search.folder, search.file);
  const file = openRegularFile(path, search.file);
  try {
    // The opened file itself is handed over: by name it could be another one by now.
    if (pathOfOpen(file.descriptor) === undefined)
      return await runSearch(command, search, { place: `./${search.file}` });
    return await runSearch(command, search, { place: "/proc/self/fd/3", descriptor: file.descriptor });
  } finally {
    file.close();
  }
}

interface SearchScope {
  readonly place: string;
  /** A file that it gets as its descriptor 3. */
  readonly descriptor?: number;
}

async function runSearch(command: string, search: TextSearch, at: SearchScope): Promise<TextSearchEnd> {
  const fits =
    search.glob === undefined || search.file !== undefined
      ? undefined
      : pathGlob(search.glob, { matchesBaseName: true });
  const { exitCode, stderr } = await runRipgrep(command, [...(await argsOf(search)), "--", at.place], {
    descriptor: at.descriptor,
    cwd: search.folder,
    separator: search.mode === "files" ? "\0" : "\n",
    signal: search.signal,
    onRecord: (record) => {
      const found = parseRecord(record, search.mode);
      if (found === undefined || fits?.(found.path) === false) return true;
      return search.onFound(search.file === undefined ? found : { ...found, path: search.file });
    },
  });
  if (exitCode !== 2) return { unread: 0 };
  const messages = stderr.split("\n").filter((line) => line !== "");
  const unread = messages.filter((line) => /\(os error \d+\)$/u.test(line)).length;
  return unread === messages.length ? { unread } : { unread, problem: stderr.trim() };
}

/** ripgrep's own engine has no look-around and no back-references; PCRE2 has. */
const NEEDS_PCRE2 = /\(\?(?:[=!>]|<[=!])|\\[1-9]/u;

async function argsOf(search: TextSearch): Promise<readonly string[]> {
  return [
    ...(await ripgrepFileArgs(search.folder, search)),
    "--null",
    "--crlf",
    ...modeArgs(search),
    ...(search.ignoresCase ? ["--ignore-case"] : []),
    ...(search.isMultiline ? ["--multiline", "--multiline-dotall"] : []),
    ...(NEEDS_PCRE2.test(search.pattern) ? ["--pcre2"] : []),
    ...typeArgs(search),
    "--regexp",
    search.pattern,
  ];
}

function modeArgs({ mode, context }: TextSearch): readonly string[] {
  if (mode === "files") return ["--files-with-matches"];
  if (mode === "count") return ["--count", "--with-filename", "--sort", "path"];
  const columns = ["--max-columns", String(MAX_LINE_CHARS), "--max-columns-preview"];
  return [
    "--line-number",
    "--no-heading",
    "--with-filename",
    "--sort",
    "path",
    ...columns,
    "--context",
    String(context),
  ];
}

/** A `--glob` would bring ignored files back; a file type does not. The rest is sorted out afterwards. */
function typeArgs({ glob, file }: TextSearch): readonly string[] {
  const names =
    glob === undefined || file !== undefined || glob.startsWith("!") ? undefined : lastNamesOf(glob);
  if (names === undefined) return [];
  return [...names.flatMap((name) => ["--type-add", `wanted:${name}`]), "--type", "wanted"];
}

/** `path`, `path NUL count`, or `path NUL number`, `:` (a match) or `-` (a line around it), the line. */
function parseRecord(record: string, mode: TextSearch["mode"]): FoundText | undefined {
  const [first, ...others] = record.split("\0");
  const path = (first ?? "").replace(/^\.\//u, "");
  if (mode === "files") return path === "" ? undefined : { path };
  const rest = others.join("\0");
  if (mode === "count") return others.length === 0 ? undefined : { path, count: Number(rest) };
  const match = /^(\d+)([:-])([^]*)$/u.exec(rest);
  if (match === null) return undefined;
  const [, number, mark, text = ""] = match;
  return {
    path,
    line: { number: Number(number), text: text.replace(/(?<!\r)\r+$/u, ""), isMatch: mark === ":" },
  };
}
