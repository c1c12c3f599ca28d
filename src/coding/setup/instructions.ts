import { closeSync, constants, fstatSync, openSync, readSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { errorMessage } from "../../core/base/errors.ts";
import { toCleanText } from "../../core/base/text.ts";
import { isWithin, realPath } from "../../system/real-path.ts";

/** Bytes of instructions that are read of one file, and of all files together. */
const MAX_FILE_BYTES = 32_768;
const MAX_TOTAL_BYTES = 65_536;

/** Names of the files that hold instructions. Of those in one folder the first counts. */
export const INSTRUCTION_FILES = ["AGENTS.md", "CLAUDE.md"] as const;

/** One instructions file of a project. */
export interface Instructions {
  readonly path: string;
  readonly text: string;
  /** True when the file is longer than what is given here. */
  readonly cut: boolean;
}

/**
 * The instructions a project has for agents: of each folder, root first, its `AGENTS.md`, else its
 * `CLAUDE.md`. The nearest comes last; when all together are too long, the farthest are left out. A file that
 * several folders link to is read once. What cannot be read, is no UTF-8, or is a link out of the project is
 * left out; `onNotice` is told.
 */
export function readInstructions(
  folders: readonly string[],
  onNotice: (message: string) => void = () => undefined,
): readonly Instructions[] {
  const found: Instructions[] = [];
  const seen = new Set<string>();
  const root = folders[0] === undefined ? "" : realPath(folders[0]);
  let bytes = 0;
  for (const folder of folders.toReversed()) {
    const file = firstFile(folder, root, onNotice);
    if (file === undefined || seen.has(file.real)) continue;
    seen.add(file.real);
    bytes += file.bytes;
    if (bytes > MAX_TOTAL_BYTES) {
      onNotice(
        `${file.instructions.path} and what is above it are left out: instructions have more than ${MAX_TOTAL_BYTES} bytes.`,
      );
      break;
    }
    found.unshift(file.instructions);
  }
  return found;
}

interface InstructionsFile {
  readonly real: string;
  readonly bytes: number;
  readonly instructions: Instructions;
}

function firstFile(
  folder: string,
  root: string,
  onNotice: (message: string) => void,
): InstructionsFile | undefined {
  for (const name of INSTRUCTION_FILES) {
    const path = join(folder, name);
    const real = placeOf(path);
    if (real === undefined) continue;
    if (!isWithin(real, root)) {
      onNotice(`${path} is left out: it is a link that leads out of ${root}.`);
      continue;
    }
    const read = readBounded(path, real);
    if (read === undefined) continue;
    if (!("fault" in read)) return read;
    onNotice(`${path} is left out: ${read.fault}.`);
  }
  return undefined;
}

function readBounded(path: string, real: string): InstructionsFile | { readonly fault: string } | undefined {
  let file: number | undefined;
  try {
    // Non-blocking, so that a pipe in the file's place holds nothing up.
    file = openSync(real, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
    if (!fstatSync(file).isFile()) return undefined;
    const buffer = Buffer.alloc(MAX_FILE_BYTES + 1);
    const length = readSync(file, buffer);
    const cut = length > MAX_FILE_BYTES;
    const text = decoded(buffer.subarray(0, Math.min(length, MAX_FILE_BYTES)), cut)?.trim();
    if (text === undefined) return { fault: "it is not UTF-8 text" };
    if (text === "") return undefined;
    return {
      real,
      bytes: Buffer.byteLength(text),
      instructions: { path, text: toCleanText(text), cut },
    };
  } catch (error) {
    return { fault: errorMessage(error) };
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** The text of UTF-8 bytes; undefined for others. `cut` drops a character that the end cuts in half. */
function decoded(bytes: Uint8Array, cut: boolean): string | undefined {
  try {
    // A decoder that waits for more keeps the half of a character to itself.
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: cut });
  } catch {
    // The decoder has no other way to say that this is another encoding.
    return undefined;
  }
}

function placeOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    // Absent, or a link to nothing: no instructions.
    return undefined;
  }
}
