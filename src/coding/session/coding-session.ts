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

/** How a coding session is opened. */
export interface CodingSessionOptions {
  /** Folder the agent works in. Default: that of the process. */
  readonly cwd?: string;
  /** Further folders that count as the workspace. Default: none. */
  readonly addDirs?: readonly string[];
  /** Variables for keys, settings and commands. Default: those of the process, as they are now. */
  readonly environment?: Environment;
  /** Settings that win over those of files, as options of the command do. Default: none. */
  readonly settings?: Partial<ConfigFile>;
  /** A model, or its name: `provider/id[:effort]`. Default: what settings and keys say. */
  readonly model?: string | Model;
  /**
   * How freely tools may act: `plan`, `dontAsk`, `default`, `acceptEdits` or `bypassPermissions`. Default:
   * what settings say, else `default`.
   */
  readonly permissionMode?: PermissionMode;
  /** The session to continue. Default: a new one. */
  readonly resume?: "last" | ResumeOptions;
  /** Id of the new session or copy. Default: made up. */
  readonly sessionId?: string;
  /** False: nothing is kept on disk. Default true. */
  readonly keep?: boolean;
  /** Folder that the session, and what its undo needs, are kept in. Default: that of the user's sessions. */
  readonly keepIn?: string;
  /** Limits in addition to those of the settings. Default: none. */
  readonly budget?: Pick<Budget, "tokens" | "shared"> | undefined;
  /** True when the long-term memory that the user has configured is used. Default: what `keep` is. */
  readonly remembers?: boolean;
  /** Tools in addition to the built-in ones. Default: none. */
  readonly tools?: readonly Tool[];
  /** Stand-ins for files and commands: the buffers and the terminal of an editor. Default: the system. */
  readonly ports?: SessionPorts;
  /** MCP servers in addition to those of the settings and the project, or instead of them. */
  readonly mcp?: McpSources | undefined;
  /** Asks a person what an MCP server wants to know. Default: that is refused. */
  readonly elicit?: Elicit | undefined;
  /** Asks a person whether to use a local server that was found, not chosen. Default: it is not used. */
  readonly acceptServer?: ((found: FoundModel) => Promise<boolean>) | undefined;
  /** Gets every notice, also those from before the session is open. */
  readonly onNotice?: OnNotice;
  /** Replaces a text before it is sent, e.g. to add the files it names with `@`. Default: sent as it is. */
  readonly expandInput?: (text: string, context: { readonly signal: AbortSignal }) => Promise<Input>;
  /**
   * For hosts that listen to `uncaughtException`: gets, for each extension file that is loaded, a function
   * that tells an error as a notice, once, if code of that file threw it, and says whether that is so.
   * Default: such errors end the process.
   */
  readonly adoptErrors?: AdoptErrors | undefined;
  /**
   * Asked after each part of an answer: the next one is read when the promise is settled. For whoever passes
   * answers on to a reader that may be slower than the model. Default: nothing is waited for.
   */
  readonly pace?: (() => Promise<void> | undefined) | undefined;
  /** The command that continues a session, made from its options. Default: `nano-agent -p OPTIONS "…"`. */
  readonly goOnCommand?: (options: string) => string;
}

/** The session to continue. */
export interface ResumeOptions {
  /** Id of a session, or the beginning of one; `"last"`: the newest of the folder. */
  readonly id: string;
  /** Continues in a copy; the session is unchanged. */
  readonly fork?: boolean;
  /** Id of an entry to go back to before. */
  readonly at?: string;
  /** Number of a model request to go back to before, from 1. */
  readonly step?: number;
}

/** Stand-ins for the system's files and commands. */
export interface SessionPorts {
  readonly files?: FilePort;
  readonly shell?: ShellPort;
}

/** How one message is sent. */
export interface SendOptions {
  /**
   * Ends the run. Where its reason is an error with `details.signal` (`"SIGINT"`, `"SIGTERM"`, `"SIGHUP"`),
   * the outcome has the exit code of that signal.
   */
  readonly signal?: AbortSignal;
  /** Schema of a value wanted as `outcome.output`. */
  readonly schema?: JsonSchema;
  /**
   * A shell command that the answer must hold to: it runs in the sandbox when the run has answered, and what
   * is not exit code 0 goes back to the model, as often as `untilMax` of the settings says. Default: that of
   * {@link CodingSession.setUntil}.
   */
  readonly until?: string;
}

/**
 * A run: its events to iterate over, once and from the beginning, and its outcome to await, which never
 * rejects. It works whether or not anybody does either; leaving the iteration early stops it.
 */
