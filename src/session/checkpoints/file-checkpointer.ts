import { lstatSync, realpathSync } from "node:fs";
import { basename, dirname, isAbsolute, join } from "node:path";
import type { CheckpointedCall, Checkpointer } from "../../core/agent/checkpointer.ts";
import type { CheckpointEntry, NewEntry } from "../../core/agent/entry.ts";
import type { FileChange, Omission } from "../../core/agent/file-change.ts";
import { errorMessage } from "../../core/base/errors.ts";
import { counted } from "../../core/base/text.ts";
import { systemCode } from "../session-error.ts";
import { isWithin, keyWithin, type PathKey } from "./path-key.ts";
import type { Observation, Patience, Workspace } from "./workspace.ts";

/** Options of {@link FileCheckpointer}. */
export interface FileCheckpointerOptions {
  /** The folders it looks after; none stands in another. */
  readonly workspaces: readonly Workspace[];
  /** The call that was cut when the session ended last, if one was: what changed since is laid to it. */
  readonly interrupted?: { readonly callId: string; readonly name: string } | undefined;
  readonly onNotice?: (message: string) => void;
  /** See {@link import("./limits.ts").CheckpointLimits.maxWaitMs}. */
  readonly maxWaitMs: number;
  /** Milliseconds, for measuring. Default `performance.now`. */
  readonly now?: () => number;
  /** Called after something was kept for the first time. */
  readonly onFirstUse?: () => void;
}

/** Where a call may change something: at known paths, or anywhere. */
type Reach = "anywhere" | readonly string[];

/** A call at work: what it may change, and the marks of what of that stands outside of the workspace. */
interface Active {
  readonly call: CheckpointedCall;
  readonly reach: Reach;
  readonly outside: ReadonlyMap<string, string>;
}

/** After a call nothing is looked at for the first time: what stands there is what the call left. */
const IMPATIENT: Patience = { mayRead: () => false, mayOpen: () => false };

/** Changes recorded in one entry; a call that made more gets several. */
const MAX_CHANGES = 1000;
/** Places left out that are named in one entry. */
const MAX_OMITTED = 200;

/**
 * Finds what tool calls change by comparing files before and after each. Around a call that says which paths it writes only those are
 * looked at, around any other that may change files the whole workspace. What differs before a call was changed by somebody else and is
 * no part of any checkpoint, unless another call is still at work.
 */
export class FileCheckpointer implements Checkpointer {
  readonly #workspaces: readonly Workspace[];
  readonly #onNotice: (message: string) => void;
  readonly #maxWaitMs: number;
  readonly #now: () => number;
  /** Since when a call waits to begin. */
  #waitingSince: number | undefined;
  #isClosing = false;
  #onFirstUse: (() => void) | undefined;
  #interrupted: FileCheckpointerOptions["interrupted"];
  readonly #active = new Map<string, Active>();
  /** Entries found while a call was still at work, to be recorded with the next one that ends. */
  #found: NewEntry[] = [];
  #turn: Promise<unknown> = Promise.resolve();
  readonly #noticed = new Set<string>();

  constructor(options: FileCheckpointerOptions) {
    const { workspaces, interrupted, onNotice = () => undefined, onFirstUse } = options;
    this.#workspaces = workspaces;
    this.#maxWaitMs = options.maxWaitMs;
    this.#now = options.now ?? ((): number => performance.now());
    this.#onFirstUse = onFirstUse;
    this.#interrupted = interrupted;
    this.#onNotice = onNotice;
  }

