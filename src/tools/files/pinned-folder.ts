import { closeSync, constants, existsSync, mkdirSync, openSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { isAtPlace, pathOfOpen } from "../../system/opened-place.ts";
import { systemCode } from "../../system/system-error.ts";
import { FileRefusal } from "./file-error.ts";

/** Opens a folder without the right to list it (Linux). */
const O_PATH = 0o10000000;

/** An opened folder at its path. On Linux {@link at} leads into this very folder, elsewhere by name. */
export class PinnedFolder {
  readonly path: string;
  readonly #descriptor: number;

  constructor(path: string, descriptor: number) {
    this.path = path;
    this.#descriptor = descriptor;
  }

  at(name: string): string {
    return join(this.self, name);
  }

  /** A path for the folder itself; also for the start of another process in it. */
  get self(): string {
    return pathOfOpen(this.#descriptor) ?? this.path;
  }

  close(): void {
    closeSync(this.#descriptor);
  }
}

/** Opens the folder at a canonical path. Throws {@link FileRefusal} for a swapped link, system errors. */
export function pinFolder(path: string, shown: string): PinnedFolder {
  return new PinnedFolder(path, openAt(path, { place: path, shown }));
}

/** {@link pinFolder}, making missing folders, each inside the one that was opened before it. */
export function makePinnedFolder(path: string, shown: string): PinnedFolder {
  const missing: string[] = [];
  let existing = path;
  while (!existsSync(existing) && dirname(existing) !== existing) {
    missing.unshift(basename(existing));
    existing = dirname(existing);
  }
  let folder = pinFolder(existing, shown);
  for (const name of missing) {
    const outer = folder;
    try {
      makeIn(outer, name);
      folder = new PinnedFolder(
        join(outer.path, name),
        openAt(outer.at(name), { place: join(outer.path, name), shown }),
      );
    } finally {
      outer.close();
    }
  }
  return folder;
}

function makeIn(folder: PinnedFolder, name: string): void {
  try {
    mkdirSync(folder.at(name));
  } catch (error) {
    // Somebody else made it at the same time; opening it tells whether it is a folder.
    if (systemCode(error) !== "EEXIST") throw error;
  }
}

function openAt(path: string, { place, shown }: { readonly place: string; readonly shown: string }): number {
  const flags = constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0);
  const descriptor = openSync(path, process.platform === "linux" ? flags | O_PATH : flags);
  if (isAtPlace(descriptor, place)) return descriptor;
  closeSync(descriptor);
  throw moved(shown);
}

function moved(shown: string): FileRefusal {
  return new FileRefusal(`${shown}: a link took the place of one of its folders meanwhile. Try again.`);
}