export type SessionRun = AsyncIterable<AgentEvent> & Promise<Outcome>;

/** The settings a session works with. */
export interface SessionInfo {
  readonly cwd: string;
  readonly model: ModelView;
  readonly effort?: Effort;
  readonly mode: PermissionMode;
  readonly tools: readonly string[];
  readonly agents: readonly string[];
  readonly skills: readonly string[];
  /** Paths of the instruction files that are read, the nearest last. */
  readonly instructions: readonly string[];
  readonly commands: readonly CommandView[];
  readonly mcpServers: readonly McpServerView[];
  /** Prompts and resources of those servers; absent where there are none. */
  readonly mcp?: McpAccess;
  /** The state of the sandbox around commands. */
  readonly sandbox: "on" | "off";
  /** Where the session is kept; absent when it is not. */
  readonly path?: string;
  /** Options of the command that continue the session; absent as long as nothing is stored. */
  readonly goOn?: string;
}

/** The model of a session. */
export interface ModelView {
  /** `provider/id`. */
  readonly name: string;
  readonly why: ModelReason;
  /** The flag, variable, file or server that speaks for it. */
  readonly source?: string;
  readonly windowTokens?: number;
}

/** A command that a message can begin with, without its `/`. */
export interface CommandView {
  readonly name: string;
  readonly description?: string;
  /** Placeholder for the text to write behind it. */
  readonly hint?: string;
}

/** Prompts to offer as commands, resources to mention as `@server:uri`, what tools cost by server. */
export type McpAccess = Pick<McpHub, "statuses" | "prompts" | "expandPrompt" | "resources" | "readResource">;

/** A server of tools. */
export interface McpServerView {
  readonly name: string;
  /** `connecting`: not started yet, or starting. */
  readonly status: "connected" | "connecting" | "failed" | "needs_auth" | "disabled";
  readonly error?: string;
}

/** The result of a compaction; `undefined`: the conversation stays as it is, a notice says why. */
export type CompactionResult = Pick<CompactionEntry, "method" | "tokensBefore" | "tokensAfter"> | undefined;

/** Options of an undo: how far back it goes. */
export interface UndoOptions {
  /** Files, and folders with all below them. Default: all. */
  readonly paths?: readonly string[];
  /** The run to go back to before, from 1, and its turn. Default: the newest whose changes stand. */
  readonly to?: { readonly run: number; readonly turn?: number };
  /** Also puts back what somebody else changed since. */
  readonly force?: boolean;
}

/** The result of an undo. */
export type UndoReport = RollbackReport;

/** A message of the user that the session can go back to before. */
export interface RewindPoint {
  readonly entryId: string;
  readonly text: string;
  /** Milliseconds since the epoch. */
  readonly time: number;
  /** Number of its run, from 1. */
  readonly run: number;
  /** Files that calls have changed since, each once. */
  readonly files: readonly string[];
}

/** Options of a rewind: how far back it goes. */
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
  /** `refused`: nothing was done, for files stood in the way (`files.left`). */
  readonly status: "done" | "refused";
  /** Text of the message that was gone back to before, for the input. */
  readonly text: string;
  readonly files?: UndoReport;
}

/** The result of a command that a person ran. */
export interface ShellOutcome {
  readonly output: string;
  /** `null`: it was ended by a signal. */
  readonly exitCode: number | null;
}

/** Totals of a session so far. */
export interface SessionStats {
  readonly usage: Usage;
  /** USD; `undefined` when a price is unknown. */
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
  /** Estimates; `results` of tools and `answers` of the model are parts of `messages`. */
  readonly parts: {
    readonly system: number;
    readonly tools: number;
    readonly messages: number;
    readonly results: number;
    readonly answers: number;
  };
}

/**
 * A coding conversation: model, tools, permission, undo and the file it is kept in. Every face is a client of
 * it. It prints nothing, installs no signal handler and changes nothing of the process; any number of them
 * live side by side, each the one writer of its file.
 */
export interface CodingSession extends AsyncDisposable {
  /** Id of the session, to resume it by. */
  readonly id: string;
  /** The folder, model, mode, tools, servers and file it works with now. */
  readonly info: SessionInfo;
  /** Notices about its opening. Later ones come by {@link onNotice}. */
  readonly notices: readonly Notice[];
  /**
   * Hears every later notice. Returns the function that ends the listening, as the others here do; what a
   * listener throws becomes a notice.
   */
  onNotice(listener: OnNotice): () => void;
  /** Everything a screen shows now, as one object. */
  readonly view: SessionView;
  /** Hears which items of {@link view} changed. Returns the function that ends the listening. */
  onChange(listener: (change: ViewChange) => void): () => void;
  /** Hears every event of every run, in order, without secrets. */
  onEvent(listener: (event: AgentEvent) => void): () => void;

