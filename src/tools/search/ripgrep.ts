import { type ChildProcessByStdio, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { lstatSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { promisify } from "node:util";
import { findProgram, type ProgramSearch } from "../../system/find-program.ts";
import { descriptorPath } from "../../system/open-descriptor.ts";
import { TEMPORARY_PREFIX } from "../../system/replace-file.ts";
import { openRegularFile, pinFolder } from "../files/open-file.ts";
import type { PathOptions } from "../resolve-path.ts";
import { lastNamesOf, pathGlob } from "./path-glob.ts";
import {
  type FileListing,
  MAX_LINE_CHARS,
  type SearchHit,
  type TextSearch,
  type TextSearchOutcome,
} from "./text-search.ts";
import { searchWithoutRipgrep, walkFiles } from "./without-ripgrep.ts";

/** Options of the search tools. */
export interface SearchToolOptions extends PathOptions {
  /** Which ripgrep to use; `false`: none. Default: `rg` on the PATH, then the installed package. */
  readonly ripgrep?: RipgrepChoice;
  /** A shared locator, so that several tools look for ripgrep only once. Takes precedence over `ripgrep`. */
  readonly locator?: RipgrepLocator;
  /** True for files to neither list nor search, by absolute path. A file for which it throws is left out. */
  readonly excludes?: (path: string) => boolean;
  /** Milliseconds after which a search ends with the results so far. Default 20,000. */
  readonly timeoutMs?: number;
}

/** Which ripgrep: its path or name, `false` for none, or where to look first. Default: `PATH`. */
export type RipgrepChoice = string | false | ProgramSearch;

/** Finds a usable ripgrep once and remembers it. */
export class RipgrepLocator {
  readonly #choice: RipgrepChoice | undefined;
  #found: Promise<string | undefined> | undefined;

  constructor(choice?: RipgrepChoice) {
    this.#choice = choice;
  }

  /** The program to start; `undefined` if there is none, or only one older than version 13. */
  find(): Promise<string | undefined> {
    this.#found ??= locateRipgrep(this.#choice ?? "rg");
    return this.#found;
  }
}

/** Older versions lack options we need, or have known bugs. */
const MIN_VERSION = 13;

async function locateRipgrep(choice: RipgrepChoice): Promise<string | undefined> {
  if (choice === false) return undefined;
  const first = typeof choice === "string" ? choice : findProgram("rg", choice);
  if (first !== undefined && (await isUsable(first))) return first;
  const bundled = await import("@vscode/ripgrep").then(
    ({ rgPath }) => rgPath,
    () => undefined,
  );
  return bundled !== undefined && (await isUsable(bundled)) ? bundled : undefined;
}

async function isUsable(command: string): Promise<boolean> {
  try {
    const { stdout } = await promisify(execFile)(command, ["--no-config", "--version"], { timeout: 10_000 });
    return Number(/^ripgrep (\d+)\./u.exec(stdout)?.[1] ?? 0) >= MIN_VERSION;
  } catch {
    return false;
  }
}

/** Lists files in no particular order. Skips folders that cannot be read. Does not throw on abort. */
export async function listFiles(locator: RipgrepLocator, listing: FileListing): Promise<void> {
  const command = await locator.find();
  if (command === undefined) {
    await walkFiles(listing);
    return;
  }
  const args = ["--files", "--null", "--no-messages", ...fileArgs(listing)];
  await runRipgrep(command, args, { ...listing, separator: "\0", onRecord: listing.onFile });
}

/** Searches files. Lines and counts come ordered by path, files in no particular order. */
export async function searchText(locator: RipgrepLocator, search: TextSearch): Promise<TextSearchOutcome> {
  const command = await locator.find();
  if (command === undefined) return searchWithoutRipgrep(search);
  if (search.file === undefined) return runSearch(command, search, "./");
  const file = openRegularFile(join(search.folder, search.file), search.file);
  try {
    // Passes the opened file itself: its name could lead to another one now.
    if (descriptorPath(file.descriptor) === undefined)
      return await runSearch(command, search, `./${search.file}`);
    return await runSearch(command, search, "/proc/self/fd/3", file.descriptor);
  } finally {
    file.close();
  }
}

async function runSearch(
  command: string,
  search: TextSearch,
  place: string,
  descriptor?: number,
): Promise<TextSearchOutcome> {
  const { mode, file, signal, folder } = search;
  const glob = file === undefined ? search.glob : undefined;
  const matchesGlob = glob === undefined ? undefined : pathGlob(glob, { matchesBaseName: true });
  const { exitCode, stderr } = await runRipgrep(command, [...searchArgs(search, glob), "--", place], {
    folder,
    descriptor,
    separator: mode === "files" ? "\0" : "\n",
    signal,
    onRecord: (record) => {
      const hit = parseRecord(record, mode);
      if (hit === undefined || matchesGlob?.(hit.path) === false) return true;
      return search.onHit(file === undefined ? hit : { ...hit, path: file });
    },
  });
  if (exitCode !== 2) return { unread: 0 };
  const messages = stderr.split("\n").filter((line) => line !== "");
  const unread = messages.filter((line) => /\(os error \d+\)$/u.test(line)).length;
  return unread === messages.length ? { unread } : { unread, problem: stderr.trim() };
}

/** ripgrep's own engine has no look-around and no back-references; PCRE2 has. */
const NEEDS_PCRE2 = /\(\?(?:[=!>]|<[=!])|\\[1-9]/u;

function searchArgs(search: TextSearch, glob: string | undefined): readonly string[] {
  // A `--glob` would bring ignored files back; a file type does not. The rest is filtered afterwards.
  const names = glob === undefined || glob.startsWith("!") ? undefined : lastNamesOf(glob);
  return [
    ...fileArgs(search),
    "--null",
    "--crlf",
    ...MODE_ARGS[search.mode],
    ...(search.mode === "content" ? [`--context=${search.context}`] : []),
    ...(search.ignoresCase ? ["--ignore-case"] : []),
    ...(search.isMultiline ? ["--multiline", "--multiline-dotall"] : []),
    ...(NEEDS_PCRE2.test(search.pattern) ? ["--pcre2"] : []),
    ...(names?.map((name) => `--type-add=wanted:${name}`) ?? []),
    ...(names === undefined ? [] : ["--type=wanted"]),
    `--regexp=${search.pattern}`,
  ];
}

const LINES_OF_FILES = ["--with-filename", "--sort=path"];
const MODE_ARGS: { readonly [mode in TextSearch["mode"]]: readonly string[] } = {
  files: ["--files-with-matches"],
  count: ["--count", ...LINES_OF_FILES],
  content: [
    "--line-number",
    "--no-heading",
    `--max-columns=${MAX_LINE_CHARS}`,
    "--max-columns-preview",
    ...LINES_OF_FILES,
  ],
};

/** `path`, `path NUL count`, or `path NUL number`, `:` (a match) or `-` (context), the line. */
function parseRecord(record: string, mode: TextSearch["mode"]): SearchHit | undefined {
  const [first = "", ...others] = record.split("\0");
  const path = first.replace(/^\.\//u, "");
  if (mode === "files") return path === "" ? undefined : { path };
  const rest = others.join("\0");
  if (mode === "count") return others.length === 0 ? undefined : { path, count: Number(rest) };
  const [, number, separator, text = ""] = /^(\d+)([:-])([^]*)$/u.exec(rest) ?? [];
  if (number === undefined) return undefined;
  return { path, line: { number: Number(number), text, isMatch: separator === ":" } };
}

function fileArgs({ folder, withNodeModules }: FileListing | TextSearch): readonly string[] {
  const skipped = [".git", `${TEMPORARY_PREFIX}*`, ...(withNodeModules ? [] : ["node_modules"])];
  return [
    "--hidden",
    "--no-ignore-global",
    // With `--no-require-git` ripgrep would read ignore files above the top of the repository.
    ...(isInRepository(folder) ? [] : ["--no-require-git"]),
    "--path-separator=/",
    "--color=never",
    ...skipped.map((name) => `--glob=!${name}`),
  ];
}

function isInRepository(folder: string): boolean {
  if (lstatSync(join(folder, ".git"), { throwIfNoEntry: false }) !== undefined) return true;
  return dirname(folder) !== folder && isInRepository(dirname(folder));
}

interface RipgrepRun {
  readonly folder: string;
  readonly descriptor?: number | undefined;
  readonly separator: "\n" | "\0";
  readonly signal: AbortSignal;
  readonly onRecord: (record: string) => boolean;
}

const MAX_STDERR_CHARS = 20_000;
const MAX_RECORD_CHARS = 1_000_000;

/**
 * Runs ripgrep, which reads no configuration file and no standard input. `exitCode` is 0 if something was
 * found, 1 for nothing, 2 for an error, possibly with results, and `null` if it was killed. Resolves when the
 * process is gone; rejects with what `onRecord` throws.
 */
async function runRipgrep(
  command: string,
  args: readonly string[],
  options: RipgrepRun,
): Promise<{ readonly exitCode: number | null; readonly stderr: string }> {
  const { folder, descriptor, signal } = options;
  const pinned = pinFolder(folder, folder);
  let child: ChildProcessByStdio<null, Readable, Readable>;
  try {
    child = spawn(command, ["--no-config", ...args], {
      cwd: pinned.selfPath,
      stdio: ["ignore", "pipe", "pipe", ...(descriptor === undefined ? [] : [descriptor])],
      windowsHide: true,
    }) as typeof child;
  } finally {
    pinned.close();
  }
  const kill = () => child.kill("SIGKILL");
  signal.addEventListener("abort", kill, { once: true });
  if (signal.aborted) kill();
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    if (stderr.length < MAX_STDERR_CHARS) stderr += text;
  });
  try {
    const closed = once(child, "close") as Promise<[number | null]>;
    const [[exitCode]] = await Promise.all([closed, readRecords(child.stdout, options, kill)]);
    return { exitCode, stderr };
  } finally {
    kill();
    signal.removeEventListener("abort", kill);
  }
}

async function readRecords(
  output: Readable,
  { separator, onRecord }: RipgrepRun,
  stop: () => void,
): Promise<void> {
  let pending = "";
  for await (const chunk of output.setEncoding("utf8")) {
    const records = (pending + (chunk as string)).split(separator);
    pending = (records.pop() ?? "").slice(0, MAX_RECORD_CHARS);
    if (!records.every((record) => onRecord(record))) return stop();
  }
  if (pending !== "") onRecord(pending);
}
