import { omitUndefined } from "../base/json.ts";
import { isWaiting } from "../base/stop-reason.ts";
import {
  addUsage,
  cleanUsage,
  LONG_TERM_MEMORY,
  type Message,
  messageText,
  NO_USAGE,
  type ToolUseBlock,
  textOf,
  toolCallsOf,
  type Usage,
} from "../message/message.ts";
import {
  INTERRUPTED_BEFORE_START,
  MessageLabels,
  OUTCOME_UNKNOWN,
  Transcript,
} from "../message/transcript.ts";
import type { MeasuredContext } from "../model/estimate.ts";
import type { Finish } from "../tool/tool.ts";
import type {
  ApprovalRequestEntry,
  AssistantEntry,
  CompactionEntry,
  JournalEntry,
  MemoryEditEntry,
  ModelUsageEntry,
  PermissionEntry,
  RunEndEntry,
  RunResumeEntry,
  RunStartEntry,
  ToolIntentEntry,
  ToolResultEntry,
  UserEntry,
} from "./entries.ts";
import type { Fold } from "./ports.ts";
import type { PendingCall } from "./result.ts";

/** Usage and cost over a range of entries, for limits, results, statistics and screens. */
export interface Spending {
  /** All model requests: answers, requests outside the conversation, and failed attempts. */
  readonly requests: number;
  /** Answers among them that were cut. */
  readonly interrupted: number;
  readonly usage: Usage;
  /** USD; `undefined` as soon as one price is unknown. */
  readonly costUsd: number | undefined;
  /** Milliseconds in model requests; overlapping ones count in full. */
  readonly durationMs: number;
}

export type SpendingEntry = AssistantEntry | ModelUsageEntry;

export const NO_SPENDING: Spending = Object.freeze({
  requests: 0,
  interrupted: 0,
  usage: NO_USAGE,
  costUsd: 0,
  durationMs: 0,
});

export function isSpending(entry: JournalEntry): entry is SpendingEntry {
  return entry.type === "assistant_message" || entry.type === "model_usage";
}

/** True for an interrupted answer that was not charged: its cost is zero, not unknown. */
export function isUncharged(entry: SpendingEntry): boolean {
  return entry.type === "assistant_message" && entry.interrupted === true && entry.usage.estimated !== true;
}

/** `before` plus one entry. Impossible figures in a foreign journal are ignored. */
export function addSpending(before: Spending, entry: SpendingEntry): Spending {
  const isCut = entry.type === "assistant_message" && entry.interrupted === true;
  const isFree = isUncharged(entry);
  const { costUsd } = before;
  return {
    requests: before.requests + 1,
    interrupted: before.interrupted + (isCut ? 1 : 0),
    usage: isFree ? before.usage : addUsage(before.usage, cleanUsage(entry.usage)),
    costUsd: isFree
      ? costUsd
      : costUsd === undefined || !isAmount(entry.costUsd)
        ? undefined
        : costUsd + entry.costUsd,
    durationMs: before.durationMs + entry.durationMs,
  };
}

/** Whatever is no valid amount is unknown. */
function isAmount(costUsd: number | undefined): costUsd is number {
  return typeof costUsd === "number" && Number.isFinite(costUsd) && costUsd >= 0;
}

/** How many answers in a row may have unreadable arguments before the run ends. */
export const MAX_UNREADABLE = 3;

export class RunProgress {
  iterations = 0;
  /** The last non-empty text of the model. */
  lastText = "";
  /** How often the model was told that a tool must end the run. */
  finishReminders = 0;
  /** Unreadable answers in a row. */
  unreadableAnswers = 0;
  /** The user's words: input and steering, as text. */
  questions: string[] = [];
  hasBegun = false;
  /** True if it has started and not ended. */
  isOpen = false;
  /** The newest answer, if it makes no calls and nothing follows it. */
  answer: AssistantEntry | undefined;
  /** The answer of a finish tool among the newest calls. */
  finish: Finish | undefined;
  #called: string[] = [];
  #activeMs = 0;
  #activeSince = 0;
  #lastTime = 0;