  /**
   * Runs until an answer. Without input it continues a conversation that waits for the model. Iterate it
   * for events, or await it for the outcome. Throws `invalid_argument` during a run: use `steer` or
   * `queue`.
   */
  send(input?: Input, options?: SendOptions): SessionRun;
  /**
   * Reaches the model with its next request; between runs it starts a run. A command waits in the queue for
   * the end of the run, and other messages there until a `UserPromptSubmit` hook has judged them, where there
   * is one. Returns the id of the message.
   */
  steer(input: Input): string;
  /** Takes back a steering message the model has not got yet; returns its text, `undefined` when too late. */
  unsteer(id: string): string | undefined;
  /** Messages that wait for the end of the run. */
  readonly queue: MessageQueue;
  /** How the newest run ended, whoever began it: `send`, `steer` or the queue. */
  readonly lastOutcome: Outcome | undefined;
  /** Ends the run, keeps the answer so far and holds the queue. Resolves when the run has ended. */
  stop(reason?: string): Promise<void>;

  /** Questions that wait for an answer, oldest first. */
  readonly questions: readonly Question[];
  /**
   * Hears each question. Without a listener when a run begins, every question of that run is answered with
   * no. When a listener throws or rejects, the call is refused. With `values: false` it hears of questions
   * about calls alone, and the model is offered no tool that asks for more.
   */
  onQuestion(listener: QuestionListener, scope?: QuestionScope): () => void;
  /** Answers a question. Throws `invalid_argument` when it is not open or does not offer that answer. */
  answer(id: string, reply: QuestionReply): void;
  /**
   * Asks for a value that fits `schema`, or for one of `options`, on behalf of a tool or a server. Resolves
   * to the value; `undefined`: declined, also without a listener. Rejects when it is aborted.
   */
  ask(question: NewQuestion, signal: AbortSignal): Promise<Json | undefined>;

  /** Another model, from the next request on. It is recorded, as the mode and the effort are. */
  setModel(name: string): Promise<void>;
  /** Another permission mode, from the next call on. */
  setMode(mode: PermissionMode): Promise<void>;
  /** The command that runs are held to; see {@link SendOptions.until}. Default: `until` of the settings. */
  readonly until: string | undefined;
  /** Another one, from the next run on; `undefined`: none. Throws `invalid_argument` for an empty one. */
  setUntil(command: string | undefined): void;
  /** Another effort, from the next request on; `undefined`: the provider's default. */
  setEffort(effort: Effort | undefined): Promise<void>;
  /** Adds tools, from the next model request on. */
  addTools(tools: readonly Tool[]): void;
  /** Takes tools away, from the next model request on. */
  removeTools(names: readonly string[]): void;

  /** Makes room in the conversation. Throws `invalid_argument` during a run. */
  compact(instructions?: string): Promise<CompactionResult>;
  /** Tells what {@link compact} would do now; asks no model. */
  previewCompaction(): Promise<CompactionPreview>;
  /** Puts files back to how they were before a run. */
  undo(options?: UndoOptions): Promise<UndoReport>;
  /** Takes the newest undo back. */
  redo(options?: { readonly force?: boolean }): Promise<UndoReport>;
  /** Messages of the user that {@link rewind} can go back to, oldest first. */
  rewindPoints(): readonly RewindPoint[];
  /** Goes back to before a message of the user: the conversation, the files, or both. */
  rewind(entryId: string, options?: RewindOptions): Promise<RewindReport>;
  /** Opens a copy of the session, or of what stands before a message of it. */
  fork(entryId?: string): Promise<CodingSession>;
  /** One call through permission, hooks, undo and journal, without a model. Failures are error results. */
  callTool(name: string, input: ToolInput, options?: { readonly signal?: AbortSignal }): Promise<ToolResult>;
  /** Runs what a person typed: not judged, recorded; `shared` shows it to the model. Default: false. */
  shell(
    command: string,
    options?: { readonly shared?: boolean; readonly signal?: AbortSignal },
  ): Promise<ShellOutcome>;
  /** Tokens, cost and time so far, and what the next request is made of. */
  stats(): SessionStats;
  /** Texts that extensions have for the status line now. */
  status(): readonly string[];

  /** Ends whatever tools have started and releases the session file, right before the process ends. */
  killNow(): void;
  /** Ends the run and everything the session has started, and releases its file. */
  close(): Promise<void>;
}
