import { hash } from "node:crypto";
import type { BigIntStats } from "node:fs";
import { assertEngine } from "../../core/base/errors.ts";
import type { PathOptions } from "../resolve-path.ts";

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

/**
 * Reads and writes text files instead of the system: the buffers of an editor. Containment, permission and
 * the rule that a file must have been read stay those of the tools; what is no text (images, folders) and
 * undo go to the disk.
 */
export interface FilePort {
  /** The text of a file as the editor has it, unsaved changes too; `undefined`: read the disk. */
  readText?(path: string, options: { readonly signal: AbortSignal }): Promise<string | undefined>;
  /** Replaces the text of a file, or creates it, on the disk too. */
  writeText?(path: string, text: string, options: { readonly signal: AbortSignal }): Promise<void>;
}

/** The bytes of a text that an editor has open, read from the beginning like a file. */
export class PortText {
  readonly content: Buffer;
  #at = 0;

  constructor(text: string) {
    this.content = Buffer.from(text);
  }

  get stamp(): FileStamp {
    const { content } = this;
    return { size: BigInt(content.length), mtimeNs: 0n, ino: 0n, sha256: hash("sha256", content) };
  }

  /** Copies what follows into `buffer` from `offset`. Resolves to the bytes copied, 0 at the end. */
  async read(buffer: Buffer, offset: number, length: number): Promise<number> {
    const count = this.content.copy(buffer, offset, this.#at, this.#at + length);
    this.#at += count;
    return count;
  }
}

export async function readPort(
  port: FilePort | undefined,
  path: string,
  signal: AbortSignal,
): Promise<PortText | undefined> {
  const text = await port?.readText?.(path, { signal });
  signal.throwIfAborted();
  return text === undefined ? undefined : new PortText(text);
}

/** Options of the tools that touch files. */
export interface FileToolOptions extends PathOptions {
  /** The files read in a session. Tools with the same one know of each other; default: one of its own. */
  readonly state?: FileState;
  /** Text files are read and written through it. Default: the disk alone. */
  readonly files?: FilePort | undefined;
  /** The changes that people were shown and agreed to. Default: nobody was asked. */
  readonly agreed?: AgreedChanges | undefined;
}

/** The changes of files that people were shown and agreed to, by call. */
export interface AgreedChanges {
  /**
   * True unless a person agreed to a change of another content; asked once for each call. `content`: the file
   * before the change; `undefined` where there is none.
   */
  isAsShown(callId: string, content: FileContent): boolean;
  /** True where the question was asked by an earlier process, which had read the file for the session. */
  isCarried(callId: string): boolean;
}

/** The bytes of a file; `undefined` where there is none, `too large` where nobody reads it to compare. */
export type FileContent = Uint8Array | "too large" | undefined;
