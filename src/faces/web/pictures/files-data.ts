import type { FileVersion, JournalEntry } from "../../../core/agent/entries.ts";
import type { ChangeKind, SessionChange } from "../../../server/server-api.ts";
import { isOfFile, kindOf, shownPath } from "../../../server/session-changes.ts";
import { checkpointHistory, type HistoryStep } from "../../../session/undo/checkpoint-history.ts";
import { type FileDiff, parseUnifiedDiff } from "../../../view/file-diff.ts";

/** One change of one file: by a call, or by an undo or a redo. */
export interface FileMoment {
  /** The checkpoint, or the rollback. */
  readonly entryId: string;
  readonly kind: ChangeKind;
  /** `call`: a tool call made it. */
  readonly by: "call" | "undo" | "redo";
  readonly run: number;
  readonly turn: number;
  readonly time: number;
  readonly diff?: FileDiff;
  readonly added: number;
  readonly removed: number;
  readonly isBinary: boolean;
  /** True when the file could not be put back. */
  readonly isFailed: boolean;
}

/** One file, and all that happened to it. */
export interface ChangedFile {
  /** Below the working folder when it is there, else whole. */
  readonly path: string;
  readonly moments: readonly FileMoment[];
  /** Now compared with before the session; `unchanged`: everything was undone. */
  readonly kind: ChangeKind | "unchanged";
  /** Lines that its changes have added and removed, without those that were undone. */
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
  /** The lines of each version that the file has had: one that comes back brings its lines back. */
  readonly known: Map<string, Lines>;
  readonly moments: FileMoment[];
}

/**
 * The files that a session changed, in the order of their first change. `cwd`: its working folder. `known`:
 * what the server knows of the changes; without it, diffs are those of the results of the calls.
 */
export function changedFiles(
  entries: readonly JournalEntry[],
  { cwd, known = [] }: { readonly cwd?: string | undefined; readonly known?: readonly SessionChange[] } = {},
): readonly ChangedFile[] {
  const diffs = new DiffSource(entries, known);
  const files = new Map<string, FileFold>();
  for (const step of checkpointHistory(entries).steps) {
    const { entry } = step;
    for (const [key, { before, after }] of netChanges(step)) {
      const path = shownPath(key, entry.root, cwd ?? entry.root);
      const none = { added: 0, removed: 0 };
      const file = files.get(path) ?? {
        first: before,
        now: before,
        lines: none,
        known: new Map([[JSON.stringify(before), none]]),
        moments: [],
      };
      files.set(path, file);
      const moment = momentOf(
        step,
        { before, after },
        { ...diffs.of(step, path), isFailed: step.failed.has(key) },
      );
      file.moments.push(moment);
      if (!moment.isFailed) moveOn(file, after, moment);
    }
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

interface NetChange {
  readonly before: FileVersion | null;
  readonly after: FileVersion | null;
}

/** The changes of a step by path, in the direction in which they were made. */
function netChanges({ entry }: HistoryStep): ReadonlyMap<string, NetChange> {
  const net = new Map<string, NetChange>();
  for (const { path, before, after } of entry.changes.filter(isOfFile)) {
    const known = net.get(path);
    net.set(path, { before: known === undefined ? before : known.before, after });
  }
  return net;
}

type KnownDiff = Pick<FileMoment, "diff" | "added" | "removed" | "isBinary">;

function momentOf(
  { entry, run, turn, time }: HistoryStep,
  { before, after }: NetChange,
  more: KnownDiff & Pick<FileMoment, "isFailed">,
): FileMoment {
  const by = entry.type === "checkpoint" ? "call" : entry.direction;
  return { entryId: entry.id, kind: kindOf(before, after), by, run, turn, time, ...more };
}

const NO_DIFF: KnownDiff = { added: 0, removed: 0, isBinary: false };

/** Finds the diff of a change: the server's, else that in the result of the call. */
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

  of({ entry }: HistoryStep, path: string): KnownDiff {
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

/** Diffs as a patch that `git apply` takes. */
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
