import { createHash, type Hash } from "node:crypto";
import { closeSync, openSync, readdirSync, readlinkSync, readSync, statSync } from "node:fs";
import { join } from "node:path";
import { misuse } from "../core/base/errors.ts";

/**
 * SHA-256, in hexadecimal, of everything in a folder: names, contents, targets of links, and what may be
 * executed. Throws `invalid_argument` for what is neither file, folder nor link.
 */
export function hashFolder(folder: string): string {
  const hash = createHash("sha256");
  addFolder(hash, folder, "");
  return hash.digest("hex");
}

function addFolder(hash: Hash, folder: string, inside: string): void {
  const entries = readdirSync(folder, { withFileTypes: true });
  for (const entry of entries.sort((left, right) => (left.name < right.name ? -1 : 1))) {
    const path = join(folder, entry.name);
    const name = `${inside}${entry.name}`;
    if (entry.isDirectory()) {
      add(hash, "folder", name);
      addFolder(hash, path, `${name}/`);
    } else if (entry.isSymbolicLink()) add(hash, "link", name, readlinkSync(path));
    else if (entry.isFile()) addFile(hash, path, name);
    else
      throw misuse(
        `${path} is neither a file, a folder nor a link: take it out, or make it in a setup program.`,
      );
  }
}

/** Lengths stand in front, so that no two folders give the same bytes. */
function add(hash: Hash, ...parts: readonly string[]): void {
  for (const part of parts) hash.update(`${Buffer.byteLength(part)}:${part}`);
}

const CHUNK = 1024 * 1024;

function addFile(hash: Hash, path: string, name: string): void {
  const { mode, size } = statSync(path);
  add(hash, (mode & 0o100) === 0 ? "file" : "program", name, String(size));
  const descriptor = openSync(path, "r");
  try {
    const buffer = Buffer.alloc(Math.min(CHUNK, Math.max(1, size)));
    for (let read = readSync(descriptor, buffer); read > 0; read = readSync(descriptor, buffer))
      hash.update(buffer.subarray(0, read));
  } finally {
    closeSync(descriptor);
  }
}
