import { fstatSync, readFileSync } from "node:fs";
import { errorMessage } from "../../core/base/errors.ts";
import { usageError } from "./usage-error.ts";

/** Most bytes of standard input that become part of a prompt. */
const MAX_BYTES = 10_000_000;

/** What kind of thing standard input is. */
export type StdinKind = "terminal" | "pipe" | "file" | "nothing";

/** How {@link readStdin} waits. */
export interface ReadStdinOptions {
  /** True when the run can do without: then a pipe that stays silent for `silenceMs` is left alone. */
  readonly optional: boolean;
  /** Default 3,000. */
  readonly silenceMs?: number;
  /** Told that the pipe was left alone. */
  readonly onSilence?: () => void;
}

/** What standard input is. A closed one and `/dev/null` are `nothing`. */
export function stdinKind(): StdinKind {
  try {
    const stats = fstatSync(0);
    if (stats.isFIFO() || stats.isSocket()) return "pipe";
    if (!stats.isCharacterDevice()) return "file";
  } catch {
    // Closed by the caller.
    return "nothing";
  }
  return process.getBuiltinModule("node:tty").isatty(0) ? "terminal" : "nothing";
}

/**
 * All text on standard input. Throws `invalid_argument` for what cannot be read (a folder), is too long, or
 * is not text.
 */
export async function readStdin(kind: StdinKind, options: ReadStdinOptions): Promise<string> {
  switch (kind) {
    case "nothing":
      return "";
    case "file":
      return toText([readRegular()]);
    default:
      return toText(await collect(kind === "pipe" && options.optional ? options : undefined));
  }
}

function readRegular(): Buffer {
  try {
    const { size } = fstatSync(0);
    if (size > MAX_BYTES) throw tooLong();
    return readFileSync(0);
  } catch (error) {
    throw usageError(`Standard input cannot be read: ${errorMessage(error)}. Redirect a text file.`, error);
  }
}

function collect(wait: ReadStdinOptions | undefined): Promise<readonly Buffer[]> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const { stdin } = process;
    const silence =
      wait === undefined
        ? undefined
        : setTimeout(() => {
            wait.onSilence?.();
            stdin.destroy();
            resolve([]);
          }, wait.silenceMs ?? 3_000);
    stdin.on("data", (chunk: Buffer) => {
      clearTimeout(silence);
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes <= MAX_BYTES) return;
      stdin.destroy();
      reject(tooLong());
    });
    stdin.once("end", () => {
      clearTimeout(silence);
      resolve(chunks);
    });
    stdin.once("error", (error) => {
      clearTimeout(silence);
      reject(usageError(`Standard input cannot be read: ${errorMessage(error)}.`, error));
    });
  });
}

function toText(chunks: readonly Buffer[]): string {
  const bytes = Buffer.concat(chunks);
  if (bytes.includes(0)) {
    throw usageError(
      "Standard input is not text: it contains NUL bytes. Pipe text, or name the file in the prompt.",
    );
  }
  return bytes.toString("utf8").replace(/^\uFEFF/, "");
}

function tooLong(): Error {
  return usageError(
    `Standard input has more than ${MAX_BYTES} bytes. Pipe less, or put it in a file and name the file in the prompt.`,
  );
}
