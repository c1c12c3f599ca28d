import { hash } from "node:crypto";
import type { PathOptions } from "./permitted-path.ts";
import type { FileStamp, FileState } from "./read-files.ts";

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

  /** How it is now: its content, and nothing of a disk. */
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

/** The text that a port has of a file; `undefined` where the disk is to be read. */
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
