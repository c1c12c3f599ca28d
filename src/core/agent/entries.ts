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

/** Why the content of something is not kept, or a place is not looked at. */
export type OmissionReason =
  /** A file above the size limit. */
  | "too_large"
  /** The files kept together reached the limit of space. */
  | "no_room"
  /** A file or folder that this user may not read. */
  | "unreadable"
  /** A FIFO, socket or device. */
  | "special"
  /** A folder that would bring more entries than are looked at. */
  | "too_many_files"
  /** Not looked at for the first time yet: that would have kept a call waiting for too long. */
  | "no_time"
  /** Another file system is mounted there. */
  | "mount"
  /** It is no part of the workspace. */
  | "outside"
  /** It could not be looked at after the call. */
  | "failed";

/** The state of a path. `mode` is the permission bits. */
export type FileVersion =
  /** `hash` is the SHA-256 of the bytes, by which they are kept. */
  | { readonly type: "file"; readonly hash: string; readonly size: number; readonly mode: number }
  /** A symbolic link; `target` is in the form of {@link FileChange.path}. */
  | { readonly type: "link"; readonly target: string }
  | { readonly type: "folder"; readonly mode: number }
  /** Seen and not kept. `mark` differs when it was changed. */
  | { readonly type: "unkept"; readonly reason: OmissionReason; readonly mark: string };

/** The change of one path; `null` where nothing stands. */
export interface FileChange {
  /**
   * Below the root, parts separated by `/`. A path that is not valid UTF-8 is a NUL character followed by its
   * bytes, each as the character of that number.
   */
  readonly path: string;
  readonly before: FileVersion | null;
  readonly after: FileVersion | null;
}

/** A place not looked at: changes below it are not known. `changed`: some are known to be there. */
export interface Omission {
  readonly path: string;
  readonly reason: OmissionReason;
  readonly changed?: boolean;
}

/**
 * Fields of every journal entry. `parent` is the id of the entry it follows (`null` for the first), which
 * makes a journal a tree: a fork or a rewind appends an entry with an older parent. `time` is milliseconds
 * since the epoch.
 */
export interface EntryBase {
  readonly id: string;
  readonly parent: string | null;
  readonly time: number;
  /**
   * Names the nested run the entry belongs to, e.g. `planning` or `execution/2`; absent in the conversation
   * itself. What a nested run spends counts for the session, what it says is not in the conversation.
   */
  readonly scope?: string;
}

/** A run began. */
export interface RunStartEntry extends EntryBase {
  readonly type: "run_start";
  readonly sessionId: string;
  /** `provider/id`. */
  readonly model: string;
  /** Reasoning asked for; absent: the provider's default. */
  readonly effort?: Effort;
  readonly tools: readonly string[];
  /** Name of the subagent whose run begins; absent for the run of the conversation. */
  readonly agent?: string;
}

/**
 * The newest run goes on, after it was cut or with the answers it waited for: what it has spent, its model
 * requests and its time count on. The fields say what it goes on with.
 */
export interface RunResumeEntry extends Omit<RunStartEntry, "type" | "agent"> {
  readonly type: "run_resume";
}

/**
 * Messages that no request of this conversation brought: a conversation from elsewhere, already repaired,
 * which stands before everything that follows; or the answer of a run that was worked out in nested runs.
 */
export interface HistoryEntry extends EntryBase {
  readonly type: "history";
  readonly messages: readonly Message[];
}

/**
 * Input: what started the run, a steering message taken in while it ran, what others said, what the loop
 * itself had to say, what was found in the long-term memory.
 */
export interface UserEntry extends EntryBase {
  readonly type: "user_message";
  readonly message: UserMessage;
  readonly source: "input" | "steering" | "observed" | "system" | "memory";
  /** For `steering`: what `steer()` of the agent returned. The entry is written when the run takes it in. */
  readonly steeringId?: string;
  /** For `system`: what the loop says. Absent for the words of a pattern or of a tool. */
  readonly code?: SystemRemark;
  /** For `loop_warning`: the circle the model is in. */
  readonly circle?: LoopCircle;
}

/**
 * A remark of the loop to the model. `interrupted`: the answer before was cut · `nudge`: the run ends by a
 * tool, and the model answered in text · `unreadable`: what it wrote could not be read · `summarize`: its
 * requests are used up · `loop_warning`: it goes in circles · `empty`: it said nothing about the results.
 */
