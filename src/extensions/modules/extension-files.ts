import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { Origin, SourceFolder } from "../markdown/origin.ts";

/** Files that are looked at in one folder. */
const MAX_FILES = 100;

/** A file or package that holds an extension. */
export interface ExtensionFile {
  /** What it is called in messages: the name of its file, or of its package. */
  readonly name: string;
  readonly path: string;
  readonly origin: Exclude<Origin, "builtin">;
}

/** The extension files of some folders, in the order of their names: `*.ts`, `*.mts`, `*.mjs`, and folders with an `index` of that kind. */
export function extensionFiles(folders: readonly SourceFolder[]): readonly ExtensionFile[] {
  return folders.flatMap(({ path, origin }) =>
    namesIn(path).flatMap((name): ExtensionFile[] => {
      if (/\.(?:ts|mts|mjs)$/.test(name) && !name.endsWith(".d.ts"))
        return [{ name, path: join(path, name), origin }];
      const index = namesIn(join(path, name)).find((inner) => /^index\.(?:ts|mts|mjs)$/.test(inner));
      return index === undefined ? [] : [{ name, path: join(path, name, index), origin }];
    }),
  );
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
      .filter((name) => !name.startsWith(".") && name !== "node_modules")
      .sort()
      .slice(0, MAX_FILES);
  } catch {
    // No folder holds no extensions.
    return [];
  }
}
