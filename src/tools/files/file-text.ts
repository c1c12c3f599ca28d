import { isUtf8 } from "node:buffer";

type TextEncoding = "utf-8" | "utf-16le" | "utf-16be" | "binary";

const ENCODING_SAMPLE_BYTES = 8192;

/** Decides by a byte order mark, the start of a known format, and the share of control characters. */
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

/** Log files may be preallocated: NULs after text do not make a file binary. */
function withoutPadding(sample: Uint8Array): Uint8Array {
  let end = sample.length;
  while (end > 0 && sample[end - 1] === 0) end--;
  return sample.subarray(0, end);
}

/** Tab, line feed, vertical tab, form feed, carriage return, backspace and escape are normal in text. */
function isControl(byte: number): boolean {
  if (byte === 0x7f) return true;
  return byte < 0x20 && !(byte >= 0x08 && byte <= 0x0d) && byte !== 0x1b;
}

/** The media type of an image that models accept (PNG, JPEG, GIF, WebP), by its first 12 bytes. */
export function imageTypeOf(head: Uint8Array): string | undefined {
  const text = String.fromCharCode(...head.subarray(0, 12));
  if (text.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
  if (text.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (text.startsWith("GIF87a") || text.startsWith("GIF89a")) return "image/gif";
  return text.startsWith("RIFF") && text.slice(8, 12) === "WEBP" ? "image/webp" : undefined;
}

/** How a line ends. A lone CR does not end a line. */
export type LineEnding = "\n" | "\r\n";

/** The line ending of text with only one kind; `undefined` for text with both or neither. */
export function uniformLineEnding(text: string): LineEnding | undefined {
  const first = lineEndingAt(text, text.indexOf("\n"));
  if (first === undefined) return undefined;
  const isOther = first === "\n" ? text.includes("\r\n") : /(?<!\r)\n/u.test(text);
  return isOther ? undefined : first;
}

export function lineEndingAt(text: string, newline: number): LineEnding | undefined {
  if (newline === -1) return undefined;
  return newline > 0 && text[newline - 1] === "\r" ? "\r\n" : "\n";
}

export function withLineEnding(text: string, ending: LineEnding): string {
  return text.replace(/\r?\n/gu, () => ending);
}

/** Keeps the end of each line in both texts; a new line ends like the line before it. */
async function withLineEndsOf(before: string, after: string): Promise<string> {
  const first = lineEndingAt(before, before.indexOf("\n"));
  if (first === undefined) return after;
  if (uniformLineEnding(before) !== undefined) return withLineEnding(after, first);
  const ends = Array.from(before.matchAll(/\r?\n/gu), ([end]) => end);
  const lines = after.split(/\r?\n/u);
  const { diffArrays } = await import("diff");
  const changes = diffArrays(before.split(/\r?\n/u), lines, { maxEditLength: MAX_CHANGED_LINES });
  if (changes === undefined) return withLineEnding(after, first);
  const written: string[] = [];
  let old = 0;
  let end: string = first;
  for (const { added, removed, value } of changes) {
    for (const line of value) {
      if (!added) end = ends[old++] ?? end;
      if (!removed) written.push(line, end);
    }
  }
  // Drops the end of the last line, as nothing follows it.
  return written.slice(0, -1).join("");
}

const MAX_CHANGED_LINES = 1000;

/** How the characters of a text file are stored. */
export type FileEncoding = "utf-8" | "utf-16le" | "utf-16be" | "gbk" | "windows-1252";

/** The text of a file, including a byte order mark as U+FEFF, and its encoding. */
export interface FileText {
  readonly text: string;
  readonly encoding: FileEncoding;
}

export const BOM = "\uFEFF";

export const ENCODING_NAMES: Readonly<Record<FileEncoding, string>> = {
  "utf-8": "UTF-8",
  "utf-16le": "UTF-16LE",
  "utf-16be": "UTF-16BE",
  gbk: "GBK",
  "windows-1252": "Windows-1252 (Latin-1)",
};

/**
 * Decodes a text file; `undefined` if encoding it again would not give the same bytes (binary files, and
 * UTF-8 with stray bytes). UTF-16 is recognized by its byte order mark. Other bytes that are not UTF-8 are
 * read as GBK if they look like it, else as Windows-1252. A wrong guess shows other characters, but whatever
 * is written back unchanged keeps its bytes.
 */
export function decodeFile(bytes: Uint8Array): FileText | undefined {
  const encoding = encodingOf(bytes);
  if (encoding === undefined) return undefined;
  const text = new TextDecoder(encoding, { ignoreBOM: true }).decode(bytes);
  if (encoding === "utf-8") return { text, encoding };
  const encoded = encodeText({ text, encoding });
  return encoded instanceof Uint8Array && encoded.equals(bytes) ? { text, encoding } : undefined;
}

/** The encoding of a file, judged by its content or the beginning of it. See {@link decodeFile}. */
export function encodingOf(bytes: Uint8Array): FileEncoding | undefined {
  const kind = detectEncoding(bytes);
  if (kind === "utf-16le" || kind === "utf-16be") return kind;
  if (isUtf8(bytes)) return "utf-8";
  if (kind === "binary" || isDamagedUtf8(bytes)) return undefined;
  return isGbk(bytes) ? "gbk" : "windows-1252";
}

export function encodeText({ text, encoding }: FileText): Buffer | { readonly missing: string } {
  if (encoding === "utf-8") return Buffer.from(text);
  if (encoding === "utf-16le") return Buffer.from(text, "utf16le");
  if (encoding === "utf-16be") return Buffer.from(text, "utf16le").swap16();
  const codes = codesOf(encoding);
  const bytes = Buffer.alloc(text.length * 2);
  let length = 0;
  for (const character of text) {
    const point = character.codePointAt(0) ?? 0;
    const code = point < 0x80 ? point : codes.get(character);
    if (code === undefined) return { missing: character };
    length = code > 0xff ? bytes.writeUInt16BE(code, length) : bytes.writeUInt8(code, length);
  }
  return bytes.subarray(0, length);
}

/** True for UTF-8 with a few wrong bytes: nearly all bytes beyond ASCII make whole characters. */
function isDamagedUtf8(bytes: Uint8Array): boolean {
  let wrong = 0;
  let right = 0;
  for (const character of new TextDecoder().decode(bytes)) {
    if (character === "\uFFFD") wrong++;
    else if (character > "\x7f") right += Buffer.byteLength(character);
  }
  return right >= 4 * wrong;
}

/** Most Chinese has codes beginning with A1 to D7; Latin-1 letters mostly stand alone. */
function isGbk(bytes: Uint8Array): boolean {
  let pairs = 0;
  let commonPairs = 0;
  for (let at = 0; at < bytes.length; at++) {
    const first = bytes[at] ?? 0;
    if (first < 0x80) continue;
    const second = bytes[++at];
    // A sample may end within a character.
    if (second === undefined) break;
    if (first === 0x80 || first === 0xff || second < 0x40 || second === 0x7f || second === 0xff) return false;
    pairs++;
    if (first > 0xa0 && first < 0xd8 && second > 0xa0) commonPairs++;
  }
  return commonPairs * 2 > pairs;
}

/** Codes beyond ASCII, taken from the system's own decoder. */
function codesOf(encoding: "gbk" | "windows-1252"): ReadonlyMap<string, number> {
  const codes: number[] = [];
  for (let first = 0x80; first <= 0xff; first++) {
    if (encoding === "windows-1252") codes.push(first);
    else for (let second = 0x40; second < 0xff; second++) codes.push(first * 256 + second);
  }
  const bytes = Buffer.from(
    codes.flatMap((code) => (code > 0xff ? [code >> 8, code & 0xff, 10] : [code, 10])),
  );
  const characters = new TextDecoder(encoding).decode(bytes).split("\n");
  return new Map(
    codes.flatMap((code, index) => {
      const character = characters[index] ?? "";
      const isOne = character !== "\uFFFD" && Array.from(character).length === 1;
      return isOne ? [[character, code] as const] : [];
    }),
  );
}

export interface TextForm {
  readonly hasBom: boolean;
  readonly crLf: "all" | "some" | "none";
}

export function formOf(text: string): TextForm {
  const crLf = text.includes("\r\n") ? (/(?<!\r)\n/u.test(text) ? "some" : "all") : "none";
  return { hasBom: text.startsWith(BOM), crLf };
}

/** For example `UTF-8 with a byte order mark, CR LF line ends`. */
export function describeForm(form: TextForm & { readonly encoding: FileEncoding }): string {
  const mark = form.hasBom && form.encoding === "utf-8" ? " with a byte order mark" : "";
  return `${ENCODING_NAMES[form.encoding]}${mark}, ${LINE_ENDS[form.crLf]}`;
}

const LINE_ENDS = {
  all: "CR LF line ends",
  some: "some lines end in CR LF, others in LF",
  none: "LF line ends",
} as const;

/** Gives new content the byte order mark and line ends of `before`, which it replaces. */
export async function withFormOf(before: string, content: string): Promise<string> {
  const marked = before.startsWith(BOM) && !content.startsWith(BOM) ? BOM + content : content;
  return withLineEndsOf(before, marked);
}
