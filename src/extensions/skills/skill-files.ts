import { hash } from "node:crypto";
import { closeSync, constants, fstatSync, openSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { readFolder } from "../markdown/read-text-file.ts";

/** Entries of a skill's folder that are looked at, and how deep. */
const MAX_ENTRIES = 500;
const MAX_DEPTH = 4;
/** Bytes of scripts that are hashed. */
const MAX_HASHED_BYTES = 4_194_304;
const SCRIPT = /\.(?:sh|bash|zsh|fish|py|js|mjs|cjs|ts|mts|rb|pl|php|lua|ps1|bat|cmd|exe|jar)$/i;

/** The files of a skill beside its `SKILL.md`: paths relative to its folder, in order. */
export interface SkillFiles {
  readonly texts: readonly string[];
  /** Files that can be run: marked executable, with the ending of a script, or in a folder `scripts`. */
  readonly scripts: readonly string[];
  /** True when there are more files than were looked at. */
  readonly cut: boolean;
}

/** The files of a skill, links and hidden ones left out. Never throws: what cannot be read is not there. */
export function skillFiles(folder: string): SkillFiles {
  const texts: string[] = [];
  const scripts: string[] = [];
  let entries = 0;
  let cut = false;
  const walk = (below: string, depth: number): void => {
    // A folder that is gone or closed to us holds nothing that could be offered.
    for (const entry of readFolder(join(folder, below), [])) {
      if (entry.name === "node_modules") continue;
      if (++entries > MAX_ENTRIES) {
        cut = true;
        return;
      }
      const path = below === "" ? entry.name : `${below}/${entry.name}`;
      if (entry.isDirectory()) {
        if (depth < MAX_DEPTH) walk(path, depth + 1);
        else cut = true;
      } else if (entry.isFile() && path !== "SKILL.md") {
        (isScript(join(folder, path), path) ? scripts : texts).push(path);
      }
    }
  };
  walk("", 1);
  return { texts, scripts, cut };
}

/** SHA-256 over the text of a skill and its scripts; undefined where they are too much to look at. */
export function skillHash(folder: string, text: string, { scripts, cut }: SkillFiles): string | undefined {
  if (cut) return undefined;
  const parts = [hash("sha256", text)];
  let bytes = 0;
  for (const path of scripts) {
    const content = contentOf(join(folder, path));
    if (content === undefined) return undefined;
    bytes += content.length;
    if (bytes > MAX_HASHED_BYTES) return undefined;
    parts.push(JSON.stringify([path, hash("sha256", content)]));
  }
  return hash("sha256", parts.join("\n"));
}

function isScript(file: string, path: string): boolean {
  if (path.startsWith("scripts/") || path.includes("/scripts/") || SCRIPT.test(path)) return true;
  return ((statSync(file, { throwIfNoEntry: false })?.mode ?? 0) & 0o111) !== 0;
}

function contentOf(path: string): Buffer | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const stats = fstatSync(file);
    return stats.isFile() && stats.size <= MAX_HASHED_BYTES ? readFileSync(file) : undefined;
  } catch {
    // A file that cannot be read cannot be vouched for.
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
