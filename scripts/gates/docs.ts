import { join } from "node:path";
import { type GateReport, runGate } from "./gate.ts";
import { publicEntries } from "./public-entries.ts";
import { literalText, parseFile, type SourceFile } from "./source.ts";

/** Checks that every declaration that an entry of the package exports has a doc comment directly above it. */
export function checkDocs(root: string): GateReport {
  const names = publicNames(root);
  const findings = [...names.keys()]
    .sort()
    .flatMap((path) => undocumented(parseFile(root, path), names.get(path) ?? new Set()));
  return { looked: names.size, findings };
}

/** The names that entries export, by the file that declares them. */
function publicNames(root: string): ReadonlyMap<string, ReadonlySet<string>> {
  const names = new Map<string, Set<string>>();
  for (const { source: entry } of publicEntries(root)) {
    for (const node of parseFile(root, entry).program.body) {
      if (node.type !== "ExportNamedDeclaration") continue;
      const from = literalText(node.source);
      const path = from === undefined ? entry : join(entry, "..", from);
      const own = names.get(path) ?? new Set();
      names.set(path, own);
      if (node.declaration !== null) own.add(declaredName(node.declaration));
      for (const { local } of node.specifiers) if ("name" in local) own.add(local.name);
    }
  }
  return names;
}

function undocumented(file: SourceFile, names: ReadonlySet<string>): string[] {
  const documented = new Set<string>();
  const findings: string[] = [];
  for (const node of file.program.body) {
    if (node.type !== "ExportNamedDeclaration" || node.declaration === null) continue;
    const name = declaredName(node.declaration);
    if (documented.has(name) || !names.has(name)) continue;
    documented.add(name);
    if (!hasDocComment(file, node.start)) {
      findings.push(
        `${file.path}:${file.lineOf(node.start)}  exported ${name} has no doc comment: say what it is for`,
      );
    }
  }
  return findings;
}

function declaredName(declaration: {
  readonly type: string;
  readonly id?: unknown;
  readonly declarations?: unknown;
}): string {
  const named = Array.isArray(declaration.declarations)
    ? (declaration.declarations as unknown[])[0]
    : declaration;
  const id = (named as { readonly id?: { readonly name?: unknown } | null }).id;
  return typeof id?.name === "string" ? id.name : declaration.type;
}

function hasDocComment(file: SourceFile, start: number): boolean {
  return file.comments.some(
    (comment) =>
      comment.type === "Block" &&
      comment.value.startsWith("*") &&
      comment.end <= start &&
      file.text.slice(comment.end, start).trim() === "",
  );
}

if (import.meta.main) await runGate("docs", checkDocs, 10);
