export type { AgentMaker, AgentSeat, AgentStore } from "./agent-sessions.ts";
export { createHandler } from "./create-handler.ts";
export { createReader, type Reader, type SessionQuery } from "./create-reader.ts";
export type { ConnectionRetry, FollowOptions } from "./follow-stream.ts";
export type { HandlerOptions, WebAsset } from "./handler-options.ts";
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
export type { ReaderOptions } from "./server-link.ts";
export { ServerProblem } from "./server-problem.ts";
export type { SessionFacts, UseOfDay } from "./session-facts.ts";
export type {
  EntrySource,
  EntryTail,
  HostedSession,
  ListQuery,
  SessionHost,
} from "./session-host.ts";
