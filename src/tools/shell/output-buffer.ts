import { Buffer } from "node:buffer";
import type { FileHandle } from "node:fs/promises";
import { errorMessage } from "../../core/base/errors.ts";
import type { RedactionStream } from "../../core/base/text.ts";

export interface OutputLimits {
  readonly headBytes: number;
  readonly tailBytes: number;
  readonly fileBytes: number;
}

export interface OutputText {
  /** The whole text, or head and tail with a line between them naming the omitted bytes and the file. */
  readonly text: string;
  readonly totalBytes: number;
  readonly omittedBytes: number;
  /** The file with the full text; only if something was omitted. */
  readonly path?: string | undefined;
}

export interface OutputFile {
  readonly path: string;
  readonly handle: FileHandle;
}

export interface WrittenOutput {
  readonly text: string;
  /** Nothing more may be written before this settles. Never rejects. */
  readonly stored?: Promise<void>;
}

const FILE_BATCH = 64 * 1024;

/** Output of one command in bounded memory; anything beyond head and tail also goes to a file. */
export class OutputBuffer {
  readonly #limits: OutputLimits;
  readonly #openFile: () => Promise<OutputFile>;
  readonly #redact: RedactionStream | undefined;
  readonly #cleaner = new TerminalText();
  /** Everything since the last read while that is short; only its head once `#tail` is set. */
  #head: Buffer[] = [];
  #tail: Buffer[] | undefined;
  #tailBytes = 0;
  #totalBytes = 0;
  #isSpilling = false;
  #file: OutputFile | undefined;
  #fileBytes = 0;
  #fileProblem: string | undefined;
  #unwritten: Buffer[] = [];
  #unwrittenBytes = 0;
  /** Settles with the last write begun; writes happen one after the other. */
  #stored: Promise<void> = Promise.resolve();
  #isEnded = false;

  /** `redact` takes secrets out of the text before any of it is truncated or stored. */
  constructor(limits: OutputLimits, openFile: () => Promise<OutputFile>, redact?: RedactionStream) {
    this.#limits = limits;
    this.#openFile = openFile;
    this.#redact = redact;
  }

  /** True once the file is full. Later text shows only in the tail. */
  get isFull(): boolean {
    return this.#fileBytes >= this.#limits.fileBytes;
  }

