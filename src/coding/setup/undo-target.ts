import { existsSync } from "node:fs";
import { readSession } from "../../session/read-session.ts";
import type { SessionFile, SessionStore } from "../../session/session-store.ts";
import { type ChangedRun, checkpointHistory, listTurns } from "../../session/undo/checkpoint-history.ts";
import type { RollbackPlace } from "../../session/undo/rollback.ts";
import { openWorkspace, removeUndoData, rollbackPlace } from "../../session/undo/session-checkpoints.ts";
import type { UndoLimits } from "../settings/config-schema.ts";
import { currentFolder, type UserPaths } from "../settings/paths.ts";
import { checkpointLimits, checkpointsFolder } from "./checkpoints.ts";

export interface UndoTarget {
  readonly paths: UserPaths;
  readonly store: SessionStore;
  readonly limits?: UndoLimits | undefined;
}

/** The runs of a session that changed files. Reads only. */
export function changedRuns(session: SessionFile): readonly ChangedRun[] {
  return listTurns(checkpointHistory(readSession(session.path).entries));
}

/** Locks a session while `work` reverts files. Throws `journal` while a run uses it. */
export async function withRollbackTarget<T>(
  { paths, store, limits }: UndoTarget,
  session: SessionFile,
  work: (place: RollbackPlace) => Promise<T>,
): Promise<T> {
  const { header } = readSession(session.path);
  const journal = await store.resume(session);
  try {
    const cwd = header !== undefined && existsSync(header.cwd) ? header.cwd : currentFolder();
    const folder = checkpointsFolder(paths);
    using place = rollbackPlace({ folder, journal, cwd, limits: checkpointLimits(limits) });
    return await work(place);
  } finally {
    await journal.close();
  }
}

/** Removes a session, and its undo data that no other session needs. */
export async function removeSession({ paths, store }: UndoTarget, session: SessionFile): Promise<void> {
  const { header, entries } = readSession(session.path);
  const roots = new Set(header === undefined ? [] : [header.cwd]);
  for (const entry of entries) if (entry.type === "checkpoint") roots.add(entry.root);
  await store.remove(session);
  for (const root of roots) {
    const workspace = openWorkspace(root, { folder: checkpointsFolder(paths), sessionId: session.sessionId });
    removeUndoData(workspace);
  }
}
