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
 * The view of a session, as shown on a screen. Items are only appended; an item that changes is a new object
 * at the same place with a higher `version`. Each change creates a new view object; its lists stay the same
 * objects while their contents are unchanged, except `items`: that one list grows in place.
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
  /** The newest plan approved by a person, as Markdown. */
  readonly plan?: string;
  readonly jobs: readonly JobView[];
  /** `provider/id`. */
  readonly model: string;
  readonly effort?: Effort;
  readonly mode: PermissionMode;
  readonly context: { readonly usedTokens: number; readonly windowTokens?: number };
  readonly usage: Usage;
  /** Cost of the session in USD; `undefined` if a price is unknown. */
  readonly costUsd: number | undefined;
  /** The run in progress. */
  readonly run?: RunView;
}

/** A run in progress. */
export interface RunView {
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** Number of the run's current model request, from 1; 0 before the first. */
  readonly turn: number;
  /** Tokens of the run's answers so far, with an estimate for the unfinished one. */
  readonly outputTokens: number;
  /** A request failed and is retried at `until` (milliseconds since the epoch). */
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

/** The fields of all items. `id`: that of a tool's call, else of its entry, else its own. */
export interface ItemBase {
  readonly id: string;
  readonly version: number;
  /** Milliseconds since the epoch. */
  readonly time: number;
  /** True for the output of a failed attempt: not to be shown. The next attempt writes after it. */
  readonly isVoid?: boolean;
}

/** A message from a person, or on their behalf. */
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
  /** Its purpose in one line. */
  readonly title: string;
  /** `writing`: it has not begun and no question about it is open. */
  readonly state: "writing" | "asking" | "running" | ToolStatus;
  /** Its result in a few words. */
  readonly brief?: string;
  /** The end of its output so far, then of its result: at most {@link MAX_TAIL_CHARS}. */
  readonly tail?: string;
  readonly diff?: FileDiff;
  readonly startedAt?: number;
  readonly durationMs?: number;
  /** The call that made it (`batch`). */
  readonly parentCallId?: string;
  readonly agent?: SubagentView;
}

/** Longest {@link ToolItem.tail}. */
export const MAX_TAIL_CHARS = 4_000;

/** The subagent started by a call. Its items follow the rules of {@link SessionView}. */
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
  /** True if the model is told. */
  readonly shared: boolean;
}

/** An item of the conversation, in its order on the screen. */
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
      /** The limit reached, for `budget`. */
      readonly limit?: BudgetLimit;
      readonly error?: { readonly code: string; readonly message: string };
      readonly durationMs: number;
      readonly costUsd: number | undefined;
      /** The file changes of its calls, including those of subagents. */
      readonly changes?: { readonly files: number; readonly added: number; readonly removed: number };
      /** Its newest steps, two letters each: what was done, and how long it took. */
      readonly trace?: string;
      /** Absent while the run's required command has yet to run. */
      readonly evidence?: Evidence;
    });

/** A change of a view. */
export interface ViewChange {
  /** Places of the items that are new or changed. */
  readonly items: readonly number[];
  /** True if anything besides items changed. */
  readonly rest: boolean;
  /** True if the view starts over: the conversation was rewound. Redraw all of it. */
  readonly reset?: true;
}
