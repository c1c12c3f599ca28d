import type { AgentEvent, CompactionEntry } from "../../core/agent/entries.ts";
import type { Json } from "../../core/base/errors.ts";
import type { JsonSchema } from "../../core/base/schema.ts";
import type { Input } from "../../core/message/input.ts";
import type { ToolInput, Usage } from "../../core/message/message.ts";
import type { Budget } from "../../core/model/budget.ts";
import type { Effort, Model } from "../../core/model/model.ts";
import type { Tool, ToolResult } from "../../core/tool/tool.ts";
import type { Elicit } from "../../extensions/mcp/connection.ts";
import type { McpHub } from "../../extensions/mcp/mcp-hub.ts";
import type { AdoptErrors } from "../../extensions/modules/load-extensions.ts";
import type { ModelSpending } from "../../journal/session-usage.ts";
import type { CompactionPreview } from "../../memory/context/compactor.ts";
import type { PermissionMode } from "../../permission/permission-mode.ts";
import type { FoundModel } from "../../providers/catalog.ts";
import type { ModelReason } from "../../providers/model-choice.ts";
import type { RollbackReport } from "../../session/undo/rollback.ts";
import type { Environment } from "../../system/env.ts";
import type { FilePort } from "../../tools/files/file-state.ts";
import type { ShellPort } from "../../tools/shell/shell-ports.ts";
import type { MessageQueue } from "../../view/message-queue.ts";
import type { Notice, OnNotice } from "../../view/notice.ts";
import type { Outcome } from "../../view/outcome.ts";
import type {
  NewQuestion,
  Question,
  QuestionListener,
  QuestionReply,
  QuestionScope,
} from "../../view/question.ts";
import type { SessionView, ViewChange } from "../../view/view.ts";
import type { ConfigFile } from "../settings/config-schema.ts";
import type { McpSources } from "../settings/settings.ts";

/** Options for opening a coding session. */
export interface CodingSessionOptions {
  /** Folder the agent works in. Default: that of the process. */
  readonly cwd?: string;
  /** Further folders that count as the workspace. Default: none. */
  readonly addDirs?: readonly string[];
  /** Variables for keys, settings and commands. Default: those of the process at this moment. */
  readonly environment?: Environment;
  /** Settings that override those in files, like command-line options. Default: none. */
  readonly settings?: Partial<ConfigFile>;
  /** A model, or its name: `provider/id[:effort]`. Default: from settings and keys. */
  readonly model?: string | Model;
  /**
   * How freely tools may act: `plan`, `dontAsk`, `default`, `acceptEdits` or `bypassPermissions`. Default:
   * from the settings, else `default`.
   */
  readonly permissionMode?: PermissionMode;
  /** The session to continue. Default: a new one. */
  readonly resume?: "last" | ResumeOptions;
  /** Id of the new session or copy. Default: generated. */
  readonly sessionId?: string;
  /** False: nothing is kept on disk. Default true. */
  readonly keep?: boolean;
  /** Folder for the session and its undo data. Default: that of the user's sessions. */
  readonly keepIn?: string;
  /** Limits in addition to those of the settings. Default: none. */
  readonly budget?: Pick<Budget, "tokens" | "shared"> | undefined;
  /** True to use the long-term memory the user has configured. Default: the value of `keep`. */
  readonly remembers?: boolean;
  /** Tools in addition to the built-in ones. Default: none. */
  readonly tools?: readonly Tool[];
  /** Replacements for files and commands: an editor's buffers and terminal. Default: the system. */
  readonly ports?: SessionPorts;
  /** MCP servers in addition to those of the settings and the project, or instead of them. */
  readonly mcp?: McpSources | undefined;
  /** Asks a person for what an MCP server wants to know. Default: the request is refused. */
  readonly elicit?: Elicit | undefined;
  /** Asks a person whether to use a local server that was found, not chosen. Default: it is not used. */
  readonly acceptServer?: ((found: FoundModel) => Promise<boolean>) | undefined;
  /** Gets every notice, including those from before the session is open. */
  readonly onNotice?: OnNotice;
  /** Rewrites the text before it is sent, e.g. to add the files it names with `@`. Default: sent as is. */
  readonly expandInput?: (text: string, context: { readonly signal: AbortSignal }) => Promise<Input>;
  /**
   * For hosts that listen to `uncaughtException`: gets a function for each loaded extension file. It reports
   * an error as a notice, once, if that file's code threw it, and returns whether it did. Default: such
   * errors end the process.
   */
  readonly adoptErrors?: AdoptErrors | undefined;
  /**
   * Called after each part of an answer; the next part is read when the promise settles. For callers that
   * pass answers to a reader that may be slower than the model. Default: no waiting.
   */
  readonly pace?: (() => Promise<void> | undefined) | undefined;
  /** Builds the command that continues a session from its options. Default: `nano-agent -p OPTIONS "…"`. */
  readonly goOnCommand?: (options: string) => string;
}

