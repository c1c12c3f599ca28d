import type { FileChange, FileVersion, JournalEntry } from "../core/agent/entries.ts";
import { checkpointHistory } from "../session/undo/checkpoint-history.ts";
import { notFound } from "./refusal.ts";
import type { ChangeKind, SessionChange } from "./server-api.ts";

export interface FoundChange extends Pick<FileChange, "before" | "after"> {
  readonly root: string;
  readonly change: SessionChange;
}

export interface FoundFile {
  readonly root: string;
  readonly path: string;
  readonly kind: ChangeKind;
  /** `null`: it was gone. */
  readonly version: FileVersion | null;
  /** As it was before the session; `null`: there was no such file. */
  readonly origin: FileVersion | null;
}

/** The changes that calls made to files, oldest first. Paths are below `cwd` where the files are. */
export function changesIn(entries: Iterable<JournalEntry>, cwd: string): readonly FoundChange[] {
  return checkpointHistory(entries).steps.flatMap(({ entry, run, turn }) => {
    if (entry.type !== "checkpoint") return [];
    const { id: entryId, callId, time, root } = entry;
    return entry.changes.filter(isOfFile).map(({ path, before, after }) => ({
      root,
      before,
      after,
      change: {
        entryId,
        callId,
        run,
        turn,
        time,
        path: shownPath(path, root, cwd),
        kind: kindOf(before, after),
        added: 0,
        removed: 0,
      },
    }));
  });
}

/**
 * The files that were changed by an entry, and how each stood right after it. Throws for an entry that there
 * is not.
 */
export function filesAt(
  entries: Iterable<JournalEntry>,
  cwd: string,
  at: string | undefined,
): ReadonlyMap<string, FoundFile> {
  const first = new Map<string, FileVersion | null>();
  const files = new Map<string, FoundFile>();
  let isThere = at === undefined;
  for (const entry of entries) {
    if (entry.type === "checkpoint" || entry.type === "rollback")
      for (const { path: key, before, after } of entry.changes.filter(isOfFile)) {
        const path = shownPath(key, entry.root, cwd);
        const origin = first.get(path) ?? (first.has(path) ? null : before);
        first.set(path, origin);
        files.set(path, { root: entry.root, path, kind: kindOf(origin, after), version: after, origin });
      }
    if (entry.id !== at) continue;
    isThere = true;
    break;
  }
  if (!isThere) throw notFound("entry of this id in the session");
  return files;
}

export function kindOf(before: FileVersion | null, after: FileVersion | null): ChangeKind {
  if (after === null) return "deleted";
  return before === null ? "created" : "changed";
}

/** True for a change of what has contents; folders come and go with them. */
export function isOfFile({ before, after }: Pick<FileChange, "before" | "after">): boolean {
  return before?.type !== "folder" && after?.type !== "folder";
}

/** A path for people: below the working folder, else whole. */
export function shownPath(key: string, root: string, cwd: string): string {
  const path = key.startsWith("\0")
    ? new TextDecoder().decode(Uint8Array.from(key.slice(1), (char) => char.charCodeAt(0)))
    : key;
  return root === cwd ? path : `${root}/${path}`;
}