  /** Active milliseconds, without the time spent waiting for somebody. */
  get activeMs(): number {
    return this.#activeMs + (this.isOpen ? Math.max(0, this.#lastTime - this.#activeSince) : 0);
  }

  hasCalled(name: string): boolean {
    return this.#called.includes(name);
  }

  /** Folds an entry. `wasWaiting`: calls were waiting for somebody before it. */
  apply(entry: JournalEntry, wasWaiting: boolean): void {
    if (entry.type === "run_start") this.#begin(entry, wasWaiting);
    else if (entry.type === "run_resume") this.#goOn(entry, wasWaiting);
    else if (entry.type === "history") this.#take(entry.messages);
    else if (entry.type === "user_message") this.#hear(entry);
    else if (entry.type === "assistant_message") this.#answer(entry);
    else if (entry.type === "tool_result" && entry.parentCallId === undefined) this.finish ??= entry.finish;
    this.#lastTime = entry.time;
    if (entry.type !== "run_end") return;
    this.#activeMs = this.activeMs;
    this.isOpen = false;
  }

  #begin(entry: RunStartEntry, wasWaiting: boolean): void {
    this.#startOver();
    // The question of a run that waited is still unanswered.
    if (!wasWaiting) this.questions = [];
    this.iterations = 0;
    this.lastText = "";
    this.#called = [];
    this.isOpen = false;
    this.#activeMs = 0;
    this.#work(entry);
  }

  /** Resuming a run that had ended gives the model all its attempts again. */
  #goOn(entry: RunResumeEntry, wasWaiting: boolean): void {
    if (!this.isOpen && !wasWaiting) this.#startOver();
    this.#work(entry);
  }

  #startOver(): void {
    this.#leaveTurn();
    this.finishReminders = 0;
    this.unreadableAnswers = 0;
  }

  #work(entry: RunStartEntry | RunResumeEntry): void {
    this.hasBegun = true;
    this.#activeMs = this.activeMs;
    this.#activeSince = entry.time;
    this.isOpen = true;
  }

  /** Something follows the newest answer and its calls. */
  #leaveTurn(): void {
    this.answer = undefined;
    this.finish = undefined;
  }

  #hear({ source, code, message }: UserEntry): void {
    this.#leaveTurn();
    if (source === "input" || source === "steering") this.#ask([message]);
    if (code === "nudge") this.finishReminders += 1;
    if (code === "unreadable") this.unreadableAnswers += 1;
  }

  #take(messages: readonly Message[]): void {
    this.#leaveTurn();
    this.#ask(messages);
  }

  #ask(messages: readonly Message[]): void {
    for (const message of messages.slice(messages.findLastIndex(({ role }) => role === "assistant") + 1)) {
      const text = messageText(message, "\n").trim();
      if (text !== "") this.questions.push(text);
    }
  }

  #answer(entry: AssistantEntry): void {
    const { message } = entry;
    const calls = toolCallsOf(message);
    this.#leaveTurn();
    if (calls.length === 0 && entry.interrupted !== true) this.answer = entry;
    if (calls.length > 0)
      this.unreadableAnswers = calls.every((call) => call.invalid_input !== undefined)
        ? this.unreadableAnswers + 1
        : 0;
    for (const { name } of calls) if (!this.#called.includes(name)) this.#called.push(name);
    this.iterations += 1;
    const text = textOf(message.content);
    if (text !== "") this.lastText = text;
  }
}

/**
 * True for a decision that still holds when its call is resumed: a no, and the handover of a call to the
 * caller. A yes for one of our own calls is asked again, because much may have changed; so is a call that was
 * refused by a message.
 */
function isForLater({ action, code, external }: PermissionEntry): boolean {
  return external === true || (action === "deny" && code !== "answered_otherwise");
}

export const NOT_APPROVED = "Error: Tool call was not approved";

export interface OpenCall {
  /** The intent, if the call had started when its run was cut. */
  readonly begun?: ToolIntentEntry;
  /** The unanswered question about it. */
  readonly question?: ApprovalRequestEntry;
  /** The recorded answer, if the call was cut before it had an effect. */
  readonly decision?: PermissionEntry;
  /** True if a run ended with it open, so that the caller may be running it. */
  readonly handedOut?: boolean;
}

