import { chmodSync, chownSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tempFolder } from "../temp-folder.ts";

/** Generated lines may name any place: run by root they would write there. */
export const NOBODY: { readonly uid?: number; readonly gid?: number } =
  process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

/** What a line of {@link markingStubs} may run, as rules. */
export const ALLOWED = "echo ; echo * ; cat ; cat * ; : ; : * ; true ; false";

/** A folder to work in that has to stay empty, and programs that leave a file there when they run. */
export function markingStubs(): { readonly root: string; readonly work: string; readonly bin: string } {
  const root = tempFolder();
  const [bin, work] = [join(root, "bin"), join(root, "work")];
  for (const folder of [bin, work]) mkdirSync(folder);
  chmodSync(root, 0o755);
  if (NOBODY.uid !== undefined && NOBODY.gid !== undefined) chownSync(work, NOBODY.uid, NOBODY.gid);
  for (const name of ["evil", "x", "a", "b", "f", "E", "in"]) {
    writeFileSync(join(bin, name), `#!/bin/sh\n: > ${work}/ran-${name}\n`);
    chmodSync(join(bin, name), 0o755);
  }
  return { root, work, bin };
}
