import { basename, dirname, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { realPath } from "../../system/real-path.ts";
import type { ExtensionFile } from "./extension-files.ts";
import { packageFolders } from "./package-folders.ts";

/**
 * True when the code of an extension threw an error, in a timer or a promise of its own. Of the calls in its
 * stack that are not Node's the outermost is in the extension's file or own folder; or the innermost, not
 * counting packages installed beside it: a promise that is rejected before it waits has our call around it.
 */
export function isThrownBy(error: unknown, file: Pick<ExtensionFile, "name" | "path">): boolean {
  // Stacks name files by where links lead.
  const path = realPath(file.path);
  const root = rootOf(file.name, path);
  const isOwn = isIn([root], root.endsWith(sep) ? "" : ":");
  const isPackage = isIn(packageFolders(path));
  const calls = callsOf(error);
  const ends = [calls.at(-1), calls.find((call) => isOwn(call) || !isPackage(call))];
  return ends.some((call) => call !== undefined && isOwn(call));
}

/** Tells of a line of a stack whether it names one of these places, with `end` behind it. */
function isIn(places: readonly string[], end = ""): (call: string) => boolean {
  const written = places.flatMap((place) => [place, pathToFileURL(place).href]).map((place) => place + end);
  return (call) => written.some((place) => call.includes(place));
}

/** The lines of a stack that name a place of a program. */
function callsOf(error: unknown): readonly string[] {
  if (!(error instanceof Error) || typeof error.stack !== "string") return [];
  return error.stack
    .split("\n")
    .filter((line) => /^\s+at .*[/\\].*:\d+:\d+\)?$/.test(line) && !line.includes("node:"));
}

/** The file, or a folder with a separator behind it: that of an `index`, or of a package. */
function rootOf(name: string, path: string): string {
  const inPackage = `${sep}node_modules${sep}${name.replaceAll("/", sep)}${sep}`;
  const at = path.lastIndexOf(inPackage);
  if (at !== -1) return path.slice(0, at + inPackage.length);
  return basename(path).startsWith("index.") ? dirname(path) + sep : path;
}
