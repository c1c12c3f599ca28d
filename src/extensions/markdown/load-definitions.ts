import { hash } from "node:crypto";
import { type MarkdownDocument, parseMarkdown } from "./front-matter.ts";
import { type Finding, type Origin, replacedFinding, type SourceFolder, type TrustItem } from "./origin.ts";
import { readTextFile } from "./read-text-file.ts";

export interface DefinitionFile {
  readonly path: string;
  readonly name: string;
  /** Folder that links must not leave. Default: the root of the source. */
  readonly within?: string;
}

export interface Definition extends MarkdownDocument, DefinitionFile {
  readonly origin: SourceFolder["origin"];
  readonly text: string;
  readonly tell: (level: Finding["level"], message: string) => undefined;
}

export interface DefinitionKind<T> {
  readonly maxBytes: number;
  readonly files: (source: SourceFolder, findings: Finding[]) => readonly DefinitionFile[];
  /** Resolves to `undefined` for an unusable file, after reporting it. */
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
): Promise<{ readonly things: readonly T[]; readonly findings: Finding[] }> {
  const things = new Map<string, T>();
  const findings: Finding[] = [];
  for (const source of folders) {
    for (const file of files(source, findings)) {
      const { path, within = source.root } = file;
      const tell = (level: Finding["level"], message: string): undefined => {
        findings.push({ path, level, message });
      };
      const found = readTextFile(path, { maxBytes, within });
      if (found === undefined) continue;
      const document = "fault" in found ? found : { ...(await parseMarkdown(found.text)), text: found.text };
      if ("fault" in document) {
        tell("fault", document.fault);
        continue;
      }
      const thing = await read({ ...document, ...file, origin: source.origin, tell });
      if (thing === undefined) continue;
      const known = things.get(thing.name);
      if (known === undefined) things.set(thing.name, thing);
      else findings.push(replacedFinding(thing, title(thing.name), known));
    }
  }
  return { things: [...things.values()], findings };
}

export function trustItemOf(
  { origin, path, text }: Definition,
  kind: TrustItem["kind"],
  name: string,
): TrustItem {
  return { kind, name, origin, path, contentHash: hash("sha256", text) };
}
