import { type GateReport, runGate } from "./gate.ts";
import { isTestFile, listFiles, parseFile, type SourceFile } from "./source.ts";

/** Checks that every exported declaration below `src/` has a doc comment directly above it. */
export function checkDocs(root: string): GateReport {
  const paths = listFiles(root, "src", /\.tsx?$/).filter((path) => !isTestFile(path));
  const findings = paths.flatMap((path) => undocumented(parseFile(root, path)));
  return { looked: paths.length, findings };
}

function undocumented(file: SourceFile): string[] {
  const documented = new Set<string>();
  const findings: string[] = [];
  for (const node of file.program.body) {
    if (node.type !== "ExportNamedDeclaration" || node.declaration === null) continue;
    const name = declaredName(node.declaration);
    if (documented.has(name)) continue;
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
