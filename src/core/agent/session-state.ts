import { isWaiting } from "../base/stop-reason.ts";
import type { ToolUseBlock } from "../message/block.ts";
import { LONG_TERM_MEMORY, type Message } from "../message/message.ts";
import { MessageLabels } from "../message/message-labels.ts";
import { NEVER_RAN, OUTCOME_UNKNOWN, Transcript } from "../message/transcript.ts";
import type { MeasuredContext } from "../model/estimate.ts";
import type {
  ApprovalRequestEntry,
  AssistantEntry,
  CompactionEntry,
  JournalEntry,
  MemoryEditEntry,
  PermissionEntry,
  RunEndEntry,
  ToolIntentEntry,
  ToolResultEntry,
} from "./entry.ts";
import type { Fold } from "./plugin.ts";
import { RunProgress } from "./run-progress.ts";
import { addSpending, isSpending, NO_SPENDING, type Spending, type SpendingEntry } from "./spending.ts";

/**
 * True for a decision that holds for a call that was cut before anything came of it: a no, and that the
 * caller may run it. A yes to a call of ours is asked for again, for much may have changed since; so is a
 * call that a message refused.
 */
function isForLater({ action, code, external }: PermissionEntry): boolean {
  return external === true || (action === "deny" && code !== "answered_otherwise");
}

/** The beginning of the result of a call that nobody has allowed. */
export const NOT_APPROVED = "Error: Tool call was not approved";

const NO_APPROVALS: ReadonlyMap<string, ApprovalRequestEntry> = new Map();

/** A nested run: its entries are tagged with `scope`, and what it spends counts for `parent` too. */
export interface NestedState {
  readonly scope: string;
  readonly parent: SessionState;
}

/**
 * The fold of a journal: conversation, spending and counters. Feed it every entry once, in order. Entries of
 * other scopes count as spending and as nothing else.
 */
export class SessionState {
  readonly transcript: Transcript;
  /** Names and marks of the messages in it. */
  readonly labels: MessageLabels = new MessageLabels();
  /** How far the newest run has come. */
  readonly progress: RunProgress = new RunProgress();
  readonly #folds: readonly Fold[];
  readonly #nested: NestedState | undefined;
  /** How calls have begun that run, by call. */
  readonly #begun = new Map<string, ToolIntentEntry>();
  /** The questions about open calls, and the decisions that have answered them for good, by call. */
  #questions: Map<string, ApprovalRequestEntry> | undefined;
  #decisions: Map<string, PermissionEntry> | undefined;
  #handedOut: Set<string> | undefined;
  #session: Spending = NO_SPENDING;
  #run: Spending = NO_SPENDING;
  #isTouched = false;
  #endedWaiting = false;
  #isStopped = false;
  #measured: MeasuredContext | undefined;
  /** The newest compaction, the messages before it, and how many there were after it: what an undo needs. */
  #compaction:
    | { readonly id: string; readonly before: readonly Message[]; readonly count: number }
    | undefined;
  #isUndone = false;
  #revision = 0;
  #isCut = false;
  #mode: string | undefined;

  /** `folds`: what plugins keep beside it. */
  constructor(folds: readonly (new () => Fold)[] = [], nested?: NestedState) {
    this.#folds = folds.map((kind) => new kind());
    this.#nested = nested;
    this.transcript = new Transcript(
      (call: ToolUseBlock) => this.#closing(call.id),
      nested?.parent.transcript.callIds,
    );
  }

  /** The fold of a plugin over this transcript, by its class; `undefined` where there is no such plugin. */
  fold<T extends Fold>(kind: new () => T): T | undefined {
    return this.#folds.find((fold) => fold instanceof kind) as T | undefined;
  }

  /** Of all runs of the session, those outside a nested one included. */
  get session(): Spending {
    return this.#nested?.parent.session ?? this.#session;
  }

  /** Of the newest run. */
  get run(): Spending {
    return this.#run;
  }

  /** True when the conversation was run or edited: what is not in it by now is left out on purpose. */
  get isTouched(): boolean {
    return this.#isTouched;
  }

  /** True when the newest run can go on: it has no end, or it waits. */
  get isUnfinished(): boolean {
    return this.progress.isOpen || this.isWaiting;
  }

  /** True when the newest run has ended so that somebody outside is to answer calls, and calls are open. */
  get isWaiting(): boolean {
    return this.#endedWaiting && this.transcript.hasPending;
  }

