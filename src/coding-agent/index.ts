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
} from "../coding/session/coding-session.ts";
export { createCodingSession } from "../coding/session/prepare-coding-session.ts";
export type { ConfigFile } from "../coding/settings/config-schema.ts";
export { CODING_PROMPT } from "../coding/setup/system-prompt.ts";
export type { ModelSpending } from "../journal/session-usage.ts";
export type { PermissionMode } from "../permission/permission-mode.ts";
export type { ModelReason } from "../providers/model-choice.ts";
export type { FoundModel } from "../providers/catalog.ts";
export type { Environment } from "../system/env.ts";
export type { FilePort } from "../tools/files/file-state.ts";
export type { PortCommand, PortCommandEnd, ShellPort } from "../tools/shell/ports.ts";
export type { DiffHunk, FileDiff } from "../view/file-diff.ts";
export type { MessageQueue, QueuedMessage } from "../view/message-queue.ts";
export type { LeftOut, Notice, NoticeTopic, OnNotice } from "../view/notice.ts";
export { noticeText } from "../view/notice-text.ts";
export type { Advice, Denial, Outcome, OutcomeCode } from "../view/outcome.ts";
export type {
  AnswerChoice,
  NewQuestion,
  OfferedChoice,
  Question,
  QuestionListener,
  QuestionReply,
  QuestionScope,
} from "../view/question.ts";
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
} from "../view/view.ts";
