import { statSync } from "node:fs";
import { join } from "node:path";
import type { Origin, SourceFolder } from "../markdown/origin.ts";
import { readFolder } from "../markdown/read-text-file.ts";

/** Files that are looked at in one folder. */
const MAX_FILES = 100;

/** A file or package that holds an extension. */
export interface ExtensionFile {
  /** Its name in messages: that of its file, or of its package. */
  readonly name: string;
  readonly path: string;
  readonly origin: Exclude<Origin, "builtin">;
}

const ENDING = /\.(?:ts|mts|mjs|js)$/;

/** Extensions of folders, by name: `*.ts`, `*.mts`, `*.mjs`, `*.js`, and folders with such an `index`. */
export function extensionFiles(folders: readonly SourceFolder[]): readonly ExtensionFile[] {
  return folders.flatMap(({ path, origin }) =>
    namesIn(path).flatMap((name): ExtensionFile[] => {
      if (ENDING.test(name) && !/\.d\.m?ts$/.test(name) && isFile(join(path, name)))
        return [{ name, path: join(path, name), origin }];
      const index = namesIn(join(path, name)).find(
        (inner) => inner.startsWith("index.") && ENDING.test(inner),
      );
      return index === undefined ? [] : [{ name, path: join(path, name, index), origin }];
    }),
  );
}

/** A pipe would hold the start until somebody writes to it. */
function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

/** The names in a folder; what is none, or cannot be read, holds no extensions. */
function namesIn(folder: string): readonly string[] {
  const names = readFolder(folder, []).map(({ name }) => name);
  return names.filter((name) => name !== "node_modules").slice(0, MAX_FILES);
}
