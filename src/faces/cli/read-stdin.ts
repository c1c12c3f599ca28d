import { fstatSync, readFileSync } from "node:fs";
import { errorMessage, isNanoAgentError, misuse } from "../../core/base/errors.ts";

const MAX_BYTES = 10_000_000;
/** Milliseconds after which a silent pipe that a run can do without is left alone. */
const SILENCE_MS = 3_000;

/** Kinds of standard input. */
export type StdinKind = "terminal" | "pipe" | "file" | "nothing";

/** The kind of standard input. A closed one and `/dev/null` are `nothing`. */
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
 * All text on standard input. `onSilence` is for a run that can do without: told when a silent pipe was left
 * alone. Throws `invalid_argument` for what cannot be read (a folder), is too long, or is not text.
 */
export async function readStdin(kind: StdinKind, onSilence?: () => void): Promise<string> {
  if (kind === "nothing") return "";
  const bytes = kind === "file" ? readRegular() : await readStream(kind === "pipe" ? onSilence : undefined);
  if (bytes.includes(0))
    throw misuse(
      "Standard input is not text: it contains NUL bytes. Pipe text, or name the file in the prompt.",
    );
  return bytes.toString("utf8").replace(/^\uFEFF/, "");
}

function readRegular(): Buffer {
  try {
    assertLength(fstatSync(0).size);
    return readFileSync(0);
  } catch (error) {
    throw unreadable(error, " Redirect a text file.");
  }
}

async function readStream(onSilence: (() => void) | undefined): Promise<Buffer> {
  const { stdin } = process;
  const chunks: Buffer[] = [];
  let bytes = 0;
  let isSilent = false;
  const leaveAlone = (): void => {
    isSilent = true;
    onSilence?.();
    stdin.destroy();
  };
  const silence = onSilence === undefined ? undefined : setTimeout(leaveAlone, SILENCE_MS);
  try {
    for await (const chunk of stdin as AsyncIterable<Buffer>) {
      clearTimeout(silence);
      chunks.push(chunk);
      bytes += chunk.length;
      assertLength(bytes);
    }
  } catch (error) {
    if (!isSilent) throw unreadable(error, "");
  } finally {
    clearTimeout(silence);
  }
  return Buffer.concat(chunks);
}

/** The error for what cannot be read; too much has its own already. */
function unreadable(error: unknown, advice: string): Error {
  if (isNanoAgentError(error)) return error;
  return misuse(`Standard input cannot be read: ${errorMessage(error)}.${advice}`, { cause: error });
}

function assertLength(bytes: number): void {
  if (bytes > MAX_BYTES)
    throw misuse(
      `Standard input has more than ${MAX_BYTES} bytes. Pipe less, or put it in a file and name the file in the prompt.`,
    );
}
