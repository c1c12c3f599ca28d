import { fstatSync } from "node:fs";
import { Writable } from "node:stream";
import { currentFolder } from "../../coding/settings/paths.ts";
import { loadSettings, type Settings } from "../../coding/settings/settings.ts";
import { type Environment, variable } from "../../system/env.ts";
import { EXIT } from "../../view/exit-code.ts";
import { terminalLine } from "../../view/safe-text.ts";
import type { LineOutput } from "../terminal/line-drawer.ts";
import { columnsOf, wrapColumns } from "../text/columns.ts";
import type { ParsedOptions } from "./read-options.ts";

export interface CommandContext {
  readonly environment: Environment;
  readonly stdout: Output;
  readonly stderr: Output;
}

/** Writes a message for a person to standard error, wrapped to the terminal's width. */
export function say({ stderr }: Pick<CommandContext, "stderr">, message: string): void {
  const text = terminalLine(message, 2_000);
  const lines = wrapText(text, { width: widthOf(stderr, 2), first: "nano-agent: ", rest: "  " });
  stderr.write(`${lines.join("\n")}\n`);
}

/** Writes a command's result: with `--json` a value for programs, else text for people. Returns 0. */
export function writeResult(
  { stdout, has }: Pick<CommandContext, "stdout"> & Pick<ParsedOptions, "has">,
  json: unknown,
  text: string,
): number {
  stdout.write(has("--json") ? `${JSON.stringify(json)}\n` : text);
  return EXIT.done;
}

export interface TextLayout {
  readonly style: Style;
  /** Columns; undefined if lines are not wrapped. */
  readonly width: number | undefined;
}

export function textLayoutOf({ stdout, environment }: CommandContext): TextLayout {
  return { style: styleFor(stdout.isTerminal, environment), width: widthOf(stdout, 1) };
}

/** Width of text written to a file. */
const FILE_COLUMNS = 100;

/** Standard output as the place for a conversation's lines. */
export function linePlace({ stdout, environment }: CommandContext): LineOutput {
  const { isTerminal: isStyled } = stdout;
  return { environment, isStyled, columns: () => (isStyled ? process.stdout.columns : FILE_COLUMNS) };
}

export function loadLocalSettings({ environment }: CommandContext): Promise<Settings> {
  return loadSettings({ environment, cwd: currentFolder() });
}

/** One line for each fact that has a value: names padded to `width`, values safe to print. */
export function factLines(
  facts: readonly (readonly [name: string, value: string | undefined])[],
  width: number = 8,
): readonly string[] {
  return facts.flatMap(([name, value = ""]) =>
    value === "" ? [] : [`${name.padEnd(width)}  ${terminalLine(value, 2_000)}`],
  );
}

/** Rows below a head with aligned columns; those from `figuresFrom` on are right-aligned. */
export function tableLines(
  rows: readonly (readonly string[])[],
  figuresFrom: number = Number.POSITIVE_INFINITY,
): readonly string[] {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => columnsOf(row[at] ?? ""))));
  return rows.map((row) => {
    const cells = row.map((cell, at) => {
      const blank = " ".repeat(Math.max(0, (widths[at] ?? 0) - columnsOf(cell)));
      return at < figuresFrom ? cell + blank : blank + cell;
    });
    return cells.join("  ").trimEnd();
  });
}

/** A time for a list, in local time: `2026-01-31 12:34`. */
export function listTime(time: number): string {
  const local = time - new Date(time).getTimezoneOffset() * 60_000;
  return new Date(local).toISOString().slice(0, 16).replace("T", " ");
}

export interface Style {
  readonly dim: (text: string) => string;
  readonly bold: (text: string) => string;
  readonly red: (text: string) => string;
  readonly yellow: (text: string) => string;
  readonly green: (text: string) => string;
}

/**
 * Chooses colours: `NO_COLOR` (any value) turns them off, `FORCE_COLOR` (any value but 0 and false) on,
 * `TERM=dumb` off; otherwise terminals have them.
 */
export function styleFor(isTerminal: boolean, environment: Environment): Style {
  const paint = wantsColour(isTerminal, environment)
    ? (on: number, off: number) => (text: string) => (text === "" ? "" : `\u001B[${on}m${text}\u001B[${off}m`)
    : () => (text: string) => text;
  return {
    dim: paint(2, 22),
    bold: paint(1, 22),
    red: paint(31, 39),
    yellow: paint(33, 39),
    green: paint(32, 39),
  };
}

