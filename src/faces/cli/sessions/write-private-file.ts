import { closeSync, constants, fchmodSync, fstatSync, ftruncateSync, openSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { errorMessage, misuse } from "../../../core/base/errors.ts";

const { O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_WRONLY } = constants;

/**
 * Writes a file that is the user's alone (0600), in place of one of that name. Throws `invalid_argument` for
 * a link, a file with a second name, anything else that is no regular file, and what cannot be written.
 */
export function writePrivateFile(path: string, cwd: string, text: string): void {
  const target = resolve(cwd, path);
  let descriptor: number;
  try {
    descriptor = openSync(target, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600);
  } catch (error) {
    throw misuse(`${target} cannot be written: ${errorMessage(error)}. Links are not followed.`, {
      cause: error,
    });
  }
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile() || stats.nlink > 1)
      throw misuse(`${target} is not a plain file, or has a second name (a hard link). Name another file.`);
    fchmodSync(descriptor, 0o600);
    ftruncateSync(descriptor);
    writeFileSync(descriptor, text);
  } finally {
    closeSync(descriptor);
  }
}
