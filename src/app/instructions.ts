import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { join } from "node:path";

/** Bytes of instructions that are read of one file, and of all files together. */
const MAX_FILE_BYTES = 32_768;
const MAX_TOTAL_BYTES = 65_536;

/** One instructions file of a project. */
export interface Instructions {
  readonly path: string;
  readonly text: string;
  /** True when the file is longer than what is given here. */
  readonly cut: boolean;
}

/**
 * The instructions a project has for agents: of each folder, root first, its `AGENTS.md`, else its `CLAUDE.md`. The nearest comes
 * last; when all together are too long, the farthest are left out. What cannot be read is left out.
 */
export function readInstructions(folders: readonly string[]): readonly Instructions[] {
  const found: Instructions[] = [];
  let bytes = 0;
  for (const folder of folders.toReversed()) {
    const instructions = readFirst(folder);
    if (instructions === undefined) continue;
    bytes += instructions.text.length;
    if (bytes > MAX_TOTAL_BYTES) break;
    found.unshift(instructions);
  }
  return found;
}

function readFirst(folder: string): Instructions | undefined {
  for (const name of ["AGENTS.md", "CLAUDE.md"]) {
    const read = readBounded(join(folder, name));
    if (read !== undefined) return read;
  }
  return undefined;
}

function readBounded(path: string): Instructions | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    if (!fstatSync(file).isFile()) return undefined;
    const buffer = Buffer.alloc(MAX_FILE_BYTES + 1);
    const length = readSync(file, buffer);
    const cut = length > MAX_FILE_BYTES;
    // A character cut in half at the end decodes to a replacement character.
    const text = buffer
      .toString("utf8", 0, Math.min(length, MAX_FILE_BYTES))
      .replace(/\uFFFD$/, "")
      .trim();
    return text === "" ? undefined : { path, text, cut };
  } catch {
    // Absent, or nothing we may read: a project without instructions.
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
