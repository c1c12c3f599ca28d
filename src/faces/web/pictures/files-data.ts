import type { FileVersion, JournalEntry } from "../../../core/agent/entries.ts";
import type { ChangeKind, SessionChange } from "../../../server/server-api.ts";
import { type FileStep, fileSteps, isOfFile, kindOf } from "../../../server/session-changes.ts";
import { type FileDiff, parseUnifiedDiff } from "../../../view/file-diff.ts";

/** One change of one file. */
export interface FileMoment extends Pick<FileStep, "kind" | "run" | "turn" | "time" | "isFailed"> {
  /** The checkpoint, or the rollback. */
  readonly entryId: string;
  /** `call`: made by a tool call. */
  readonly by: "call" | "undo" | "redo";
  readonly diff?: FileDiff;
  readonly added: number;
  readonly removed: number;
  readonly isBinary: boolean;
}

/** One file and its history. */
export interface ChangedFile {
  /** Relative to the working directory if below it, else absolute. */
  readonly path: string;
  readonly moments: readonly FileMoment[];
  /** Compared with before the session; `unchanged`: everything was undone. */
  readonly kind: ChangeKind | "unchanged";
  /** Lines added and removed by its changes, excluding undone ones. */
  readonly added: number;
  readonly removed: number;
}

interface Lines {
  readonly added: number;
  readonly removed: number;
}

interface FileFold {
  readonly first: FileVersion | null;
  now: FileVersion | null;
  lines: Lines;
  /** The lines of each version the file has had: a restored version restores its lines. */
  readonly known: Map<string, Lines>;
  readonly moments: FileMoment[];
}

/**
 * The files a session changed, in order of their first change. `cwd`: its working directory. `known`: changes
 * known to the server; without it, diffs come from the calls' results.
 */
export function changedFiles(
  entries: readonly JournalEntry[],
  { cwd, known = [] }: { readonly cwd?: string | undefined; readonly known?: readonly SessionChange[] } = {},
): readonly ChangedFile[] {
  const diffs = new DiffSource(entries, known);
  const files = new Map<string, FileFold>();
  for (const step of fileSteps(entries, cwd)) {
    const { entry, path, before, after, kind, run, turn, time, isFailed } = step;
    const none = { added: 0, removed: 0 };
    const file = files.get(path) ?? {
      first: before,
      now: before,
      lines: none,
      known: new Map([[JSON.stringify(before), none]]),
      moments: [],
    };
    files.set(path, file);
    const by = entry.type === "checkpoint" ? "call" : entry.direction;
    const moment: FileMoment = { entryId: entry.id, kind, by, run, turn, time, isFailed, ...diffs.of(step) };
    file.moments.push(moment);
    if (!isFailed) moveOn(file, after, moment);
  }
  return [...files].map(([path, { first, now, lines, moments }]) => ({
    path,
    moments,
    kind: JSON.stringify(first) === JSON.stringify(now) ? "unchanged" : kindOf(first, now),
    ...lines,
  }));
}

function moveOn(file: FileFold, after: FileVersion | null, { added, removed }: Lines): void {
  const key = JSON.stringify(after);
  const lines = file.known.get(key) ?? {
    added: file.lines.added + added,
    removed: file.lines.removed + removed,
  };
  file.known.set(key, lines);
  file.lines = lines;
  file.now = after;
}

type KnownDiff = Pick<FileMoment, "diff" | "added" | "removed" | "isBinary">;

const NO_DIFF: KnownDiff = { added: 0, removed: 0, isBinary: false };

/** Finds the diff of a change: the server's, else the one in the call's result. */
class DiffSource {
  readonly #known = new Map<string, SessionChange>();
  readonly #results = new Map<string, { readonly text: string; readonly isNew: boolean }>();

  constructor(entries: readonly JournalEntry[], known: readonly SessionChange[]) {
    for (const change of known) this.#known.set(`${change.entryId}\n${change.path}`, change);
    for (const entry of entries) {
      if (entry.type !== "tool_result") continue;
      const { diff, created } = entry.metadata ?? {};
      if (typeof diff === "string") this.#results.set(entry.callId, { text: diff, isNew: created === true });
    }
  }

  of({ entry, path }: FileStep): KnownDiff {
    if (entry.type !== "checkpoint") return NO_DIFF;
    const known = this.#known.get(`${entry.id}\n${path}`);
    if (known !== undefined) {
      const { diff, added, removed, binary } = known;
      return { ...(diff === undefined ? {} : { diff }), added, removed, isBinary: binary === true };
    }
    const result = entry.changes.filter(isOfFile).length === 1 ? this.#results.get(entry.callId) : undefined;
    const diff = result === undefined ? undefined : parseUnifiedDiff(path, result.text, result.isNew);
    return diff === undefined ? NO_DIFF : { ...NO_DIFF, diff, added: diff.added, removed: diff.removed };
  }
}

/** Diffs as a patch for `git apply`. */
export function patchOf(diffs: readonly { readonly diff: FileDiff; readonly kind: ChangeKind }[]): string {
  return diffs
    .map(({ diff: { path, hunks }, kind }) => {
      const head = `--- ${kind === "created" ? "/dev/null" : `a/${path}`}\n+++ ${kind === "deleted" ? "/dev/null" : `b/${path}`}\n`;
      const body = hunks.map(({ oldStart, newStart, lines }) => {
        const without = (mark: string): number => lines.filter((line) => !line.startsWith(mark)).length;
        return `@@ -${oldStart},${without("+")} +${newStart},${without("-")} @@\n${lines.join("\n")}\n`;
      });
      return head + body.join("");
    })
    .join("");
}
