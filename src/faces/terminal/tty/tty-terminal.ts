import type { ReadStream, WriteStream } from "node:tty";
import { KeyDecoder, type Size, type TerminalEvent, type TerminalListener } from "./key.ts";

export interface ScreenTerminal {
  readonly size: Size;
  /** True while the terminal has not taken earlier output. */
  readonly isBusy: boolean;
  write(text: string): void;
  /** True if the window's size has changed since the last check; the listener has then been notified. */
  checkSize(): boolean;
  setTitle(title: string): void;
  enter(listener: TerminalListener): void;
  /** Restores everything; {@link leaveNow} does so at once, for the moment before the process ends. */
  leave(): Promise<void>;
  leaveNow(): void;
  /** Restores only what another program in the terminal would not. */
  abandon(): void;
}

interface TtyTerminalOptions {
  readonly input: ReadStream;
  readonly output: WriteStream;
}

/** A lone escape is a key if nothing follows it for this long. */
const ESCAPE_MS = 40;
/** How long leaving waits for outstanding replies of the terminal. */
const REPLY_MS = 250;

const QUERIES = "\u001B[>c\u001B[?u\u001B]11;?\u001B\\\u001B[c";
const SAVE_TITLE = "\u001B[22;0t";
const RESTORE_TITLE = "\u001B[23;0t";
const PASTE_ON = "\u001B[?2004h";
const PASTE_OFF = "\u001B[?2004l";
const KITTY_ON = "\u001B[>1u";
const KITTY_OFF = "\u001B[<u";
/** Ends an unfinished update, line mode, hidden cursor or colour. */
const RESET = "\u001B[?2026l\u001B[?7h\u001B[?25h\u001B[m";

/**
 * The terminal the program runs in, with its keys read one by one. {@link leave} restores all changes to it,
 * {@link leaveNow} at once; both may be called at any time and more than once.
 */
export class TtyTerminal implements ScreenTerminal {
  readonly #options: TtyTerminalOptions;
  readonly #decoder = new KeyDecoder();
  #listener: TerminalListener | undefined;
  #isEntered = false;
  #hasKitty = false;
  /** True while queries are unanswered; the last one's reply, which every terminal gives, settles all. */
  #awaitsReply = false;
  #onReplied: (() => void) | undefined;
  #escape: NodeJS.Timeout | undefined;
  #size: Size;
  #isGone = false;

