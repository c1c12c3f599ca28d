import {
  type BigIntStats,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  read,
  readFile,
  readSync,
  type Stats,
  statSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { descriptorPath, isOpenAt } from "../../system/open-descriptor.ts";
import { systemCode } from "../../system/system-error.ts";
import { FileRefusal } from "./file-error.ts";

/** Bytes read synchronously, as a trip to the thread pool costs more than reading them. */
const SYNC_BYTES = 1024 * 1024;

/** The first megabyte is read synchronously, as a page is rarely larger. */
export class OpenFile {
  readonly #fd: number;
  #syncBytes = SYNC_BYTES;

  constructor(fd: number) {
    this.#fd = fd;
  }

  /** For programs that must read this very file. Closed with {@link close}. */
  get descriptor(): number {
    return this.#fd;
  }

  stat(): BigIntStats {
    return fstatSync(this.#fd, { bigint: true });
  }

  /** Reads into `buffer` from `offset`, at `position` or where the last read ended. 0 at the end. */
  async read(buffer: Buffer, offset: number, length: number, position: number | null): Promise<number> {
    if (this.#syncBytes > 0) {
      const count = readSync(this.#fd, buffer, offset, length, position);
      this.#syncBytes -= count;
      return count;
    }
    return new Promise((resolve, reject) => {
      read(this.#fd, buffer, offset, length, position, (error, count) =>
        error === null ? resolve(count) : reject(error),
      );
    });
  }

  readAll(): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      readFile(this.#fd, (error, content) => (error === null ? resolve(content) : reject(error)));
    });
  }

  close(): void {
    closeSync(this.#fd);
  }
}

/**
 * Opens a regular file for reading and nothing else: never waits for the other end of a FIFO, never wakes a
 * device. `path` must be canonical. If a link has replaced it or a folder on the way, the file is refused.
 * `givenPath` is the path for messages.
 */
export function openRegularFile(path: string, givenPath: string): OpenFile {
  assertRegularFile(statSync(path), givenPath);
  const fd = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0));
  try {
    assertRegularFile(fstatSync(fd), givenPath);
    if (!isOpenAt(fd, path)) throw new FileRefusal(`${givenPath}: a link has taken its place. Try again.`);
    return new OpenFile(fd);
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

export function assertRegularFile(stats: Stats, givenPath: string): void {
  if (stats.isFile()) return;
  throw new FileRefusal(`${givenPath} is ${kindOf(stats)}: only regular files can be read and written.`);
}

function kindOf(stats: Stats): string {
  if (stats.isDirectory()) return "a folder";
  if (stats.isFIFO()) return "a FIFO (named pipe)";
  if (stats.isSocket()) return "a socket";
  if (stats.isCharacterDevice() || stats.isBlockDevice()) return "a device";
  return "not a regular file";
}

/** Opens a folder without needing the right to list it (Linux). */
const O_PATH = 0o10000000;

/** On Linux {@link at} leads into this very folder, elsewhere by name. */
export class PinnedFolder {
  readonly path: string;
  readonly #descriptor: number;

  constructor(path: string, descriptor: number) {
    this.path = path;
    this.#descriptor = descriptor;
  }

  at(name: string): string {
    return join(this.selfPath, name);
  }

  get selfPath(): string {
    return descriptorPath(this.#descriptor) ?? this.path;
  }

  close(): void {
    closeSync(this.#descriptor);
  }
}

/** Opens the folder at a canonical path. Throws {@link FileRefusal} for a swapped link, and system errors. */
export function pinFolder(path: string, givenPath: string): PinnedFolder {
  return new PinnedFolder(path, openAt(path, path, givenPath));
}

/** Like {@link pinFolder}, but makes missing folders, each inside the one opened before it. */
export function makePinnedFolder(path: string, givenPath: string): PinnedFolder {
  const missing: string[] = [];
  let existing = path;
  while (!existsSync(existing) && dirname(existing) !== existing) {
    missing.unshift(basename(existing));
    existing = dirname(existing);
  }
  let folder = pinFolder(existing, givenPath);
  for (const name of missing) {
    const outer = folder;
    try {
      makeIn(outer, name);
      const path = join(outer.path, name);
      folder = new PinnedFolder(path, openAt(outer.at(name), path, givenPath));
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
    // Something else made it at the same time; opening it shows whether it is a folder.
    if (systemCode(error) !== "EEXIST") throw error;
  }
}

function openAt(path: string, canonical: string, givenPath: string): number {
  const flags = constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0);
  const descriptor = openSync(path, process.platform === "linux" ? flags | O_PATH : flags);
  if (isOpenAt(descriptor, canonical)) return descriptor;
  closeSync(descriptor);
  throw new FileRefusal(`${givenPath}: a link has taken the place of one of its folders. Try again.`);
}
