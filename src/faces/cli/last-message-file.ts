import { accessSync, constants, statSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { errorMessage, misuse } from "../../core/base/errors.ts";

/** Throws `invalid_argument` when the answer's file surely cannot be written, before any work. */
export function assertWritable(path: string, cwd: string): void {
  const target = resolve(cwd, path);
  try {
    const stats = statSync(target, { throwIfNoEntry: false });
    if (stats?.isDirectory() === true) throw new Error(`${target} is a folder`);
    accessSync(stats === undefined ? dirname(target) : target, constants.W_OK);
  } catch (error) {
    throw misuse(`--output-last-message: ${errorMessage(error)}. Name a file that can be written.`, {
      cause: error,
    });
  }
}

/** Writes the answer. Returns what went wrong, if something did. */
export function writeLastMessage(path: string, cwd: string, text: string): string | undefined {
  try {
    writeFileSync(resolve(cwd, path), text.endsWith("\n") ? text : `${text}\n`);
    return undefined;
  } catch (error) {
    return `--output-last-message: the answer could not be written: ${errorMessage(error)}`;
  }
}