/** A nested run: its entries carry `scope`, and its spending counts for `parent` too. */
export interface NestedState {
  readonly scope: string;
  readonly parent: SessionState;
}

/**
 * The fold of a journal: conversation, spending and counters. Feed it every entry once, in order. Of entries
 * with another scope only the spending counts.
 */
export class SessionState {
  readonly transcript: Transcript;
  /** Names and marks of its messages. */
  readonly labels: MessageLabels = new MessageLabels();
  /** How far the newest run has come. */
  readonly progress: RunProgress = new RunProgress();
  /** Of the newest run. */
  run: Spending = NO_SPENDING;
  /** True once there was a run or an edit: messages missing by now are missing on purpose. */
  isTouched = false;
  /** The mode of the newest `mode_change`. */
  mode: string | undefined;
  /** The provider's last token count; `undefined` if messages were removed since. */
  measured: MeasuredContext | undefined;
  /** Increases when messages are removed or restored: by a compaction, its undo, or an edit. */
  revision = 0;
  /** True after the newest compaction was undone: no automatic one follows while requests still fit. */
  isCompactionUndone = false;
  readonly #folds: readonly Fold[];
  readonly #nested: NestedState | undefined;
  readonly #open = new Map<string, OpenCall>();
  #session: Spending = NO_SPENDING;
  #endedWaiting = false;
  #isStopped = false;
  /** For undoing the newest compaction: the messages before it, and how many it left. */
  #compaction:
    | { readonly id: string; readonly before: readonly Message[]; readonly count: number }
    | undefined;
  #isCut = false;

  /** `folds`: those of plugins, kept beside this one. */
  constructor(folds: readonly (new () => Fold)[] = [], nested?: NestedState) {
    this.#folds = folds.map((kind) => new kind());
    this.#nested = nested;
    this.transcript = new Transcript(
      (call: ToolUseBlock) => this.#closing(call.id),
      nested?.parent.transcript.callIds,
    );
  }

  /** A plugin's fold of this transcript, by its class; `undefined` if there is no such plugin. */
  fold<T extends Fold>(kind: new () => T): T | undefined {
    return this.#folds.find((fold) => fold instanceof kind) as T | undefined;
  }

  /** Of all runs of the session, including those around a nested one. */
  get session(): Spending {
    return this.#nested?.parent.session ?? this.#session;
  }

  /** True if the newest run can be resumed: it has not ended, or it waits. */
  get isUnfinished(): boolean {
    return this.progress.isOpen || this.isWaiting;
  }

  /** True if the newest run ended waiting for somebody, and calls are still open. */
  get isWaiting(): boolean {
    return this.#endedWaiting && this.transcript.hasPending;
  }

  /** True if a person refused a call of the newest run, or of a run inside it, with `stop`. */
  get isStopped(): boolean {
    return this.#nested?.parent.isStopped ?? this.#isStopped;
  }

  /** The open calls about which anything is known beyond the model's request, by id. */
  get open(): ReadonlyMap<string, OpenCall> {
    return this.#open;
  }

  /** The questions waiting for approval, by call id, in call order. */
  get approvals(): ReadonlyMap<string, ApprovalRequestEntry> {
    const asked = [...this.#open].flatMap(([id, { question }]) =>
      question === undefined ? [] : [[id, question] as const],
    );
    return new Map(asked);
  }

  /** True if the last message is an answer cut by an abort, and the model was not told yet. */
  get isInterrupted(): boolean {
    return this.#isCut && this.transcript.messages.at(-1)?.role === "assistant";
  }

  /** Id of the newest compaction, unless it was undone already. */
  get undoableCompaction(): string | undefined {
    return this.#compaction?.id;
  }

