import { closeSync, constants, fstatSync, openSync, readlinkSync, readSync, type Stats } from "node:fs";
import type { OmissionReason } from "../../core/agent/entries.ts";
import { systemCode } from "../../system/system-error.ts";
import type { CheckpointLimits } from "./checkpoint-limits.ts";
import { type CheckpointStore, hashOf } from "./checkpoint-store.ts";
import { keyOfBytes } from "./path-key.ts";
import { type FileState, fileState, hasFacts, permissionBits, unkept } from "./path-state.ts";

/** Finds out what stands at paths and keeps the bytes of files, within the limits. */
export class ContentKeeper {
  readonly #store: CheckpointStore;
  readonly #limits: CheckpointLimits;
  /** Bytes that may still be added. */
  #room = 0;
  /** Bytes of the files that one look has come by. */
  #passed = 0;
  #isFull = false;

  constructor(store: CheckpointStore, limits: CheckpointLimits) {
    this.#store = store;
    this.#limits = limits;
  }

  get isFull(): boolean {
    return this.#isFull;
  }

  begin(): void {
    this.#room = this.#limits.maxStoreBytes - this.#store.bytes;
    this.#passed = 0;
  }

  /** Counts a file that is kept already. */
  pass(bytes: number): void {
    this.#passed += bytes;
  }

  /** A path's state now, adding a file's bytes to the store. Undefined: it vanished. Throws `checkpoint`. */
  stateAt(path: string | Buffer, stats: Stats, known: FileState | undefined): FileState | undefined {
    const checkedAt = Date.now();
    if (stats.isDirectory())
      return fileState(stats, { type: "folder", mode: permissionBits(stats.mode) }, checkedAt);
    if (stats.isFile()) return this.#fileAt(path, stats, known);
    if (!stats.isSymbolicLink()) return fileState(stats, unkept(stats, "special"), checkedAt);
    const target = linkTarget(path);
    return target === undefined ? undefined : fileState(stats, { type: "link", target }, checkedAt);
  }

  #fileAt(path: string | Buffer, stats: Stats, known: FileState | undefined): FileState | undefined {
    const checkedAt = Date.now();
    const knownHash = known?.version?.type === "file" ? known.version.hash : undefined;
    const refused = knownHash === undefined ? this.#refusal(stats.size) : undefined;
    if (refused !== undefined) return fileState(stats, unkept(stats, refused), checkedAt);
    const read = readKeptFile(path, this.#limits.maxFileBytes);
    if (read.type === "gone") return undefined;
    if (read.type === "refused") return fileState(stats, unkept(stats, read.reason), checkedAt);
    const { bytes, stats: facts } = read;
    const hash = hashOf(bytes);
    this.#passed += bytes.length;
    if (hash !== knownHash && !this.#store.has(hash)) {
      if (bytes.length > this.#room) {
        this.#isFull = true;
        return fileState(facts, unkept(facts, "no_room"), checkedAt);
      }
      this.#store.add(hash, bytes);
      this.#room -= bytes.length;
    }
    const mode = permissionBits(facts.mode);
    return fileState(facts, { type: "file", hash, size: bytes.length, mode }, checkedAt);
  }

  /** Why an unkept file of this size is not read. Half of the space is for what stands, half for the past. */
  #refusal(size: number): OmissionReason | undefined {
    const { maxFileBytes, maxStoreBytes } = this.#limits;
    if (size > maxFileBytes) return "too_large";
    if (size <= this.#room && this.#passed + size <= maxStoreBytes / 2) return undefined;
    this.#isFull = true;
    return "no_room";
  }
}

function linkTarget(path: string | Buffer): string | undefined {
  try {
    return keyOfBytes(readlinkSync(path, "buffer"));
  } catch (error) {
    // Something else took its place.
    if (systemCode(error) === undefined) throw error;
    return undefined;
  }
}

/** A regular file as it was read: `stats` are those from before the first byte. */
type ReadFile =
  | { readonly type: "read"; readonly stats: Stats; readonly bytes: Buffer }
  | { readonly type: "refused"; readonly reason: OmissionReason }
  /** It vanished, or something else took its place. */
  | { readonly type: "gone" };

/** Times a file is read again that is being written meanwhile. */
const MAX_TRIES = 3;

/** Reads a whole regular file: follows no link, waits for no other end. System errors never throw. */
function readKeptFile(path: string | Buffer, maxBytes: number): ReadFile {
  let descriptor: number;
  try {
    descriptor = openSync(
      path,
      constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0),
    );
  } catch (error) {
    return refusal(error);
  }
  try {
    for (let tries = 1; ; tries++) {
      const stats = fstatSync(descriptor);
      if (!stats.isFile()) return { type: "gone" };
      if (stats.size > maxBytes) return { type: "refused", reason: "too_large" };
      const bytes = readAll(descriptor, stats.size);
      const isSteady = hasFacts(stats, fstatSync(descriptor));
      // One that never rests is kept as it was read; its times will tell that it changed since.
      if (isSteady || tries === MAX_TRIES) return { type: "read", stats, bytes };
    }
  } catch (error) {
    return refusal(error);
  } finally {
    closeSync(descriptor);
  }
}

function refusal(error: unknown): ReadFile {
  const code = systemCode(error);
  if (code === undefined) throw error;
  if (code === "ENOENT" || code === "ELOOP" || code === "ENOTDIR" || code === "ENXIO")
    return { type: "gone" };
  return { type: "refused", reason: "unreadable" };
}

function readAll(descriptor: number, size: number): Buffer {
  const bytes = Buffer.allocUnsafeSlow(size);
  let filled = 0;
  while (filled < size) {
    const read = readSync(descriptor, bytes, filled, size - filled, filled);
    if (read === 0) break;
    filled += read;
  }
  return bytes.subarray(0, filled);
}
