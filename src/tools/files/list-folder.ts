import type { Dirent } from "node:fs";
import { opendir } from "node:fs/promises";

/** A part of a folder's entries, in the order of their names. */
export interface FolderPage {
  /** Names, marked as `ls -F` does: `/` for folders, `@` for links, `|` for FIFOs, `=` for sockets. */
  readonly entries: readonly string[];
  /** Number of entries, or of those counted before the count was given up. */
  readonly total: number;
  /** True when the folder has more entries than were counted. */
  readonly isPartial: boolean;
}

/** Lists `limit` entries from the `first` (from 1). Beyond 50,000 entries, some 50,000 are listed. */
export async function listFolder(
  path: string,
  options: { readonly first: number; readonly limit: number; readonly signal: AbortSignal },
): Promise<FolderPage> {
  const names: string[] = [];
  let isPartial = false;
  for await (const entry of await opendir(path, { bufferSize: 512 })) {
    options.signal.throwIfAborted();
    if (names.length === MAX_COUNTED) {
      isPartial = true;
      break;
    }
    names.push(`${printable(entry.name)}${markOf(entry)}`);
  }
  names.sort();
  const start = options.first - 1;
  return { entries: names.slice(start, start + options.limit), total: names.length, isPartial };
}

const MAX_COUNTED = 50_000;

function markOf(entry: Dirent): string {
  if (entry.isDirectory()) return "/";
  if (entry.isSymbolicLink()) return "@";
  if (entry.isFIFO()) return "|";
  return entry.isSocket() ? "=" : "";
}

/** Names with control characters are quoted, so that no name looks like two. */
function printable(name: string): string {
  return /\p{Cc}/u.test(name) ? JSON.stringify(name) : name;
}
