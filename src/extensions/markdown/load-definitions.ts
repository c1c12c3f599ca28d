import { hash } from "node:crypto";
import { type MarkdownDocument, parseMarkdown } from "./front-matter.ts";
import { type Finding, type Origin, replacedFinding, type SourceFolder, type TrustItem } from "./origin.ts";
import { readTextFile } from "./read-text-file.ts";

export interface DefinitionFile {
  readonly path: string;
  readonly name: string;
  /** Folder that links must not leave. Default: the root of the source. */
  readonly boundary?: string;
}

export interface Definition extends MarkdownDocument, DefinitionFile {
  readonly origin: SourceFolder["origin"];
  readonly text: string;
  readonly report: (level: Finding["level"], message: string) => undefined;
}

export interface DefinitionKind<T> {
  readonly maxBytes: number;
  readonly files: (source: SourceFolder, findings: Finding[]) => readonly DefinitionFile[];
  /** Resolves to `undefined` for an unusable file, which it has reported. */
  readonly read: (definition: Definition) => Promise<T | undefined>;
  readonly title: (name: string) => string;
}

/**
 * Loads the definitions in folders. If several share a name, the first is used. Never rejects: unusable files
 * are reported in `findings`. Missing folders count as empty.
 */
export async function loadDefinitions<
  T extends { readonly name: string; readonly origin: Origin; readonly path: string },
>(
  folders: readonly SourceFolder[],
  { maxBytes, files, read, title }: DefinitionKind<T>,
): Promise<{ readonly definitions: readonly T[]; readonly findings: Finding[] }> {
  const definitions = new Map<string, T>();
  const findings: Finding[] = [];
  for (const source of folders) {
    for (const file of files(source, findings)) {
      const { path, boundary = source.root } = file;
      const report = (level: Finding["level"], message: string): undefined => {
        findings.push({ path, level, message });
      };
      const found = readTextFile(path, { maxBytes, boundary: boundary });
      if (found === undefined) continue;
      const document = "fault" in found ? found : { ...(await parseMarkdown(found.text)), text: found.text };
      if ("fault" in document) {
        report("fault", document.fault);
        continue;
      }
      const definition = await read({ ...document, ...file, origin: source.origin, report });
      if (definition === undefined) continue;
      const known = definitions.get(definition.name);
      if (known === undefined) definitions.set(definition.name, definition);
      else findings.push(replacedFinding(definition, title(definition.name), known));
    }
  }
  return { definitions: [...definitions.values()], findings };
}

export function trustItemOf(
  { origin, path, text }: Definition,
  kind: TrustItem["kind"],
  name: string,
): TrustItem {
  return { kind, name, origin, path, contentHash: hash("sha256", text) };
}
