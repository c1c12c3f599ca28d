import { rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { JournalEntry, NewEntry, Omission } from "../../core/agent/entries.ts";
import type { LocalJournal } from "../../core/agent/journal.ts";
import type { CheckpointedCall, Checkpointer } from "../../core/agent/ports.ts";
import { errorMessage } from "../../core/base/errors.ts";
import { pluralize } from "../../core/base/text.ts";
import { isWithin } from "../../system/real-path.ts";
import { readSession } from "../read-session.ts";
import { isFolder } from "../session-file.ts";
import { isSessionInUse } from "../session-lock.ts";
import { workspaceSlug } from "../session-store.ts";
import { type CheckpointLimits, DEFAULT_LIMITS } from "./checkpoint-store.ts";
import { checkpointsOf, isWithinReach, pathFingerprint, type Reach, reachOf } from "./file-changes.ts";
import { keyWithin } from "./path-state.ts";
import type { RollbackPlace } from "./rollback.ts";
import { type Observation, type ScanLimits, Workspace, type WorkspaceOptions } from "./workspace.ts";

/** Options of {@link SessionCheckpoints}. */
export interface SessionCheckpointsOptions {
  /** Folder that holds one folder for each workspace. */
  readonly folder: string;
  /** The tracked folders: absolute, links resolved. Nested ones count as part of the outer one. */
  readonly roots: readonly string[];
  readonly sessionId: string;
  /** File of the session's journal. */
  readonly journalPath: string;
  readonly limits?: Partial<CheckpointLimits>;
  /** The call that was interrupted when the session last ended. */
  readonly interrupted?: { readonly callId: string; readonly name: string } | undefined;
  readonly onNotice?: (message: string) => void;
  /** Clock in milliseconds, for measuring how long a call waits. Default `performance.now`. */
  readonly now?: () => number;
}

const CLEAN_UP_SHARE = 0.75;

interface ActiveCall {
  readonly call: CheckpointedCall;
  readonly reach: Reach;
  readonly outside: ReadonlyMap<string, string>;
}

/** After a call nothing is read for the first time: the content may be the work of the call. */
const NO_FIRST_READS: ScanLimits = { mayRead: () => false, mayOpen: () => false };

/**
 * The checkpoints of one session while it runs, stored in a folder of the user. Finds the changes of a tool
 * call by comparing files before and after it: only the written paths for a call that names them, the
 * whole workspace for any other that may change files. Differences found before a call were made by others
 * and are in no checkpoint, unless another call is still running.
 */
export class SessionCheckpoints implements Checkpointer {
  readonly #options: SessionCheckpointsOptions;
  readonly #limits: CheckpointLimits;
  readonly #workspaces: readonly Workspace[];
  readonly #onNotice: (message: string) => void;
  readonly #now: () => number;
  #isUser = false;
  #waitingSince: number | undefined;
  #isClosing = false;
  /** The interrupted call: changes since then are attributed to it. */
  #interrupted: SessionCheckpointsOptions["interrupted"];
  readonly #active = new Map<string, ActiveCall>();
  /** Entries found while a call was running, recorded when the next call ends. */
  #pendingEntries: NewEntry[] = [];
  #lastScan: Promise<unknown> = Promise.resolve();
  readonly #noticed = new Set<string>();

  constructor(options: SessionCheckpointsOptions) {
    const { folder, roots, sessionId, interrupted, onNotice } = options;
    const { now = (): number => performance.now() } = options;
    this.#options = options;
    this.#limits = { ...DEFAULT_LIMITS, ...options.limits };
    this.#workspaces = outermostRoots(roots).map((root) =>
      openWorkspace(root, { folder, sessionId, limits: this.#limits, onNotice }),
    );
    this.#onNotice = onNotice ?? ((): void => undefined);
    this.#now = now;
    const isOwn = this.#workspaces.some(({ lastSeenBy }) => lastSeenBy === sessionId);
    this.#interrupted = isOwn ? interrupted : undefined;
  }

  /** Scans for new files before the first call, until a call waits. Never rejects: calls report errors. */
  prepare(): Promise<void> {
    return this.#inOrder(async () => {
      if (this.#workspaces.every(({ isNew }) => !isNew)) return;
      if (this.#active.size === 0 && this.#interrupted === undefined)
        await this.#observe("anywhere", this.#scanLimits);
    }).catch(() => undefined);
  }

  before(call: CheckpointedCall): Promise<void> {
    const reach = reachOf(call);
    if (reach === undefined) return Promise.resolve();
    this.#waitingSince ??= this.#now();
    return this.#inOrder(async () => {
      try {
        this.#waitingSince ??= this.#now();
        const observed = await this.#observe(reach, this.#scanLimits);
        for (const [workspace] of observed) this.#noticeUnread(workspace);
        this.#attribute(observed);
        if (observed.length > 0) this.#register();
      } catch (error) {
        throw cannotStore(error);
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
    return this.#inOrder(async () => {
      try {
        const observed = await this.#observe(reach, NO_FIRST_READS);
        const entries = observed.flatMap(([workspace, seen]) => checkpointsOf(call, workspace.root, seen));
        return [...this.#pendingEntries.splice(0), ...entries, ...this.#outsideChanges(call)];
      } catch (error) {
        this.#onNotice(`What ${call.name} changed is not kept for undo: ${errorMessage(error)}`);
        return [
          ...this.#pendingEntries.splice(0),
          ...this.#omission(call, [{ path: "", reason: "failed", changed: true }]),
        ];
      } finally {
        this.#active.delete(call.callId);
        for (const workspace of this.#workspaces) workspace.save();
      }
    });
  }

  /**
   * Waits for scans in progress, stores the workspace indexes and keeps their folders within the limit.
   * Throws `checkpoint` for errors of the system.
   */
  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#inOrder(async () => {
      for (const workspace of this.#workspaces) workspace.save("last");
    });
    const { maxStoreBytes } = this.#limits;
    for (const workspace of this.#workspaces) {
      if (this.#isUser && workspace.store.bytes >= maxStoreBytes * CLEAN_UP_SHARE)
        collectUnused(workspace, this.#options.journalPath, maxStoreBytes);
      workspace.store.close();
    }
  }

  /** Unlimited time while no call waits, then as much as one may wait. */
  readonly #scanLimits: ScanLimits = {
    mayRead: () => this.#hasTime(1),
    mayOpen: () => this.#hasTime(2),
  };

  #hasTime(times: number): boolean {
    if (this.#isClosing) return false;
    return (
      this.#waitingSince === undefined || this.#now() - this.#waitingSince < this.#limits.maxWaitMs * times
    );
  }

  #register(): void {
    if (this.#isUser) return;
    for (const { store } of this.#workspaces)
      if (isFolder(store.folder)) store.addUser(this.#options.journalPath);
    this.#isUser = true;
  }

  async #observe(
    reach: Reach,
    patience: ScanLimits,
  ): Promise<readonly (readonly [Workspace, Observation])[]> {
    const observed: [Workspace, Observation][] = [];
    for (const workspace of this.#workspaces) {
      if (reach === "anywhere") observed.push([workspace, await workspace.scan(patience)]);
      else {
        const keys = reach.flatMap((path) => keyWithin(workspace.root, path) ?? []);
        if (keys.length > 0) observed.push([workspace, workspace.checkPaths(keys)]);
      }
    }
    for (const [workspace, { omitted }] of observed) this.#noticeSkipped(workspace, omitted);
    return observed;
  }

  /**
   * Attributes changes found before a call to a running call that may have made them, to the interrupted
   * call, or to none.
   */
  #attribute(observed: readonly (readonly [Workspace, Observation])[]): void {
    const cut = this.#interrupted;
    this.#interrupted = undefined;
    for (const [{ root }, { changes, omitted }] of observed) {
      const left = new Set(changes);
      for (const { call, reach } of this.#active.values()) {
        const own = [...left].filter(({ path }) => isWithinReach(reach, root, path));
        for (const change of own) left.delete(change);
        this.#pendingEntries.push(...checkpointsOf(call, root, { changes: own, omitted: [] }));
      }
      if (cut === undefined || this.#active.size > 0) continue;
      this.#pendingEntries.push(
        ...checkpointsOf(cut, root, { changes, omitted }).map((entry) => ({ ...entry, interrupted: true })),
      );
    }
  }

  #noticeSkipped({ root, store }: Workspace, omitted: readonly Omission[]): void {
    if (store.isFull)
      this.#noticeOnce(
        `undo: ${root}: the space for undo is used up; some files are not kept (undoLimits.maxStoreMb).`,
      );
    const keyOf = ({ path }: Omission): string => `gap ${root}/${path}`;
    const gaps = omitted.filter((each) => isSkippedForGood(each) && !this.#noticed.has(keyOf(each)));
    for (const gap of gaps) this.#noticed.add(keyOf(gap));
    for (const notice of skippedNotices(root, gaps)) this.#onNotice(notice);
  }

  #noticeUnread({ root, unread: { files, folders } }: Workspace): void {
    if (files + folders === 0) return;
    const places = [
      ...(files > 0 ? [pluralize(files, "file")] : []),
      ...(folders > 0 ? [pluralize(folders, "folder")] : []),
    ].join(" and ");
    const seconds = this.#limits.maxWaitMs / 1_000;
    this.#noticeOnce(
      `undo: reading ${root} for the first time takes longer than ${seconds} s. Until ${places} are read, in parallel with the next commands, changes made by commands there cannot be undone.`,
      `unread ${root}`,
    );
  }

  #noticeOnce(message: string, key = message): void {
    if (this.#noticed.has(key)) return;
    this.#noticed.add(key);
    this.#onNotice(message);
  }

  #outsideOf(reach: Reach): ReadonlyMap<string, string> {
    if (reach === "anywhere") return new Map();
    const outside = reach.filter((path) =>
      this.#workspaces.every(({ root }) => keyWithin(root, path) === undefined),
    );
    return new Map(outside.map((path) => [path, pathFingerprint(path)]));
  }

  #outsideChanges(call: CheckpointedCall): NewEntry[] {
    const { outside = new Map<string, string>() } = this.#active.get(call.callId) ?? {};
    const omitted = [...outside]
      .filter(([path, mark]) => pathFingerprint(path) !== mark)
      .map(([path]): Omission => ({ path, reason: "outside", changed: true }));
    return this.#omission(call, omitted);
  }

  #omission({ callId, name }: CheckpointedCall, omitted: readonly Omission[]): NewEntry[] {
    const [first] = this.#workspaces;
    if (first === undefined || omitted.length === 0) return [];
    return [{ type: "checkpoint", callId, name, root: first.root, changes: [], omitted }];
  }

  /** Scans run one after the other: each compares with the findings of the previous one. */
  #inOrder<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#lastScan.then(work);
    this.#lastScan = done.catch(() => undefined);
    return done;
  }
}

