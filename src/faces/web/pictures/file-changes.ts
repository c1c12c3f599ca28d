import { type FileDiff, parseUnifiedDiff } from "../../../app/coding-session/file-diff.ts";
import type { JournalEntry } from "../../../core/agent/entry.ts";
import type { FileVersion } from "../../../core/agent/file-change.ts";
import type { ChangeKind, SessionChange } from "../../../server/server-api.ts";
import { checkpointHistory, type HistoryStep } from "../../../session/checkpoints/checkpoint-history.ts";

/** One change of one file: by a call, or by putting files back or forth. */
export interface FileMoment {
  /** The checkpoint, or the rollback. */
  readonly entryId: string;
  readonly path: string;
  readonly kind: ChangeKind;
  /** The way it came about; `call`: a tool call. */
  readonly by: "call" | "undo" | "redo";
  /** Name of the tool; empty where nobody called one. */
  readonly tool: string;
  readonly run: number;
  readonly turn: number;
  readonly time: number;
  readonly diff?: FileDiff;
  readonly added: number;
  readonly removed: number;
  readonly isBinary: boolean;
  /** True when it does not stand: it was taken back since. */
  readonly isUndone: boolean;
  /** True when the file could not be put back. */
  readonly isFailed: boolean;
}

/** One file, and all that happened to it. */
export interface ChangedFile {
  readonly path: string;
  /** Places in {@link FilesPicture.moments}. */
  readonly moments: readonly number[];
  /** What it is now against what it was at first; `unchanged`: all was taken back. */
  readonly kind: ChangeKind | "unchanged";
  /** Lines added and removed by changes that stand. */
  readonly added: number;
  readonly removed: number;
}

/** What changed when. */
export interface FilesPicture {
  /** In the order of the journal. */
  readonly moments: readonly FileMoment[];
  /** In the order in which they were changed first. */
  readonly files: readonly ChangedFile[];
}

/**
 * The changes of a session to files. `known`: what the server knows of them, diffs above all; without it,
 * diffs are those of the results of the calls.
 */
export function filesPicture(
  entries: readonly JournalEntry[],
  known: readonly SessionChange[] = [],
): FilesPicture {
  const diffs = new DiffSource(entries, known);
  const { steps } = checkpointHistory(entries);
  const moments: { -readonly [K in keyof FileMoment]: FileMoment[K] }[] = [];
  const files = new Map<string, { first: FileVersion | null; now: FileVersion | null; moments: number[] }>();
  for (const step of steps) {
    for (const [path, change] of netChanges(step)) {
      const { before, after } = change;
      const isFailed = step.failed.has(path);
      const diff = diffs.of(step, path);
      const file = files.get(path) ?? { first: before, now: before, moments: [] };
      files.set(path, file);
      if (!isFailed) {
        file.now = after;
        settleUndone(moments, file.moments, step);
      }
      file.moments.push(moments.length);
      moments.push({ ...momentOf(step, path), kind: kindOf(before, after), ...diff, isFailed });
    }
  }
  return {
    moments,
    files: [...files].map(([path, { first, now, moments: own }]) => ({
      path,
      moments: own,
      kind: isSame(first, now) ? "unchanged" : kindOf(first, now),
      added: sumOf(own, (at) => standing(moments[at])?.added),
      removed: sumOf(own, (at) => standing(moments[at])?.removed),
    })),
  };
}

/** The files that a session had changed when it had come to one of its entries, by path. */
export function filesAt(
  entries: readonly JournalEntry[],
  count: number,
): readonly Pick<ChangedFile, "path" | "kind">[] {
  return filesPicture(entries.slice(0, count)).files.filter(({ kind }) => kind !== "unchanged");
}

interface NetChange {
  readonly before: FileVersion | null;
  readonly after: FileVersion | null;
}

