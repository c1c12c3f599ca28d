import { fstatSync } from "node:fs";
import { Writable } from "node:stream";

/** One of the program's output streams. Nothing it does throws. */
export interface Output {
  /** True when a person looks at it. */
  readonly isTerminal: boolean;
  /** Writes a text as it is. After the reader has gone, nothing. */
  readonly write: (text: string) => void;
  /** True when so much waits for the reader that it is better not to make more of it. */
  readonly isFull: boolean;
  /** Resolves when everything written has left the process, or the reader has gone. */
  readonly drain: () => Promise<void>;
  /** Calls back once when the reader is gone (a closed pipe) or the medium refuses (a full disk). */
  readonly onBroken: (listener: (error: Error) => void) => void;
}

/**
 * An output over standard output (1) or standard error (2). The stream behind it is made at the first write:
 * a run that prints late does not pay for it before its first request.
 */
export function standardOutput(descriptor: 1 | 2): Output {
  const open = (): Writable => (descriptor === 1 ? process.stdout : process.stderr);
  return new StreamOutput(open, isTerminal(descriptor));
}

/**
 * Standard output for those who need a stream: what is written to it reaches standard output also while
 * {@link import("./foreign-code.ts").containForeignCode} keeps others from it.
 */
export function ownStandardOutput(): Writable {
  const { stdout } = process;
  const own = new Writable({
    decodeStrings: false,
    write: (chunk: string | Buffer, _encoding, done) => ownWrite(stdout, chunk, done),
  });
  stdout.on("error", (error) => own.destroy(error));
  return own;
}

/** Writes as the kind of stream does, whatever the `write` of this one was replaced by. */
function ownWrite(stream: Writable, chunk: string | Buffer, done: (error?: Error | null) => void): void {
  const kind = Object.getPrototypeOf(stream) as Writable;
  kind.write.call(stream, chunk, "utf8", done);
}

/** True when a person sits at the other end of a standard descriptor (0 to 2). */
export function isTerminal(descriptor: 0 | 1 | 2): boolean {
  try {
    // The kind of a descriptor mostly tells that it is no terminal, without loading the terminal code.
    if (!fstatSync(descriptor).isCharacterDevice()) return false;
  } catch {
    // Closed by the caller.
    return false;
  }
  return process.getBuiltinModule("node:tty").isatty(descriptor);
}

/** Characters that may wait for a slow reader before {@link Output.isFull}. */
const MAX_HELD_CHARS = 4_000_000;

/** Texts that are written together. A system takes only so much at a time. */
const MAX_TOGETHER = 10_000;

/** An {@link Output} over any stream. */
export class StreamOutput implements Output {
  readonly isTerminal: boolean;
  readonly #open: () => Writable;
  #stream: Writable | undefined;
  #broken: Error | undefined;
  #pending = 0;
  /** Texts that wait until the write before them is done: a slow reader costs text and no more. */
  #held: string[] = [];
  #heldChars = 0;
  #waiting: (() => void)[] = [];
  readonly #listeners: ((error: Error) => void)[] = [];

  constructor(open: () => Writable, terminal: boolean) {
    this.#open = open;
    this.isTerminal = terminal;
  }

  write(text: string): void {
    if (this.#broken !== undefined || text === "") return;
    // On a terminal, texts of two outputs stand in the order they were written.
    if (this.#pending === 0 || this.isTerminal) return this.#send(text);
    this.#held.push(text);
    this.#heldChars += text.length;
  }

  get isFull(): boolean {
    return this.#heldChars > MAX_HELD_CHARS;
  }

  #send(text: string): void {
    this.#pending++;
    ownWrite(this.#target(), text, (error) => {
      this.#pending--;
      if (error !== undefined && error !== null) this.#break(error);
      const held = this.#held.splice(0, MAX_TOGETHER).join("");
      this.#heldChars -= held.length;
      if (held !== "" && this.#broken === undefined) this.#send(held);
      else if (this.#pending === 0) for (const resolve of this.#waiting.splice(0)) resolve();
    });
  }

  drain(): Promise<void> {
    if (this.#pending === 0 || this.#broken !== undefined) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  onBroken(listener: (error: Error) => void): void {
    this.#listeners.push(listener);
  }

  #target(): Writable {
    if (this.#stream === undefined) {
      this.#stream = this.#open();
      this.#stream.on("error", (error) => this.#break(error));
    }
    return this.#stream;
  }

  #break(error: Error): void {
    if (this.#broken !== undefined) return;
    this.#broken = error;
    this.#held = [];
    this.#heldChars = 0;
    for (const resolve of this.#waiting.splice(0)) resolve();
    for (const listener of this.#listeners) listener(error);
  }
}
