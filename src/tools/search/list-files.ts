import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { IgnoreRules } from "./ignore-rules.ts";
import { type RipgrepLocator, runRipgrep } from "./ripgrep.ts";
import { isSkipped, ripgrepFileArgs, type SkipRules } from "./skipped-names.ts";

/** Which files to list. */
export interface ListFilesOptions extends SkipRules {
  readonly ripgrep: RipgrepLocator;
  /** Ends the listing at once; what was handed over until then stands. */
  readonly signal: AbortSignal;
  /** Takes a path, relative to the folder and with `/`; returns false when it has enough. */
  readonly onFile: (path: string) => boolean;
}

/**
 * Lists the regular files below a folder that no ignore file names, in no particular order: with ripgrep, or
 * without it by walking the folders. Links are not followed; folders that cannot be read are passed over.
 * Does not throw on abort.
 */
export async function listFiles(folder: string, options: ListFilesOptions): Promise<void> {
  const command = await options.ripgrep.find();
  if (command === undefined) {
    await walkFiles(folder, options);
    return;
  }
  await runRipgrep(
    command,
    ["--files", "--null", "--no-messages", ...(await ripgrepFileArgs(folder, options))],
    {
      cwd: folder,
      separator: "\0",
      signal: options.signal,
      onRecord: options.onFile,
    },
  );
}

/** The walk alone, in the order of names. Returns the number of folders that could not be read. */
export async function walkFiles(folder: string, options: Omit<ListFilesOptions, "ripgrep">): Promise<number> {
  let unread = 0;
  const pending = [{ path: "", rules: await IgnoreRules.at(folder) }];
  for (let current = pending.pop(); current !== undefined; current = pending.pop()) {
    const folders: (typeof current)[] = [];
    const entries = await entriesOf(join(folder, current.path));
    if (entries === undefined) unread++;
    for (const entry of entries ?? []) {
      if (options.signal.aborted) return unread;
      if (isSkipped(entry.name, options)) continue;
      const path = current.path === "" ? entry.name : `${current.path}/${entry.name}`;
      const full = join(folder, path);
      if (entry.isFile() && !current.rules.ignores(full, false) && !options.onFile(path)) return unread;
      if (entry.isDirectory() && !current.rules.ignores(full, true)) {
        folders.push({ path, rules: current.rules.below(full) });
      }
    }
    pending.push(...folders.reverse());
  }
  return unread;
}

async function entriesOf(folder: string) {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch {
    return undefined;
  }
}