  /**
   * Looks at what was never looked at, ahead of the first call that needs it, until one waits. Never rejects: the call itself will tell.
   */
  prepare(): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#workspaces.every(({ isNew }) => !isNew)) return;
      if (this.#active.size === 0 && this.#interrupted === undefined)
        await this.#observe("anywhere", this.#patience);
    }).catch(() => undefined);
  }

  before(call: CheckpointedCall): Promise<void> {
    const reach = reachOf(call);
    if (reach === undefined) return Promise.resolve();
    this.#waitingSince ??= this.#now();
    return this.#inTurn(async () => {
      try {
        this.#waitingSince ??= this.#now();
        const observed = await this.#observe(reach, this.#patience);
        for (const [workspace] of observed) this.#tellUnread(workspace);
        this.#attribute(observed);
        if (observed.length > 0) this.#onFirstUse?.();
        if (observed.length > 0) this.#onFirstUse = undefined;
      } catch (error) {
        throw cannotKeep(error);
      } finally {
        this.#waitingSince = undefined;
      }
      for (const workspace of this.#workspaces) workspace.save();
      this.#active.set(call.callId, { call, reach, outside: this.#outsideOf(reach) });
    });
  }

  after(call: CheckpointedCall): Promise<readonly NewEntry[]> {
    const reach = reachOf(call);
    if (reach === undefined || !this.#active.has(call.callId)) return Promise.resolve([]);
    return this.#inTurn(async () => {
      try {
        const observed = await this.#observe(reach, IMPATIENT);
        const entries = observed.flatMap(([workspace, seen]) => entriesOf(call, workspace.root, seen));
        return [...this.#found.splice(0), ...entries, ...this.#outsideChanges(call)];
      } catch (error) {
        this.#onNotice(`What ${call.name} changed is not kept for undo: ${errorMessage(error)}`);
        return [...this.#found.splice(0), ...this.#failure(call)];
      } finally {
        this.#active.delete(call.callId);
        for (const workspace of this.#workspaces) workspace.save();
      }
    });
  }

  /** Waits for the looks at work and stores what is known of the workspaces. */
  close(): Promise<void> {
    this.#isClosing = true;
    return this.#inTurn(async () => {
      for (const workspace of this.#workspaces) workspace.save("last");
    });
  }

  /** There is time while no call waits, then as much as one may wait. */
  readonly #patience: Patience = {
    mayRead: () => this.#hasTime(1),
    mayOpen: () => this.#hasTime(2),
  };

  #hasTime(times: number): boolean {
    if (this.#isClosing) return false;
    return this.#waitingSince === undefined || this.#now() - this.#waitingSince < this.#maxWaitMs * times;
  }

  async #observe(reach: Reach, patience: Patience): Promise<readonly (readonly [Workspace, Observation])[]> {
    const observed: [Workspace, Observation][] = [];
    for (const workspace of this.#workspaces) {
      if (reach === "anywhere") observed.push([workspace, await workspace.scan(patience)]);
      else {
        const keys = reach.flatMap((path) => keyWithin(workspace.root, path) ?? []);
        if (keys.length > 0) observed.push([workspace, workspace.look(keys)]);
      }
    }
    for (const [workspace, { omitted }] of observed) this.#tellGaps(workspace, omitted);
    return observed;
  }

  /** Lays what was found before a call to a call that is still at work and may have done it, or to the one that was cut; else nobody's call did. */
  #attribute(observed: readonly (readonly [Workspace, Observation])[]): void {
    const cut = this.#interrupted;
    this.#interrupted = undefined;
    for (const [{ root }, { changes, omitted }] of observed) {
      const left = new Set(changes);
      for (const { call, reach } of this.#active.values()) {
        const own = [...left].filter(({ path }) => isWithinReach(reach, root, path));
        for (const change of own) left.delete(change);
        this.#found.push(...entriesOf(call, root, { changes: own, omitted: [] }));
      }
      if (cut === undefined || this.#active.size > 0) continue;
      this.#found.push(
        ...entriesOf(cut, root, { changes, omitted }).map((entry) => ({ ...entry, interrupted: true })),
      );
    }
  }

  /** Says once what commands may change without its being kept. */
  #tellGaps({ root, isFull }: Workspace, omitted: readonly Omission[]): void {
    if (isFull)
      this.#tellOnce(
        `undo: ${root}: the space for undo is used up; some files are not kept (undoLimits.maxStoreMb).`,
      );
    const places = omitted.filter(
      ({ path, reason }) => path === "" || (reason === "too_many_files" && !path.includes("/")),
    );
    for (const { path } of places) {
      const shown = path === "" ? root : `${root}/${path}`;
      this.#tellOnce(`undo: ${shown} has too many files; what commands change there is not kept.`);
    }
  }

  /** Says once that commands go ahead of what could not be read in time. */
  #tellUnread({ root, unread: { files, folders } }: Workspace): void {
    if (files + folders === 0) return;
    const places = [
      ...(files > 0 ? [counted(files, "file")] : []),
      ...(folders > 0 ? [counted(folders, "folder")] : []),
    ].join(" and ");
    const seconds = this.#maxWaitMs / 1_000;
    this.#tellOnce(
      `undo: reading ${root} for the first time takes longer than ${seconds} s. Until ${places} are read, beside the next commands, what commands change there is not kept.`,
      `unread ${root}`,
    );
  }

  #tellOnce(message: string, key = message): void {
    if (this.#noticed.has(key)) return;
    this.#noticed.add(key);
    this.#onNotice(message);
  }

  #outsideOf(reach: Reach): ReadonlyMap<string, string> {
    if (reach === "anywhere") return new Map();
    const outside = reach.filter((path) =>
      this.#workspaces.every(({ root }) => keyWithin(root, path) === undefined),
    );
    return new Map(outside.map((path) => [path, markOf(path)]));
  }

  #outsideChanges(call: CheckpointedCall): NewEntry[] {
    const { outside = new Map<string, string>() } = this.#active.get(call.callId) ?? {};
    const omitted = [...outside]
      .filter(([path, mark]) => markOf(path) !== mark)
      .map(([path]): Omission => ({ path, reason: "outside", changed: true }));
    return this.#omission(call, omitted);
  }

  #failure(call: CheckpointedCall): NewEntry[] {
    return this.#omission(call, [{ path: "", reason: "failed", changed: true }]);
  }

  #omission({ callId, name }: CheckpointedCall, omitted: readonly Omission[]): NewEntry[] {
    const [first] = this.#workspaces;
    if (first === undefined || omitted.length === 0) return [];
    return [{ type: "checkpoint", callId, name, root: first.root, changes: [], omitted }];
  }

  /** Looks go one after the other: each compares with what the one before it found. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(work);
    this.#turn = done.catch(() => undefined);
    return done;
  }
}

function reachOf({ tool, access }: CheckpointedCall): Reach | undefined {
  if (tool.readOnly === true || tool.changesFiles === false || access === "read_all") return undefined;
  if (typeof access === "string") return "anywhere";
  const { read, write } = access;
  if (write !== undefined && write.length > 0)
    return write.filter((path) => isAbsolute(path)).flatMap(withTarget);
  return read === undefined ? "anywhere" : undefined;
}

/** What a call is answered with whose changes could not be taken back. */
function cannotKeep(error: unknown): Error {
  return new Error(
    `its changes could not be undone. ${errorMessage(error)} Put that right, or switch undo off: --no-undo, or "undo": false in the configuration.`,
    { cause: error },
  );
}

/** True when a call may have changed a path: one of those it named, or a folder around one. */
function isWithinReach(reach: Reach, root: string, path: PathKey): boolean {
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
  // A folder that there was no time for will be known later, and what the call did there will look as if it had always been so.
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

function markOf(path: string): string {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats === undefined ? "" : `${stats.ino}:${stats.size}:${stats.mtimeMs}:${stats.ctimeMs}`;
}
