/** The checksum of some bytes: CRC-32 (as in zlib, gzip and PNG), eight lowercase hex digits. */
export type Checksum = (bytes: Uint8Array) => string;

/** Computes it here: loading Node's own costs a command more than all the records of a run. */
export const checksum: Checksum = (bytes) => {
  let crc = -1;
  let at = 0;
  for (const last = bytes.length - 3; at < last; at += 4) {
    crc ^=
      byteAt(bytes, at) |
      (byteAt(bytes, at + 1) << 8) |
      (byteAt(bytes, at + 2) << 16) |
      (byteAt(bytes, at + 3) << 24);
    crc = remainder(3, crc) ^ remainder(2, crc >>> 8) ^ remainder(1, crc >>> 16) ^ remainder(0, crc >>> 24);
  }
  for (; at < bytes.length; at++) crc = remainder(0, crc ^ byteAt(bytes, at)) ^ (crc >>> 8);
  return digits(~crc >>> 0);
};

/** Bytes from which it pays to load Node's own. */
const MANY_BYTES = 8 * 1024 * 1024;

/** The faster way to sum up `size` bytes in all. */
export function checksumFor(size: number): Checksum {
  if (size < MANY_BYTES) return checksum;
  const { crc32 } = process.getBuiltinModule("node:zlib");
  return (bytes) => digits(crc32(bytes));
}

function byteAt(bytes: Uint8Array, at: number): number {
  return bytes[at] ?? 0;
}

/** The remainder of a byte that stands `behind` bytes before the last one of four. */
function remainder(behind: number, byte: number): number {
  return TABLE[(behind << 8) | (byte & 0xff)] ?? 0;
}

function digits(crc: number): string {
  return crc.toString(16).padStart(8, "0");
}

/** Remainders of each byte (annex D of the PNG specification), also with one to three zero bytes behind. */
const TABLE: Int32Array = remainders();

function remainders(): Int32Array {
  const table = new Int32Array(4 * 256);
  for (let at = 0; at < table.length; at++) {
    const before = at < 256 ? 0 : (table[at - 256] ?? 0);
    table[at] = at < 256 ? bitwise(at) : (table[before & 0xff] ?? 0) ^ (before >>> 8);
  }
  return table;
}

function bitwise(byte: number): number {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? 0xedb88320 ^ (crc >>> 1) : crc >>> 1;
  return crc;
}