  /** True for an open call that a run has ended with, so that its caller may be at work on it. */
  isHandedOut(callId: string): boolean {
    return this.#handedOut?.has(callId) === true;
  }

  /** True when a person refused a call of the newest run, or of one inside it, with `stop`. */
  get isStopped(): boolean {
    return this.#nested?.parent.isStopped ?? this.#isStopped;
  }

  /** Open calls that wait for approval, by id, in call order. */
  get approvals(): ReadonlyMap<string, ApprovalRequestEntry> {
    return this.#questions ?? NO_APPROVALS;
  }

  /** The decision about an open call that is on record, while the call was cut before anything came of it. */
  decision(callId: string): PermissionEntry | undefined {
    return this.#decisions?.get(callId);
  }

  /** True when the last message is an answer that an abort has cut, of which the model was not told. */
  get isInterrupted(): boolean {
    return this.#isCut && this.transcript.messages.at(-1)?.role === "assistant";
  }

  /** The mode in the newest `mode_change`. */
  get mode(): string | undefined {
    return this.#mode;
  }

  /** How an open call had begun when whatever ran it was cut; `undefined` for one that had not. */
  intent(callId: string): ToolIntentEntry | undefined {
    return this.#begun.get(callId);
  }

  /** The provider's last report; `undefined` where there was none since messages were taken out. */
  get measured(): MeasuredContext | undefined {
    return this.#measured;
  }

  /** Counts up when messages are taken out or put back: by a compaction, its undo, an edit. */
  get revision(): number {
    return this.#revision;
  }

  /** Id of the compaction that can be taken back: the newest, unless it was already. */
  get undoable(): string | undefined {
    return this.#compaction?.id;
  }

  /** True when the newest compaction was taken back: then none is made unasked while requests still fit. */
  get isUndone(): boolean {
    return this.#isUndone;
  }

  apply(entry: JournalEntry): void {
    this.#nested?.parent.apply(entry);
    if (entry.type === "permission_decision" && entry.stop === true) this.#isStopped ||= this.#stops(entry);
    if (entry.scope === this.#nested?.scope) this.#fold(entry);
    else if (isSpending(entry)) this.#spend(entry);
  }

  #fold(entry: JournalEntry): void {
    const { labels, transcript } = this;
    // Whoever has a run that was stopped begun again wants it to go on.
    if (entry.type === "run_resume" && !this.isUnfinished) this.#isStopped = false;
    this.progress.apply(entry, this.isWaiting);
    for (const fold of this.#folds) fold.apply(entry);
    const before = transcript.messages.length;
    const wasOpen = transcript.hasPending;
    this.#change(entry);
    if (entry.type === "compaction" || entry.type === "compaction_undone") {
      // Messages without a name by now are those that had to be repaired.
      for (const message of transcript.messages) labels.nameUnnamed(message, `${entry.id}/results`);
      return;
    }
    // Where calls were open, what comes first is the message with their results.
    const results = wasOpen ? transcript.messages[before] : undefined;
    if (results !== undefined) labels.nameNew(results, `${entry.id}/results`);
  }

  #change(entry: JournalEntry): void {
    const { labels } = this;
    switch (entry.type) {
      case "run_start":
        this.#isTouched = true;
        this.#isStopped = false;
        this.#endedWaiting = false;
        this.#run = NO_SPENDING;
        return;
      case "run_resume":
        this.#endedWaiting = false;
        return;
      case "history":
        this.transcript.addHistory(this.#named(entry.id, entry.messages));
        this.#isCut = false;
        this.#closeApprovals();
        return;
      case "user_message":
        this.transcript.addUser(labels.named(entry.message, entry.id));
        this.#isCut = false;
        if (entry.source === "memory") labels.mark([entry.id], [LONG_TERM_MEMORY]);
        this.#closeApprovals();
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
        // Changes of files are no part of the conversation.
        this.#foldContext(entry);
    }
  }

  #end(entry: RunEndEntry): void {
    if (entry.stopReason === "aborted") this.#isCut = true;
    // Calls left to the caller stay open; any other open call will never be answered.
    this.#endedWaiting = isWaiting(entry.stopReason);
    if (this.#endedWaiting) {
      const calls = this.transcript.pending.map(({ id }) => id);
      this.#handedOut = new Set(calls.filter((id) => this.#questions?.has(id) !== true));
      return;
    }
    this.transcript.closeOpenCalls();
    this.#closeApprovals();
  }

