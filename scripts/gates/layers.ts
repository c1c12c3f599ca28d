import { isBuiltin } from "node:module";
import { posix } from "node:path";
import { Visitor } from "oxc-parser";
import { findCycles } from "./cycles.ts";
import { type GateReport, runGate } from "./gate.ts";
import {
  ALLOWED_SIBLINGS,
  ENVIRONMENT_FILE,
  EXIT_FILES,
  FACE_LOADER,
  ROOM_RANKS,
  roomOf,
} from "./layer-table.ts";
import { publicEntries } from "./public-entries.ts";
import {
  type ImportRequest,
  importsOf,
  isTestFile,
  listFiles,
  parseFile,
  type SourceFile,
} from "./source.ts";

/** Checks who imports whom below `src/`, import cycles, file names, and who touches the process. */
export function checkLayers(root: string): GateReport {
  const paths = listFiles(root, "src", /\.tsx?$/);
  const entries = new Set(publicEntries(root).map((entry) => entry.source));
  const graph = new Map<string, string[]>();
  const findings: string[] = [];
  for (const path of paths) {
    const file = parseFile(root, path);
    const requests = importsOf(file);
    findings.push(...nameFindings(path, entries), ...processFindings(file));
    for (const request of requests) {
      const problem = importProblem(path, request, entries);
      if (problem) findings.push(`${path}:${request.line}  ${problem}`);
    }
    graph.set(path, localTargets(path, requests));
  }
  for (const cycle of findCycles(graph)) findings.push(`${cycle[0]}  import cycle: ${cycle.join(" -> ")}`);
  return { looked: paths.length, findings };
}

function localTargets(path: string, requests: readonly ImportRequest[]): string[] {
  return requests
    .filter((request) => request.specifier.startsWith("."))
    .map((request) => resolve(path, request));
}

function resolve(path: string, request: ImportRequest): string {
  return posix.join(posix.dirname(path), request.specifier);
}

const MEANINGLESS_NAMES = new Set([
  "utils",
  "util",
  "helpers",
  "helper",
  "common",
  "types",
  "misc",
  "shared",
]);

function nameFindings(path: string, entries: ReadonlySet<string>): string[] {
  const findings: string[] = [];
  if (roomOf(path) === undefined)
    findings.push(`${path}  is in no known room. Known: ${[...ROOM_RANKS.keys()].join(", ")}`);
  for (const part of path.split("/").slice(1)) {
    const name = part.replace(/(\.d|\.test|\.contract)?\.tsx?$/, "");
    if (MEANINGLESS_NAMES.has(name))
      findings.push(`${path}  "${name}" says nothing. Name it after what it holds`);
    if (!/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name)) findings.push(`${path}  "${name}" is not kebab-case`);
  }
  if (posix.basename(path) === "index.ts" && !entries.has(path)) {
    findings.push(`${path}  only the entries that package.json exports are called index.ts`);
  }
  return findings;
}

function importProblem(
  path: string,
  request: ImportRequest,
  entries: ReadonlySet<string>,
): string | undefined {
  const { specifier } = request;
  if (!specifier.startsWith(".")) return isTestFile(path) ? undefined : packageProblem(path, specifier);
  const target = resolve(path, request);
  if (!/\.(tsx?|json)$/.test(specifier)) return `import "${specifier}": write the file's real ending`;
  if (isTestFile(path)) return undefined;
  if (!target.startsWith("src/")) return `import "${specifier}" leaves src/`;
  if (isTestFile(target)) return `import "${specifier}": nothing but a test may use a test`;
  if (posix.basename(target) === "index.ts" && !entries.has(path)) {
    return `import "${specifier}": name the file that defines it, not an index.ts`;
  }
  return roomProblem(path, target, request);
}

function roomProblem(path: string, target: string, request: ImportRequest): string | undefined {
  const from = roomOf(path);
  const to = roomOf(target);
  if (from === undefined || to === undefined || from === to) return undefined;
  if (rankOf(to) < rankOf(from) || ALLOWED_SIBLINGS.has(`${from} -> ${to}`)) return undefined;
  if (from === FACE_LOADER && to.startsWith("faces/")) {
    return request.dynamic || request.isOfTypes
      ? undefined
      : `import "${request.specifier}": ${from} loads ${to} with a dynamic import only`;
  }
  return `import "${request.specifier}": ${from} must not know ${to}. Talk through a port of a lower layer`;
}

function rankOf(room: string): number {
  return ROOM_RANKS.get(room) ?? Number.POSITIVE_INFINITY;
}

function packageProblem(path: string, specifier: string): string | undefined {
  if (specifier === "nano-agent" || specifier.startsWith("nano-agent/"))
    return `import "${specifier}": use a relative path`;
  if (!isBuiltin(specifier)) return undefined;
  if (!specifier.startsWith("node:")) return `import "${specifier}": write "node:${specifier}"`;
  return path.startsWith("src/core/") ? `import "${specifier}": core runs without Node` : undefined;
}

function processFindings(file: SourceFile): string[] {
  const findings: string[] = [];
  const add = (start: number, name: string) => {
    if (name === "env" && file.path !== ENVIRONMENT_FILE && !isTestFile(file.path)) {
      findings.push(`${file.path}:${file.lineOf(start)}  process.env is read in ${ENVIRONMENT_FILE} only`);
    }
    if ((name === "exit" || name === "reallyExit") && !EXIT_FILES.has(file.path)) {
      findings.push(
        `${file.path}:${file.lineOf(start)}  process.exit is called in ${[...EXIT_FILES].join(", ")} only`,
      );
    }
  };
  new Visitor({
    MemberExpression: (node) => {
      if (isProcess(node.object)) add(node.start, propertyName(node.property));
    },
    VariableDeclarator: (node) => {
      if (node.id.type !== "ObjectPattern" || node.init === null || !isProcess(node.init)) return;
      for (const property of node.id.properties) {
        if (property.type === "Property") add(property.start, propertyName(property.key));
      }
    },
    ImportDeclaration: (node) => {
      if (node.source.value !== "node:process") return;
      for (const specifier of node.specifiers) {
        if (specifier.type === "ImportSpecifier") add(specifier.start, propertyName(specifier.imported));
      }
    },
  }).visit(file.program);
  return findings;
}

interface NamedNode {
  readonly type: string;
  readonly name?: unknown;
  readonly value?: unknown;
  readonly property?: unknown;
  readonly object?: unknown;
}

function isProcess(node: NamedNode): boolean {
  if (node.type === "Identifier") return node.name === "process";
  if (node.type !== "MemberExpression" || propertyName(node.property as NamedNode) !== "process")
    return false;
  return propertyName(node.object as NamedNode) === "globalThis";
}

function propertyName(node: NamedNode): string {
  const name = node.name ?? node.value;
  return typeof name === "string" ? name : "";
}

if (import.meta.main) await runGate("layers", checkLayers, 10);
