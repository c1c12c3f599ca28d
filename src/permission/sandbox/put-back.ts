import {
  closeSync,
  constants,
  cpSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { isAtPlace, pathOfOpen } from "../../system/opened-place.ts";
import { systemCode } from "../../system/system-error.ts";
import { type SteeringState, stateOf } from "./steering-files.ts";

/** Moves what stands at a path into a new folder of `kept`, and returns where it is now. Never deletes. */
export function moveAway(path: string, kept: string): string | undefined {
  if (stateOf(path) === undefined) return undefined;
  const folder = join(kept, `${Date.now().toString(36)}-${Math.random().toString(36).slice(2, 8)}`);
  const target = join(folder, basename(path));
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return inFolderOf(path, (place) => move(place, target)) ? target : undefined;
}

/** Writes a file or link anew. False where it cannot be. */
export function writeBack(path: string, { kind, text }: SteeringState): boolean {
  if (kind === "link") return inFolderOf(path, (place) => symlinkSync(text, place));
  return kind === "file" && inFolderOf(path, (place) => writeFileSync(place, text, { flag: "wx" }));
}

/**
 * Acts on a path in the very folder it names: a command that still runs could put a link to another folder in
 * its place. False where that folder is gone, or not the one it was.
 */
function inFolderOf(path: string, act: (place: string) => void): boolean {
  let folder: number | undefined;
  try {
    folder = openSync(dirname(path), constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
    if (!isAtPlace(folder, dirname(path))) return false;
    act(join(pathOfOpen(folder) ?? dirname(path), basename(path)));
    return true;
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return false;
  } finally {
    if (folder !== undefined) closeSync(folder);
  }
}

function move(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if (systemCode(error) !== "EXDEV") throw error;
    cpSync(from, to, { recursive: true, dereference: false, verbatimSymlinks: true });
    rmSync(from, { recursive: true, force: true });
  }
}
