import { statSync } from "node:fs";
import { join } from "node:path";
import type { Origin, SourceFolder } from "../markdown/origin.ts";
import { readFolder } from "../markdown/read-text-file.ts";

const MAX_FILES = 100;

export interface ExtensionFile {
  readonly name: string;
  readonly path: string;
  readonly origin: Exclude<Origin, "builtin">;
}

const ENDING = /\.(?:ts|mts|mjs|js)$/;

/** Extensions in folders, by name: `*.ts`, `*.mts`, `*.mjs`, `*.js`, and folders with such an `index`. */
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

/** A pipe would block the start until someone writes to it. */
function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

function namesIn(folder: string): readonly string[] {
  const names = readFolder(folder, []).map(({ name }) => name);
  return names.filter((name) => name !== "node_modules").slice(0, MAX_FILES);
}
