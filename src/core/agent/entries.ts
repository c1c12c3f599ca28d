import type { Json, RecordedError } from "../base/errors.ts";
import type { StopReason } from "../base/stop-reason.ts";
import type {
  AssistantMessage,
  Message,
  ToolInput,
  ToolResultBlock,
  Usage,
  UserMessage,
} from "../message/message.ts";
import type { BudgetLimit } from "../model/budget.ts";
import type {
  Effort,
  FinishReason,
  TextDelta,
  ThinkingDelta,
  ToolCallDelta,
  ToolCallStart,
} from "../model/model.ts";
import type { Finish, ToolUpdate } from "../tool/tool.ts";
import type { DecisionCode, LoopCircle, RunResult } from "./result.ts";

/** Why a file's content is not kept, or a path is not scanned. */
export type OmissionReason =
  /** A file above the size limit. */
  | "too_large"
  /** The space for kept files is used up. */
  | "no_room"
  /** This user may not read it. */
  | "unreadable"
  /** A FIFO, socket or device. */
  | "special"
  /** A folder with more entries than are scanned. */
  | "too_many_files"
  /** Not scanned before the call: it would have delayed the call too long. */
  | "no_time"
  /** Another file system is mounted there. */
  | "mount"
  /** Not part of the workspace. */
  | "outside"
  /** It could not be scanned after the call. */
  | "failed";

/** The state of a path. `mode` is the permission bits. */
export type FileVersion =
  /** `hash` is the SHA-256 of the content, which is stored under it. */
  | { readonly type: "file"; readonly hash: string; readonly size: number; readonly mode: number }
  /** A symbolic link; `target` is in the form of {@link FileChange.path}. */
  | { readonly type: "link"; readonly target: string }
  | { readonly type: "folder"; readonly mode: number }
  /** Seen but not stored. `mark` changes when the file does. */
  | { readonly type: "unkept"; readonly reason: OmissionReason; readonly mark: string };

/** The change to one path; `null` where nothing exists. */
export interface FileChange {
  /**
   * Relative to the root, with `/` between parts. A path that is not valid UTF-8 is written as NUL followed
   * by one character per byte.
   */
  readonly path: string;
  readonly before: FileVersion | null;
  readonly after: FileVersion | null;
}

/** A place that was not scanned, so changes below it are unknown. `changed`: some are known to exist. */
export interface Omission {
  readonly path: string;
  readonly reason: OmissionReason;
  readonly changed?: boolean;
}

/**
 * Fields of every journal entry. `parent` is the id of the entry it follows (`null` for the first). That
 * makes a journal a tree: a fork or a rewind appends an entry with an older parent. `time` is milliseconds
 * since the epoch.
 */
export interface EntryBase {
  readonly id: string;
  readonly parent: string | null;
  readonly time: number;
  /**
   * The nested run the entry belongs to, such as `planning` or `execution/2`; absent in the conversation
   * itself. A nested run's spending counts for the session; its messages are not part of the conversation.
   */
  readonly scope?: string;
}

/** A run started. */
export interface RunStartEntry extends EntryBase {
  readonly type: "run_start";
  readonly sessionId: string;
  /** `provider/id`. */
  readonly model: string;
  /** Reasoning asked for; absent: the provider's default. */
  readonly effort?: Effort;
  readonly tools: readonly string[];
  /** Name of the subagent whose run starts; absent for a run of the conversation. */
  readonly agent?: string;
}

/**
 * The newest run resumes, after an interruption or with the answers it waited for. Its spending, requests and
 * time carry on. The fields say what it resumes with.
 */
export interface RunResumeEntry extends Omit<RunStartEntry, "type" | "agent"> {
  readonly type: "run_resume";
}

/**
 * Messages that did not come from requests of this conversation: an imported conversation, already repaired,
 * that precedes everything else; or the answer of a run worked out in nested runs.
 */
export interface HistoryEntry extends EntryBase {
  readonly type: "history";
  readonly messages: readonly Message[];
}

/**
 * A message to the model: the input of the run, steering, what other agents said, a remark of the loop, or
 * something recalled from long-term memory.
 */
