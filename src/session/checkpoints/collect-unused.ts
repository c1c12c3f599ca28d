import { appendFileSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { JournalEntry } from "../../core/agent/entry.ts";
import { lockPath } from "../inspect-session.ts";
import { readSession } from "../read-session.ts";
import { systemCode } from "../session-error.ts";
import { takeLock } from "../session-lock.ts";
import { checkpointError } from "./checkpoint-error.ts";
import type { Workspace } from "./workspace.ts";

/** What {@link collectUnused} works with. */
export interface CollectOptions {
  readonly workspace: Workspace;
  /** Journal of the session at work, which nothing is taken from; undefined when none is. */
  readonly own?: string | undefined;
  /** Bytes the store may take. What the oldest sessions need goes first. Default: only what no session needs goes. */
  readonly maxBytes?: number;
}

const USERS = "sessions";

/** Remembers that a session keeps files in the folder of a workspace. */
export function addUser(folder: string, journalPath: string): void {
  if (usersOf(folder).includes(journalPath)) return;
  try {
    appendFileSync(join(folder, USERS), `${journalPath}\n`, { mode: 0o600 });
  } catch (error) {
    throw checkpointError(`${join(folder, USERS)} cannot be written`, error);
  }
}

/** Journals that keep files in the folder of a workspace, those that were removed left out. */
export function usersOf(folder: string): readonly string[] {
  try {
    const lines = readFileSync(join(folder, USERS), "utf8").split("\n");
    return [...new Set(lines)].filter(
      (path) => path !== "" && statSync(path, { throwIfNoEntry: false }) !== undefined,
    );
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return [];
  }
}

/** A pack of which more than this share is of no use is written anew without it. */
const WASTE = 0.3;
/** Packs beyond this number are joined. */
const MANY_PACKS = 150;
/** Share of the space that sessions may fill, so that the next run has some. */
const FILL = 0.6;

/**
 * Removes what no session needs any more, and what the oldest need as far as the rest takes too much space. Resolves to false, nothing
 * done, while another session of the workspace is at work. Throws `checkpoint` for what the system refuses.
 */
export async function collectUnused({ workspace, own, maxBytes }: CollectOptions): Promise<boolean> {
  const { folder, store } = workspace;
  const users = usersOf(folder);
  for (const path of users) if (path !== own && (await isAtWork(path))) return false;
  const lengths = new Map<string, number>();
  for (const { objects } of store.contents()) for (const [name, length] of objects) lengths.set(name, length);
  const total = sum(lengths.values());
  const ratio = total === 0 ? 1 : store.bytes / total;
  const room = maxBytes === undefined ? Number.POSITIVE_INFINITY : (maxBytes * FILL) / ratio;
  const needed = new Set(workspace.hashes());
  const kept: string[] = [];
  let used = sum([...needed].map((name) => lengths.get(name) ?? 0));
  for (const path of newestFirst(users, own)) {
    const more = [...new Set(hashesIn(entriesOfFile(path), workspace.root))].filter(
      (name) => !needed.has(name),
    );
    const size = sum(more.map((name) => lengths.get(name) ?? 0));
    if (path !== own && used + size > room) break;
    used += size;
    kept.push(path);
    for (const name of more) needed.add(name);
  }
  sweep(workspace, needed);
  removeDrafts(store.folder);
  writeFileSync(join(folder, USERS), kept.map((path) => `${path}\n`).join(""), { mode: 0o600 });
  workspace.forgetSaved();
  workspace.save();
  return true;
}

/** Removes the folder of a workspace that no session needs; else what no session needs of it. */
export async function forgetSession(workspace: Workspace): Promise<void> {
  if (usersOf(workspace.folder).length === 0) rmSync(workspace.folder, { recursive: true, force: true });
  else await collectUnused({ workspace });
}

function sweep({ store }: Workspace, needed: ReadonlySet<string>): void {
  const contents = [...store.contents()];
  const areMany = contents.length > MANY_PACKS;
  const going = contents.filter(({ objects }) => {
    const waste = sum(objects.map(([name, length]) => (needed.has(name) ? 0 : length)));
    const all = sum(objects.map(([, length]) => length));
    return (
      objects.every(([name]) => !needed.has(name)) || waste > all * WASTE || (areMany && all < SMALL_BYTES)
    );
  });
  if (going.length === 0) return;
  const move = going.flatMap(({ objects }) =>
    objects.map(([name]) => name).filter((name) => needed.has(name)),
  );
  store.removePacks(
    going.map(({ pack }) => pack),
    move,
  );
}

const SMALL_BYTES = 1024 * 1024;

/** What processes that were killed left half written. Nobody else is at work here. */
function removeDrafts(folder: string): void {
  const names = statSync(folder, { throwIfNoEntry: false }) === undefined ? [] : readdirSync(folder);
  for (const name of names) if (name.endsWith(".tmp")) rmSync(join(folder, name), { force: true });
}

function newestFirst(users: readonly string[], own: string | undefined): readonly string[] {
  const times = new Map(
    users.map((path) => [path, path === own ? Number.POSITIVE_INFINITY : statSync(path).mtimeMs]),
  );
  return [...users].sort((left, right) => (times.get(right) ?? 0) - (times.get(left) ?? 0));
}

function entriesOfFile(path: string): readonly JournalEntry[] {
  return readSession(path).entries;
}

function* hashesIn(entries: Iterable<JournalEntry>, root: string): Iterable<string> {
  for (const entry of entries) {
    if ((entry.type !== "checkpoint" && entry.type !== "rollback") || entry.root !== root) continue;
    for (const { before, after } of entry.changes)
      for (const version of [before, after]) if (version?.type === "file") yield version.hash;
  }
}

async function isAtWork(path: string): Promise<boolean> {
  try {
    const lock = await takeLock(lockPath(path), { patienceMs: 1 });
    lock.release();
    return false;
  } catch {
    // Held, or not to be told: then nothing it may need is removed.
    return true;
  }
}

function sum(numbers: Iterable<number>): number {
  let all = 0;
  for (const each of numbers) all += each;
  return all;
}