/** The changes of a step by path. Putting back goes from the last change of a path to before its first. */
function netChanges({ entry }: HistoryStep): ReadonlyMap<string, NetChange> {
  const isUndo = entry.type === "rollback" && entry.direction === "undo";
  const net = new Map<string, NetChange>();
  for (const { path, before, after } of entry.changes) {
    const known = net.get(path);
    if (isUndo) net.set(path, { before: after, after: known?.after ?? before });
    else net.set(path, { before: known === undefined ? before : known.before, after });
  }
  return net;
}

/** Marks what an undo took back, newest first, or a redo brought back. */
function settleUndone(
  moments: {
    isUndone: boolean;
    readonly by: FileMoment["by"];
    readonly run: number;
    readonly turn: number;
  }[],
  own: readonly number[],
  { entry, run, turn }: HistoryStep,
): void {
  if (entry.type !== "rollback") return;
  const isUndo = entry.direction === "undo";
  const to = entry.to ?? { run, turn };
  for (let at = own.length - 1; at >= 0; at--) {
    const moment = moments[own[at] ?? -1];
    if (moment === undefined) return;
    if (moment.by !== "call") continue;
    const isBehind = moment.run > to.run || (moment.run === to.run && moment.turn >= to.turn);
    if (isUndo && !isBehind) return;
    // A redo follows right behind its undo: what stands before that stands already.
    if (!isUndo && !moment.isUndone) return;
    moment.isUndone = isUndo;
  }
}

function momentOf(
  { entry, run, turn, time }: HistoryStep,
  path: string,
): Pick<FileMoment, "entryId" | "path" | "by" | "tool" | "run" | "turn" | "time" | "isUndone"> {
  const isCall = entry.type === "checkpoint";
  return {
    entryId: entry.id,
    path,
    by: isCall ? "call" : entry.direction,
    tool: isCall ? entry.name : "",
    run,
    turn,
    time,
    isUndone: false,
  };
}

type KnownDiff = Pick<FileMoment, "diff" | "added" | "removed" | "isBinary">;

const NO_DIFF: KnownDiff = { added: 0, removed: 0, isBinary: false };

/** Finds the diff of a change: the server's, else that in the result of the call. */
class DiffSource {
  readonly #known = new Map<string, SessionChange>();
  readonly #results = new Map<string, { readonly text: string; readonly isNew: boolean }>();

  constructor(entries: readonly JournalEntry[], known: readonly SessionChange[]) {
    for (const change of known) this.#known.set(keyOf(change.entryId, change.path), change);
    for (const entry of entries) {
      if (entry.type !== "tool_result") continue;
      const { diff, created } = entry.metadata ?? {};
      if (typeof diff === "string") this.#results.set(entry.callId, { text: diff, isNew: created === true });
    }
  }

  of({ entry }: HistoryStep, path: string): KnownDiff {
    if (entry.type !== "checkpoint") return NO_DIFF;
    const known = this.#known.get(keyOf(entry.id, path));
    if (known !== undefined) {
      const { diff, added, removed, binary } = known;
      return { ...(diff === undefined ? {} : { diff }), added, removed, isBinary: binary === true };
    }
    const result = entry.changes.length === 1 ? this.#results.get(entry.callId) : undefined;
    const diff = result === undefined ? undefined : parseUnifiedDiff(path, result.text, result.isNew);
    return diff === undefined ? NO_DIFF : { ...NO_DIFF, diff, added: diff.added, removed: diff.removed };
  }
}

function keyOf(entryId: string, path: string): string {
  return `${entryId}\n${path}`;
}

function kindOf(before: FileVersion | null, after: FileVersion | null): ChangeKind {
  if (after === null) return "deleted";
  return before === null ? "created" : "changed";
}

function isSame(left: FileVersion | null, right: FileVersion | null): boolean {
  return JSON.stringify(left) === JSON.stringify(right);
}

function standing(moment: FileMoment | undefined): FileMoment | undefined {
  return moment === undefined || moment.isUndone || moment.isFailed ? undefined : moment;
}

function sumOf(places: readonly number[], figure: (at: number) => number | undefined): number {
  return places.reduce((sum, at) => sum + (figure(at) ?? 0), 0);
}
