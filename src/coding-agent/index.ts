/// <reference types="node" preserve="true" />
export type {
  CodingSession,
  CodingSessionOptions,
  CommandView,
  CompactionResult,
  ContextStats,
  McpAccess,
  McpServerView,
  ModelView,
  ResumeOptions,
  RewindOptions,
  RewindPoint,
  RewindReport,
  SendOptions,
  SessionInfo,
  SessionPorts,
  SessionRun,
  SessionStats,
  ShellOutcome,
  UndoOptions,
  UndoReport,
} from "../app/coding-session/coding-session.ts";
export type { DiffHunk, FileDiff } from "../app/coding-session/file-diff.ts";
export type { LeftOut, ModelReason, Notice, NoticeTopic, OnNotice } from "../app/coding-session/notice.ts";
export { noticeText } from "../app/coding-session/notice-text.ts";
export type { Advice, Denial, ModelSpending, Outcome, OutcomeCode } from "../app/coding-session/outcome.ts";
export { createCodingSession } from "../app/coding-session/prepare-coding-session.ts";
export type {
  AnswerChoice,
  NewQuestion,
  OfferedChoice,
  Question,
  QuestionListener,
  QuestionReply,
} from "../app/coding-session/question.ts";
export {
  type AnswerItem,
  type ItemBase,
  type JobView,
  MAX_TAIL_CHARS,
  type RunView,
  type SessionView,
  type ShellItem,
  type SubagentView,
  type ThinkingItem,
  type ToolItem,
  type UserItem,
  type ViewChange,
  type ViewItem,
} from "../app/coding-session/view.ts";
export type { MessageQueue, QueuedMessage } from "../app/coding-session/waiting-messages.ts";
export type { ConfigFile } from "../app/config/config-schema.ts";
export type { Environment } from "../app/config/env.ts";
export type { FoundModel } from "../app/found-model.ts";
export { CODING_PROMPT } from "../app/system-prompt.ts";
export type { PermissionMode } from "../permission/permission-mode.ts";
export type { FilePort } from "../tools/files/file-port.ts";
export type { PortCommand, PortCommandEnd, ShellPort } from "../tools/shell/shell-port.ts";
