import { rmSync, statSync } from "node:fs";
import type { JournalEntry } from "../../core/agent/entries.ts";
import { lockPath } from "../inspect-session.ts";
import { readSession } from "../read-session.ts";
import { takeLock } from "../session-lock.ts";
import type { Workspace } from "./workspace.ts";

/** Options of {@link collectUnused}. */
export interface CollectOptions {
  readonly workspace: Workspace;
  /** Journal of the session at work, which nothing is taken from; undefined when none is. */
  readonly own?: string | undefined;
  /** Most bytes of the store: the oldest sessions' go first. Default: only what no session needs goes. */
  readonly maxBytes?: number;
}

/** Share of the space that sessions may fill, so that the next run has some. */
const FILL = 0.6;

/**
 * Removes what no session needs any more, and what the oldest need as far as the rest takes too much space.
 * Resolves to false, nothing done, while another session of the workspace is at work. Throws `checkpoint` for
 * what the system refuses.
 */
export async function collectUnused({ workspace, own, maxBytes }: CollectOptions): Promise<boolean> {
  const { store } = workspace;
  const users = store.users();
  for (const path of users) if (path !== own && (await isAtWork(path))) return false;
  const sizes = store.sizes();
  const sizeOf = (names: Iterable<string>): number =>
    [...names].reduce((all, name) => all + (sizes.get(name) ?? 0), 0);
  const room = maxBytes === undefined ? Number.POSITIVE_INFINITY : maxBytes * FILL;
  const needed = new Set(workspace.hashes());
  const kept: string[] = [];
  let used = sizeOf(needed);
  for (const path of newestFirst(users, own)) {
    const all = new Set(hashesIn(readSession(path).entries, workspace.root));
    const more = [...all].filter((name) => !needed.has(name));
    const size = sizeOf(more);
    if (path !== own && used + size > room) break;
    used += size;
    kept.push(path);
    for (const name of more) needed.add(name);
  }
  workspace.keepOnly(needed, kept);
  return true;
}

/** Removes the folder of a workspace that no session needs; else what no session needs of it. */
export async function forgetSession(workspace: Workspace): Promise<void> {
  const { store } = workspace;
  const isNeeded = store.users().length > 0;
  if (isNeeded) await collectUnused({ workspace });
  store.close();
  if (!isNeeded) rmSync(workspace.folder, { recursive: true, force: true });
}

function newestFirst(users: readonly string[], own: string | undefined): readonly string[] {
  const times = new Map(
    users.map((path) => [path, path === own ? Number.POSITIVE_INFINITY : statSync(path).mtimeMs]),
  );
  return [...users].sort((left, right) => (times.get(right) ?? 0) - (times.get(left) ?? 0));
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