function cannotStore(error: unknown): Error {
  return new Error(
    `its changes could not be undone. ${errorMessage(error)} Put that right, or switch undo off: --no-undo, or "undo": false in the configuration.`,
    { cause: error },
  );
}

/** Options of {@link rollbackPlace}. */
export interface RollbackPlaceOptions {
  /** The folder that holds the session's checkpoints. */
  readonly folder: string;
  /** The journal of the session, open for writing; no run uses it. */
  readonly journal: LocalJournal;
  /** The working folder of the session: absolute, links resolved. */
  readonly cwd: string;
  readonly limits?: Partial<CheckpointLimits>;
}

/** The resources with which `undo` and `redo` restore files. */
export function rollbackPlace({ folder, journal, cwd, limits }: RollbackPlaceOptions): RollbackPlace {
  const opened = new Map<string, Workspace>();
  const settings = { folder, sessionId: journal.sessionId, limits: { ...DEFAULT_LIMITS, ...limits } };
  return {
    journal,
    cwd,
    openWorkspace: (root) => {
      const workspace = opened.get(root) ?? openWorkspace(root, settings);
      opened.set(root, workspace);
      return workspace;
    },
    [Symbol.dispose]: () => {
      for (const { store } of opened.values()) store.close();
    },
  };
}

export function openWorkspace(
  root: string,
  {
    folder,
    sessionId,
    limits = DEFAULT_LIMITS,
    onNotice,
  }: Pick<WorkspaceOptions, "folder" | "sessionId" | "onNotice"> & { readonly limits?: CheckpointLimits },
): Workspace {
  return new Workspace({
    root,
    folder: join(folder, workspaceSlug(root)),
    sessionId,
    limits,
    onNotice,
    exclude: [folder, dirname(folder)],
  });
}