  constructor(options: TtyTerminalOptions) {
    this.#options = options;
    this.#size = sizeOf(options.output);
    const onGone = (): void => this.#gone();
    options.output.on("error", onGone);
    options.input.on("error", onGone);
    options.input.on("end", onGone);
    options.input.on("data", (bytes: Uint8Array) => this.#read(bytes));
    options.input.pause();
    options.output.on("resize", () => void this.checkSize());
  }

  get size(): Size {
    return this.#size;
  }

  get isBusy(): boolean {
    return this.#options.output.writableNeedDrain;
  }

  enter(listener: TerminalListener): void {
    this.#listener = listener;
    if (this.#isEntered || this.#isGone) return;
    this.#isEntered = true;
    const { input } = this.#options;
    this.#setRaw(true);
    input.resume();
    this.#awaitsReply = true;
    this.write(SAVE_TITLE + PASTE_ON + QUERIES);
  }

  async leave(): Promise<void> {
    if (!this.#isEntered) return;
    this.#listener = undefined;
    this.#writeRestore();
    if (this.#awaitsReply && !this.#isGone) await this.#waitForReply();
    this.#release();
  }

  leaveNow(): void {
    if (!this.#isEntered) return;
    this.#writeRestore();
    this.#release();
  }

  abandon(): void {
    if (!this.#isEntered) return;
    this.#writeRestore();
    this.#isEntered = false;
    this.#gone();
  }

  write(text: string): void {
    if (!this.#isGone) this.#options.output.write(text);
  }

  setTitle(title: string): void {
    if (this.#isEntered)
      this.write(`\u001B]2;${title.replaceAll(/[\p{Cc}\p{Cf}]/gu, " ").slice(0, 120)}\u0007`);
  }

  checkSize(): boolean {
    const before = this.#size;
    // A stream that notices a new size reports it at once, which calls this method.
    const size = sizeOf(this.#options.output);
    if (size.columns !== this.#size.columns || size.rows !== this.#size.rows) {
      this.#size = size;
      if (this.#isEntered) this.#listener?.onResize(size);
    }
    return this.#isEntered && this.#size !== before;
  }

  #writeRestore(): void {
    this.write(`${RESET}${PASTE_OFF}${this.#hasKitty ? KITTY_OFF : ""}${RESTORE_TITLE}`);
    this.#hasKitty = false;
  }

  #release(): void {
    clearTimeout(this.#escape);
    this.#escape = undefined;
    this.#isEntered = false;
    this.#options.input.pause();
    this.#setRaw(false);
  }

  #setRaw(isRaw: boolean): void {
    try {
      this.#options.input.setRawMode(isRaw);
    } catch {
      // The terminal is gone.
      this.#gone();
    }
  }

  #waitForReply(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, REPLY_MS);
      this.#onReplied = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #read(bytes: Uint8Array): void {
    clearTimeout(this.#escape);
    this.#escape = undefined;
    for (const event of this.#decoder.push(bytes)) this.#emit(event);
    if (this.#decoder.isWaiting) this.#scheduleFlush();
  }

  /** Reads pending input first: a busy program is late in checking its timers and input. */
  #scheduleFlush(): void {
    const timer = setTimeout(() => {
      setImmediate(() => {
        if (this.#escape === timer) for (const event of this.#decoder.flush()) this.#emit(event);
      });
    }, ESCAPE_MS);
    this.#escape = timer;
  }

  #emit(event: TerminalEvent): void {
    if (event.type === "reply") {
      if (/^\[\?\d+u$/.test(event.text) && this.#isEntered && this.#onReplied === undefined) {
        this.#hasKitty = true;
        this.write(KITTY_ON);
      }
      if (/^\[\?[\d;]*c$/.test(event.text)) {
        this.#awaitsReply = false;
        this.#onReplied?.();
        this.#onReplied = undefined;
      }
    }
    if (this.#isEntered) this.#listener?.onEvent(event);
  }

  #gone(): void {
    if (this.#isGone) return;
    this.#isGone = true;
    this.#onReplied?.();
    this.#listener?.onGone();
  }
}

function sizeOf(output: WriteStream): Size {
  refreshSize(output);
  const { columns, rows } = output;
  return { columns: columns > 0 ? columns : 80, rows: rows > 0 ? rows : 24 };
}

/** Updates the size a stream remembers; the signal that reports a change may come after the next frame. */
function refreshSize(output: WriteStream & { readonly _refreshSize?: () => void }): void {
  try {
    output._refreshSize?.();
  } catch {
    // The terminal is gone; writers get the error.
  }
}

interface OutsideEndHandlers {
  /** A signal nothing else listens for ends the process: the last chance to restore the terminal. */
  readonly onLastMoment: () => void;
  /** The parent process is gone, and the shell has the terminal again. */
  readonly onOrphaned: () => void;
}

const FATAL_SIGNALS = ["SIGQUIT", "SIGABRT", "SIGALRM", "SIGUSR2", "SIGXCPU", "SIGVTALRM"] as const;
const CHECK_MS = 1_000;

/** Watches for ends that no stream reports. Keeps the process alive until the returned function is called. */
export function watchOutsideEnds({ onLastMoment, onOrphaned }: OutsideEndHandlers): () => void {
  const { ppid } = process;
  const timer = setInterval(() => {
    if (process.ppid === ppid) return;
    clearInterval(timer);
    onOrphaned();
  }, CHECK_MS);
  const listeners = FATAL_SIGNALS.map((name) => {
    const listener = (): void => {
      process.off(name, listener);
      onLastMoment();
      // Our listeners are gone, so the parent process sees the signal that ended this one.
      process.kill(process.pid, name);
    };
    process.on(name, listener);
    return [name, listener] as const;
  });
  return () => {
    clearInterval(timer);
    for (const [name, listener] of listeners) process.off(name, listener);
  };
}

/** An unchanged terminal: input arrives in whole lines, and only text is written. */
export class LineTerminal implements ScreenTerminal {
  readonly isBusy = false;
  readonly #input: ReadStream;
  readonly #output: WriteStream;
  #listener: TerminalListener | undefined;
  #rest = "";

  constructor({ input, output }: { readonly input: ReadStream; readonly output: WriteStream }) {
    this.#input = input;
    this.#output = output;
    const onGone = (): void => this.#listener?.onGone();
    output.on("error", onGone);
    input.on("error", onGone);
    input.on("end", () => this.#listener?.onEvent({ type: "key", key: "ctrl+d" }));
    input.setEncoding("utf8").on("data", (text: string) => this.#read(text));
    input.pause();
  }

  get size(): Size {
    return { columns: this.#output.columns || 80, rows: this.#output.rows || 24 };
  }

  enter(listener: TerminalListener): void {
    this.#listener = listener;
    this.#input.resume();
  }

  async leave(): Promise<void> {
    this.leaveNow();
  }

  leaveNow(): void {
    this.#listener = undefined;
    this.#input.pause();
  }

  abandon(): void {
    this.#listener?.onGone();
  }

  write(text: string): void {
    this.#output.write(text);
  }

  checkSize(): boolean {
    return false;
  }

  setTitle(): void {
    // Titles are escape sequences.
  }

  #read(text: string): void {
    const lines = (this.#rest + text).split(/\r?\n/);
    this.#rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line !== "") this.#listener?.onEvent({ type: "text", text: line });
      this.#listener?.onEvent({ type: "key", key: "enter" });
    }
  }
}
