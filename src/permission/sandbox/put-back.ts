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
import { newUuid } from "../../core/base/ids.ts";
import { isAtPlace, pathOfOpen } from "../../system/opened-place.ts";
import { systemCode } from "../../system/system-error.ts";
import { type SteeringState, stateOf } from "./steering-files.ts";

/**
 * Moves what stands at a path into a new folder of `kept`, and writes anew what was there before, where that
 * was a file or a link. Never deletes. The line that says so; undefined where nothing could be done.
 */
export function putBack(path: string, before: SteeringState | undefined, kept: string): string | undefined {
  const folder = join(kept, newUuid());
  const target = join(folder, basename(path));
  const isMoved =
    stateOf(path) !== undefined &&
    inFolderOf(path, (place) => {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      move(place, target);
    });
  const { kind, text = "" } = before ?? {};
  const isWritten =
    (kind === "link" && inFolderOf(path, (place) => symlinkSync(text, place))) ||
    (kind === "file" && inFolderOf(path, (place) => writeFileSync(place, text, { flag: "wx" })));
  if (!isMoved && !isWritten) return undefined;
  return `${path} is as it was before${isMoved ? `; what a command put there is kept as ${target}` : ""}`;
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