export interface UserEntry extends EntryBase {
  readonly type: "user_message";
  readonly message: UserMessage;
  readonly source: "input" | "steering" | "observed" | "system" | "memory";
  /**
   * For `steering`: the id that `steer()` returned. The entry is written when the run takes the message in.
   */
  readonly steeringId?: string;
  /** For `system`: what the loop says. Absent if a pattern or a tool wrote it. */
  readonly code?: SystemRemark;
  /** For `loop_warning`: the calls that repeat. */
  readonly circle?: LoopCircle;
}

/**
 * A remark from the loop to the model. `interrupted`: the previous answer was cut · `nudge`: the run must end
 * with a tool, but the model answered in text · `unreadable`: its output could not be parsed · `summarize`:
 * it has no requests left · `loop_warning`: it repeats the same calls · `empty`: it said nothing about the
 * results.
 */
export type SystemRemark = "interrupted" | "nudge" | "unreadable" | "summarize" | "loop_warning" | "empty";

/** Another model or effort, from the next model request on. */
export interface ModelChangeEntry extends EntryBase {
  readonly type: "model_change";
  /** `provider/id`. */
  readonly model: string;
  /** Reasoning effort from here on; absent: the provider's default. */
  readonly effort?: Effort;
}

/** The host changed its mode, for example its permission mode. The loop does not depend on it. */
export interface ModeChangeEntry extends EntryBase {
  readonly type: "mode_change";
  readonly mode: string;
}

/** A note of a host, such as a question to a person. The loop does not depend on it. */
export interface NoteEntry extends EntryBase {
  readonly type: "note";
  /** Names what `data` is, e.g. `question`. */
  readonly kind: string;
  readonly data: Json;
}

/**
 * An attempt at a model request failed at `time`, and another follows after `delayMs`. Discard what was
 * streamed of the answer so far.
 */
export interface RetryEntry extends EntryBase {
  readonly type: "retry";
  /** Number of the attempt that follows, from 2. */
  readonly attempt: number;
  readonly delayMs: number;
  readonly error: RecordedError;
}

/**
 * The conversation was edited between runs: messages are left out of later requests, or marks were added or
 * removed. The originals stay in the journal.
 */
export interface MemoryEditEntry extends EntryBase {
  readonly type: "memory_edit";
  readonly edit: "remove" | "mark" | "unmark";
  /** Ids of messages, as in `MemoryItem`; unknown ones are ignored. Absent: all messages. */
  readonly messages?: readonly string[];
  readonly marks?: readonly string[];
}

/** An answer of the model and its cost. `costUsd` is absent when the price is unknown. */
export interface AssistantEntry extends EntryBase {
  readonly type: "assistant_message";
  readonly message: AssistantMessage;
  readonly model: string;
  readonly finishReason: FinishReason;
  readonly usage: Usage;
  readonly costUsd?: number;
  readonly responseId?: string;
  /** From the request to the end of the answer, retries included. */
  readonly durationMs: number;
  /** From the request to the first part of this answer, retries included. */
  readonly firstTokenMs?: number;
  /** True when an abort cut the answer: `message` has the text received so far and no tool calls. */
  readonly interrupted?: boolean;
}

/** A tool is about to start. An intent without a result means the run was cut while the tool ran. */
export interface ToolIntentEntry extends EntryBase {
  readonly type: "tool_intent";
  readonly callId: string;
  readonly name: string;
  readonly input: ToolInput;
  /** A person (in older journals also the gate) replaced the input the model wrote. */
  readonly judged?: true;
  /** The call that made this one (`batch`). */
  readonly parentCallId?: string;
}

/** The decision about a call that was not simply allowed. */
export interface PermissionEntry extends EntryBase {
  readonly type: "permission_decision";
  readonly callId: string;
  readonly name: string;
  readonly input: ToolInput;
  readonly action: "allow" | "deny";
  /** `rule`: decided without a person · `person`: asked · `nobody`: nobody could be asked. */
  readonly by: "rule" | "person" | "nobody";
  readonly reason: string;
  /** The gate's question, if somebody answered it or nobody could. */
  readonly question?: string;
  /** The reason as a code. */
  readonly code?: DecisionCode;
  /** The reason for the question as a code, when nobody could answer it. */
  readonly questionCode?: DecisionCode;
  readonly rule?: string;
  readonly suggestion?: string;
  /** The person wants the whole run to end, however deeply nested the call was. */
  readonly stop?: true;
  /** The caller runs this call with `input` and now owes its result. */
  readonly external?: true;
  readonly parentCallId?: string;
}

