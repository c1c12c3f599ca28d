import type { ReadStream, WriteStream } from "node:tty";
import type { Size, TerminalListener } from "./key.ts";
import type { ScreenTerminal } from "./tty-terminal.ts";

/** A terminal that is left as it is: lines come when they are finished, and nothing but text is written. */
export class LineTerminal implements ScreenTerminal {
  readonly isBusy = false;
  readonly #input: ReadStream;
  readonly #output: WriteStream;
  #listener: TerminalListener | undefined;
  #rest = "";

  constructor({ input, output }: { readonly input: ReadStream; readonly output: WriteStream }) {
    this.#input = input;
    this.#output = output;
    const gone = (): void => this.#listener?.onGone();
    output.on("error", gone);
    input.on("error", gone);
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