/** The session to continue. */
export interface ResumeOptions {
  /** Id of a session, or its beginning; `"last"`: the one last used in the folder. */
  readonly id: string;
  /** Continues in a copy; the session is unchanged. */
  readonly fork?: boolean;
  /** Goes back to before the entry with this id. */
  readonly at?: string;
  /** Goes back to before this model request, counted from 1. */
  readonly step?: number;
}

/** Replacements for the system's files and commands. */
export interface SessionPorts {
  readonly files?: FilePort;
  readonly shell?: ShellPort;
}

/** Options for sending one message. */
export interface SendOptions {
  /**
   * Ends the run. If its reason is an error with `details.signal` (`"SIGINT"`, `"SIGTERM"`, `"SIGHUP"`), the
   * outcome has that signal's exit code.
   */
  readonly signal?: AbortSignal;
  /** Schema of the value wanted as `outcome.output`. */
  readonly schema?: JsonSchema;
  /**
   * A shell command that must succeed after the answer: it runs in the sandbox, and any exit code but 0 goes
   * back to the model, up to `untilMax` times. Default: the one set with {@link CodingSession.setUntil}.
   */
  readonly until?: string;
}

/**
 * A run: iterate it once, from the beginning, for its events, or await its outcome, which never rejects. It
 * proceeds even if nobody does either; leaving the iteration early stops it.
 */
export type SessionRun = AsyncIterable<AgentEvent> & Promise<Outcome>;

/** The effective settings of a session. */
export interface SessionInfo {
  readonly cwd: string;
  readonly model: ModelView;
  readonly effort?: Effort;
  readonly mode: PermissionMode;
  readonly tools: readonly string[];
  readonly agents: readonly string[];
  readonly skills: readonly string[];
  /** Paths of the instruction files that are read, nearest last. */
  readonly instructions: readonly string[];
  readonly commands: readonly CommandView[];
  readonly mcpServers: readonly McpServerView[];
  /** Prompts and resources of those servers; absent if there are none. */
  readonly mcp?: McpAccess;
  /** The state of the sandbox around commands. */
  readonly sandbox: "on" | "off";
  /** The file of the session; absent if it is not kept. */
  readonly path?: string;
  /** Command-line options that continue the session; absent while nothing is stored. */
  readonly goOn?: string;
}

/** The model of a session. */
export interface ModelView {
  /** `provider/id`. */
  readonly name: string;
  readonly why: ModelReason;
  /** The flag, variable, file or server that selected it. */
  readonly source?: string;
  readonly windowTokens?: number;
}

/** A command that can start a message, without its `/`. */
export interface CommandView {
  readonly name: string;
  readonly description?: string;
  /** Placeholder for the text after it. */
  readonly hint?: string;
}

/** Prompts to offer as commands, resources to mention as `@server:uri`, token cost of tools by server. */
export type McpAccess = Pick<McpHub, "statuses" | "prompts" | "expandPrompt" | "resources" | "readResource">;

