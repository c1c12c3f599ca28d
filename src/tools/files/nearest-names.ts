import { opendir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { editDistance } from "../../core/base/text.ts";

/** The names nearest to the first missing part of a path, as a hint; empty without a similar one. */
export async function describeNearestNames(path: string): Promise<string> {
  for (let missing = path, folder = dirname(path); ; missing = folder, folder = dirname(folder)) {
    const names = await namesIn(folder);
    if (names !== undefined)
      return describe(nearest(basename(missing), names).map((name) => join(folder, name)));
    if (folder === dirname(folder)) return "";
  }
}

const MAX_NAMES = 5000;
const MAX_SUGGESTIONS = 5;

function describe(paths: readonly string[]): string {
  return paths.length === 0 ? "" : ` Did you mean ${paths.join(", ")}?`;
}

async function namesIn(folder: string): Promise<readonly string[] | undefined> {
  try {
    const names: string[] = [];
    for await (const entry of await opendir(folder)) {
      names.push(entry.name);
      if (names.length === MAX_NAMES) break;
    }
    return names;
  } catch {
    return undefined;
  }
}

function nearest(wanted: string, names: readonly string[]): readonly string[] {
  const key = fold(wanted);
  return names
    .map((name) => ({ name, distance: distanceOf(key, fold(name)) }))
    .filter(({ distance }) => distance <= 0.4)
    .sort((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1))
    .slice(0, MAX_SUGGESTIONS)
    .map(({ name }) => name);
}

/** 0 for the same name, 1 for one with nothing in common; a name that holds the other one is near. */
function distanceOf(wanted: string, name: string): number {
  const longer = Math.max(wanted.length, name.length);
  if (wanted === name) return 0;
  if (wanted.length >= 3 && name.length >= 3 && (name.includes(wanted) || wanted.includes(name))) return 0.2;
  if (Math.abs(wanted.length - name.length) > longer * 0.4) return 1;
  return editDistance(wanted, name) / longer;
}

function fold(name: string): string {
  return name.normalize("NFC").toLowerCase();
}
