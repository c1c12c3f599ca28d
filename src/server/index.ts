export type { AgentMaker, AgentSeat, AgentStore } from "./agent-sessions.ts";
export type { HandlerOptions, WebAsset } from "./create-handler.ts";
export { createHandler } from "./create-handler.ts";
export type { ConnectionRetry, FollowOptions, ReaderOptions } from "./create-reader.ts";
export { createReader, type Reader, ServerProblem, type SessionQuery } from "./create-reader.ts";
export type {
  ChangeKind,
  ListedSession,
  NewMessage,
  OpenApproval,
  PassingEvent,
  Problem,
  QuestionAnswer,
  RunLimits,
  ServerStats,
  SessionChange,
  SessionDetail,
  SessionFileState,
  SessionPage,
  SessionRequest,
  SessionState,
  StatsBy,
  StatsFilter,
  StatsRow,
  StreamItem,
  UndoRequest,
  UndoResult,
  WaitingMessage,
} from "./server-api.ts";
export type { SessionFacts, UseOfDay } from "./session-facts.ts";
export type {
  EntrySource,
  EntryTail,
  HostedSession,
  ListQuery,
  SessionHost,
} from "./session-host.ts";
