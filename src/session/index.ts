export {
  type CheckpointHistory,
  checkpointHistory,
  type TurnPlace,
} from "./checkpoints/checkpoint-history.ts";
export type { CheckpointLimits } from "./checkpoints/limits.ts";
export { type ChangedRun, type ChangedTurn, listTurns } from "./checkpoints/list-turns.ts";
export {
  type RollbackOptions,
  type RollbackPlace,
  type RollbackReport,
  redo,
  undo,
} from "./checkpoints/rollback.ts";
export {
  type RollbackPlaceOptions,
  rollbackPlace,
  SessionCheckpoints,
  type SessionCheckpointsOptions,
} from "./checkpoints/session-checkpoints.ts";
export { JsonlJournal, type JsonlJournalOptions, type NewSession } from "./jsonl-journal.ts";
export { readSession, type SessionContent } from "./read-session.ts";
export type { SessionEntry } from "./record.ts";
export { hasRepairs, type InterruptedCall, type RepairReport } from "./repair-report.ts";
export type { DamagedLine } from "./scan-journal.ts";
export { isSessionId } from "./session-id.ts";
export { type SessionFile, SessionStore, type StartOptions } from "./session-store.ts";
export { type SessionCheck, verifySession } from "./verify-session.ts";
