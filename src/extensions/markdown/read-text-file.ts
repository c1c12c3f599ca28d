import { isUtf8 } from "node:buffer";
import {
  closeSync,
  constants,
  type Dirent,
  fstatSync,
  openSync,
  readdirSync,
  readSync,
  realpathSync,
} from "node:fs";
import { join } from "node:path";
import { errorMessage } from "../../core/base/errors.ts";
import { toCleanText } from "../../core/base/text.ts";
import { isWithin, realPath } from "../../system/real-path.ts";
import { isNotFound } from "../../system/system-error.ts";
import type { Finding } from "./origin.ts";

export interface ReadTextOptions {
  readonly maxBytes: number;
  /** Folder that must contain the file once links are resolved. Default: links may lead anywhere. */
  readonly boundary?: string | undefined;
  /** True reads only the beginning of a longer file. Default: a longer file is a fault. */
  readonly truncates?: boolean;
}

/** A text file, why it cannot be used (a sentence without its path), or undefined if it does not exist. */
export type TextFile =
  | { readonly text: string; readonly cut: boolean }
  | { readonly fault: string }
  | undefined;

/** Reads a regular file of valid UTF-8. Characters that would harm a terminal or a request are replaced. */
export function readTextFile(
  path: string,
  { maxBytes, boundary, truncates = false }: ReadTextOptions,
): TextFile {
  try {
    const real = realpathSync(path);
    if (boundary !== undefined && !isWithin(real, realPath(boundary)))
      return { fault: `is a link that leads out of ${boundary}, which is not followed` };
    const read = readRegularFile(real, maxBytes, truncates);
    if ("fault" in read) return read;
    const isLonger = read.length > maxBytes;
    const bytes = isLonger ? truncateUtf8(read, maxBytes) : read;
    if (!isUtf8(bytes)) return { fault: "is not UTF-8 text: save it as UTF-8" };
    return { text: toCleanText(bytes.toString("utf8")), cut: isLonger };
  } catch (error) {
    return isNotFound(error) ? undefined : { fault: `cannot be read: ${errorMessage(error)}` };
  }
}

/** The bytes of a file, links not followed; with `cut` the first `maxBytes` and one more. May throw. */
export function readRegularFile(
  path: string,
  maxBytes: number,
  cut = false,
): Buffer | { readonly fault: string } {
  // Non-blocking, so that a pipe in the file's place does not hang.
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) return { fault: "is not a regular file" };
    if (stats.size > maxBytes && !cut) return { fault: `has ${stats.size} bytes, more than ${maxBytes}` };
    const read = readBytes(file, maxBytes + 1);
    return read.length > maxBytes && !cut ? { fault: `has more than ${maxBytes} bytes` } : read;
  } finally {
    closeSync(file);
  }
}

function readBytes(file: number, maxLength: number): Buffer {
  const buffer = Buffer.alloc(maxLength);
  let length = 0;
  for (let read = 1; read > 0 && length < maxLength; length += read)
    read = readSync(file, buffer, length, maxLength - length, length);
  return buffer.subarray(0, length);
}

function truncateUtf8(bytes: Buffer, maxLength: number): Buffer {
  let end = maxLength;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return bytes.subarray(0, end);
}

/** The entries of a folder by name, without hidden ones. Empty if the folder does not exist. */
export function readFolder(path: string, findings: Finding[]): readonly Dirent[] {
  try {
    const entries = readdirSync(path, { withFileTypes: true }).filter(({ name }) => !name.startsWith("."));
    return entries.sort((left, right) => (left.name < right.name ? -1 : 1));
  } catch (error) {
    if (!isNotFound(error))
      findings.push({ path, level: "fault", message: `cannot be read: ${errorMessage(error)}` });
    return [];
  }
}

const MAX_ENTRIES = 500;
const MAX_DEPTH = 4;

/**
 * The paths of files below a folder whose names end in `ending`, relative, with `/`, in order; without links
 * to folders, hidden names and `node_modules`. `cut`: there are more.
 */
export function filesBelow(
  folder: string,
  findings: Finding[] = [],
  ending = "",
): { readonly paths: readonly string[]; readonly cut: boolean } {
  const paths: string[] = [];
  let entries = 0;
  let cut = false;
  const walk = (below: string, depth: number): void => {
    for (const entry of readFolder(join(folder, below), findings)) {
      const isFolder = entry.isDirectory();
      if (entry.name === "node_modules" || (!isFolder && !entry.name.endsWith(ending))) continue;
      entries++;
      cut ||= entries > MAX_ENTRIES || (isFolder && depth === MAX_DEPTH);
      if (entries > MAX_ENTRIES) return;
      const path = below === "" ? entry.name : `${below}/${entry.name}`;
      if (!isFolder) paths.push(path);
      else if (depth < MAX_DEPTH) walk(path, depth + 1);
    }
  };
  walk("", 1);
  return { paths, cut };
}
