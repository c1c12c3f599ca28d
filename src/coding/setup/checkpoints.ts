import { join } from "node:path";
import type { NewEntry } from "../../core/agent/entries.ts";
import type { CheckpointedCall, Checkpointer } from "../../core/agent/ports.ts";
import { errorMessage } from "../../core/base/errors.ts";
import { omitUndefined } from "../../core/base/json.ts";
import type { CheckpointLimits } from "../../session/undo/checkpoint-store.ts";
import type { SessionCheckpoints } from "../../session/undo/session-checkpoints.ts";
import { isWithin } from "../../system/real-path.ts";
import type { UndoLimits } from "../settings/config-schema.ts";
import type { UserPaths } from "../settings/paths.ts";
import type { Settings } from "../settings/settings.ts";
import type { OpenSession } from "./open-session.ts";

export interface Checkpoints extends Checkpointer {
  /** Scans the workspace ahead of the first command. Never rejects. */
  readonly prepare: () => Promise<void>;
  /** Stores what the next call or session can use; a later call reopens everything. Never rejects. */
  readonly close: () => Promise<void>;
}

/** Records changes for undo, loaded when needed; undefined if undo is off or nothing is stored. */
export function openCheckpoints(
  settings: Settings,
  roots: readonly string[],
  session: OpenSession,
  onNotice: (message: string) => void,
): Checkpoints | undefined {
  const { saved } = session;
  if (settings.config.values.undo === false || saved === undefined) return undefined;
  let loading: Promise<SessionCheckpoints> | undefined;
  let interrupted = saved.repairs.interrupted.find(({ outcome }) => outcome === "unknown");
  const load = async (): Promise<SessionCheckpoints> => {
    const { SessionCheckpoints: Loaded } = await import("../../session/undo/session-checkpoints.ts");
    const interruptedCall = interrupted;
    // The first scan finds the interrupted call's changes.
    interrupted = undefined;
    return new Loaded({
      folder: checkpointsFolder(settings.paths),
      roots,
      sessionId: saved.sessionId,
      journalPath: saved.path,
      limits: limitsIn(settings),
      interrupted: interruptedCall,
      onNotice,
    });
  };
  const loaded = (): Promise<SessionCheckpoints> => (loading ??= load());
  return {
    prepare: () =>
      loaded()
        .then((checkpoints) => checkpoints.prepare())
        .catch(() => undefined),
    before: async (call: CheckpointedCall): Promise<void> => {
      if (call.tool.readOnly !== true && call.tool.changesFiles !== false)
        await (await loaded()).before(call);
    },
    after: async (call: CheckpointedCall): Promise<readonly NewEntry[]> =>
      loading === undefined ? [] : (await loading).after(call),
    close: async () => {
      const opened = loading;
      loading = undefined;
      try {
        await (await opened)?.close();
      } catch (error) {
        onNotice(`undo: ${errorMessage(error)}`);
      }
    },
  };
}

export function checkpointsFolder({ historyFolder }: Pick<UserPaths, "historyFolder">): string {
  return join(historyFolder, "checkpoints");
}

/** Entries scanned if the workspace is the user's home, or contains all homes: outer folders only. */
const HOME_ENTRIES = 2_000;

/** True if the working folder is the user's home or contains it, such as `/`. */
export function containsHome({ cwd, paths }: Pick<Settings, "cwd" | "paths">): boolean {
  return isWithin(paths.home, cwd);
}

function limitsIn(settings: Settings): Partial<CheckpointLimits> {
  const limits = checkpointLimits(settings.config.values.undoLimits);
  return containsHome(settings)
    ? { ...limits, maxEntries: Math.min(limits.maxEntries ?? HOME_ENTRIES, HOME_ENTRIES) }
    : limits;
}

const MEGABYTE = 1024 * 1024;

export function checkpointLimits({
  maxFileMb,
  maxStoreMb,
  maxFiles,
}: UndoLimits = {}): Partial<CheckpointLimits> {
  return {
    ...(maxFileMb !== undefined && { maxFileBytes: Math.floor(maxFileMb * MEGABYTE) }),
    ...(maxStoreMb !== undefined && { maxStoreBytes: Math.floor(maxStoreMb * MEGABYTE) }),
    ...omitUndefined({ maxEntries: maxFiles }),
  };
}