function outermostRoots(roots: readonly string[]): readonly string[] {
  const isBelow = (path: string, other: string): boolean => path !== other && isWithin(path, other);
  return [...new Set(roots)].filter((root) => !roots.some((other) => isBelow(root, other)));
}

/** True for a skipped path that later scans will skip too. */
export function isSkippedForGood({ path, reason }: Omission): boolean {
  return reason === "too_many_files" || reason === "mount" || (path === "" && reason === "unreadable");
}

const MAX_NAMED = 5;
const SKIP_REASONS: { readonly [R in Omission["reason"]]?: string } = {
  too_many_files: "has too many files",
  mount: "is another file system",
};

/** Notices about skipped paths below a root: the outermost by name, the others by number. */
export function skippedNotices(root: string, gaps: readonly Omission[]): readonly string[] {
  const depth = ({ path }: Omission): number => path.split("/").length;
  const named = gaps.toSorted((left, right) => depth(left) - depth(right)).slice(0, MAX_NAMED);
  const notices = named.map(
    ({ path, reason }) =>
      `undo: ${path === "" ? root : `${root}/${path}`} ${SKIP_REASONS[reason] ?? "cannot be read"}; what commands change there is not kept.`,
  );
  const others = gaps.length - named.length;
  if (others > 0)
    notices.push(
      `undo: what commands change in ${pluralize(others, "other folder")} below ${root} is not kept.`,
    );
  return notices;
}