  #call(entry: ToolIntentEntry | ToolResultEntry): void {
    this.#questions?.delete(entry.callId);
    this.#decisions?.delete(entry.callId);
    if (entry.type === "tool_intent") {
      this.#begun.set(entry.callId, entry);
      return;
    }
    this.transcript.addResult(entry.result);
    this.#begun.delete(entry.callId);
  }

  /** False for a stop that is given about a call outside of the run, also while that run is cut. */
  #stops({ scope, callId, parentCallId = callId }: PermissionEntry): boolean {
    const { pending } = this.transcript;
    // The scope of a subagent names the call it works for; a phase works for none.
    const isWithin =
      scope === this.#nested?.scope
        ? pending.some(({ id }) => `${parentCallId}/`.startsWith(`${id}/`))
        : pending.length === 0 || pending.some(({ id }) => `${scope}/`.includes(`/${id}/`));
    return this.progress.isOpen && isWithin;
  }

  #judge(entry: ApprovalRequestEntry | PermissionEntry): void {
    const { callId } = entry;
    if (entry.type === "approval_request") {
      (this.#questions ??= new Map()).set(callId, entry);
      this.#decisions?.delete(callId);
    } else if (entry.parentCallId === undefined && isForLater(entry)) {
      (this.#decisions ??= new Map()).set(callId, entry);
      this.#questions?.delete(callId);
    }
  }

  #closeApprovals(): void {
    this.#questions = undefined;
    this.#decisions = undefined;
    this.#handedOut = undefined;
  }

  /** Why an open call that is closed has no result of its own. */
  #closing(callId: string): string {
    const decided = this.#decisions?.get(callId);
    if (decided?.action === "deny") return `${NOT_APPROVED}: ${decided.reason}`;
    if (this.#questions?.has(callId) === true) return `${NOT_APPROVED}: it was not answered`;
    return this.intent(callId) === undefined ? NEVER_RAN : OUTCOME_UNKNOWN;
  }

  #foldContext(entry: JournalEntry): void {
    if (entry.type === "model_usage") this.#spend(entry);
    else if (entry.type === "compaction") this.#compact(entry);
    else if (entry.type === "compaction_undone") this.#undoCompaction(entry.target);
    else if (entry.type === "memory_edit") this.#edit(entry);
    else if (entry.type === "mode_change") this.#mode = entry.mode;
  }

  #named(id: string, messages: readonly Message[]): readonly Message[] {
    return messages.map((message, at) => this.labels.named(message, `${id}/${at}`));
  }

  #edit({ edit, messages, marks = [] }: MemoryEditEntry): void {
    const { labels, transcript } = this;
    this.#isTouched = true;
    const ids = messages ?? transcript.messages.map((message) => labels.idOf(message));
    if (edit === "mark") labels.mark(ids, marks);
    else if (edit === "unmark") labels.unmark(ids, marks);
    else {
      const meant = new Set(ids);
      transcript.remove((message) => meant.has(labels.idOf(message)));
      // Both of them count messages that may be gone.
      this.#measured = undefined;
      this.#compaction = undefined;
      this.#revision += 1;
    }
  }

  #compact({ id, messages, kept }: CompactionEntry): void {
    const before = this.transcript.messages.slice();
    this.transcript.replaceOlder(this.#named(id, messages), kept);
    this.#compaction = { id, before, count: this.transcript.messages.length };
    this.#measured = undefined;
    this.#revision += 1;
    this.#isUndone = false;
  }

  #undoCompaction(target: string): void {
    if (this.#compaction?.id !== target) return;
    this.transcript.restore(this.#compaction.before, this.#compaction.count);
    this.#compaction = undefined;
    this.#measured = undefined;
    this.#revision += 1;
    this.#isUndone = true;
  }

  #answer(entry: AssistantEntry): void {
    this.transcript.addAssistant(entry.message);
    this.labels.nameNew(entry.message, entry.id);
    this.#isCut = entry.interrupted === true;
    this.#closeApprovals();
    this.#spend(entry);
    const { inputTokens, outputTokens, estimated } = entry.usage;
    if (inputTokens > 0 && estimated !== true)
      this.#measured = {
        tokens: inputTokens + outputTokens,
        messages: this.transcript.messages.length,
      };
  }

  #spend(entry: SpendingEntry): void {
    const before = this.#session;
    this.#session = addSpending(before, entry);
    // In the first run of a session both are the same.
    this.#run = this.#run === before ? this.#session : addSpending(this.#run, entry);
  }
}
