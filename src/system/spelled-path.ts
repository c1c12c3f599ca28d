import { lstatSync, readdirSync } from "node:fs";
import { join, parse } from "node:path";

/**
 * An absolute path with its names spelled as on disk, if Unicode considers both the same: `é` as one
 * character or as two. Only names that do not exist as written are looked for. Never throws.
 */
export function spelledPath(path: string): string {
  if (isAscii(path) || exists(path)) return path;
  const { root } = parse(path);
  const names: string[] = [];
  for (const name of path.slice(root.length).split("/")) names.push(spellingIn(root + names.join("/"), name));
  return root + names.join("/");
}

function spellingIn(folder: string, name: string): string {
  if (isAscii(name) || exists(join(folder, name))) return name;
  try {
    return readdirSync(folder).find((other) => other.normalize() === name.normalize()) ?? name;
  } catch {
    return name;
  }
}

function isAscii(text: string): boolean {
  return !/[^\0-\x7f]/u.test(text);
}

function exists(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}
