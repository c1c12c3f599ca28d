/** How the bytes of a file are to be read as text. */
export type TextEncoding = "utf-8" | "utf-16le" | "utf-16be" | "binary";

/** Bytes from the start of a file that {@link detectEncoding} wants to see. */
const ENCODING_SAMPLE_BYTES = 8192;

/**
 * Judges a file by its first bytes: a byte order mark decides; else it is binary when it starts like a
 * well-known binary format or holds more than a stray few control characters. Text in other 8-bit encodings
 * counts as `utf-8`: it is shown with marks for what cannot be decoded.
 */
export function detectEncoding(head: Uint8Array): TextEncoding {
  const sample = head.subarray(0, ENCODING_SAMPLE_BYTES);
  if (sample[0] === 0xff && sample[1] === 0xfe) return "utf-16le";
  if (sample[0] === 0xfe && sample[1] === 0xff) return "utf-16be";
  const start = String.fromCharCode(...sample.subarray(0, 8));
  if (BINARY_STARTS.some((magic) => start.startsWith(magic))) return "binary";
  const text = withoutPadding(sample);
  if (text.length === 0 && sample.length > 0) return "binary";
  let controls = 0;
  for (const byte of text) if (isControl(byte)) controls++;
  const share = text.length === 0 ? 0 : controls / text.length;
  return share > 0.3 || (controls >= 4 && share > 0.02) ? "binary" : "utf-8";
}

/** PDF, ZIP (also Office and JAR), gzip, ELF, xz, 7-Zip, Zstandard, SQLite, WebAssembly. */
const BINARY_STARTS = [
  "%PDF-",
  "PK\x03\x04",
  "\x1f\x8b",
  "\x7fELF",
  "\xfd7zXZ\0",
  "7z\xbc\xaf\x27\x1c",
  "\x28\xb5\x2f\xfd",
  "SQLite f",
  "\0asm",
] as const;

/** Log files are given their size in advance: NULs after text are no sign of binary content. */
function withoutPadding(sample: Uint8Array): Uint8Array {
  let end = sample.length;
  while (end > 0 && sample[end - 1] === 0) end--;
  return sample.subarray(0, end);
}

/** Tab, line feed, vertical tab, form feed, carriage return, backspace and escape are at home in text. */
function isControl(byte: number): boolean {
  if (byte === 0x7f) return true;
  return byte < 0x20 && !(byte >= 0x08 && byte <= 0x0d) && byte !== 0x1b;
}

/** The media type of an image models accept (PNG, JPEG, GIF, WebP), by its first 12 bytes. */
export function imageTypeOf(head: Uint8Array): string | undefined {
  const text = String.fromCharCode(...head.subarray(0, 12));
  if (text.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
  if (text.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (text.startsWith("GIF87a") || text.startsWith("GIF89a")) return "image/gif";
  return text.startsWith("RIFF") && text.slice(8, 12) === "WEBP" ? "image/webp" : undefined;
}
