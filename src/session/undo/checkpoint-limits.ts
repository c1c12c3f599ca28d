/** How much is kept for undo. */
export interface CheckpointLimits {
  /** Larger files are noted and not kept. Default 32 MiB. */
  readonly maxFileBytes: number;
  /** Files and folders of the workspace that are looked at. Default 200,000. */
  readonly maxEntries: number;
  /** Most entries looked at in one folder like `node_modules` or of build output. Default 5,000. */
  readonly maxBulkEntries: number;
  /** Bytes on disk for one workspace. Default 1 GiB. */
  readonly maxStoreBytes: number;
  /**
   * Milliseconds that a call waits for what is read for the first time; for going through folders for the
   * first time twice as long. What is left waits for the calls after it. Default 2,000.
   */
  readonly maxWaitMs: number;
}

/** The limits where nobody says otherwise. */
export const DEFAULT_LIMITS: CheckpointLimits = {
  maxFileBytes: 32 * 1024 * 1024,
  maxEntries: 200_000,
  maxBulkEntries: 5_000,
  maxStoreBytes: 1024 * 1024 * 1024,
  maxWaitMs: 2_000,
};

/** Names of folders that hold what a command can make again, often by the ten thousand. */
export const BULK_FOLDERS: ReadonlySet<string> = new Set([
  "node_modules",
  "bower_components",
  ".pnpm-store",
  ".yarn",
  ".venv",
  "venv",
  ".tox",
  ".nox",
  ".gradle",
  ".cache",
  ".next",
  ".nuxt",
  ".turbo",
  "target",
  "Pods",
  "DerivedData",
]);