/** A server that provides tools. */
export interface McpServerView {
  readonly name: string;
  /** `connecting`: not started yet, or starting. */
  readonly status: "connected" | "connecting" | "failed" | "needs_auth" | "disabled";
  readonly error?: string;
}

/** The result of a compaction; `undefined`: the conversation is unchanged, and a notice says why. */
export type CompactionResult = Pick<CompactionEntry, "method" | "tokensBefore" | "tokensAfter"> | undefined;

/** Options of an undo: how far it goes back. */
export interface UndoOptions {
  /** Files, and folders with everything below them. Default: all. */
  readonly paths?: readonly string[];
  /**
   * The run, from 1, and its turn to go back to before. Default: the newest with changes that still apply.
   */
  readonly to?: { readonly run: number; readonly turn?: number };
  /** Also reverts later changes by others. */
  readonly force?: boolean;
}

/** The result of an undo. */
export type UndoReport = RollbackReport;

/** A user message that the session can go back to before. */
export interface RewindPoint {
  readonly entryId: string;
  readonly text: string;
  /** Milliseconds since the epoch. */
  readonly time: number;
  /** Number of its run, from 1. */
  readonly run: number;
  /** Files that calls have changed since then, without duplicates. */
  readonly files: readonly string[];
}

/** Options of a rewind: how far it goes back. */
export interface RewindOptions {
  /** Default true. */
  readonly conversation?: boolean;
  /** Default false. */
  readonly files?: boolean;
  /** See {@link UndoOptions.force}. */
  readonly force?: boolean;
}

/** The result of a rewind. */
export interface RewindReport {
  /** `refused`: nothing was done because files are in the way (`files.left`). */
  readonly status: "done" | "refused";
  /** Text of the message that was gone back to, for the input. */
  readonly text: string;
  readonly files?: UndoReport;
}

/** The result of a shell command that a person ran. */
export interface ShellOutcome {
  readonly output: string;
  /** `null`: a signal ended it. */
  readonly exitCode: number | null;
}

/** Totals of a session so far. */
export interface SessionStats {
  readonly usage: Usage;
  /** USD; `undefined` if a price is unknown. */
  readonly cost: number | undefined;
  readonly models: readonly ModelSpending[];
  readonly runs: number;
  readonly turns: number;
  readonly toolCalls: number;
  readonly context: ContextStats;
}

/** The parts of the next request, in tokens. */
export interface ContextStats {
  readonly usedTokens: number;
  readonly windowTokens?: number;
  /** Estimates; tool `results` and model `answers` are parts of `messages`. */
  readonly parts: {
    readonly system: number;
    readonly tools: number;
    readonly messages: number;
    readonly results: number;
    readonly answers: number;
  };
}

/**
 * A coding conversation: model, tools, permission, undo and its session file. Every frontend is a client of
 * it. It prints nothing, installs no signal handlers and changes nothing in the process; any number of them
 * can live side by side, each the only writer of its file.
 */
export interface CodingSession extends AsyncDisposable {
  /** Id for resuming the session. */
  readonly id: string;
  /** The current folder, model, mode, tools, servers and file. */
  readonly info: SessionInfo;
  /** Notices from opening it. Later ones come through {@link onNotice}. */
  readonly notices: readonly Notice[];
  /**
   * Calls the listener with every later notice. Returns an unsubscribe function, as the other listeners here
   * do; errors the listener throws become notices.
   */
  onNotice(listener: OnNotice): () => void;
  /** Everything a screen currently shows, as one object. */
  readonly view: SessionView;
  /** Calls the listener with the items of {@link view} that changed. Returns an unsubscribe function. */
  onChange(listener: (change: ViewChange) => void): () => void;
  /** Calls the listener with every event of every run, in order, with secrets removed. */
  onEvent(listener: (event: AgentEvent) => void): () => void;

