import type { CompactionEntry, ToolStatus } from "../core/agent/entries.ts";
import type { StopReason } from "../core/base/stop-reason.ts";
import type { ToolInput, Usage } from "../core/message/message.ts";
import type { BudgetLimit } from "../core/model/budget.ts";
import type { Effort } from "../core/model/model.ts";
import type { PermissionMode } from "../permission/permission-mode.ts";
import type { TodoItem } from "../tools/todo-tool.ts";
import type { Evidence } from "./evidence.ts";
import type { FileDiff } from "./file-diff.ts";
import type { QueuedMessage } from "./message-queue.ts";
import type { Notice } from "./notice.ts";
import type { Question } from "./question.ts";

/**
 * The view of a session, as a screen shows it. Items are only appended; an item that changes is a new object
 * at the same place with a higher `version`. The object of the view itself is a new one after each change,
 * and its lists are the same objects as long as nothing in them changed, `items` excepted: that one list
 * grows in place.
 */
export interface SessionView {
  /** `waiting`: a question is open. */
  readonly state: "idle" | "running" | "waiting" | "stopping" | "closed";
  readonly items: readonly ViewItem[];
  readonly queue: readonly QueuedMessage[];
  readonly queueHeld: boolean;
  /** Messages that reach the model with its next request. */
  readonly steering: readonly QueuedMessage[];
  readonly questions: readonly Question[];
  readonly todo: readonly TodoItem[];
  /** The newest plan that a person has approved, as Markdown. */
  readonly plan?: string;
  readonly jobs: readonly JobView[];
  /** `provider/id`. */
  readonly model: string;
  readonly effort?: Effort;
  readonly mode: PermissionMode;
  readonly context: { readonly usedTokens: number; readonly windowTokens?: number };
  readonly usage: Usage;
  /** USD of the session; `undefined` when a price is unknown. */
  readonly costUsd: number | undefined;
  /** The run in progress. */
  readonly run?: RunView;
}

/** A run in progress. */
export interface RunView {
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** Counts model requests of the run, from 1; 0 before the first. */
  readonly turn: number;
  /** Tokens that the answers of the run so far have; the one that is being written is estimated. */
  readonly outputTokens: number;
  /** A request failed and is made again at `until` (milliseconds since the epoch). */
  readonly retry?: { readonly attempt: number; readonly until: number; readonly reason: string };
  readonly phase: "waiting" | "thinking" | "answering" | "tools" | "compacting";
}

/** A command that runs in the background. */
export interface JobView {
  readonly id: string;
  readonly command: string;
  readonly state: "running" | "ended";
  readonly exitCode?: number | null;
}

/** The fields of all items. `id`: that of a tool's call, else of its entry, else one of its own. */
export interface ItemBase {
  readonly id: string;
  readonly version: number;
  /** Milliseconds since the epoch. */
  readonly time: number;
  /** True for what an attempt wrote that failed: not to be shown. The next attempt writes behind it. */
  readonly isVoid?: boolean;
}

/** A message of a person, or one said for them. */
export interface UserItem extends ItemBase {
  readonly type: "user";
  readonly text: string;
  /** How many images came with it. */
  readonly images: number;
  readonly source: "input" | "steering" | "shell" | "command";
}

/** Text of the model. */
export interface AnswerItem extends ItemBase {
  readonly type: "answer";
  readonly text: string;
  readonly state: "streaming" | "done" | "interrupted";
}

/** Reasoning of the model. */
export interface ThinkingItem extends ItemBase {
  readonly type: "thinking";
  readonly text: string;
  readonly state: "streaming" | "done";
}

/** A tool call, from its first word to its result. */
export interface ToolItem extends ItemBase {
  readonly type: "tool";
  readonly callId: string;
  readonly name: string;
  /** Empty while it is being written. */
  readonly input: ToolInput;
  /** One line: what it does. */
  readonly title: string;
  /** `writing`: it has not begun and nothing is asked about it, or no longer. */
  readonly state: "writing" | "asking" | "running" | ToolStatus;
  /** Its result in a few words. */
  readonly brief?: string;
  /** The end of what it has written so far, then of its result: at most {@link MAX_TAIL_CHARS}. */
  readonly tail?: string;
  readonly diff?: FileDiff;
  readonly startedAt?: number;
  readonly durationMs?: number;
  /** The call it was made by (`batch`). */
  readonly parentCallId?: string;
  readonly agent?: SubagentView;
}

/** Longest {@link ToolItem.tail}. */
export const MAX_TAIL_CHARS = 4_000;

/** The subagent that a call started. Its items follow the rules of {@link SessionView}. */
export interface SubagentView {
  readonly name: string;
  readonly outputTokens: number;
  readonly costUsd: number | undefined;
  readonly items: readonly ViewItem[];
}

/** A command that a person ran. */
export interface ShellItem extends ItemBase {
  readonly type: "shell";
  readonly command: string;
  readonly output: string;
  /** `null`: it was stopped. */
  readonly exitCode: number | null;
  /** True when the model is told. */
  readonly shared: boolean;
}

/** One thing a screen shows, in the order of the conversation. */
export type ViewItem =
  | UserItem
  | AnswerItem
  | ThinkingItem
  | ToolItem
  | ShellItem
  | (ItemBase & { readonly type: "notice"; readonly notice: Notice })
  | (ItemBase & {
      readonly type: "compaction";
      readonly before: number;
      readonly after: number;
      readonly method: CompactionEntry["method"];
    })
  | (ItemBase & {
      readonly type: "run_end";
      readonly stopReason: StopReason;
      /** Which limit, for `budget`. */
      readonly limit?: BudgetLimit;
      readonly error?: { readonly code: string; readonly message: string };
      readonly durationMs: number;
      readonly costUsd: number | undefined;
      /** The changes that its calls made in files, those of subagents included. */
      readonly changes?: { readonly files: number; readonly added: number; readonly removed: number };
      /** Its newest steps, two letters each: what was done, and how long it took. */
      readonly trace?: string;
      /** Absent where a command that the run is held to has yet to run. */
      readonly evidence?: Evidence;
    });

/** A change of a view. */
export interface ViewChange {
  /** Places of the items that are new or changed. */
  readonly items: readonly number[];
  /** True when anything besides items changed. */
  readonly rest: boolean;
  /** True when the view begins anew: the conversation was rewound. All of it is to be drawn again. */
  readonly reset?: true;
}
