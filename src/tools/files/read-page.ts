import { isUtf8 } from "node:buffer";
import type { Dirent } from "node:fs";
import { opendir } from "node:fs/promises";
import { BOM, detectEncoding, encodingOf, type FileEncoding, type TextForm } from "./file-text.ts";
import type { OpenFile } from "./open-file.ts";

interface PageOptions {
  readonly firstLine: number;
  readonly maxLines: number;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

export interface Page {
  /** How the file is read; `damaged`: as UTF-8 with some wrong bytes. */
  readonly encoding: FileEncoding | "damaged" | "binary";
  readonly form: TextForm;
  /** Lines as the model sees them: a six-character number, a tab, the text. */
  readonly lines: readonly string[];
  readonly nextLine: number | undefined;
  readonly lineCount: number | undefined;
  readonly notes: readonly string[];
  readonly content: Uint8Array | undefined;
}

/** Reads lines in chunks: memory and, after the page, time do not depend on the size of the file. */
export async function readPage(file: Pick<OpenFile, "read">, options: PageOptions): Promise<Page> {
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  const first = await fill(file, buffer);
  const content = first.length < buffer.length ? Uint8Array.from(first) : undefined;
  const builder = new PageBuilder(options);
  if (detectEncoding(first) === "binary")
    return { ...builder.page(false), encoding: "binary", lineCount: undefined, content };
  const encoding = encodingOf(content ?? withoutSplitCharacter(first)) ?? "damaged";
  const decoder =
    encoding === "utf-8" || encoding === "damaged"
      ? undefined
      : new TextDecoder(encoding, { ignoreBOM: true });
  let chunk = first;
  while (chunk.length > 0) {
    options.signal.throwIfAborted();
    const bytes = decoder === undefined ? chunk : Buffer.from(decoder.decode(chunk, { stream: true }));
    if (builder.add(bytes)) return { ...builder.page(true), encoding: builder.encoding(encoding), content };
    const bytesRead = await file.read(buffer, 0, buffer.length, null);
    chunk = buffer.subarray(0, bytesRead);
  }
  builder.end();
  return { ...builder.page(false), encoding: builder.encoding(encoding), content };
}

/** The beginning of a file without the character that may be split at its end. */
function withoutSplitCharacter(bytes: Buffer): Buffer {
  const lines = bytes.lastIndexOf(LF) + 1;
  let end = bytes.length;
  if (lines > 0) end = lines;
  else while (end > bytes.length - 3 && (bytes[end - 1] ?? 0) >= 0x80) end--;
  return bytes.subarray(0, end);
}

const CHUNK_BYTES = 256 * 1024;
const MAX_LINE_CHARS = 2000;
/** Enough for every line that is shown whole: a UTF-16 unit takes at most three bytes. */
const MAX_LINE_START_BYTES = MAX_LINE_CHARS * 4;
/** A longer line ends the page, so that no single line makes a tool read gigabytes. */
const MAX_PAGE_LINE_BYTES = 16 * 1024 * 1024;
const LF = 10;
const CR = 13;
const BOM_BYTES = Buffer.from(BOM);
const NO_BYTES = Buffer.alloc(0);

async function fill(file: Pick<OpenFile, "read">, buffer: Buffer): Promise<Buffer> {
  let length = 0;
  while (length < buffer.length) {
    const bytesRead = await file.read(buffer, length, buffer.length - length, null);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return buffer.subarray(0, length);
}

class PageBuilder {
  readonly #options: PageOptions;
  readonly #lines: string[] = [];
  readonly #notes = new Set<string>();
  #lineNumber = 1;
  #lineBytes = 0;
  #lineStart: Buffer[] = [];
  #lineStartBytes = 0;
  #pageBytes = 0;
  #isFull = false;
  #isAtStart = true;
  #hasBom = false;
  #lastByte: number | undefined;
  #crLfLines = 0;
  #lfLines = 0;
  #isDamaged = false;

  constructor(options: PageOptions) {
    this.#options = options;
  }

  add(chunk: Buffer): boolean {
    let at = 0;
    if (this.#isAtStart && chunk.subarray(0, 3).equals(BOM_BYTES)) {
      at = 3;
      this.#hasBom = true;
    }
    this.#isAtStart = false;
    while (at < chunk.length) {
      if (this.#isFull || this.#lines.length === this.#options.maxLines) return true;
      const newline = chunk.indexOf(LF, at);
      if (newline === -1) {
        this.#storeLineStart(chunk.subarray(at));
        return this.#endGiantLine();
      }
      if (!this.#endLine(chunk, at, newline)) return true;
      at = newline + 1;
    }
    return false;
  }

  end(): void {
    if (this.#lineBytes > 0) this.#endLine(NO_BYTES, 0, 0);
  }

  page(hasMore: boolean): Omit<Page, "encoding" | "content"> {
    const more = hasMore || this.#isFull;
    return {
      lines: this.#lines,
      nextLine: more ? this.#lineNumber : undefined,
      lineCount: more ? undefined : this.#lineNumber - 1,
      notes: [...this.#notes],
      form: {
        hasBom: this.#hasBom,
        crLf: this.#crLfLines === 0 ? "none" : this.#lfLines === 0 ? "all" : "some",
      },
    };
  }

  /** The assumed encoding of the file, unless a line of the page proved it wrong. */
  encoding(assumed: Page["encoding"]): Page["encoding"] {
    return this.#isDamaged ? "damaged" : assumed;
  }

  /** The next chunk overwrites the buffer that holds the beginning of its line. */
  #storeLineStart(bytes: Buffer): void {
    this.#lineBytes += bytes.length;
    this.#lastByte = bytes.at(-1);
    if (this.#lineNumber < this.#options.firstLine || this.#lineStartBytes >= MAX_LINE_START_BYTES) return;
    const lineStart = Buffer.from(bytes.subarray(0, MAX_LINE_START_BYTES - this.#lineStartBytes));
    this.#lineStart.push(lineStart);
    this.#lineStartBytes += lineStart.length;
  }

  #endGiantLine(): boolean {
    if (this.#lineNumber < this.#options.firstLine || this.#lineBytes <= MAX_PAGE_LINE_BYTES) return false;
    this.#endLine(NO_BYTES, 0, 0);
    return true;
  }

  /** Returns false if the line no longer fits into the page. */
  #endLine(chunk: Buffer, start: number, end: number): boolean {
    this.#lineBytes += end - start;
    if (this.#lineNumber >= this.#options.firstLine) {
      const rest = chunk.subarray(start, Math.min(end, start + MAX_LINE_START_BYTES - this.#lineStartBytes));
      const line = `${String(this.#lineNumber).padStart(6)}\t${this.#lineText(rest)}`;
      const bytes = Buffer.byteLength(line) + 1;
      if (this.#pageBytes + bytes > this.#options.maxBytes && this.#lines.length > 0) {
        this.#isFull = true;
        return false;
      }
      this.#pageBytes += bytes;
      this.#lines.push(line);
      if (chunk !== NO_BYTES) {
        if ((end > start ? chunk[end - 1] : this.#lastByte) === CR) this.#crLfLines++;
        else this.#lfLines++;
      }
    }
    this.#lineNumber++;
    this.#lineBytes = 0;
    this.#lastByte = undefined;
    if (this.#lineStartBytes > 0) {
      this.#lineStart = [];
      this.#lineStartBytes = 0;
    }
    return true;
  }

  #lineText(rest: Buffer): string {
    const bytes = this.#lineStartBytes === 0 ? rest : Buffer.concat([...this.#lineStart, rest]);
    const isWhole = this.#lineBytes === bytes.length;
    if (isWhole && !isUtf8(bytes)) this.#isDamaged = true;
    let text = bytes.toString("utf8");
    if (isWhole && text.endsWith("\r")) text = text.slice(0, -1);
    if (text.includes("\0")) {
      this.#notes.add("NUL characters are shown as \u2400.");
      text = text.replace(/\0+/gu, ({ length }) =>
        length < 4 ? "\u2400".repeat(length) : `\u2400×${length}`,
      );
    }
    if (isWhole && text.length <= MAX_LINE_CHARS) return text;
    const splitsPair = /[\uD800-\uDBFF]/u.test(text[MAX_LINE_CHARS - 1] ?? "");
    const size = this.#lineBytes > MAX_PAGE_LINE_BYTES ? "over 16 MB" : `${this.#lineBytes} bytes`;
    return `${text.slice(0, splitsPair ? MAX_LINE_CHARS - 1 : MAX_LINE_CHARS)} … [line cut: ${size} in all]`;
  }
}

export interface FolderPage {
  /** Names marked as `ls -F` does: `/` for folders, `@` for links, `|` for FIFOs, `=` for sockets. */
  readonly entries: readonly string[];
  readonly total: number;
  readonly isPartial: boolean;
}

/** Lists `limit` entries from the `first` (from 1). Beyond 50,000 entries, it lists an arbitrary 50,000. */
export async function listFolder(
  path: string,
  options: { readonly first: number; readonly limit: number; readonly signal: AbortSignal },
): Promise<FolderPage> {
  const names: string[] = [];
  let isPartial = false;
  for await (const entry of await opendir(path, { bufferSize: 512 })) {
    options.signal.throwIfAborted();
    if (names.length === MAX_COUNTED) {
      isPartial = true;
      break;
    }
    names.push(`${printableName(entry.name)}${kindSymbolOf(entry)}`);
  }
  names.sort();
  const start = options.first - 1;
  return { entries: names.slice(start, start + options.limit), total: names.length, isPartial };
}

const MAX_COUNTED = 50_000;

function kindSymbolOf(entry: Dirent): string {
  if (entry.isDirectory()) return "/";
  if (entry.isSymbolicLink()) return "@";
  if (entry.isFIFO()) return "|";
  return entry.isSocket() ? "=" : "";
}

/** Quotes names with control characters, so that no name looks like two. */
function printableName(name: string): string {
  return /\p{Cc}/u.test(name) ? JSON.stringify(name) : name;
}
