import { closeSync, fstatSync, fsyncSync, openSync, readSync, renameSync, rmSync, writeSync } from "node:fs";
import { dirname } from "node:path";
// As one object, so that the entry loads where an engine lacks some of it.
import zlib from "node:zlib";
import { isRecord, safeParse } from "../../core/base/json.ts";
import { syncFolderSync } from "./sync-folder.ts";

/** Where the bytes of an object stand: `start` and `length` within the unpacked block. */
export interface ObjectPlace {
  readonly block: BlockPlace;
  readonly start: number;
  readonly length: number;
}

/** A run of objects packed together. `stored` is as long as `raw` where packing did not pay. */
export interface BlockPlace {
  readonly offset: number;
  readonly stored: number;
  readonly raw: number;
}

const MAGIC = Buffer.from("NAPACK01");
/** Offset of the table (8 bytes), its length (4), its CRC-32 (4); little-endian. */
const TRAILER_BYTES = 16;
const BLOCK_BYTES = 1024 * 1024;

/**
 * Writes a file of objects: a magic word, packed blocks, a packed JSON table `{ blocks, objects }` and a trailer that says where the
 * table is. The file gets its name when it is whole and on the disk; until then it stands beside it with `.tmp` behind.
 */
export class PackWriter {
  readonly path: string;
  readonly #descriptor: number;
  #isOpen = true;
  #offset = 0;
  #pending: Buffer[] = [];
  #pendingBytes = 0;
  readonly #blocks: [offset: number, stored: number, raw: number][] = [];
  readonly #objects: [hash: string, block: number, start: number, length: number][] = [];

  /** Throws what the file system says. */
  constructor(path: string) {
    this.path = path;
    this.#descriptor = openSync(`${path}.tmp`, "wx", 0o600);
    this.#write(MAGIC);
  }

  /** Bytes written and waiting to be. */
  get bytes(): number {
    return this.#offset + this.#pendingBytes;
  }

  add(hash: string, bytes: Buffer): void {
    if (this.#pendingBytes > 0 && this.#pendingBytes + bytes.length > BLOCK_BYTES) this.#flush();
    this.#objects.push([hash, this.#blocks.length, this.#pendingBytes, bytes.length]);
    this.#pending.push(bytes);
    this.#pendingBytes += bytes.length;
    if (this.#pendingBytes >= BLOCK_BYTES) this.#flush();
  }

  /** Makes the file whole and lasting; returns the places of its objects. */
  finish(): ReadonlyMap<string, ObjectPlace> {
    if (this.#pending.length > 0) this.#flush();
    const table = pack(Buffer.from(JSON.stringify({ blocks: this.#blocks, objects: this.#objects })));
    const trailer = Buffer.alloc(TRAILER_BYTES);
    trailer.writeBigUInt64LE(BigInt(this.#offset), 0);
    trailer.writeUInt32LE(table.length, 8);
    trailer.writeUInt32LE(zlib.crc32(table), 12);
    this.#write(table);
    this.#write(trailer);
    fsyncSync(this.#descriptor);
    this.#close();
    renameSync(`${this.path}.tmp`, this.path);
    syncFolderSync(dirname(this.path));
    return placesOf(this.#blocks, this.#objects);
  }

  /** Gives up: nothing of the file stays. */
  discard(): void {
    this.#close();
    rmSync(`${this.path}.tmp`, { force: true });
  }

  #close(): void {
    if (this.#isOpen) closeSync(this.#descriptor);
    this.#isOpen = false;
  }

  #flush(): void {
    const raw =
      this.#pending.length === 1 && this.#pending[0] !== undefined
        ? this.#pending[0]
        : Buffer.concat(this.#pending);
    const packed = raw.length === 0 ? raw : pack(raw);
    const stored = packed.length < raw.length ? packed : raw;
    this.#blocks.push([this.#offset, stored.length, raw.length]);
    this.#write(stored);
    this.#pending = [];
    this.#pendingBytes = 0;
  }

  #write(bytes: Buffer): void {
    for (let done = 0; done < bytes.length; ) done += writeSync(this.#descriptor, bytes, done);
    this.#offset += bytes.length;
  }
}

/** The places of the objects of a file; undefined when it is damaged. Throws what the file system says. */
export function readPackTable(path: string): ReadonlyMap<string, ObjectPlace> | undefined {
  const descriptor = openSync(path, "r");
  try {
    const { size } = fstatSync(descriptor);
    if (size < MAGIC.length + TRAILER_BYTES) return undefined;
    const trailer = readAt(descriptor, size - TRAILER_BYTES, TRAILER_BYTES);
    const offset = Number(trailer.readBigUInt64LE(0));
    const length = trailer.readUInt32LE(8);
    if (offset + length + TRAILER_BYTES !== size) return undefined;
    const table = readAt(descriptor, offset, length);
    if (zlib.crc32(table) !== trailer.readUInt32LE(12)) return undefined;
    const parsed = safeParse(zlib.zstdDecompressSync(table).toString("utf8"));
    if (!parsed.ok || !isRecord(parsed.value)) return undefined;
    const { blocks, objects } = parsed.value as unknown as Table;
    return placesOf(blocks, objects);
  } finally {
    closeSync(descriptor);
  }
}

/** An unpacked block; undefined when it is damaged. Throws what the file system says. */
export function readBlock(path: string, { offset, stored, raw }: BlockPlace): Buffer | undefined {
  const descriptor = openSync(path, "r");
  try {
    const bytes = readAt(descriptor, offset, stored);
    if (bytes.length < stored) return undefined;
    return stored === raw ? bytes : unpack(bytes);
  } finally {
    closeSync(descriptor);
  }
}

interface Table {
  readonly blocks: readonly (readonly [offset: number, stored: number, raw: number])[];
  readonly objects: readonly (readonly [hash: string, block: number, start: number, length: number])[];
}

function placesOf(blocks: Table["blocks"], objects: Table["objects"]): ReadonlyMap<string, ObjectPlace> {
  const places = blocks.map(([offset, stored, raw]): BlockPlace => ({ offset, stored, raw }));
  const found = new Map<string, ObjectPlace>();
  for (const [hash, block, start, length] of objects) {
    const place = places[block];
    if (place !== undefined) found.set(hash, { block: place, start, length });
  }
  return found;
}

function readAt(descriptor: number, offset: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const read = readSync(descriptor, bytes, filled, length - filled, offset + filled);
    if (read === 0) return bytes.subarray(0, filled);
    filled += read;
  }
  return bytes;
}

function pack(bytes: Buffer): Buffer {
  return zlib.zstdCompressSync(bytes, { params: { [zlib.constants.ZSTD_c_compressionLevel]: 1 } });
}

function unpack(bytes: Buffer): Buffer | undefined {
  try {
    return zlib.zstdDecompressSync(bytes);
  } catch {
    // Damaged: whoever asked for an object of it is told that it is gone.
    return undefined;
  }
}
