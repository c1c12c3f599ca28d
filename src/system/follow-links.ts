import { lstatSync, readdirSync, readlinkSync } from "node:fs";
import { isAbsolute, join, parse, sep } from "node:path";

const MAX_LINKS = 40;

/**
 * The path that the system would open for an absolute one: every link is followed, even to a missing target,
 * and `..` applies to the resolved folder. A missing name stands for an existing one that Unicode considers
 * the same (`é` as one character or two). Missing parts are kept as written. Never throws: if the system
 * would refuse (no permission, a file used as a folder, a cycle of links), the rest is kept as written.
 */
export function followLinks(path: string): string {
  const absolute = toDiskSpelling(path);
  let current = parse(absolute).root;
  const pending = partsOf(absolute);
  let links = 0;
  for (let part = pending.pop(); part !== undefined; part = pending.pop()) {
    const next = join(current, part);
    const target = part === ".." || links === MAX_LINKS ? undefined : linkTarget(next);
    if (target === undefined) {
      current = next;
      continue;
    }
    links++;
    if (isAbsolute(target)) current = parse(target).root;
    pending.push(...partsOf(target));
  }
  return current;
}

/** The parts below the root, the last one first. */
function partsOf(path: string): string[] {
  const below = path.slice(parse(path).root.length);
  return below.split(sep === "/" ? /\/+/u : /[\\/]+/u).reverse();
}

function linkTarget(path: string): string | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ? readlinkSync(path) : undefined;
  } catch {
    // If the system refuses to look, it will not open the path either.
    return undefined;
  }
}

function toDiskSpelling(path: string): string {
  if (isAscii(path) || isThere(path)) return path;
  const { root } = parse(path);
  const names: string[] = [];
  for (const name of path.slice(root.length).split("/")) names.push(spelledIn(root + names.join("/"), name));
  return root + names.join("/");
}

function spelledIn(folder: string, name: string): string {
  if (isAscii(name) || isThere(join(folder, name))) return name;
  try {
    return readdirSync(folder).find((other) => other.normalize() === name.normalize()) ?? name;
  } catch {
    return name;
  }
}

function isAscii(text: string): boolean {
  return !/[^\0-\x7f]/u.test(text);
}

function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}
