import { basename, dirname, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { realPath } from "../../system/real-path.ts";
import type { ExtensionFile } from "./extension-files.ts";

/**
 * True when the code of an extension threw an error, in a timer or a promise of its own: of the calls in its
 * stack that are not Node's the outermost is in the extension's file or own folder.
 */
export function isThrownBy(error: unknown, file: Pick<ExtensionFile, "name" | "path">): boolean {
  const outermost = callsOf(error).at(-1);
  if (outermost === undefined) return false;
  const root = rootOf(file);
  const ends = root.endsWith(sep) ? "" : ":";
  return [root, pathToFileURL(root).href].some((place) => outermost.includes(place + ends));
}

/** The lines of a stack that name a place of a program. */
function callsOf(error: unknown): readonly string[] {
  if (!(error instanceof Error) || typeof error.stack !== "string") return [];
  return error.stack
    .split("\n")
    .filter((line) => /^\s+at .*[/\\].*:\d+:\d+\)?$/.test(line) && !line.includes("node:"));
}

/** The file, or a folder with a separator behind it: that of an `index`, or of a package. */
function rootOf({ name, path }: Pick<ExtensionFile, "name" | "path">): string {
  // Stacks name files by where links lead.
  const real = realPath(path);
  const inPackage = `${sep}node_modules${sep}${name.replaceAll("/", sep)}${sep}`;
  const at = real.lastIndexOf(inPackage);
  if (at !== -1) return real.slice(0, at + inPackage.length);
  return basename(real).startsWith("index.") ? dirname(real) + sep : real;
}
