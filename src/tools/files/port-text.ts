import { hash } from "node:crypto";
import type { FilePort } from "./file-port.ts";
import type { FileStamp } from "./file-state.ts";

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
