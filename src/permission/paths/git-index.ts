import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";

/** Where a field of an entry stands. Behind the mode come owners, a size and the hash, then flags. */
const MODE_AT = 24;
const HASH_AT = 40;
/** The kind of a file, and the one of a repository of its own. */
const KIND = 0o170000;
const GITLINK = 0o160000;
/** Of the flags: more of them follow, and how long the name is, as far as that can say it. */
const EXTENDED = 0x4000;
const LENGTH = 0xfff;

/** What an index says. */
interface Index {
  readonly links: readonly string[];
  readonly extensions: readonly string[];
}

/**
 * Paths, from the work tree on, that an index says are repositories of their own: submodules, and others that were added like them. An
 * entry's hash has `hashBytes` bytes. `undefined` where the file cannot be read; none where there is no file.
 */
export function gitlinksIn(path: string, hashBytes: number): readonly string[] | undefined {
  if (statSync(path, { throwIfNoEntry: false }) === undefined) return [];
  try {
    const index = readIndex(path, hashBytes);
    // Such an index shares its entries with other files.
    const shared = index.extensions.includes("link") ? sharedFiles(dirname(path)) : [];
    const all = [index, ...shared.map((file) => readIndex(file, hashBytes))];
    const links = all.flatMap((each) => each.links);
    // Entries of folders that it leaves out are not in the file; a name that is left out is in another.
    const isSparse = all.some(({ extensions }) => extensions.includes("sdir"));
    return isSparse || links.some((name) => name === "" || name.includes("\uFFFD")) ? undefined : links;
  } catch {
    // It is cut short, is of another form, or not for us.
    return undefined;
  }
}

function sharedFiles(folder: string): readonly string[] {
  const names = readdirSync(folder).filter((name) => name.startsWith("sharedindex."));
  return names.map((name) => join(folder, name));
}

/** Reads an index as git does. Throws where it ends too early. */
function readIndex(path: string, hashBytes: number): Index {
  const file = readFileSync(path);
  const isShort = file.readUInt32BE(4) === 4;
  const links: string[] = [];
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
    const isLink = (file.readUInt32BE(at + MODE_AT) & KIND) === GITLINK;
    const own = file.subarray(from, from + length);
    // Only a short form needs the name of the entry before.
    if (isShort) name = Buffer.concat([name.subarray(0, kept), own]);
    if (isLink) links.push((isShort ? name : own).toString("utf8").split("\0", 1)[0] ?? "");
    at = isShort ? from + length + 1 : at + ((from + length - at + 8) & ~7);
  }
  return { links, extensions: extensionsOf(file, at, file.length - hashBytes) };
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

function extensionsOf(file: Buffer, begin: number, end: number): readonly string[] {
  const names: string[] = [];
  for (let at = begin; at + 8 <= end; at += 8 + file.readUInt32BE(at + 4))
    names.push(file.toString("latin1", at, at + 4));
  return names;
}
