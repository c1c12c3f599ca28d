import type { FileChange, FileVersion, JournalEntry } from "../core/agent/entries.ts";
import { checkpointHistory, type HistoryStep } from "../session/undo/checkpoint-history.ts";
import { notFound } from "./refusal.ts";
import type { ChangeKind, SessionChange } from "./server-api.ts";

/** One change of one file, by a call, an undo or a redo. */
export interface FileStep extends HistoryStep, Pick<FileChange, "before" | "after"> {
  readonly root: string;
  readonly path: string;
  readonly kind: ChangeKind;
  /** True if the file could not be restored. */
  readonly isFailed: boolean;
}

/** The changes of files, oldest first. Paths are relative if `cwd` (default: the root) is their root. */
export function fileSteps(entries: Iterable<JournalEntry>, cwd?: string): readonly FileStep[] {
  return checkpointHistory(entries).steps.flatMap((step): readonly FileStep[] => {
    const { root, changes } = step.entry;
    const byPath = Map.groupBy(changes.filter(isOfFile), ({ path }) => path);
    return [...byPath].map(([key, own]) => {
      const before = own[0]?.before ?? null;
      const after = own.at(-1)?.after ?? null;
      const path = shownPath(key, root, cwd ?? root);
      const isFailed = step.failed.has(key);
      return { ...step, root, path, before, after, kind: kindOf(before, after), isFailed };
    });
  });
}

interface FoundChange extends FileStep {
  readonly change: SessionChange;
}

/** The changes that calls made to files, oldest first. */
export function changesIn(entries: Iterable<JournalEntry>, cwd: string): readonly FoundChange[] {
  return fileSteps(entries, cwd).flatMap((step) => {
    const { entry, run, turn, time, path, kind } = step;
    if (entry.type !== "checkpoint") return [];
    const { id: entryId, callId } = entry;
    return [{ ...step, change: { entryId, callId, run, turn, time, path, kind, added: 0, removed: 0 } }];
  });
}

interface FoundFile {
  readonly root: string;
  readonly path: string;
  readonly kind: ChangeKind;
  /** `null`: it no longer existed. */
  readonly version: FileVersion | null;
  /** Its version before the session; `null`: the file did not exist. */
  readonly origin: FileVersion | null;
}

/**
 * The files changed up to and including an entry, each in its state right after it. Throws for an unknown
 * entry.
 */
export function filesAt(
  entries: readonly JournalEntry[],
  cwd: string,
  at: string | undefined,
): ReadonlyMap<string, FoundFile> {
  const end = at === undefined ? entries.length : entries.findIndex(({ id }) => id === at) + 1;
  if (at !== undefined && end === 0) throw notFound("entry of this id in the session");
  const files = new Map<string, FoundFile>();
  for (const { root, path, before, after: version } of fileSteps(entries.slice(0, end), cwd)) {
    const known = files.get(path);
    const origin = known === undefined ? before : known.origin;
    files.set(path, { root, path, kind: kindOf(origin, version), version, origin });
  }
  return files;
}

export function kindOf(before: FileVersion | null, after: FileVersion | null): ChangeKind {
  if (after === null) return "deleted";
  return before === null ? "created" : "changed";
}

/** True for anything but folders, which come and go with their files. */
export function isOfFile({ before, after }: Pick<FileChange, "before" | "after">): boolean {
  return before?.type !== "folder" && after?.type !== "folder";
}

/** A path for display: relative if the working directory is its root, else absolute. */
export function shownPath(key: string, root: string, cwd: string): string {
  const path = key.startsWith("\0")
    ? new TextDecoder().decode(Uint8Array.from(key.slice(1), (char) => char.charCodeAt(0)))
    : key;
  return root === cwd ? path : `${root}/${path}`;
}
