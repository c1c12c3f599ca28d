import { existsSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { type GateReport, runGate } from "./gate.ts";
import { listFiles } from "./source.ts";

const FOLDERS = ["src", "test", "scripts", "bench", "examples"];
const LIMIT = 600;
/** A comment is read, so it is no wider than code is printed. */
const COMMENT_WIDTH = 110;
const COMMENT = /^\s*(?:\/\/|\/?\*)/;
const OWN_LIMITS: ReadonlyMap<string, number> = new Map([["src/core/agent/loop.ts", 270]]);

/** Where the exceptions live: a list of {@link SizeException}. */
export const EXCEPTIONS_FILE = "scripts/gates/size-exceptions.json";

/** A file that may be longer than the limit, and why. */
export interface SizeException {
  readonly path: string;
  readonly lines: number;
  readonly reason: string;
}

/**
 * Checks the length of every source file, the width of its comments, and that a name in `src` stands for one
 * file. An exception that is no longer needed is a finding too.
 */
export function checkSizes(root: string): GateReport {
  const exceptions = readExceptions(root);
  const used = new Set<SizeException>();
  const findings: string[] = [];
  const paths = FOLDERS.flatMap((folder) => listFiles(root, folder, /\.(tsx?|mts|js|mjs|css|html)$/));
  for (const path of paths) {
    const text = readFileSync(join(root, path), "utf8");
    findings.push(...wideComments(path, text));
    const lines = countLines(text);
    const limit = OWN_LIMITS.get(path) ?? LIMIT;
    if (lines <= limit) continue;
    const exception = exceptions.find((candidate) => candidate.path === path);
    if (exception) used.add(exception);
    const allowed = exception?.lines ?? limit;
    if (lines > allowed)
      findings.push(`${path}  has ${lines} lines, at most ${allowed}. Split it by what it does`);
  }
  findings.push(...namesakes(paths));
  for (const exception of exceptions) {
    if (exception.reason.trim() === "") findings.push(`${EXCEPTIONS_FILE}  ${exception.path} needs a reason`);
    if (!used.has(exception))
      findings.push(`${EXCEPTIONS_FILE}  ${exception.path} needs no exception: remove it`);
  }
  return { looked: paths.length, findings };
}

function readExceptions(root: string): readonly SizeException[] {
  const path = join(root, EXCEPTIONS_FILE);
  return existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as SizeException[]) : [];
}

/** Files of `src` that are called like another one. Entries, `index.ts`, are called after their folder. */
function namesakes(paths: readonly string[]): readonly string[] {
  const first = new Map<string, string>();
  return paths.flatMap((path) => {
    const name = basename(path);
    if (!path.startsWith("src/") || name === "index.ts") return [];
    const other = first.get(name);
    if (other === undefined) first.set(name, path);
    return other === undefined ? [] : [`${path}  is called like ${other}. Name it after what it holds`];
  });
}

/** Comment lines that could be wrapped and are not: one long word, such as an address, stays as it is. */
function wideComments(path: string, text: string): readonly string[] {
  return text
    .split("\n")
    .flatMap((line, at) =>
      line.length > COMMENT_WIDTH && COMMENT.test(line) && line.lastIndexOf(" ") > 10
        ? [`${path}:${at + 1}  is a comment of ${line.length} columns, at most ${COMMENT_WIDTH}. Wrap it`]
        : [],
    );
}

function countLines(text: string): number {
  const lines = text.split("\n").length;
  return text.endsWith("\n") ? lines - 1 : lines;
}

if (import.meta.main) await runGate("sizes", checkSizes, 10);
