import { type BigIntStats, closeSync, fstatSync, read, readFile, readSync } from "node:fs";

/** Bytes read without a trip to the thread pool, which costs more than they do. */
const SYNC_BYTES = 1024 * 1024;

/** A file open for reading. The first megabyte is read at once, for a page is rarely more. */
export class OpenFile {
  readonly #fd: number;
  #syncBytes = SYNC_BYTES;

  /** Takes over the descriptor. */
  constructor(fd: number) {
    this.#fd = fd;
  }

  /** For programs that are to read this very file. Closed with {@link close}. */
  get descriptor(): number {
    return this.#fd;
  }

  stat(): BigIntStats {
    return fstatSync(this.#fd, { bigint: true });
  }

  /** Reads into `buffer` from `offset`, at `position` or where the last read ended. 0: the end. */
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

  /** Everything from the place of the last read to the end. */
  readAll(): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      readFile(this.#fd, (error, content) => (error === null ? resolve(content) : reject(error)));
    });
  }

  close(): void {
    closeSync(this.#fd);
  }
}