  /** Adds bytes as the program wrote them. Ignores them after {@link end}. */
  write(bytes: Uint8Array): WrittenOutput {
    if (this.#isEnded) return { text: "" };
    const clean = this.#cleaner.push(bytes);
    const text = this.#redact?.push(clean) ?? clean;
    this.#add(text);
    return this.#unwrittenBytes < FILE_BATCH ? { text } : { text, stored: this.#store() };
  }

  /** Output since the last read. Includes an unfinished last line. */
  async readNew(): Promise<OutputText> {
    if (!this.#isEnded) this.#add(this.#flushRedaction(this.#cleaner.flush()));
    await this.#store();
    const shown = this.#show();
    this.#head = [];
    this.#tail = undefined;
    this.#tailBytes = 0;
    this.#totalBytes = 0;
    return shown;
  }

  /** Closes the file; {@link readNew} still returns what has not been read. */
  async end(): Promise<void> {
    if (this.#isEnded) return;
    this.#add(this.#flushRedaction(this.#cleaner.end()));
    this.#isEnded = true;
    await this.#store();
    try {
      await this.#file?.handle.close();
    } catch (error) {
      this.#fileProblem = errorMessage(error);
    }
  }

  /** Includes the text that the redaction has held back. */
  #flushRedaction(rest: string): string {
    return this.#redact === undefined ? rest : this.#redact.push(rest) + this.#redact.flush();
  }

  #add(text: string): void {
    if (text === "") return;
    const piece = Buffer.from(text);
    this.#totalBytes += piece.length;
    if (this.#isSpilling) this.#addToFile(piece);
    if (this.#tail !== undefined) {
      this.#addToTail(this.#tail, piece);
      return;
    }
    this.#head.push(piece);
    if (this.#totalBytes > this.#limits.headBytes + this.#limits.tailBytes) this.#split();
  }

  /** From here on the text goes to the file, and memory holds only both ends. */
  #split(): void {
    const all = Buffer.concat(this.#head);
    if (!this.#isSpilling) {
      this.#isSpilling = true;
      this.#addToFile(all);
    }
    const end = headEnd(all, this.#limits.headBytes);
    this.#head = [all.subarray(0, end)];
    this.#tail = [];
    this.#addToTail(this.#tail, all.subarray(end));
  }

  #addToTail(tail: Buffer[], piece: Buffer): void {
    tail.push(piece);
    this.#tailBytes += piece.length;
    let first = tail[0];
    while (first !== undefined && this.#tailBytes - first.length >= this.#limits.tailBytes) {
      tail.shift();
      this.#tailBytes -= first.length;
      first = tail[0];
    }
  }

  #addToFile(piece: Buffer): void {
    const kept = piece.subarray(0, Math.max(0, this.#limits.fileBytes - this.#fileBytes));
    if (kept.length === 0 || this.#fileProblem !== undefined) return;
    this.#unwritten.push(kept);
    this.#unwrittenBytes += kept.length;
    this.#fileBytes += kept.length;
  }

  #store(): Promise<void> {
    if (this.#unwrittenBytes > 0) this.#stored = this.#stored.then(() => this.#storeNow());
    return this.#stored;
  }

  async #storeNow(): Promise<void> {
    if (this.#unwrittenBytes === 0) return;
    const data = Buffer.concat(this.#unwritten);
    this.#unwritten = [];
    this.#unwrittenBytes = 0;
    try {
      this.#file ??= await this.#openFile();
      await this.#file.handle.appendFile(data);
    } catch (error) {
      this.#fileProblem = errorMessage(error);
    }
  }

  #show(): OutputText {
    const totalBytes = this.#totalBytes;
    const head = Buffer.concat(this.#head);
    if (this.#tail === undefined) return { text: head.toString(), totalBytes, omittedBytes: 0 };
    const kept = Buffer.concat(this.#tail);
    const tail = kept.subarray(tailStart(kept, this.#limits.tailBytes));
    const omittedBytes = totalBytes - head.length - tail.length;
    const path = this.#file?.path;
    const text = `${withNewline(head.toString())}${this.#omissionNote(omittedBytes)}\n${tail.toString()}`;
    return { text, totalBytes, omittedBytes, path };
  }

  #omissionNote(omittedBytes: number): string {
    const left = `${omittedBytes} of ${this.#totalBytes} bytes left out here`;
    if (this.#fileProblem !== undefined)
      return `[${left}; the full text could not be kept: ${this.#fileProblem}]`;
    if (this.isFull)
      return `[${left}; the first ${this.#fileBytes} bytes are in ${this.#file?.path ?? "no file"}]`;
    return `[${left}; the full text is in ${this.#file?.path ?? "no file"}]`;
  }
}

function withNewline(text: string): string {
  return text === "" || text.endsWith("\n") ? text : `${text}\n`;
}

/** Where a head of `max` bytes ends: after a line in its last quarter, else between two characters. */
function headEnd(bytes: Buffer, max: number): number {
  if (bytes.length <= max) return bytes.length;
  const line = bytes.lastIndexOf(0x0a, max - 1) + 1;
  if (line > max * 0.75) return line;
  let end = max;
  while (end > 0 && isContinuation(bytes[end])) end--;
  return end;
}

/** Where a tail of `max` bytes begins: at a line in its first quarter, else between two characters. */
function tailStart(bytes: Buffer, max: number): number {
  if (bytes.length <= max) return 0;
  let start = bytes.length - max;
  const line = bytes.indexOf(0x0a, start - 1) + 1;
  if (line > 0 && line < start + max * 0.25) return line;
  while (isContinuation(bytes[start])) start++;
  return start;
}

/** UTF-8 continuation bytes are 10xxxxxx. */
function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

/** Bytes of an unfinished line held back so that a later carriage return can still overwrite it. */
const MAX_UNFINISHED_LINE = 64 * 1024;
/** Longer escape sequences are not waited for. */
const MAX_ESCAPE = 4096;

const ESCAPE = [
  "\\x1b\\[[0-?]*[ -/]*[@-~]", // control sequences (ECMA-48, 5.4)
  "\\x1b\\][^\\x07\\x1b]*(?:\\x07|\\x1b\\\\)", // operating system commands: titles, links
  "\\x1b[PX^_][^\\x1b]*\\x1b\\\\", // device control and other strings
  "\\x1b[ -/]*[0-OQ-WYZ\\\\`-~]", // two-character functions
].join("|");
const ALL_ESCAPES = new RegExp(ESCAPE, "g");
const STARTS_WITH_ESCAPE = new RegExp(`^(?:${ESCAPE})`);
const CONTROL = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/;
const ALL_CONTROLS = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/g;
const OVERSTRIKE = /[^\x08]\x08/g;

/**
 * Turns the bytes of a terminal program into plain text, piece by piece: escape sequences and control
 * characters are removed, a line overwritten by carriage returns keeps its last state, a backspace removes
 * the character before it, `\r\n` becomes `\n`, and invalid UTF-8 becomes U+FFFD. Lines and tabs stay as they
 * are. The text does not depend on how the bytes were split, unless a line is longer than 64 KiB.
 */
export class TerminalText {
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  #unfinished = "";

  /** The text that is final after these bytes; an unfinished line waits for its end. */
  push(bytes: Uint8Array): string {
    return this.#take(this.#decoder.decode(bytes, { stream: true }));
  }

  /** The unfinished line. Anything that follows is treated as a new line. */
  flush(): string {
    const held = this.#unfinished;
    const escape = held.lastIndexOf("\x1b");
    const isCut =
      escape >= 0 && escape >= held.length - MAX_ESCAPE && !STARTS_WITH_ESCAPE.test(held.slice(escape));
    const cut = isCut ? escape : held.length;
    this.#unfinished = held.slice(cut);
    return cleanLine(held.slice(0, cut));
  }

  end(): string {
    const complete = this.#take(this.#decoder.decode());
    const rest = cleanLine(this.#unfinished);
    this.#unfinished = "";
    return complete + rest;
  }

  #take(decoded: string): string {
    const text = this.#unfinished + decoded;
    const end = text.lastIndexOf("\n") + 1;
    const lines = end === 0 ? "" : cleanLines(text.slice(0, end));
    this.#unfinished = text.slice(end);
    return this.#unfinished.length <= MAX_UNFINISHED_LINE ? lines : lines + this.flush();
  }
}

function cleanLines(text: string): string {
  if (!CONTROL.test(text)) return text;
  return text.split("\n").map(cleanLine).join("\n");
}

function cleanLine(line: string): string {
  if (!CONTROL.test(line)) return line;
  const plain = lastState(line.replace(ALL_ESCAPES, ""));
  return applyBackspaces(plain).replace(ALL_CONTROLS, "");
}

/** The last text written between carriage returns; clearing a line shows nothing. */
function lastState(line: string): string {
  if (!line.includes("\r")) return line;
  const states = line.split("\r").filter((state) => state.trim() !== "");
  return states.at(-1) ?? "";
}

function applyBackspaces(line: string): string {
  let text = line;
  while (text.includes("\b")) {
    const shorter = text.replace(OVERSTRIKE, "");
    if (shorter === text) break;
    text = shorter;
  }
  return text;
}
