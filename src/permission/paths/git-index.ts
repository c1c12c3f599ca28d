import { statSync } from "node:fs";
import { bytesOf } from "./git-settings.ts";

/** Where a field of an entry stands. Behind the mode come owners, a size and the hash, then flags. */
const MODE_AT = 24;
const HASH_AT = 40;
/** The kind of a file, and the one of a repository of its own. */
const KIND = 0o170000;
const GITLINK = 0o160000;
const FOLDER = 0o040000;
/** Of the flags: more of them follow, and how long the name is, as far as that can say it. */
const EXTENDED = 0x4000;
const LENGTH = 0xfff;

/** A repository of a million files has one of 100 MB. */
const MAX_BYTES = 500_000_000;

/** The contents of an index. */
export interface GitIndex {
  /** Paths, from the work tree on, of repositories of their own: submodules and others added like them. */
  readonly links: readonly string[];
  /** Folders of a sparse index, which stand for all entries below. */
  readonly folders: readonly string[];
  /** Another file beside it that holds the entries which do not stand here. */
  readonly shared?: string;
  /** True when it can hold nothing else: no absent or odd name. */
  readonly isWhole: boolean;
}

/** Reads an index of hashes of `hashBytes` bytes; empty where there is none. `undefined`: unreadable. */
export function readIndex(path: string, hashBytes: number): GitIndex | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return { links: [], folders: [], isWhole: true };
  const file = bytesOf(path, MAX_BYTES);
  if (file === undefined) return undefined;
  try {
    const { links, folders, end } = entriesOf(file, hashBytes);
    const extensions = extensionsOf(file, end, file.length - hashBytes);
    const shared = extensions.get("link")?.toString("hex", 0, hashBytes);
    // A name that is left out is in another file.
    const isWhole = ![...links, ...folders].some((name) => name === "" || name.includes("\uFFFD"));
    return { links, folders, isWhole, ...(shared === undefined ? {} : { shared: `sharedindex.${shared}` }) };
  } catch {
    // It is cut short, or of another form.
    return undefined;
  }
}

/** Reads entries as git does, and where they end. Throws where the file ends too early. */
function entriesOf(
  file: Buffer,
  hashBytes: number,
): Pick<GitIndex, "links" | "folders"> & { readonly end: number } {
  const isShort = file.readUInt32BE(4) === 4;
  const links: string[] = [];
  const folders: string[] = [];
  let at = 12;
  let name = Buffer.alloc(0);
  for (let left = file.readUInt32BE(8); left > 0; left--) {
    const flagsAt = at + HASH_AT + hashBytes;
    const flags = file.readUInt16BE(flagsAt);
    const begin = flagsAt + ((flags & EXTENDED) === 0 ? 2 : 4);
    const { kept, from } = isShort ? prefixOf(file, begin, name) : { kept: 0, from: begin };
    const said = flags & LENGTH;
    const length = said === LENGTH ? file.indexOf(0, from) - from : said - kept;
    if (length < 0) throw new RangeError("An entry ends before it begins.");
    const kind = file.readUInt32BE(at + MODE_AT) & KIND;
    const own = file.subarray(from, from + length);
    // Only a short form needs the name of the entry before.
    if (isShort) name = Buffer.concat([name.subarray(0, kept), own]);
    if (kind === GITLINK || kind === FOLDER)
      (kind === GITLINK ? links : folders).push(
        (isShort ? name : own).toString("utf8").split("\0", 1)[0] ?? "",
      );
    at = isShort ? from + length + 1 : at + ((from + length - at + 8) & ~7);
  }
  return { links, folders, end: at };
}

/** How much of the name before an entry keeps in the short form, and where the rest of its own stands. */
function prefixOf(
  file: Buffer,
  begin: number,
  before: Buffer,
): { readonly kept: number; readonly from: number } {
  let from = begin;
  let byte = file.readUInt8(from++);
  let dropped = byte & 127;
  while (byte > 127) {
    byte = file.readUInt8(from++);
    dropped = (dropped + 1) * 128 + (byte & 127);
  }
  if (dropped > before.length) throw new RangeError("An entry drops more than there is.");
  return { kept: before.length - dropped, from };
}

/** The extensions behind the entries, by name. Misread entries do not end where the final hash begins. */
function extensionsOf(file: Buffer, begin: number, end: number): ReadonlyMap<string, Buffer> {
  const found = new Map<string, Buffer>();
  let at = begin;
  while (at < end) {
    const next = at + 8 + file.readUInt32BE(at + 4);
    found.set(file.toString("latin1", at, at + 4), file.subarray(at + 8, next));
    at = next;
  }
  if (at !== end) throw new RangeError("It does not end where it should.");
  return found;
}
