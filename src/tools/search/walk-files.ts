import { readFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import ignore, { type Ignore } from "ignore";
import { TEMPORARY_PREFIX } from "../../system/replace-file.ts";
import { systemCode } from "../../system/system-error.ts";
import type { FileListing } from "./text-search.ts";

/** Lists files by name. Skips folders that cannot be read. Does not throw on abort. */
export async function walkFiles(listing: FileListing): Promise<void> {
  const { folder, signal, withNodeModules, onFile } = listing;
  const pending = [{ path: "", rules: rulesAbove(folder) }];
  for (let current = pending.pop(); current !== undefined; current = pending.pop()) {
    const place = join(folder, current.path);
    const rules = [...rulesOf(place), ...current.rules];
    const folders: typeof pending = [];
    const entries = await readdir(place, { withFileTypes: true }).catch(() => []);
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const { name } = entry;
      if (signal.aborted) return;
      const isSkipped = isAlwaysSkipped(name) || (name === "node_modules" && !withNodeModules);
      if (isSkipped || isIgnored(rules, join(place, name), entry.isDirectory())) continue;
      const path = current.path === "" ? name : `${current.path}/${name}`;
      if (entry.isDirectory()) folders.push({ path, rules });
      else if (entry.isFile() && !onFile(path)) return;
    }
    pending.push(...folders.reverse());
  }
}

function isAlwaysSkipped(name: string): boolean {
  return name === ".git" || name.startsWith(TEMPORARY_PREFIX);
}

interface FolderRules {
  readonly folder: string;
  readonly rules: Ignore;
}

function rulesOf(folder: string, searched?: string): readonly FolderRules[] {
  const texts = [".gitignore", ".ignore", ".rgignore"].map((name) => textAt(join(folder, name)));
  const lines = texts.join("\n").split(/\r?\n/u);
  const of = (some: readonly string[]) => ({ folder, rules: ignore({ ignorecase: false }).add(some) });
  const names = (line: string) => searched !== undefined && isIgnored([of([line])], searched, true);
  return lines.every((line) => line === "") ? [] : [of(lines.filter((line) => !names(line)))];
}

/** Rules of the parent folders, up to the top of the repository, except lines that match `folder` itself. */
function rulesAbove(folder: string): readonly FolderRules[] {
  const found: FolderRules[] = [];
  let current = folder;
  while (textAt(join(current, ".git")) === "" && dirname(current) !== current) {
    current = dirname(current);
    found.push(...rulesOf(current, folder));
  }
  return found;
}

function textAt(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    // A folder named `.git` exists all the same.
    return systemCode(error) === "EISDIR" ? "#" : "";
  }
}

/** The nearest matching rules decide. */
function isIgnored(all: readonly FolderRules[], path: string, isFolder: boolean): boolean {
  for (const { folder, rules } of all) {
    const below = relative(folder, path).split(sep).join("/");
    const { ignored, unignored } = rules.test(isFolder ? `${below}/` : below);
    if (ignored || unignored) return ignored;
  }
  return false;
}