  /**
   * Runs until there is an answer. Without input it continues a conversation that waits for the model.
   * Iterate it for events, or await it for the outcome. Throws `invalid_argument` during a run: use `steer`
   * or `queue`.
   */
  send(input?: Input, options?: SendOptions): SessionRun;
  /**
   * Reaches the model with its next request; between runs it starts a run. A command is queued until the run
   * ends; other messages are queued until a `UserPromptSubmit` hook, if any, has judged them. Returns the id
   * of the message.
   */
  steer(input: Input): string;
  /** Withdraws a steering message the model has not received; returns its text, `undefined` if too late. */
  unsteer(id: string): string | undefined;
  /** Messages that wait for the end of the run. */
  readonly queue: MessageQueue;
  /** How the newest run ended, however it began: `send`, `steer` or the queue. */
  readonly lastOutcome: Outcome | undefined;
  /** Ends the run, keeps the partial answer and holds the queue. Resolves when the run has ended. */
  stop(reason?: string): Promise<void>;

  /** Questions that wait for an answer, oldest first. */
  readonly questions: readonly Question[];
  /**
   * Calls the listener with each question. If a run begins without a listener, each of its questions is
   * answered with no. If a listener throws or rejects, the call is refused. With `values: false` it only gets
   * questions about calls, and the model gets no tool that asks for more.
   */
  onQuestion(listener: QuestionListener, scope?: QuestionScope): () => void;
  /** Answers a question. Throws `invalid_argument` if it is not open or does not offer that answer. */
  answer(id: string, reply: QuestionReply): void;
  /**
   * Asks for a value that fits `schema`, or one of `options`, on behalf of a tool or server. Resolves to the
   * value, or `undefined` if declined or without a listener. Rejects if aborted.
   */
  ask(question: NewQuestion, signal: AbortSignal): Promise<Json | undefined>;

  /** Changes the model from the next request on. Recorded, like the mode and the effort. */
  setModel(name: string): Promise<void>;
  /** Changes the permission mode from the next call on. */
  setMode(mode: PermissionMode): Promise<void>;
  /** The command that runs must satisfy; see {@link SendOptions.until}. Default: `until` of the settings. */
  readonly until: string | undefined;
  /** Sets it from the next run on; `undefined`: none. Throws `invalid_argument` if it is empty. */
  setUntil(command: string | undefined): void;
  /** Changes the effort from the next request on; `undefined`: the provider's default. */
  setEffort(effort: Effort | undefined): Promise<void>;
  /** Adds tools from the next model request on. */
  addTools(tools: readonly Tool[]): void;
  /** Removes tools from the next model request on. */
  removeTools(names: readonly string[]): void;

  /** Compacts the conversation. Throws `invalid_argument` during a run. */
  compact(instructions?: string): Promise<CompactionResult>;
  /** Previews {@link compact} without asking a model. */
  previewCompaction(): Promise<CompactionPreview>;
  /** Restores files to their state before a run. */
  undo(options?: UndoOptions): Promise<UndoReport>;
  /** Reverts the newest undo. */
  redo(options?: { readonly force?: boolean }): Promise<UndoReport>;
  /** User messages that {@link rewind} can go back to, oldest first. */
  rewindPoints(): readonly RewindPoint[];
  /** Goes back to before a user message: the conversation, the files, or both. */
  rewind(entryId: string, options?: RewindOptions): Promise<RewindReport>;
  /** Opens a copy of the session, or of the part before a message. */
  fork(entryId?: string): Promise<CodingSession>;
  /** Makes a call through permission, hooks, undo and journal, with no model. Failures are error results. */
  callTool(name: string, input: ToolInput, options?: { readonly signal?: AbortSignal }): Promise<ToolResult>;
  /** Runs a command a person typed: not judged, recorded; `shared` shows it to the model. Default: false. */
  shell(
    command: string,
    options?: { readonly shared?: boolean; readonly signal?: AbortSignal },
  ): Promise<ShellOutcome>;
  /** Tokens, cost and time so far, and the parts of the next request. */
  stats(): SessionStats;
  /** Current status line texts of extensions. */
  status(): readonly string[];

  /** Ends everything tools have started and releases the session file, right before the process ends. */
  killNow(): void;
  /** Ends the run and everything the session has started, and releases its file. */
  close(): Promise<void>;
}
