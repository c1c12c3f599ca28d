import { lstatSync, realpathSync } from "node:fs";
import { basename, dirname, isAbsolute, join } from "node:path";
import type { CheckpointEntry, FileChange, Omission } from "../../core/agent/entries.ts";
import type { CheckpointedCall } from "../../core/agent/ports.ts";
import { systemCode } from "../../system/system-error.ts";
import { isWithin, keyWithin, type PathKey } from "./path-key.ts";
import type { Observation } from "./workspace.ts";

/** Where a call may change something: at known paths, or anywhere. */
export type Reach = "anywhere" | readonly string[];

/** Changes recorded in one entry; a call that made more gets several. */
const MAX_CHANGES = 1000;
/** Places left out that are named in one entry. */
const MAX_OMITTED = 200;

/** Where a call may change something; undefined for one that changes no file. */
export function reachOf({ tool, access }: CheckpointedCall): Reach | undefined {
  if (tool.readOnly === true || tool.changesFiles === false || access === "read_all") return undefined;
  if (typeof access === "string") return "anywhere";
  const { read, write } = access;
  if (write !== undefined && write.length > 0)
    return write.filter((path) => isAbsolute(path)).flatMap(withTarget);
  return read === undefined ? "anywhere" : undefined;
}

/** True when a call may have changed a path: one of those it named, or a folder around one. */
export function isWithinReach(reach: Reach, root: string, path: PathKey): boolean {
  if (reach === "anywhere") return true;
  return reach.some((each) => {
    const key = keyWithin(root, each);
    return key !== undefined && isWithin(key, path);
  });
}

/** A path, and where it leads when links are followed: a tool may name one and write the other. */
function withTarget(path: string): readonly string[] {
  for (let folder = path, rest = ""; ; rest = join(basename(folder), rest), folder = dirname(folder)) {
    try {
      const target = join(realpathSync.native(folder), rest);
      return target === path ? [path] : [path, target];
    } catch (error) {
      if (systemCode(error) === undefined) throw error;
      if (dirname(folder) === folder) return [path];
    }
  }
}

/** A checkpoint before the journal has it. */
export type Checkpoint = Omit<CheckpointEntry, "id" | "parent" | "time">;

/** The checkpoints of a call for what a look at `root` found; none when it found nothing. */
export function entriesOf(
  { callId, name }: { readonly callId: string; readonly name: string },
  root: string,
  { changes, omitted }: Observation,
): Checkpoint[] {
  // A folder there was no time for will be known later, as if this call had done nothing there.
  const isUntold = omitted.some(({ changed, reason }) => changed === true || reason === "no_time");
  if (changes.length === 0 && !isUntold) return [];
  const entries: Checkpoint[] = [];
  for (let at = 0; at === 0 || at < changes.length; at += MAX_CHANGES) {
    const part: readonly FileChange[] = changes.slice(at, at + MAX_CHANGES);
    entries.push({ type: "checkpoint", callId, name, root, changes: part });
  }
  const [first] = entries;
  if (first !== undefined && omitted.length > 0) entries[0] = { ...first, omitted: named(omitted) };
  return entries;
}

function named(omitted: readonly Omission[]): readonly Omission[] {
  if (omitted.length <= MAX_OMITTED) return omitted;
  return [...omitted.slice(0, MAX_OMITTED), { path: "", reason: "too_many_files" }];
}

/** Tells one state of a path from another by its facts; empty where nothing stands. */
export function placeMark(path: string): string {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats === undefined ? "" : `${stats.ino}:${stats.size}:${stats.mtimeMs}:${stats.ctimeMs}`;
}