export type SystemRemark = "interrupted" | "nudge" | "unreadable" | "summarize" | "loop_warning" | "empty";

/** Another model, or another effort: it holds from the next model request on. */
export interface ModelChangeEntry extends EntryBase {
  readonly type: "model_change";
  /** `provider/id`. */
  readonly model: string;
  /** Reasoning asked for from here on; absent: the provider's default. */
  readonly effort?: Effort;
}

/** Another mode of the host, such as a permission mode. Nothing in the loop depends on it. */
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
 * An attempt at a model request failed and another follows after `delayMs`. What streamed of the answer so
 * far is void. `time` is when it failed.
 */
export interface RetryEntry extends EntryBase {
  readonly type: "retry";
  /** Number of the attempt that follows, from 2. */
  readonly attempt: number;
  readonly delayMs: number;
  readonly error: RecordedError;
}

/**
 * The conversation was edited between runs: messages are left out of what is sent from here on, or marks are
 * put on them or taken off. What they were stays in the journal.
 */
export interface MemoryEditEntry extends EntryBase {
  readonly type: "memory_edit";
  readonly edit: "remove" | "mark" | "unmark";
  /** Ids of messages, those of `MemoryItem` of the memory; unknown ones are no fault. Absent: all of them. */
  readonly messages?: readonly string[];
  readonly marks?: readonly string[];
}

/** An answer of the model, with what it cost. `costUsd` is absent when the price is unknown. */
export interface AssistantEntry extends EntryBase {
  readonly type: "assistant_message";
  readonly message: AssistantMessage;
  readonly model: string;
  readonly finishReason: FinishReason;
  readonly usage: Usage;
  readonly costUsd?: number;
  readonly responseId?: string;
  /** From the request to the end of the answer, with the retries between them. */
  readonly durationMs: number;
  /** From the request to the first part of this answer, with the retries between them. */
  readonly firstTokenMs?: number;
  /** True when an abort cut the answer: its text as far as it had come, without tool calls. */
  readonly interrupted?: boolean;
}

/** A tool is about to start. A journal whose intent has no result was cut while the tool ran. */
export interface ToolIntentEntry extends EntryBase {
  readonly type: "tool_intent";
  readonly callId: string;
  readonly name: string;
  readonly input: ToolInput;
  /** A person, in older journals also the gate, had it run with this instead of what the model wrote. */
  readonly judged?: true;
  /** Call this one was made by (`batch`). */
  readonly parentCallId?: string;
}

/** The decision of the gate about a call that was not simply allowed. */
export interface PermissionEntry extends EntryBase {
  readonly type: "permission_decision";
  readonly callId: string;
  readonly name: string;
  readonly input: ToolInput;
  readonly action: "allow" | "deny";
  /** `rule`: settled without a person · `person`: asked · `nobody`: nobody was there to ask. */
  readonly by: "rule" | "person" | "nobody";
  readonly reason: string;
  /** The question of the gate, where somebody answered or nobody could. */
  readonly question?: string;
  /** Why, for programs. */
  readonly code?: DecisionCode;
  /** Why the gate asked, where nobody could answer. */
  readonly questionCode?: DecisionCode;
  readonly rule?: string;
  readonly suggestion?: string;
  /** The person wants the whole run to end, wherever in it the call was made. */
  readonly stop?: true;
  /** The caller runs the call: by now it waits for its result, and `input` is what to run it with. */
  readonly external?: true;
  readonly parentCallId?: string;
}

/**
 * A call waits for the approval that a later run brings: {@link import("./ports.ts").ApprovalAnswer}. A yes
 * holds for what the entry says of the call; where that has changed, it is asked about anew.
 */
export interface ApprovalRequestEntry extends EntryBase {
  readonly type: "approval_request";
  readonly callId: string;
  readonly name: string;
  readonly input: ToolInput;
  readonly reason: string;
  /** Why it is asked, for programs: the code of the gate. */
  readonly code?: DecisionCode;
  readonly rule?: string;
  readonly part?: string;
  /** The working folder of the run; absent where it had none of its own. */
  readonly cwd?: string;
  /** Where the call leads: `place` of the gate's decision. */
  readonly place?: string;
  /**
   * SHA-256 of the file that the call would change, as the session has read it and the person was shown it;
   * `none`: there was none. Absent for one that the session has not read.
   */
  readonly content?: string;
  readonly suggestion?: string;
}