  apply(entry: JournalEntry): void {
    this.#nested?.parent.apply(entry);
    if (entry.type === "permission_decision" && entry.stop === true) this.#isStopped ||= this.#stops(entry);
    if (entry.scope === this.#nested?.scope) this.#fold(entry);
    else if (isSpending(entry)) this.#spend(entry);
  }

  #fold(entry: JournalEntry): void {
    const { labels, transcript } = this;
    // Resuming a run that was stopped means that it should continue.
    if (entry.type === "run_resume" && !this.isUnfinished) this.#isStopped = false;
    this.progress.apply(entry, this.isWaiting);
    for (const fold of this.#folds) fold.apply(entry);
    const before = transcript.messages.length;
    const wasOpen = transcript.hasPending;
    this.#change(entry);
    if (entry.type === "compaction" || entry.type === "compaction_undone") {
      // Messages still without an id are the ones that were repaired.
      for (const message of transcript.messages) labels.setMissingId(message, `${entry.id}/results`);
      return;
    }
    // If calls were open, the first new message holds their results.
    const results = wasOpen ? transcript.messages[before] : undefined;
    if (results !== undefined) labels.setId(results, `${entry.id}/results`);
  }

  #change(entry: JournalEntry): void {
    const { labels } = this;
    switch (entry.type) {
      case "run_start":
        this.isTouched = true;
        this.#isStopped = false;
        this.#endedWaiting = false;
        this.run = NO_SPENDING;
        return;
      case "run_resume":
        this.#endedWaiting = false;
        return;
      case "history":
        this.transcript.addHistory(this.#named(entry.id, entry.messages));
        this.#isCut = false;
        this.#open.clear();
        return;
      case "user_message":
        this.transcript.addUser(labels.withId(entry.message, entry.id));
        this.#isCut = false;
        if (entry.source === "memory") labels.mark([entry.id], [LONG_TERM_MEMORY]);
        this.#open.clear();
        return;
      case "assistant_message":
        this.#answer(entry);
        return;
      case "tool_intent":
      case "tool_result":
        if (entry.parentCallId === undefined) this.#call(entry);
        return;
      case "approval_request":
      case "permission_decision":
        this.#judge(entry);
        return;
      case "run_end":
        this.#end(entry);
        return;
      default:
        // Changes to files are not part of the conversation.
        this.#foldContext(entry);
    }
  }

  #end(entry: RunEndEntry): void {
    if (entry.stopReason === "aborted") this.#isCut = true;
    // Calls left to the caller stay open; no other open call will ever be answered.
    this.#endedWaiting = isWaiting(entry.stopReason);
    if (this.#endedWaiting) {
      for (const { id } of this.transcript.pending) {
        const call = this.#open.get(id);
        this.#open.set(id, { ...call, handedOut: call?.question === undefined });
      }
      return;
    }
    this.transcript.closeOpenCalls();
    this.#open.clear();
  }