/**
 * A call waits for an approval that a later run brings: {@link import("./ports.ts").ApprovalAnswer}. A yes
 * covers what this entry says about the call; if that has changed, it is asked again.
 */
export interface ApprovalRequestEntry extends EntryBase {
  readonly type: "approval_request";
  readonly callId: string;
  readonly name: string;
  readonly input: ToolInput;
  readonly reason: string;
  /** The gate's code for the question. */
  readonly code?: DecisionCode;
  readonly rule?: string;
  readonly part?: string;
  /** Working directory of the run; absent if it had none. */
  readonly cwd?: string;
  /** Where the call leads: the `place` of the gate's decision. */
  readonly place?: string;
  /**
   * SHA-256 of the file the call would change, as the session last read it and the person saw it; `none`:
   * there was no file. Absent if the session has not read it.
   */
  readonly content?: string;
  readonly suggestion?: string;
}

/** How a call ended. `ok` and `error`: it ran · `denied`: refused · `aborted`: stopped, or never started. */
export type ToolStatus = "ok" | "error" | "denied" | "aborted";

/** The one result of a call. */
export interface ToolResultEntry extends EntryBase {
  readonly type: "tool_result";
  readonly callId: string;
  readonly name: string;
  readonly status: ToolStatus;
  readonly result: ToolResultBlock;
  readonly title?: string;
  readonly metadata?: { readonly [key: string]: Json | undefined };
  /** Equal for results with the same meaning but different text: see `essence` of a tool's result. */
  readonly fingerprint?: string;
  readonly durationMs: number;
  readonly parentCallId?: string;
  /** The final answer of a tool that ends the run. A run cut right after it ends the same way on resume. */
  readonly finish?: Finish;
}

/** The cost of a model request outside the conversation. `costUsd` is absent when the price is unknown. */
export interface ModelUsageEntry extends EntryBase {
  readonly type: "model_usage";
  /**
   * What the request was for, such as `compaction`; or, with estimated usage, why it brought no answer:
   * `retry`, `aborted` or `failed`.
   */
  readonly purpose: string;
  readonly model: string;
  readonly usage: Usage;
  readonly costUsd?: number;
  readonly responseId?: string;
  readonly durationMs: number;
}

/** `threshold`: near the end of the window · `overflow`: the provider refused the request as too long. */
export type CompactionReason = "threshold" | "overflow" | "manual";

/**
 * The conversation was shortened to `messages` followed by its newest `kept` messages. Everything earlier
 * stays in the journal.
 */
export interface CompactionEntry extends EntryBase {
  readonly type: "compaction";
  readonly reason: CompactionReason;
  /**
   * `summary`: written by the model · `shortening`: long tool results cut · `truncation`: messages dropped.
   */
  readonly method: "summary" | "shortening" | "truncation";
  readonly messages: readonly Message[];
  readonly kept: number;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
}

/** The newest compaction was undone: the messages it replaced are back. */
export interface CompactionUndoneEntry extends EntryBase {
  readonly type: "compaction_undone";
  /** Id of the `compaction` entry. */
  readonly target: string;
}

/** A run ended, or waits for somebody. */
export interface RunEndEntry extends EntryBase {
  readonly type: "run_end";
  readonly stopReason: StopReason;
  readonly iterations: number;
  readonly error?: { readonly code: string; readonly message: string };
  /** The limit reached, for `budget`. */
  readonly limit?: BudgetLimit;
  /** The calls that repeat, for `loop_detected`. */
  readonly circle?: LoopCircle;
  /** One sentence for people, where there is more to say than the stop reason. */
  readonly detail?: string;
}

/** Changes a tool call made to files, kept for undo. Large changes take several entries. */
export interface CheckpointEntry extends EntryBase {
  readonly type: "checkpoint";
  /** The call that made the changes. */
  readonly callId: string;
  /** Name of its tool. */
  readonly name: string;
  /** Absolute path of the folder the changes are in. */
  readonly root: string;
  readonly changes: readonly FileChange[];
  /** Places that were not scanned. */
  readonly omitted?: readonly Omission[];
  /** True when the call was cut, so other programs may have made some of the changes. */
  readonly interrupted?: boolean;
}