/** How a call ended. `ok` and `error` ran; `denied` was refused; `aborted` was stopped or never began. */
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
  /** Equal for results that say the same although their texts differ: see `essence` of a tool's result. */
  readonly fingerprint?: string;
  readonly durationMs: number;
  readonly parentCallId?: string;
  /** The answer of a tool that ends the run: one that was cut behind it ends so when it goes on. */
  readonly finish?: Finish;
}

/** The cost of a model request beside the conversation. `costUsd` is absent when the price is unknown. */
export interface ModelUsageEntry extends EntryBase {
  readonly type: "model_usage";
  /**
   * The purpose of the request: `compaction`. Or why there is no answer: `retry`, `aborted`, `failed`: the
   * model had begun, and what it is charged with is an estimate.
   */
  readonly purpose: string;
  readonly model: string;
  readonly usage: Usage;
  readonly costUsd?: number;
  readonly responseId?: string;
  readonly durationMs: number;
}

/** Why: near the end of the window, refused by the provider as too long, or asked for. */
export type CompactionReason = "threshold" | "overflow" | "manual";

/**
 * The conversation was made to fit: from here on it is `messages` and then the newest `kept` messages of what
 * it was. Everything before stays in the journal.
 */
export interface CompactionEntry extends EntryBase {
  readonly type: "compaction";
  readonly reason: CompactionReason;
  /** `summary`: by the model. `shortening`: long tool results cut. `truncation`: messages left out. */
  readonly method: "summary" | "shortening" | "truncation";
  readonly messages: readonly Message[];
  readonly kept: number;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
}

/** The newest compaction was taken back: what it replaced stands in its place again. */
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
  /** Which limit, for `budget`. */
  readonly limit?: BudgetLimit;
  /** Which calls, for `loop_detected`. */
  readonly circle?: LoopCircle;
  /** One sentence for people about what ended it, where there is more to say than the reason. */
  readonly detail?: string;
}

/** The changes of a tool call to files, to be put back. A call that changed many files has several. */
export interface CheckpointEntry extends EntryBase {
  readonly type: "checkpoint";
  /** The call that was at work. */
  readonly callId: string;
  /** Name of its tool. */
  readonly name: string;
  /** Absolute path of the folder the changes are in. */
  readonly root: string;
  readonly changes: readonly FileChange[];
  /** The places that were not looked at. */
  readonly omitted?: readonly Omission[];
  /** True when the call was cut: whether all of it is the call's own cannot be told. */
  readonly interrupted?: boolean;
}

/** Files are about to be put back (`undo`) or forth (`redo`): all `changes`, in the order of the journal. */
export interface RollbackEntry extends EntryBase {
  readonly type: "rollback";
  readonly direction: "undo" | "redo";
  readonly root: string;
  readonly changes: readonly FileChange[];
  /** Put back to before this run (from 1) and turn (0: before the run). Absent for `redo`. */
  readonly to?: { readonly run: number; readonly turn: number };
  /** Entry of the undo that a `redo` takes back. */
  readonly redoes?: string;
  /** True when only some of the files were asked for. */
  readonly partial?: boolean;
}

/** A rollback came to its end. */
export interface RollbackEndEntry extends EntryBase {
  readonly type: "rollback_end";
  /** Id of its {@link RollbackEntry}. */
  readonly rollback: string;
  /** Paths that could not be put back. */
  readonly failed: readonly string[];
}

/** Everything a journal holds. Readers skip types they do not know. */
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
  /** Counts the subagents of that call from 1; absent for the first one. */
  readonly number?: number;
  /** Name of the subagent. */
  readonly agent: string;
  readonly event: AgentEvent;
}

/** Code plugged into the agent failed; the run goes on. */
export interface WarningEvent {
  readonly type: "warning";
  readonly message: string;
}

/** A compaction begins, which may take a model request. A `compaction` entry or a `warning` follows. */
export interface CompactionStartEvent {
  readonly type: "compaction_start";
  readonly reason: CompactionReason;
}

/** The last event of every run. */
export interface DoneEvent {
  readonly type: "done";
  readonly result: RunResult;
}

/**
 * The events of a run, in order: journal entries as they are written (a `retry` voids the deltas of its turn
 * so far), and between them ephemeral parts: the deltas of the model's stream as they arrive, progress of
 * tools. Exactly one `done` event ends it.
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
