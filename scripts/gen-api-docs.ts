import { dirname, posix } from "node:path";
import { readManifest } from "./build/manifest.ts";
import { type PublicEntry, publicEntries } from "./gates/public-entries.ts";
import { parseFile, type SourceFile } from "./gates/source.ts";

/** Where the pages are kept. */
export const API_FOLDER = "docs/api";

/** One name a public entry offers. */
export interface ApiExport {
  readonly name: string;
  readonly kind: string;
  /** First sentence of its doc comment. */
  readonly summary: string;
  /** The file that declares it. */
  readonly source: string;
}

interface Declaration {
  readonly kind: string;
  readonly start: number;
}

/** One name of an export list: what it is called outside, and where it is declared. */
interface ListedName {
  readonly name: string;
  readonly local: string;
  readonly source: string;
}

const KINDS: Readonly<Record<string, string>> = {
  ClassDeclaration: "class",
  FunctionDeclaration: "function",
  TSDeclareFunction: "function",
  TSInterfaceDeclaration: "interface",
  TSTypeAliasDeclaration: "type",
  VariableDeclaration: "const",
};

/** What each public entry offers, by the name it is imported from. */
export function apiExports(root: string): ReadonlyMap<string, readonly ApiExport[]> {
  const { name } = readManifest(root);
  const parse = createParse(root);
  return new Map(
    publicEntries(root).map((entry) => [name + entry.subpath.slice(1), exportsOf(parse, entry)]),
  );
}

/** The reference of the library: a page for each public entry and an index of the pages, by path. */
export function apiPages(root: string): Readonly<Record<string, string>> {
  const pages: Record<string, string> = {};
  const index: string[] = [];
  for (const [specifier, exports] of apiExports(root)) {
    const file = `${specifier.split("/").at(-1)}.md`;
    pages[`${API_FOLDER}/${file}`] = pageOf(specifier, exports);
    index.push(`| [\`${specifier}\`](${file}) | ${exports.length} |`);
  }
  pages[`${API_FOLDER}/README.md`] = [
    "# API",
    "",
    MADE,
    "",
    "All names the package exports, with the doc comments that editors show.",
    "",
    "| import | names |",
    "|---|--:|",
    ...index,
    "",
  ].join("\n");
  return pages;
}

const MADE = "<!-- Made by scripts/gen-docs.ts from the sources: change the doc comments there. -->";

function pageOf(specifier: string, exports: readonly ApiExport[]): string {
  const rows = exports.map(({ name, kind, summary }) => `| \`${name}\` | ${kind} | ${summary} |`);
  return [`# ${specifier}`, "", MADE, "", "| name | kind | |", "|---|---|---|", ...rows, ""].join("\n");
}

type Parse = (path: string) => SourceFile;

function createParse(root: string): Parse {
  const files = new Map<string, SourceFile>();
  return (path) => {
    const file = files.get(path) ?? parseFile(root, path);
    files.set(path, file);
    return file;
  };
}

function exportsOf(parse: Parse, entry: PublicEntry): readonly ApiExport[] {
  return listed(parse(entry.source))
    .map((each) => resolve(parse, each))
    .sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** The names a file exports from others. Throws for `export *`, which says nothing about its names. */
function listed(file: SourceFile): readonly ListedName[] {
  return file.program.body.flatMap((node) => {
    if (node.type === "ExportAllDeclaration")
      throw new Error(`${file.path}: name what is exported instead of "export *"`);
    if (node.type !== "ExportNamedDeclaration" || node.source === null) return [];
    const source = posix.join(dirname(file.path), node.source.value);
    return node.specifiers.map(({ local, exported }) => ({
      name: nameOf(exported),
      local: nameOf(local),
      source,
    }));
  });
}

function resolve(parse: Parse, { name, local, source }: ListedName): ApiExport {
  const file = parse(source);
  const declared = declarations(file).get(local);
  if (declared !== undefined) {
    return { name, kind: declared.kind, summary: summaryAt(file, declared.start), source };
  }
  const further = listed(file).find((each) => each.name === local);
  if (further === undefined) throw new Error(`${source} does not declare ${local}`);
  return { ...resolve(parse, further), name };
}

function declarations(file: SourceFile): ReadonlyMap<string, Declaration> {
  const found = new Map<string, Declaration>();
  for (const node of file.program.body) {
    if (node.type !== "ExportNamedDeclaration" || node.declaration === null) continue;
    const { declaration } = node;
    const ids =
      declaration.type === "VariableDeclaration"
        ? declaration.declarations.map(({ id }) => id)
        : [declaration];
    for (const each of ids) {
      const name = "id" in each ? nameOf(each.id) : nameOf(each);
      const kind = KINDS[declaration.type];
      // Of overloads the first carries the comment.
      if (kind !== undefined && !found.has(name)) found.set(name, { kind, start: node.start });
    }
  }
  return found;
}

function nameOf(node: unknown): string {
  if (typeof node !== "object" || node === null) return "";
  if ("name" in node && typeof node.name === "string") return node.name;
  return "value" in node && typeof node.value === "string" ? node.value : "";
}

function summaryAt(file: SourceFile, start: number): string {
  const comment = file.comments.find(
    ({ value, end }) => value.startsWith("*") && end <= start && file.text.slice(end, start).trim() === "",
  );
  if (comment === undefined) return "";
  const text = comment.value
    .split("\n")
    .map((line) => line.replace(/^\s*\*+ ?/, "").trim())
    .join("\n");
  return inTable(firstSentence(text.split(/\n\n|^@/m)[0] ?? ""));
}

/** Ends at a full stop, or a colon before a list, that a new sentence follows; "e.g." ends none. */
function firstSentence(text: string): string {
  const flat = text.replaceAll(/\s+/g, " ").trim();
  return /^.*?(?<!\b(?:e\.g|i\.e|etc))[.!?](?= [A-Z`"]|$)/.exec(flat)?.[0] ?? flat;
}

function inTable(text: string): string {
  return text
    .replaceAll(/\{@link ([^}]+)\}/g, "`$1`")
    .replaceAll("|", "\\|")
    .replaceAll(/`[^`]*`|</g, (part) => (part === "<" ? "&lt;" : part));
}