/** Share of the space that sessions may fill, so that some is left for the next run. */
const MAX_FILL_SHARE = 0.6;

/**
 * Removes data that no session needs, and that of the oldest sessions if the rest takes too much of
 * `maxBytes`; nothing of `own`, the journal of the current session. Does nothing while another session of the
 * workspace is running. Throws `checkpoint` for errors of the system.
 */
function collectUnused(workspace: Workspace, own?: string, maxBytes = Number.POSITIVE_INFINITY): void {
  const { store } = workspace;
  const users = store.users();
  if (users.some((path) => path !== own && isSessionInUse(path))) return;
  const timeOf = (path: string): number => (path === own ? Number.POSITIVE_INFINITY : statSync(path).mtimeMs);
  const sizes = store.sizes();
  const sizeOf = (names: Iterable<string>): number =>
    [...names].reduce((all, name) => all + (sizes.get(name) ?? 0), 0);
  const room = maxBytes * MAX_FILL_SHARE;
  const needed = new Set(workspace.hashes());
  const kept: string[] = [];
  let used = sizeOf(needed);
  for (const path of users.toSorted((left, right) => timeOf(right) - timeOf(left))) {
    const all = new Set(hashesIn(readSession(path).entries, workspace.root));
    const more = [...all].filter((name) => !needed.has(name));
    const size = sizeOf(more);
    if (path !== own && used + size > room) break;
    used += size;
    kept.push(path);
    for (const name of more) needed.add(name);
  }
  workspace.retainOnly(needed, kept);
}

/** Removes the folder of a workspace that no session needs; otherwise only its unneeded data. */
export function removeUndoData(workspace: Workspace): void {
  const { store } = workspace;
  const isNeeded = store.users().length > 0;
  if (isNeeded) collectUnused(workspace);
  store.close();
  if (!isNeeded) rmSync(workspace.folder, { recursive: true, force: true });
}

function* hashesIn(entries: Iterable<JournalEntry>, root: string): Iterable<string> {
  for (const entry of entries) {
    if ((entry.type !== "checkpoint" && entry.type !== "rollback") || entry.root !== root) continue;
    for (const { before, after } of entry.changes)
      for (const version of [before, after]) if (version?.type === "file") yield version.hash;
  }
}