  #call(entry: ToolIntentEntry | ToolResultEntry): void {
    const { callId } = entry;
    if (entry.type === "tool_intent") {
      const { handedOut } = this.#open.get(callId) ?? {};
      this.#open.set(callId, handedOut === undefined ? { begun: entry } : { begun: entry, handedOut });
      return;
    }
    this.transcript.addResult(entry.result);
    this.#open.delete(callId);
  }

  /** False for a stop about a call outside this run, even while the run is cut. */
  #stops({ scope, callId, parentCallId = callId }: PermissionEntry): boolean {
    const { pending } = this.transcript;
    // A subagent's scope contains the id of its call; that of a pattern's phase does not.
    const isWithin =
      scope === this.#nested?.scope
        ? pending.some(({ id }) => `${parentCallId}/`.startsWith(`${id}/`))
        : pending.length === 0 || pending.some(({ id }) => `${scope}/`.includes(`/${id}/`));
    return this.progress.isOpen && isWithin;
  }

  #judge(entry: ApprovalRequestEntry | PermissionEntry): void {
    const { question: _question, decision: _decision, ...call } = this.#open.get(entry.callId) ?? {};
    if (entry.type === "approval_request") this.#open.set(entry.callId, { ...call, question: entry });
    else if (entry.parentCallId === undefined && isForLater(entry))
      this.#open.set(entry.callId, { ...call, decision: entry });
  }

  #closing(callId: string): string {
    const { begun, question, decision } = this.#open.get(callId) ?? {};
    if (decision?.action === "deny") return `${NOT_APPROVED}: ${decision.reason}`;
    if (question !== undefined) return `${NOT_APPROVED}: it was not answered`;
    return begun === undefined ? INTERRUPTED_BEFORE_START : OUTCOME_UNKNOWN;
  }

  #foldContext(entry: JournalEntry): void {
    if (entry.type === "model_usage") this.#spend(entry);
    else if (entry.type === "compaction") this.#compact(entry);
    else if (entry.type === "compaction_undone") this.#undoCompaction(entry.target);
    else if (entry.type === "memory_edit") this.#edit(entry);
    else if (entry.type === "mode_change") this.mode = entry.mode;
  }

  #named(id: string, messages: readonly Message[]): readonly Message[] {
    return messages.map((message, at) => this.labels.withId(message, `${id}/${at}`));
  }

  #edit({ edit, messages, marks = [] }: MemoryEditEntry): void {
    const { labels, transcript } = this;
    this.isTouched = true;
    const ids = messages ?? transcript.messages.map((message) => labels.idOf(message));
    if (edit === "mark") labels.mark(ids, marks);
    else if (edit === "unmark") labels.unmark(ids, marks);
    else {
      const meant = new Set(ids);
      transcript.remove((message) => meant.has(labels.idOf(message)));
      // Both count messages that may be gone.
      this.measured = undefined;
      this.#compaction = undefined;
      this.revision += 1;
    }
  }

  #compact({ id, messages, kept }: CompactionEntry): void {
    const before = this.transcript.messages.slice();
    this.transcript.replaceOlder(this.#named(id, messages), kept);
    this.#compaction = { id, before, count: this.transcript.messages.length };
    this.measured = undefined;
    this.revision += 1;
    this.isCompactionUndone = false;
  }

  #undoCompaction(target: string): void {
    if (this.#compaction?.id !== target) return;
    this.transcript.restore(this.#compaction.before, this.#compaction.count);
    this.#compaction = undefined;
    this.measured = undefined;
    this.revision += 1;
    this.isCompactionUndone = true;
  }

  #answer(entry: AssistantEntry): void {
    this.transcript.addAssistant(entry.message);
    this.labels.setId(entry.message, entry.id);
    this.#isCut = entry.interrupted === true;
    this.#open.clear();
    this.#spend(entry);
    const { inputTokens, outputTokens, estimated } = entry.usage;
    if (inputTokens > 0 && estimated !== true)
      this.measured = {
        tokens: inputTokens + outputTokens,
        messages: this.transcript.messages.length,
      };
  }

  #spend(entry: SpendingEntry): void {
    const before = this.#session;
    this.#session = addSpending(before, entry);
    // In the first run of a session the two are equal.
    this.run = this.run === before ? this.#session : addSpending(this.run, entry);
  }
}

/** The calls of the last answer that wait for somebody, in call order. */
export function pendingCalls(state: SessionState): readonly PendingCall[] {
  const { transcript, approvals } = state;
  // A decided call does not wait, unless the caller still owes its result.
  const open = transcript.pending.filter(({ id }) => {
    const decided = state.open.get(id)?.decision;
    return decided === undefined || decided.external === true;
  });
  return open.map(({ id, name, input }) => {
    const asked = approvals.get(id);
    return asked === undefined
      ? { callId: id, name, input: state.open.get(id)?.decision?.input ?? input, waitsFor: "result" }
      : {
          callId: id,
          name,
          input: asked.input,
          question: asked.id,
          ...omitUndefined({ cwd: asked.cwd, place: asked.place }),
          ...questionOf(asked),
          waitsFor: "approval",
        };
  });
}

/** The question that was asked about a call. */
export function questionOf({
  reason,
  code,
  part,
  rule,
  suggestion,
}: ApprovalRequestEntry): Pick<PendingCall, "reason" | "code" | "part" | "rule" | "suggestion"> {
  return omitUndefined({ reason, code, part, rule, suggestion });
}
