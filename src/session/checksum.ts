/** The checksum of some bytes: CRC-32 (as in zlib, gzip and PNG), eight lowercase hex digits. */
export type Checksum = (bytes: Uint8Array) => string;

/** Computes it here: loading Node's own costs a command more than all the records of a run. */
export const checksum: Checksum = (bytes) => {
  let crc = -1;
  for (let at = 0; at < bytes.length; at++) crc = (TABLE[(crc ^ (bytes[at] ?? 0)) & 0xff] ?? 0) ^ (crc >>> 8);
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

function digits(crc: number): string {
  return crc.toString(16).padStart(8, "0");
}

/** Remainder of each byte, see the annex D of the PNG specification. */
const TABLE: Int32Array = Int32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? 0xedb88320 ^ (crc >>> 1) : crc >>> 1;
  return crc;
});
