import { closeSync, fdatasync, fstatSync, fsync, openSync, readSync, writeSync } from "node:fs";

/** The calls of the operating system an {@link AppendFile} writes with. */
export interface AppendCalls {
  /** Writes some of `bytes` at the end of the file; returns how many. */
  readonly write: (descriptor: number, bytes: Uint8Array) => number;
  /** Resolves when what was written so far is on the disk. */
  readonly sync: (descriptor: number) => Promise<void>;
}

/** Options of {@link AppendFile}. */
export interface AppendFileOptions {
  /** Folders that hold a new entry, which must reach the disk with the first bytes. */
  readonly newEntriesIn?: readonly string[];
  /** Throws when writing is over. Asked before the first write and when another changed the file. */
  readonly assertOwner?: () => void;
  readonly calls?: AppendCalls | undefined;
}

/**
 * Appends to a file opened for reading and appending. A file that does not end in a newline gets one first.
 * Syncs that are asked for while the disk is at work become one. After the first failure nothing is written
 * again. Takes over the descriptor.
 */
export class AppendFile {
  readonly #descriptor: number;
  readonly #assertOwner: () => void;
  readonly #calls: AppendCalls;
  #newEntriesIn: readonly string[];
  /** Size after our last write; undefined before the first. */
  #size: number | undefined;
  /** The sync that has not begun yet, what has it begin, and the one at work. */
  #next: Promise<void> | undefined;
  #begin: () => void = () => undefined;
  #running: Promise<void> = Promise.resolve();
  #isSynced = true;
  #failure: Error | undefined;
  #isOpen = true;

  constructor(descriptor: number, options: AppendFileOptions = {}) {
    this.#descriptor = descriptor;
    this.#newEntriesIn = options.newEntriesIn ?? [];
    this.#assertOwner = options.assertOwner ?? (() => undefined);
    this.#calls = options.calls ?? SYSTEM_CALLS;
  }

  /** Hands bytes to the system, all of them. Throws the first failure, then and ever after. */
  write(bytes: Uint8Array): void {
    this.#assertUsable();
    this.#isSynced = false;
    try {
      if (this.#needsNewline()) this.#writeAll(Uint8Array.of(NEWLINE));
      this.#writeAll(bytes);
    } catch (error) {
      throw this.#fail(error);
    }
  }

  /** Resolves when everything written so far is on the disk. Rejects with the first failure. */
  sync(): Promise<void> {
    this.#begin();
    this.#next ??= this.#startSync(this.#running);
    return this.#next;
  }

  /** Like {@link sync}, when it has no hurry: what is written until then needs no sync of its own. */
  syncSoon(): Promise<void> {
    if (this.#isSynced) return this.#running.then(() => this.#assertUsable());
    if (this.#next === undefined) {
      const idle = new Promise<void>((resolve) => {
        this.#begin = resolve;
        setImmediate(resolve);
      });
      this.#next = this.#startSync(Promise.all([this.#running, idle]));
    }
    return this.#next;
  }

  /** Syncs what is not synced and closes the file, also when that fails; rejects with the failure. */
  async close(): Promise<void> {
    if (!this.#isOpen) return;
    try {
      if (!this.#isSynced && this.#failure === undefined) await this.sync();
      await this.#running;
    } finally {
      this.#isOpen = false;
      closeSync(this.#descriptor);
    }
  }

  #assertUsable(): void {
    if (this.#failure !== undefined) throw this.#failure;
    if (!this.#isOpen) throw new Error("the journal was closed before; close it after the run has ended");
  }

  #fail(error: unknown): Error {
    this.#failure ??= error instanceof Error ? error : new Error(String(error));
    return this.#failure;
  }

  #startSync(ready: Promise<unknown>): Promise<void> {
    const sync = ready.then(async () => {
      this.#next = undefined;
      this.#assertUsable();
      this.#isSynced = true;
      try {
        const folders = this.#newEntriesIn;
        this.#newEntriesIn = [];
        await Promise.all([this.#calls.sync(this.#descriptor), ...folders.map(syncFolder)]);
      } catch (error) {
        throw this.#fail(error);
      }
    });
    // Whoever asked hears of a failure; the chain only keeps the order.
    this.#running = sync.catch(() => undefined);
    return sync;
  }

  #writeAll(bytes: Uint8Array): void {
    for (let rest = bytes; rest.length > 0; ) {
      const written = this.#calls.write(this.#descriptor, rest);
      if (written === 0) throw new Error("The file takes no more bytes.");
      rest = rest.subarray(written);
    }
    this.#size = (this.#size ?? 0) + bytes.length;
  }

  /** Throws when writing would go unseen: the file is gone, or belongs to another process by now. */
  #needsNewline(): boolean {
    const { nlink, size } = fstatSync(this.#descriptor);
    if (nlink === 0) throw new RemovedFile("the file was removed while it was in use");
    if (size === this.#size) return false;
    this.#assertOwner();
    this.#size = size;
    return size > 0 && lastByte(this.#descriptor, size) !== NEWLINE;
  }
}

/** Says that the file has no name any more: what was written to it is lost. */
export class RemovedFile extends Error {}

/** The calls of the machine. */
export const SYSTEM_CALLS: AppendCalls = {
  write: (descriptor, bytes) => writeSync(descriptor, bytes),
  sync: (descriptor) =>
    new Promise((resolve, reject) => {
      fdatasync(descriptor, (error) => (error === null ? resolve() : reject(error)));
    }),
};

const NEWLINE = 10;

function lastByte(descriptor: number, size: number): number | undefined {
  const last = Buffer.alloc(1);
  readSync(descriptor, last, 0, 1, size - 1);
  return last[0];
}

/** Brings a folder's entries to the disk. File systems that cannot sync one keep them in their own way. */
function syncFolder(path: string): Promise<void> {
  const descriptor = openSync(path, "r");
  return new Promise((resolve, reject) => {
    fsync(descriptor, (error) => {
      closeSync(descriptor);
      if (error === null || error.code === "EINVAL" || error.code === "EPERM") resolve();
      else reject(error);
    });
  });
}
