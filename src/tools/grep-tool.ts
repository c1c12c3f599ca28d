import { basename, dirname } from "node:path";
import type { FromJsonSchema } from "../core/base/schema.ts";
import { pluralize } from "../core/base/text.ts";
import { defineTool, type Tool, type ToolContext, type ToolResult } from "../core/tool/tool.ts";
import { answerFileErrors, FileRefusal } from "./files/file-error.ts";
import { resolvePath, resolvePermittedPath } from "./resolve-path.ts";
import { RipgrepLocator, type SearchToolOptions, searchText } from "./search/ripgrep.ts";
import { exclusionCheck, ResultList, searchRootKind, type TextSearch } from "./search/text-search.ts";

/**
 * The `grep` tool: searches text files with a regular expression, using ripgrep or, without it, JavaScript's
 * engine. `mode`: `files` (default; newest first), `content` (lines under their file name, `12:` for a match,
 * `13-` for a line of context), or `count` (matching lines per file). At most `limit` results (default 200),
 * 30 KB and 500 characters a line. Ignored, binary and hidden files are treated as by `glob`; a `glob`
 * without a slash matches files in any folder.
 */
export function createGrepTool(options: SearchToolOptions = {}): Tool {
  const locator = options.locator ?? new RipgrepLocator(options.ripgrep);
  return defineTool({
    name: "grep",
    description:
      "Searches file contents by regular expression. Ignored files are left out. Default mode: files.",
    parameters: PARAMETERS,
    readOnly: true,
    access: "read_all",
    execute: (input, context) =>
      answerFileErrors(input.path ?? ".", context.signal, () =>
        grep(input, { ...options, locator }, context),
      ),
  });
}

const PARAMETERS = {
  type: "object",
  properties: {
    pattern: { type: "string" },
    path: { type: "string" },
    glob: { type: "string" },
    mode: { enum: ["files", "content", "count"] },
    context: { type: "integer" },
    ignore_case: { type: "boolean" },
    multiline: { type: "boolean" },
    limit: { type: "integer" },
  },
  required: ["pattern"],
} as const;

const TIMEOUT_MS = 20_000;
const DEFAULT_LIMIT = 200;
const MAX_LIMIT = 2000;
const MAX_CONTEXT = 50;
const MAX_PROBLEM_CHARS = 1000;

type GrepInput = FromJsonSchema<typeof PARAMETERS>;

async function grep(
  input: GrepInput,
  options: SearchToolOptions & { readonly locator: RipgrepLocator },
  context: ToolContext,
): Promise<ToolResult> {
  const { timeoutMs = TIMEOUT_MS } = options;
  const cwd = resolvePath(".", { cwd: options.cwd ?? context.cwd });
  const path = resolvePermittedPath(input.path ?? ".", { ...options, cwd }, context);
  if (input.pattern === "") throw new FileRefusal("pattern is empty: it would match every line.");
  const kind = await searchRootKind(path, input.path ?? ".");
  const folder = kind === "file" ? dirname(path) : path;
  const timeout = AbortSignal.timeout(timeoutMs);
  const search = { ...searchOf(input, folder), ...(kind === "file" ? { file: basename(path) } : {}) };
  const limit = Math.min(Math.max(1, input.limit ?? DEFAULT_LIMIT), MAX_LIMIT);
  const list = new ResultList(search, limit, cwd);
  // A file named by the call was judged with the call.
  const isExcluded = exclusionCheck(folder, kind === "file" ? undefined : options.excludes);
  const end = await searchText(options.locator, {
    ...search,
    signal: AbortSignal.any([context.signal, timeout]),
    onHit: (found) => isExcluded(found.path) || list.add(found),
  });
  context.signal.throwIfAborted();
  if (end.problem !== undefined && list.size === 0) throw new FileRefusal(problemText(end.problem));
  const text = await list.text();
  const notes = notesOf(end.unread, timeout.aborted ? timeoutMs : undefined);
  const found = text === "" ? noMatchesText(input, cwd) : text;
  return {
    content: [found, ...notes.map((note) => `[${note}]`)].join("\n"),
    title: pluralize(list.size, search.mode === "content" ? "line" : "file"),
    metadata: { path, mode: search.mode, results: list.size },
  };
}

function searchOf(input: GrepInput, folder: string): Omit<TextSearch, "signal" | "onHit" | "file"> {
  const { pattern, glob = "", mode = "files" } = input;
  return {
    pattern,
    folder,
    ...(glob === "" ? {} : { glob }),
    mode,
    context: mode === "content" ? Math.min(Math.max(0, input.context ?? 0), MAX_CONTEXT) : 0,
    ignoresCase: input.ignore_case ?? false,
    // Without multiline mode, a pattern containing a line end could never match.
    isMultiline: input.multiline ?? /\n|\\n/u.test(pattern),
    withNodeModules: `${glob}/${folder}`.includes("node_modules"),
  };
}

function notesOf(unread: number, stoppedAfterMs: number | undefined): readonly string[] {
  const notes: string[] = [];
  if (stoppedAfterMs !== undefined)
    notes.push(`Stopped after ${stoppedAfterMs / 1000} s: there may be more.`);
  if (unread > 0) notes.push(`${pluralize(unread, "file or folder", "files or folders")} could not be read.`);
  return notes;
}

function problemText(problem: string): string {
  const hint = "To search for plain text, put a backslash before each of . * + ? ( ) [ ] { } | ^ $ \\";
  return `The search cannot be done: ${problem.slice(0, MAX_PROBLEM_CHARS)}\n${hint}`;
}

function noMatchesText({ pattern, glob, path = "." }: GrepInput, cwd: string): string {
  const where = path === "." ? cwd : path;
  return `No matches for ${pattern} in ${where}${glob === undefined || glob === "" ? "" : ` (files ${glob})`}.`;
}
