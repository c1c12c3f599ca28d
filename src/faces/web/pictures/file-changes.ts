import type { FileVersion, JournalEntry } from "../../../core/agent/entries.ts";
import type { ChangeKind, SessionChange } from "../../../server/server-api.ts";
import { isOfFile, kindOf } from "../../../server/session-changes.ts";
import { checkpointHistory, type HistoryStep } from "../../../session/undo/checkpoint-history.ts";
import { type FileDiff, parseUnifiedDiff } from "../../../view/file-diff.ts";

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
  /** Now against what it was at first; `unchanged`: all was taken back. */
  readonly kind: ChangeKind | "unchanged";
  /** Lines added and removed by changes that stand. */
  readonly added: number;
  readonly removed: number;
}

/** The changes of a session to files: what changed when. */
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
  const moments: WritableMoment[] = [];
  const files = new Map<string, { first: FileVersion | null; now: FileVersion | null; moments: number[] }>();
  const standing = new StandingChanges(moments);
  for (const step of steps) {
    standing.settle(step, (path) => files.get(path)?.moments ?? []);
    for (const [path, { before, after }] of netChanges(step)) {
      const isFailed = step.failed.has(path);
      const file = files.get(path) ?? { first: before, now: before, moments: [] };
      files.set(path, file);
      if (!isFailed) file.now = after;
      file.moments.push(moments.length);
      moments.push({
        ...momentOf(step, path),
        kind: kindOf(before, after),
        ...diffs.of(step, path),
        isFailed,
      });
      standing.add(moments.length - 1);
    }
  }
  return {
    moments,
    files: [...files].map(([path, { first, now, moments: own }]) => ({
      path,
      moments: own,
      kind: isSame(first, now) ? "unchanged" : kindOf(first, now),
      added: sumOf(own, (at) => counted(moments[at])?.added),
      removed: sumOf(own, (at) => counted(moments[at])?.removed),
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

/** The changes of a step by path, in the direction in which they were made. */
function netChanges({ entry }: HistoryStep): ReadonlyMap<string, NetChange> {
  const net = new Map<string, NetChange>();
  for (const { path, before, after } of entry.changes.filter(isOfFile)) {
    const known = net.get(path);
    net.set(path, { before: known === undefined ? before : known.before, after });
  }
  return net;
}

type WritableMoment = { -readonly [K in keyof FileMoment]: FileMoment[K] };

/** Which changes of calls stand, and which of them an undo took back. */
class StandingChanges {
  readonly #moments: readonly WritableMoment[];
  /** Places of those that stand, in order. */
  readonly #standing: number[] = [];
  /** The changes that an undo took back, newest first, by its entry. */
  readonly #taken = new Map<string, { readonly places: readonly number[]; readonly isPartial: boolean }>();

  constructor(moments: readonly WritableMoment[]) {
    this.#moments = moments;
  }

  add(at: number): void {
    if (this.#moments[at]?.by === "call") this.#standing.push(at);
  }

  /** Takes back what an undo takes back, and a redo brings back. `placesOf`: the changes of a path. */
  settle({ entry, run, turn, failed }: HistoryStep, placesOf: (path: string) => readonly number[]): void {
    if (entry.type !== "rollback") return;
    if (entry.direction === "redo") return this.#bringBack(entry.redoes ?? "", failed);
    const to = entry.to ?? { run, turn };
    const isBehind = (moment: WritableMoment): boolean =>
      moment.run > to.run || (moment.run === to.run && moment.turn >= to.turn);
    const isPartial = entry.partial === true;
    const meant = isPartial
      ? entry.changes.flatMap(({ path }) => this.#newest(placesOf(path), isBehind))
      : this.#newest(this.#standing, isBehind);
    const taken = meant.filter((at) => {
      const moment = this.#moments[at];
      if (moment === undefined || moment.isUndone || failed.has(moment.path)) return false;
      moment.isUndone = true;
      return true;
    });
    this.#taken.set(entry.id, { places: taken, isPartial });
    if (isPartial) return;
    this.#standing.length -= meant.length;
    for (const at of meant.toReversed()) if (this.#moments[at]?.isUndone === false) this.#standing.push(at);
  }

  #newest(places: readonly number[], isBehind: (moment: WritableMoment) => boolean): readonly number[] {
    const found: number[] = [];
    for (let at = places.length - 1; at >= 0; at--) {
      const place = places[at] ?? -1;
      const moment = this.#moments[place];
      if (moment === undefined || !isBehind(moment)) break;
      found.push(place);
    }
    return found;
  }

  #bringBack(id: string, failed: ReadonlySet<string>): void {
    const { places, isPartial } = this.#taken.get(id) ?? { places: [], isPartial: true };
    for (const at of places.toReversed()) {
      const moment = this.#moments[at];
      if (moment === undefined || failed.has(moment.path)) continue;
      moment.isUndone = false;
      // What an undo of some files took back has kept its place.
      if (!isPartial) this.#standing.push(at);
    }
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
    const result = entry.changes.filter(isOfFile).length === 1 ? this.#results.get(entry.callId) : undefined;
    const diff = result === undefined ? undefined : parseUnifiedDiff(path, result.text, result.isNew);
    return diff === undefined ? NO_DIFF : { ...NO_DIFF, diff, added: diff.added, removed: diff.removed };
  }
}

function keyOf(entryId: string, path: string): string {
  return `${entryId}\n${path}`;
}

function isSame(left: FileVersion | null, right: FileVersion | null): boolean {
  return JSON.stringify(left) === JSON.stringify(right);
}

function counted(moment: FileMoment | undefined): FileMoment | undefined {
  return moment === undefined || moment.isUndone || moment.isFailed ? undefined : moment;
}

function sumOf(places: readonly number[], figure: (at: number) => number | undefined): number {
  return places.reduce((sum, at) => sum + (figure(at) ?? 0), 0);
}
