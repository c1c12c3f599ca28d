/// <reference types="node" preserve="true" />

export type {
  ApprovalRequestEntry,
  AssistantEntry,
  CheckpointEntry,
  CompactionEntry,
  CompactionUndoneEntry,
  EntryBase,
  FileChange,
  FileVersion,
  HistoryEntry,
  MemoryEditEntry,
  ModeChangeEntry,
  ModelChangeEntry,
  ModelUsageEntry,
  NewEntry,
  NoteEntry,
  Omission,
  OmissionReason,
  PermissionEntry,
  RetryEntry,
  RollbackEndEntry,
  RollbackEntry,
  RunEndEntry,
  RunResumeEntry,
  RunStartEntry,
  SystemRemark,
  ToolIntentEntry,
  ToolResultEntry,
  ToolStatus,
  UserEntry,
} from "../core/agent/entries.ts";
export type { LocalJournal } from "../core/agent/journal.ts";
export type { CheckpointedCall, Checkpointer } from "../core/agent/ports.ts";
export type { LoopCircle } from "../core/agent/result.ts";
export type { RecordedError } from "../core/base/errors.ts";
export type { BudgetLimit } from "../core/model/budget.ts";
export { type SessionStep, sessionSteps } from "../journal/steps.ts";
export type { ForeignProgram } from "./import/foreign-session.ts";
export { type ImportOptions, type ImportReport, importSession } from "./import/import-session.ts";
export { JsonlJournal, type JsonlJournalOptions, type NewSession } from "./jsonl-journal.ts";
export type { DamagedLine } from "./read-session.ts";
export {
  readSession,
  recordBeforeStep,
  type SessionCheck,
  type SessionContent,
  verifySession,
} from "./read-session.ts";
export type { SessionEntry } from "./record.ts";
export { hasRepairs, type InterruptedCall, type RepairReport } from "./repair-report.ts";
export type { RecordedCall, RecordedRun } from "./replay/recorded-run.ts";
export type { ReplayTools, ToolRunner } from "./replay/replay-run.ts";
export type { ReplayAspect, ReplayDifference, ReplayReport } from "./replay/replay-session.ts";
export { type ReplayOptions, replaySession } from "./replay/replay-session.ts";
export {
  type FindOptions,
  type FoundSession,
  findSessions,
  type SessionSearch,
} from "./search/find-sessions.ts";
export { isSessionId } from "./session-file.ts";
export { type OpenOptions, type SessionFile, SessionStore, type StartOptions } from "./session-store.ts";
export {
  type ChangedRun,
  type ChangedTurn,
  type CheckpointHistory,
  checkpointHistory,
  listTurns,
  type TurnPlace,
} from "./undo/checkpoint-history.ts";
export type { CheckpointLimits } from "./undo/checkpoint-store.ts";
export {
  type RollbackOptions,
  type RollbackPlace,
  type RollbackReport,
  redo,
  undo,
} from "./undo/rollback.ts";
export {
  type RollbackPlaceOptions,
  rollbackPlace,
  SessionCheckpoints,
  type SessionCheckpointsOptions,
} from "./undo/session-checkpoints.ts";
