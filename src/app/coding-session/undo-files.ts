import { resolve } from "node:path";
import { NanoAgentError } from "../../core/base/errors.ts";
import { type RollbackPlace, redo, undo } from "../../session/checkpoints/rollback.ts";
import { rollbackPlace } from "../../session/checkpoints/session-checkpoints.ts";
import { checkpointLimits, checkpointsFolder } from "../checkpoints.ts";
import type { UndoOptions, UndoReport } from "./coding-session.ts";
import type { SessionParts } from "./session-parts.ts";

/** What putting files back works on. */
export type UndoParts = Pick<SessionParts, "settings" | "composed" | "session">;

/** Puts files back. Throws `invalid_argument` where nothing is kept for it. */
export async function undoFiles(
  parts: UndoParts,
  { paths = [], to, force = false }: UndoOptions,
): Promise<UndoReport> {
  const { cwd } = parts.settings;
  using place = await placeOf(parts);
  return await undo(place, {
    paths: paths.map((path) => resolve(cwd, path)),
    force,
    ...(to === undefined ? {} : { to: { run: to.run, turn: to.turn ?? 0 } }),
  });
}

/** Puts files forth again that the newest undo has put back. */
export async function redoFiles(
  parts: UndoParts,
  { force = false }: { readonly force?: boolean },
): Promise<UndoReport> {
  using place = await placeOf(parts);
  return await redo(place, { force });
}

async function placeOf({ settings, composed, session }: UndoParts): Promise<RollbackPlace> {
  const { checkpoints } = composed;
  if (checkpoints === undefined)
    throw new NanoAgentError(
      "invalid_argument",
      "Nothing is kept for undo: it is switched off, or the session is not kept on the disk.",
    );
  // One of both looks after the workspace at a time.
  await checkpoints.close();
  return rollbackPlace({
    folder: checkpointsFolder(settings.paths),
    journal: session.journal,
    cwd: settings.cwd,
    limits: checkpointLimits(settings.config.values.undoLimits),
  });
}
