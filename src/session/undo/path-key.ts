import { isUtf8 } from "node:buffer";
import { sep } from "node:path";

/**
 * A path below a root as a text that any journal can hold: parts separated by `/`; a path that is not valid
 * UTF-8 is a NUL character followed by its bytes, each as the character of that number. The root itself is
 * the empty text.
 */
export type PathKey = string;

const RAW = "\0";

/** The key of some bytes. */
export function keyOfBytes(bytes: Buffer): PathKey {
  return isUtf8(bytes) ? bytes.toString("utf8") : RAW + bytes.toString("latin1");
}

/** The bytes a key stands for. */
export function bytesOfKey(key: PathKey): Buffer {
  return key.startsWith(RAW) ? Buffer.from(key.slice(1), "latin1") : Buffer.from(key, "utf8");
}

/** The path for the file system of a key below `root`, an absolute path. */
export function nativePath(root: string, key: PathKey): string | Buffer {
  if (key === "") return root;
  const folder = root === "/" ? "" : root;
  return key.startsWith(RAW)
    ? Buffer.concat([Buffer.from(`${folder}/`), bytesOfKey(key)])
    : `${folder}/${key}`;
}

/** The key of an entry of a folder. */
export function childKey(folder: PathKey, name: PathKey): PathKey {
  if (folder === "") return name;
  if (!folder.startsWith(RAW) && !name.startsWith(RAW)) return `${folder}/${name}`;
  return keyOfBytes(Buffer.concat([bytesOfKey(folder), Buffer.from("/"), bytesOfKey(name)]));
}

/** The key of the folder around a key; undefined for the root. */
export function parentKey(key: PathKey): PathKey | undefined {
  if (key === "") return undefined;
  const cut = key.lastIndexOf("/");
  if (cut === -1) return "";
  const parent = key.slice(0, cut);
  return parent.startsWith(RAW) ? keyOfBytes(Buffer.from(parent.slice(1), "latin1")) : parent;
}

/** The keys of all folders around a key below the root, outermost first. */
export function foldersAbove(key: PathKey): PathKey[] {
  const above: PathKey[] = [];
  for (let folder = parentKey(key); folder !== undefined && folder !== ""; folder = parentKey(folder))
    above.unshift(folder);
  return above;
}

/** The parts of a key, each a key of its own. */
export function partsOf(key: PathKey): PathKey[] {
  if (!key.startsWith(RAW)) return key === "" ? [] : key.split("/");
  return key
    .slice(1)
    .split("/")
    .map((part) => keyOfBytes(Buffer.from(part, "latin1")));
}

/** True when `key` is `folder` or stands below it. */
export function isWithin(key: PathKey, folder: PathKey): boolean {
  if (folder === "" || key === folder) return true;
  if (key.startsWith(RAW) === folder.startsWith(RAW)) return key.startsWith(`${folder}/`);
  return !folder.startsWith(RAW) && foldersAbove(key).includes(folder);
}

/** True for a key that may be put back: plain parts below the root, not in a repository's own folder. */
export function isSafeKey(key: unknown): key is PathKey {
  if (typeof key !== "string" || key === "") return false;
  return partsOf(key).every(
    (part) => part !== "" && part !== "." && part !== ".." && part !== GIT && !part.slice(1).includes(RAW),
  );
}

/** The key of an absolute path below a root that may be put back; undefined for any other. */
export function keyWithin(root: string, path: string): PathKey | undefined {
  const start = root.endsWith(sep) ? root : root + sep;
  if (!path.startsWith(start)) return undefined;
  const key = path.slice(start.length).replaceAll(sep, "/");
  return isSafeKey(key) ? key : undefined;
}

/** The folder of a repository's own, which is never looked into. */
export const GIT = ".git";

/** A key for people. */
export function shownPath(key: PathKey): string {
  return key.startsWith(RAW) ? bytesOfKey(key).toString("utf8") : key;
}
