import { join } from "node:path";
import { pluralize } from "../core/base/text.ts";
import { defineTool, type Tool, type ToolContext, type ToolResult } from "../core/tool/tool.ts";
import { answerFileErrors, FileRefusal } from "./files/file-error.ts";
import { resolvePath, resolvePermittedPath } from "./resolve-path.ts";
import { pathGlob } from "./search/path-glob.ts";
import { listFiles, RipgrepLocator, type SearchToolOptions } from "./search/ripgrep.ts";
import { exclusionCheck, searchRootKind, shownPath, sortNewestFirst } from "./search/text-search.ts";

/**
 * The `glob` tool: regular files by pattern, newest first, at most 200. `*` stays within a folder, `**`
 * crosses folders, `{a,b}` are alternatives. Files ignored by `.gitignore`, `.ignore` or `.rgignore` are left
 * out, as are `.git` and, unless pattern or path name it, `node_modules`; other hidden files are found. Links
 * are not followed. The pattern cannot leave `path`.
 */
export function createGlobTool(options: SearchToolOptions = {}): Tool {
  const locator = options.locator ?? new RipgrepLocator(options.ripgrep);
  return defineTool({
    name: "glob",
    description: "Finds files by glob (**, {a,b}) below a folder, newest first. Ignored files are left out.",
    parameters: PARAMETERS,
    readOnly: true,
    access: "read_all",
    execute: ({ pattern, path = "." }, context) =>
      answerFileErrors(path, context.signal, () => glob(pattern, path, { ...options, locator }, context)),
  });
}

const PARAMETERS = {
  type: "object",
  properties: { pattern: { type: "string" }, path: { type: "string" } },
  required: ["pattern"],
} as const;

const MAX_SHOWN = 200;
const MAX_MATCHES = 20_000;
const MAX_PATTERN_CHARS = 1000;
const TIMEOUT_MS = 20_000;

async function glob(
  givenPattern: string,
  givenPath: string,
  options: SearchToolOptions & { readonly locator: RipgrepLocator },
  context: ToolContext,
): Promise<ToolResult> {
  const { timeoutMs = TIMEOUT_MS } = options;
  const cwd = resolvePath(".", { cwd: options.cwd ?? context.cwd });
  const folder = resolvePermittedPath(givenPath, { ...options, cwd }, context);
  if ((await searchRootKind(folder, givenPath)) === "file") {
    throw new FileRefusal(`${givenPath} is a file: path is the folder to search.`);
  }
  const pattern = patternBelow(folder, givenPattern, givenPath);
  const matches = pathGlob(pattern);
  const isExcluded = exclusionCheck(folder, options.excludes);
  const timeout = AbortSignal.timeout(timeoutMs);
  const found: string[] = [];
  await listFiles(options.locator, {
    folder,
    signal: AbortSignal.any([context.signal, timeout]),
    withNodeModules: `${pattern}/${folder}`.includes("node_modules"),
    onFile: (path) => {
      if (matches(path) && !isExcluded(path)) found.push(path);
      return found.length < MAX_MATCHES;
    },
  });
  context.signal.throwIfAborted();
  const sorted = await sortNewestFirst(folder, found);
  const lines = sorted.slice(0, MAX_SHOWN).map((path) => shownPath(join(folder, path), cwd));
  const count =
    found.length === MAX_MATCHES ? `${MAX_MATCHES} or more files` : pluralize(found.length, "file");
  const notes = timeout.aborted ? [`Stopped after ${timeoutMs / 1000} s: there may be more.`] : [];
  if (found.length > MAX_SHOWN) notes.unshift(`The newest ${MAX_SHOWN} of ${count}. Narrow the pattern.`);
  const text = found.length === 0 ? [noMatchesText(pattern, givenPath === "." ? folder : givenPath)] : lines;
  return {
    content: [...text, ...notes.map((note) => `[${note}]`)].join("\n"),
    title: count,
    metadata: { path: folder, files: found.length },
  };
}

/** The pattern relative to the folder. An absolute pattern may name the folder itself. */
function patternBelow(folder: string, pattern: string, givenPath: string): string {
  if (pattern.length > MAX_PATTERN_CHARS)
    throw new FileRefusal(`pattern has ${pattern.length} characters: at most ${MAX_PATTERN_CHARS}.`);
  const relative = pattern.startsWith(`${folder}/`) ? pattern.slice(folder.length + 1) : pattern;
  if (relative === "" || /^(?:[/~]|[A-Za-z]:)|(?:^|\/)\.\.(?:\/|$)/u.test(relative)) {
    throw new FileRefusal(
      `pattern "${pattern}" must stay below path (${givenPath}): give the folder as path and a relative pattern.`,
    );
  }
  return relative;
}

function noMatchesText(pattern: string, where: string): string {
  const hint = pattern.includes("/")
    ? ""
    : ` It looks only directly in that folder: **/${pattern} looks below it too.`;
  return `No files match ${pattern} in ${where}.${hint}`;
}