function wantsColour(isTerminal: boolean, environment: Environment): boolean {
  if (variable(environment, "NO_COLOR") !== undefined) return false;
  const forced = variable(environment, "FORCE_COLOR");
  if (forced !== undefined) return forced !== "0" && forced !== "false";
  return isTerminal && environment["TERM"] !== "dumb";
}

/** Columns of the terminal behind an output; `undefined` if it is not a terminal. */
function widthOf({ isTerminal }: Pick<Output, "isTerminal">, descriptor: 1 | 2): number | undefined {
  if (!isTerminal) return undefined;
  const { columns } = descriptor === 1 ? process.stdout : process.stderr;
  return columns > 0 ? columns : undefined;
}

/**
 * Wraps a line without control characters to lines of at most `width` columns, at blanks, and inside a word
 * only if the word itself is too long. The first begins with `first`, the others with `rest`. One line if
 * `width` is undefined.
 */
export function wrapText(
  text: string,
  {
    width,
    first = "",
    rest = first,
  }: { readonly width: number | undefined; readonly first?: string; readonly rest?: string },
): readonly string[] {
  if (width === undefined) return [`${first}${text}`];
  const available = Math.max(MIN_WIDTH, width - Math.max(columnsOf(first), columnsOf(rest)));
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    const joined = line === "" ? word : `${line} ${word}`;
    if (columnsOf(joined) <= available) {
      line = joined;
      continue;
    }
    if (line !== "") lines.push(line);
    const pieces = wrapColumns(word, available);
    lines.push(...pieces.slice(0, -1));
    line = pieces.at(-1) ?? "";
  }
  return [...lines, line].map((each, index) => `${index === 0 ? first : rest}${each}`);
}

const MIN_WIDTH = 12;

/** One of the program's output streams. Its methods never throw. */
export interface Output {
  readonly isTerminal: boolean;
  /** Writes text unchanged. Does nothing once the reader has closed the pipe. */
  readonly write: (text: string) => void;
  /** True if so much output is pending that producing more should pause. */
  readonly isFull: boolean;
  /** Resolves when everything written has left the process or the reader is gone. */
  readonly drain: () => Promise<void>;
  /** Calls back once if the reader goes away (a closed pipe) or writing fails (a full disk). */
  readonly onBroken: (listener: (error: Error) => void) => void;
}

/**
 * An output for standard output (1) or standard error (2). Its stream is created at the first write, so that
 * a run that prints late does not pay for it before its first request.
 */
export function standardOutput(descriptor: 1 | 2): Output {
  const open = (): Writable => (descriptor === 1 ? process.stdout : process.stderr);
  return new StreamOutput(open, isTerminal(descriptor));
}

/**
 * Standard output as a stream. What is written to it reaches standard output even while {@link
 * import("./foreign-code.ts").containForeignCode} redirects other code.
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

/** Writes with the stream's original method, whatever its `write` was replaced by. */
function ownWrite(stream: Writable, chunk: string | Buffer, done: (error?: Error | null) => void): void {
  const kind = Object.getPrototypeOf(stream) as Writable;
  kind.write.call(stream, chunk, "utf8", done);
}

/** True if a standard descriptor (0 to 2) is a terminal. */
export function isTerminal(descriptor: 0 | 1 | 2): boolean {
  try {
    // The descriptor's type usually rules out a terminal without loading the terminal code.
    if (!fstatSync(descriptor).isCharacterDevice()) return false;
  } catch {
    // Closed by the caller.
    return false;
  }
  return process.getBuiltinModule("node:tty").isatty(descriptor);
}

/** Bytes that may wait for a slow reader before {@link Output.isFull} becomes true. */
const MAX_WAITING = 4_000_000;

export class StreamOutput implements Output {
  readonly isTerminal: boolean;
  readonly #open: () => Writable;
  #stream: Writable | undefined;
  #broken: Error | undefined;
  #pending = 0;
  #waiting: (() => void)[] = [];
  readonly #listeners: ((error: Error) => void)[] = [];

  constructor(open: () => Writable, terminal: boolean) {
    this.#open = open;
    this.isTerminal = terminal;
  }

  write(text: string): void {
    if (this.#broken !== undefined || text === "") return;
    this.#pending++;
    ownWrite(this.#target(), text, (error) => {
      this.#pending--;
      if (error !== undefined && error !== null) this.#break(error);
      if (this.#pending === 0) for (const resolve of this.#waiting.splice(0)) resolve();
    });
  }

  get isFull(): boolean {
    return this.#broken === undefined && (this.#stream?.writableLength ?? 0) > MAX_WAITING;
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
    for (const resolve of this.#waiting.splice(0)) resolve();
    for (const listener of this.#listeners) listener(error);
  }
}
