import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Program, parseSync, Visitor } from "oxc-parser";

/** One module request of a source file. */
export interface ImportRequest {
  readonly specifier: string;
  readonly dynamic: boolean;
  /** True for an import of types alone, which loads nothing. */
  readonly isOfTypes: boolean;
  /** 1-based. */
  readonly line: number;
}

/** A parsed TypeScript file. */
export interface SourceFile {
  /** Relative to the root, with forward slashes. */
  readonly path: string;
  readonly text: string;
  readonly program: Program;
  readonly comments: readonly { readonly type: string; readonly value: string; readonly end: number }[];
  readonly lineOf: (offset: number) => number;
}

const SKIPPED = new Set(["node_modules", "dist", "fixtures", ".git", ".cache"]);

/**
 * Files below `root/folder` whose name matches, sorted, relative to `root`. A missing folder holds no files.
 */
export function listFiles(root: string, folder: string, name: RegExp): string[] {
  const start = join(root, folder);
  if (!existsSync(start)) return [];
  const found: string[] = [];
  for (const entry of readdirSync(start, { withFileTypes: true })) {
    const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory()) {
      if (!SKIPPED.has(entry.name)) found.push(...listFiles(root, path, name));
    } else if (name.test(entry.name)) {
      found.push(path);
    }
  }
  return found.sort();
}

/** Whether a file belongs to the tests and never to the package. */
export function isTestFile(path: string): boolean {
  return /\.(test|contract)\.tsx?$/.test(path);
}

/** Reads and parses one file. Throws when it is not TypeScript. */
export function parseFile(root: string, path: string): SourceFile {
  const text = readFileSync(join(root, path), "utf8");
  const parsed = parseSync(path, text);
  const problem = parsed.errors[0];
  if (problem) throw new Error(`${path}: ${problem.message}`);
  return { path, text, program: parsed.program, comments: parsed.comments, lineOf: createLineOf(text) };
}

/** Every module a file asks for: imports, re-exports, dynamic imports and type imports. */
export function importsOf(file: SourceFile): ImportRequest[] {
  const requests: ImportRequest[] = [];
  const add = (node: { readonly start: number }, source: unknown, dynamic: boolean, isOfTypes = false) => {
    const specifier = literalText(source);
    if (specifier !== undefined)
      requests.push({ specifier, dynamic, isOfTypes, line: file.lineOf(node.start) });
  };
  new Visitor({
    ImportDeclaration: (node) => add(node, node.source, false, node.importKind === "type"),
    ExportAllDeclaration: (node) => add(node, node.source, false),
    ExportNamedDeclaration: (node) => add(node, node.source, false),
    ImportExpression: (node) => add(node, node.source, true),
    TSImportType: (node) => add(node, node.source, false, true),
  }).visit(file.program);
  return requests;
}

/** The text of a string literal node; undefined for anything else. */
export function literalText(node: unknown): string | undefined {
  if (typeof node !== "object" || node === null || !("value" in node)) return undefined;
  return typeof node.value === "string" ? node.value : undefined;
}

function createLineOf(text: string): (offset: number) => number {
  const starts = [0];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return (offset) => {
    const next = starts.findIndex((start) => start > offset);
    return next === -1 ? starts.length : next;
  };
}
