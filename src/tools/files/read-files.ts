import { hash } from "node:crypto";
import type { BigIntStats } from "node:fs";
import { assertEngine } from "../../core/base/errors.ts";

/** How a file was when a tool last read or wrote it. */
export interface FileStamp {
  readonly size: bigint;
  readonly mtimeNs: bigint;
  readonly ino: bigint;
  /** SHA-256 of the whole content; absent when only a part of a large file was read. */
  readonly sha256?: string;
}

/** The stamp of a file whose `stats` were taken before `content`, all of it, was read. */
export function stampOf(stats: BigIntStats, content?: Uint8Array): FileStamp {
  const { size, mtimeNs, ino } = stats;
  return content === undefined
    ? { size, mtimeNs, ino }
    : { size, mtimeNs, ino, sha256: hash("sha256", content) };
}

/** True when a file is as its stamp says: by content where that is known, else by size, time and inode. */
export function isUnchanged(stamp: FileStamp, now: FileStamp): boolean {
  if (stamp.sha256 !== undefined && now.sha256 !== undefined) return stamp.sha256 === now.sha256;
  return stamp.size === now.size && stamp.mtimeNs === now.mtimeNs && stamp.ino === now.ino;
}

/**
 * Known to all file tools of one agent: which files each transcript (the conversation, a subagent) has seen
 * and how they were then, and whose turn it is to change a file. Paths are canonical ({@link resolvePath}).
 * Forgets the files longest unused beyond 10,000.
 */
export class FileState {
  readonly #stamps = new Map<string, FileStamp>();
  readonly #turns = new Map<string, Promise<void>>();

  constructor() {
    assertEngine();
  }

  /** Notes how `path` is now, as far as the transcript knows. */
  remember(transcriptId: string, path: string, stamp: FileStamp): void {
    const key = keyOf(transcriptId, path);
    this.#stamps.delete(key);
    this.#stamps.set(key, stamp);
    if (this.#stamps.size <= MAX_STAMPS) return;
    for (const oldest of this.#stamps.keys()) {
      this.#stamps.delete(oldest);
      break;
    }
  }

  /** How `path` was when the transcript last saw it; `undefined` when it never did. */
  recall(transcriptId: string, path: string): FileStamp | undefined {
    return this.#stamps.get(keyOf(transcriptId, path));
  }

  /** Runs `change` after all earlier ones of `path`, so that two at once lose nothing. */
  async inTurn<T>(path: string, change: () => Promise<T>): Promise<T> {
    const before = this.#turns.get(path);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#turns.set(path, promise);
    try {
      await before;
      return await change();
    } finally {
      if (this.#turns.get(path) === promise) this.#turns.delete(path);
      resolve();
    }
  }
}

const MAX_STAMPS = 10_000;

function keyOf(transcriptId: string, path: string): string {
  return `${transcriptId}\0${path}`;
}
