import { isUtf8 } from "node:buffer";
import { detectEncoding } from "./text-encoding.ts";

/** How the characters of a text file are stored. */
export type FileEncoding = "utf-8" | "utf-16le" | "utf-16be" | "gbk" | "windows-1252";

/** The text of a file, a byte order mark included as U+FEFF, and how it is stored. */
export interface FileText {
  readonly text: string;
  readonly encoding: FileEncoding;
}

/** The first byte order mark of a text. */
export const BOM = "\uFEFF";

/** How encodings are named to the model. */
export const ENCODING_NAMES: Readonly<Record<FileEncoding, string>> = {
  "utf-8": "UTF-8",
  "utf-16le": "UTF-16LE",
  "utf-16be": "UTF-16BE",
  gbk: "GBK",
  "windows-1252": "Windows-1252 (Latin-1)",
};

/**
 * The text of a file; `undefined` when encoding it again would not give the same bytes: binary files, and
 * UTF-8 with stray bytes. UTF-16 is known by its byte order mark. Other bytes that are not UTF-8 are read as
 * GBK when they look like it, else as Windows-1252: a wrong guess shows other characters, but whatever is
 * written back unchanged keeps its bytes.
 */
export function decodeFile(bytes: Uint8Array): FileText | undefined {
  const encoding = encodingOf(bytes);
  if (encoding === undefined) return undefined;
  const text = new TextDecoder(encoding, { ignoreBOM: true }).decode(bytes);
  if (encoding === "utf-8") return { text, encoding };
  const again = encodeText({ text, encoding });
  return again instanceof Uint8Array && again.equals(bytes) ? { text, encoding } : undefined;
}

/** The encoding of a file by its content, or by the beginning of it. See {@link decodeFile}. */
export function encodingOf(bytes: Uint8Array): FileEncoding | undefined {
  const kind = detectEncoding(bytes);
  if (kind === "utf-16le" || kind === "utf-16be") return kind;
  if (isUtf8(bytes)) return "utf-8";
  if (kind === "binary" || isDamagedUtf8(bytes)) return undefined;
  return isGbk(bytes) ? "gbk" : "windows-1252";
}

/** The bytes of a text, or the first character that the encoding does not have. */
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

/** UTF-8 in which a few bytes are wrong: nearly all beyond ASCII make whole characters. */
function isDamagedUtf8(bytes: Uint8Array): boolean {
  let wrong = 0;
  let right = 0;
  for (const character of new TextDecoder().decode(bytes)) {
    if (character === "\uFFFD") wrong++;
    else if (character > "\x7f") right += Buffer.byteLength(character);
  }
  return right >= 4 * wrong;
}

/**
 * Nearly all Chinese consists of punctuation and common characters, whose codes begin with A1 to D7. Letters
 * of Latin-1 beyond ASCII mostly stand alone, and where two follow each other the first is lower case: above.
 */
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

/** The code of each character beyond ASCII, by what the system's own decoder makes of every code. */
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
