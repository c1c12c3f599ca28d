import type { FileVersion, JournalEntry } from "../../../core/agent/entries.ts";
import type { ChangeKind, SessionChange } from "../../../server/server-api.ts";
import { type FileStep, fileSteps, isOfFile, kindOf } from "../../../server/session-changes.ts";
import { type FileDiff, parseUnifiedDiff } from "../../../view/file-diff.ts";
import type { Lines } from "../text/diff-view.tsx";

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

interface FileFold {
  readonly first: FileVersion | null;
  current: FileVersion | null;
  lines: Lines;
  /** The lines of each version the file has had: a restored version restores its lines. */
  readonly linesByVersion: Map<string, Lines>;
  readonly moments: FileMoment[];
}

/**
 * The files a session changed, in order of their first change. `known`: the server's changes; without them
 * diffs come from the calls' results.
 */
export function changedFiles(
  entries: readonly JournalEntry[],
  { cwd, known = [] }: { readonly cwd?: string | undefined; readonly known?: readonly SessionChange[] } = {},
): readonly ChangedFile[] {
  const diffs = new DiffSource(entries, known);
  const files = new Map<string, FileFold>();
  for (const step of fileSteps(entries, cwd)) {
    const { entry, path, before, after, kind, run, turn, time, isFailed } = step;
    const noLines = { added: 0, removed: 0 };
    const file = files.get(path) ?? {
      first: before,
      current: before,
      lines: noLines,
      linesByVersion: new Map([[JSON.stringify(before), noLines]]),
      moments: [],
    };
    files.set(path, file);
    const by = entry.type === "checkpoint" ? "call" : entry.direction;
    const moment: FileMoment = { entryId: entry.id, kind, by, run, turn, time, isFailed, ...diffs.of(step) };
    file.moments.push(moment);
    if (!isFailed) applyVersion(file, after, moment);
  }
  return [...files].map(([path, { first, current, lines, moments }]) => ({
    path,
    moments,
    kind: JSON.stringify(first) === JSON.stringify(current) ? "unchanged" : kindOf(first, current),
    ...lines,
  }));
}

function applyVersion(file: FileFold, after: FileVersion | null, { added, removed }: Lines): void {
  const key = JSON.stringify(after);
  const lines = file.linesByVersion.get(key) ?? {
    added: file.lines.added + added,
    removed: file.lines.removed + removed,
  };
  file.linesByVersion.set(key, lines);
  file.lines = lines;
  file.current = after;
}

type DiffFacts = Pick<FileMoment, "diff" | "added" | "removed" | "isBinary">;

const NO_DIFF: DiffFacts = { added: 0, removed: 0, isBinary: false };

/** The diff of a change: the server's, else the one in the call's result. */
class DiffSource {
  readonly #fromServer = new Map<string, SessionChange>();
  readonly #fromResults = new Map<string, { readonly text: string; readonly isNew: boolean }>();

  constructor(entries: readonly JournalEntry[], known: readonly SessionChange[]) {
    for (const change of known) this.#fromServer.set(`${change.entryId}\n${change.path}`, change);
    for (const entry of entries) {
      if (entry.type !== "tool_result") continue;
      const { diff, created } = entry.metadata ?? {};
      if (typeof diff === "string")
        this.#fromResults.set(entry.callId, { text: diff, isNew: created === true });
    }
  }

  of({ entry, path }: FileStep): DiffFacts {
    if (entry.type !== "checkpoint") return NO_DIFF;
    const known = this.#fromServer.get(`${entry.id}\n${path}`);
    if (known !== undefined) {
      const { diff, added, removed, binary } = known;
      return { ...(diff === undefined ? {} : { diff }), added, removed, isBinary: binary === true };
    }
    const result =
      entry.changes.filter(isOfFile).length === 1 ? this.#fromResults.get(entry.callId) : undefined;
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
