import { hash } from "node:crypto";
import type { BigIntStats } from "node:fs";
import { assertEngine } from "../../core/base/errors.ts";
import type { PathOptions } from "../resolve-path.ts";

/** The state of a file when a tool last read or wrote it. */
export interface FileStamp {
  readonly size: bigint;
  readonly mtimeNs: bigint;
  readonly ino: bigint;
  /** SHA-256 of the whole content; absent if only part of a large file was read. */
  readonly sha256?: string;
}

/** The stamp of a file whose `stats` were taken before all of its `content` was read. */
export function stampOf(stats: BigIntStats, content?: Uint8Array): FileStamp {
  const { size, mtimeNs, ino } = stats;
  return content === undefined
    ? { size, mtimeNs, ino }
    : { size, mtimeNs, ino, sha256: hash("sha256", content) };
}

/** True if a file still matches its stamp: by content if that is known, else by size, time and inode. */
export function isUnchanged(stamp: FileStamp, now: FileStamp): boolean {
  if (stamp.sha256 !== undefined && now.sha256 !== undefined) return stamp.sha256 === now.sha256;
  return stamp.size === now.size && stamp.mtimeNs === now.mtimeNs && stamp.ino === now.ino;
}

/**
 * Shared by all file tools of one agent: which files each transcript (the conversation, a subagent) has seen
 * and in which state, and whose turn it is to change a file. Paths are canonical ({@link resolvePath}).
 * Beyond 10,000 files, forgets those unused the longest.
 */
export class FileState {
  readonly #stamps = new Map<string, FileStamp>();
  readonly #turns = new Map<string, Promise<void>>();

  constructor() {
    assertEngine();
  }

  /** Notes the current state of `path` as the transcript knows it. */
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

  /** The state of `path` when the transcript last saw it; `undefined` if it never did. */
  recall(transcriptId: string, path: string): FileStamp | undefined {
    return this.#stamps.get(keyOf(transcriptId, path));
  }

  /** Runs `change` after all earlier ones of `path`, so that concurrent changes lose nothing. */
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
 * Reads and writes text files through the buffers of an editor instead of the system. Containment, permission
 * and the rule that a file must have been read first stay with the tools. Anything but text (images, folders)
 * and undo use the disk.
 */
export interface FilePort {
  /** The text of a file as the editor has it, unsaved changes included; `undefined`: read the disk. */
  readText?(path: string, options: { readonly signal: AbortSignal }): Promise<string | undefined>;
  /** Replaces the text of a file, or creates it, on the disk too. */
  writeText?(path: string, text: string, options: { readonly signal: AbortSignal }): Promise<void>;
}

/** The bytes of text open in an editor, read from the beginning like a file. */
export class EditorText {
  readonly content: Buffer;
  #at = 0;

  constructor(text: string) {
    this.content = Buffer.from(text);
  }

  get stamp(): FileStamp {
    const { content } = this;
    return { size: BigInt(content.length), mtimeNs: 0n, ino: 0n, sha256: hash("sha256", content) };
  }

  /** Copies bytes from `offset` into `buffer`. Resolves to the number copied, 0 at the end. */
  async read(buffer: Buffer, offset: number, length: number): Promise<number> {
    const count = this.content.copy(buffer, offset, this.#at, this.#at + length);
    this.#at += count;
    return count;
  }
}

export async function readFromPort(
  port: FilePort | undefined,
  path: string,
  signal: AbortSignal,
): Promise<EditorText | undefined> {
  const text = await port?.readText?.(path, { signal });
  signal.throwIfAborted();
  return text === undefined ? undefined : new EditorText(text);
}

/** Options of the tools that touch files. */
export interface FileToolOptions extends PathOptions {
  /** The files read in a session, known to all tools that share this. Default: its own for each tool. */
  readonly state?: FileState;
  /** Text files are read and written through this port. Default: the disk alone. */
  readonly files?: FilePort | undefined;
  /** The changes that people were shown and agreed to. Default: nobody was asked. */
  readonly agreed?: ApprovedChanges | undefined;
}

/** The file changes that people were shown and agreed to, by call. */
export interface ApprovedChanges {
  /**
   * True unless a person agreed to a change of different content; asked once per call. `content` is the file
   * before the change, `undefined` if there is none.
   */
  isApprovedContent(callId: string, content: FileContent): boolean;
  /** True if the question was asked by an earlier process, which had read the file for the session. */
  wasAskedEarlier(callId: string): boolean;
}

/** The bytes of a file; `undefined` if there is none, `too large` if it is not read for comparison. */
export type FileContent = Uint8Array | "too large" | undefined;
