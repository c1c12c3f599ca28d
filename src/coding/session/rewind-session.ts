import { resolve } from "node:path";
import { invalidArgument } from "../../core/base/errors.ts";
import { omitUndefined } from "../../core/base/json.ts";
import { entryBefore } from "../../journal/steps.ts";
import { type RollbackPlace, redo, undo } from "../../session/undo/rollback.ts";
import { rollbackPlace } from "../../session/undo/session-checkpoints.ts";
import { checkpointLimits, checkpointsFolder } from "../setup/checkpoints.ts";
import type {
  CodingSession,
  RewindOptions,
  RewindReport,
  UndoOptions,
  UndoReport,
} from "./coding-session.ts";
import type { SessionParts } from "./session-agent.ts";
import { rewindPoints } from "./session-info.ts";

/** Goes back to before a message: files first, since only they can prevent it. */
export async function rewindSession(
  parts: SessionParts,
  entryId: string,
  { conversation = true, files = false, force = false }: RewindOptions,
): Promise<RewindReport> {
  const { session } = parts;
  const point = rewindPoints(session.journal.entries()).find((each) => each.entryId === entryId);
  if (point === undefined)
    throw invalidArgument(
      `${JSON.stringify(entryId)} is not a message of the user in this conversation. rewindPoints() lists them.`,
    );
  const { run, turn, text } = point;
  let report: UndoReport | undefined;
  if (files) {
    report = await undoFiles(parts, { to: { run, turn: turn === 1 ? 0 : turn }, force });
    if (report.status === "refused") return { status: "refused", text, files: report };
  }
  if (conversation) await session.rewindTo(entryId);
  return { status: "done", text, ...omitUndefined({ files: report }) };
}

export async function undoFiles(
  parts: SessionParts,
  { paths = [], to, force = false }: UndoOptions,
): Promise<UndoReport> {
  const { cwd } = parts.settings;
  using target = await rollbackTarget(parts);
  return await undo(target, {
    paths: paths.map((path) => resolve(cwd, path)),
    force,
    ...omitUndefined({ to: to && { run: to.run, turn: to.turn ?? 0 } }),
  });
}

export async function redoFiles(
  parts: SessionParts,
  { force = false }: { readonly force?: boolean },
): Promise<UndoReport> {
  using target = await rollbackTarget(parts);
  return await redo(target, { force });
}

async function rollbackTarget({ settings, composed, session }: SessionParts): Promise<RollbackPlace> {
  const { checkpoints } = composed;
  if (checkpoints === undefined)
    throw invalidArgument(
      "Nothing is kept for undo: it is switched off, or the session is not kept on the disk.",
    );
  // Only one of the two may track the workspace at a time.
  await checkpoints.close();
  return rollbackPlace({
    folder: checkpointsFolder(settings.paths),
    journal: session.journal,
    cwd: settings.cwd,
    limits: checkpointLimits(settings.config.values.undoLimits),
  });
}

export async function forkSession(
  { current, options, session, reopen }: SessionParts,
  entryId: string | undefined,
): Promise<CodingSession> {
  const { resume: _resume, sessionId: _sessionId, ...same } = options;
  const id = current.agent.sessionId;
  const own = { ...same, permissionMode: current.mode };
  if (session.saved !== undefined)
    return reopen({
      ...own,
      resume: { id, fork: true, ...omitUndefined({ at: entryId }) },
    });
  const entries = [...session.journal.entries()];
  const before = entryId === undefined ? entries.at(-1)?.id : entryBefore(entries, entryId);
  const end = entries.findIndex((entry) => entry.id === before);
  return reopen({ ...own, keep: false, entries: entries.slice(0, end + 1) });
}