/** Files are about to be restored (`undo`) or changed again (`redo`): all `changes`, in journal order. */
export interface RollbackEntry extends EntryBase {
  readonly type: "rollback";
  readonly direction: "undo" | "redo";
  readonly root: string;
  readonly changes: readonly FileChange[];
  /** The files go back to before this run (from 1) and turn (0: before the run). Absent for `redo`. */
  readonly to?: { readonly run: number; readonly turn: number };
  /** For `redo`: the entry of the undo it reverses. */
  readonly redoes?: string;
  /** True when only some files were selected. */
  readonly partial?: boolean;
}

/** A rollback finished. */
export interface RollbackEndEntry extends EntryBase {
  readonly type: "rollback_end";
  /** Id of its {@link RollbackEntry}. */
  readonly rollback: string;
  /** Paths that could not be restored. */
  readonly failed: readonly string[];
}

/** All entry types. Readers skip types they do not know. */
export type JournalEntry =
  | RunStartEntry
  | RunResumeEntry
  | HistoryEntry
  | UserEntry
  | ModelChangeEntry
  | ModeChangeEntry
  | NoteEntry
  | RetryEntry
  | MemoryEditEntry
  | AssistantEntry
  | ToolIntentEntry
  | PermissionEntry
  | ApprovalRequestEntry
  | ToolResultEntry
  | CheckpointEntry
  | RollbackEntry
  | RollbackEndEntry
  | ModelUsageEntry
  | CompactionEntry
  | CompactionUndoneEntry
  | RunEndEntry;

/** A journal entry before the journal gave it `id`, `parent` and `time`. */
export type NewEntry = JournalEntry extends infer E
  ? E extends JournalEntry
    ? Omit<E, "id" | "parent" | "time">
    : never
  : never;

/** A model request is about to be made. `iteration` counts from 1 within the run. */
export interface TurnStartEvent {
  readonly type: "turn_start";
  readonly iteration: number;
}

/** Progress of a running tool. */
export interface ToolUpdateEvent extends ToolUpdate {
  readonly type: "tool_update";
  readonly callId: string;
  readonly name: string;
}

/** A phase of a pattern begins: what follows, up to the next one, belongs to it. */
export interface PhaseEvent {
  readonly type: "phase";
  /** Plans: `planning`, `execution`, `final_answer`. Else `initial_execution`, `reflection`, `refinement`. */
  readonly phase:
    | "planning"
    | "execution"
    | "final_answer"
    | "initial_execution"
    | "reflection"
    | "refinement";
  /** Counts from 1: the round of reflection, or of planning. */
  readonly round?: number;
  /** Counts from 1: the step of the plan. */
  readonly step?: number;
  /** The plan as it stands, while it is executed. */
  readonly plan?: readonly string[];
}

/**
 * Something that happened in a subagent: an event of its run, which in turn may be one of a subagent of its
 * own. Wrapped, so that its words are never taken for those of the run around it. It begins with `run_start`
 * and ends with `run_end`; it has no `done`.
 */
export interface SubagentEvent {
  readonly type: "subagent";
  /** The tool call that started the subagent. */
  readonly callId: string;
  /** Number of the subagent within that call, from 1; absent for the first. */
  readonly number?: number;
  /** Name of the subagent. */
  readonly agent: string;
  readonly event: AgentEvent;
}

/** Code plugged into the agent failed; the run continues. */
export interface WarningEvent {
  readonly type: "warning";
  readonly message: string;
}

/** A compaction starts, possibly with a model request. A `compaction` entry or a `warning` follows. */
export interface CompactionStartEvent {
  readonly type: "compaction_start";
  readonly reason: CompactionReason;
}

/** Always the last event of a run. */
export interface DoneEvent {
  readonly type: "done";
  readonly result: RunResult;
}

/**
 * The events of a run, in order: each journal entry as it is written, with ephemeral events between them,
 * such as the deltas of the model's stream and the progress of tools. A `retry` voids the deltas of its turn.
 * Exactly one `done` event ends the stream.
 */
export type AgentEvent =
  | JournalEntry
  | TurnStartEvent
  | TextDelta
  | ThinkingDelta
  | ToolCallStart
  | ToolCallDelta
  | ToolUpdateEvent
  | PhaseEvent
  | CompactionStartEvent
  | SubagentEvent
  | WarningEvent
  | DoneEvent;
