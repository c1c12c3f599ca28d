import type { ToolUseBlock } from "../message/block.ts";
import { textOf } from "../message/message.ts";
import { NEVER_RAN, OUTCOME_UNKNOWN, Transcript } from "../message/transcript.ts";
import { addUsage, NO_USAGE, type Usage } from "../message/usage.ts";
import type { AssistantEntry, JournalEntry, MemoryEditEntry } from "./entry.ts";
import { LONG_TERM_MEMORY } from "./long-term-memory.ts";
import { MessageLabels } from "./message-labels.ts";

/** Tokens and money of a stretch of entries. `costUsd` is `undefined` once an answer of unknown price is among them. */
export interface Spending {
  readonly usage: Usage;
  readonly costUsd: number | undefined;
}

const NOTHING: Spending = { usage: NO_USAGE, costUsd: 0 };

/** A nested run: its entries are tagged with `scope`, and what it spends counts for `parent` too. */
export interface NestedState {
  readonly scope: string;
  readonly parent: SessionState;
}

/**
 * The fold of a journal: conversation, spending and counters. Feed it every entry once, in order. Entries of other scopes count as
 * spending and as nothing else.
 */
export class SessionState {
  readonly transcript: Transcript;
  /** Names and marks of the messages in it. */
  readonly labels: MessageLabels = new MessageLabels();
  readonly #nested: NestedState | undefined;
  readonly #begun = new Set<string>();
  #session: Spending = NOTHING;
  #run: Spending = NOTHING;
  #iterations = 0;
  #lastText = "";
  #hasBegun = false;

  constructor(nested?: NestedState) {
    this.#nested = nested;
    this.transcript = new Transcript(
      (call: ToolUseBlock) => (this.#begun.has(call.id) ? OUTCOME_UNKNOWN : NEVER_RAN),
      nested?.parent.transcript.callIds,
    );
  }

  /** Of all runs of the session, those outside a nested one included. */
  get session(): Spending {
    return this.#nested?.parent.session ?? this.#session;
  }

  /** Of the newest run. */
  get run(): Spending {
    return this.#run;
  }

  /** Whether the conversation was run or edited: what is not in it by now is left out on purpose. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** Answers of the newest run. */
  get iterations(): number {
    return this.#iterations;
  }

  /** The last non-empty text the model wrote in the newest run. */
  get lastText(): string {
    return this.#lastText;
  }

  apply(entry: JournalEntry): void {
    this.#nested?.parent.apply(entry);
    if (entry.scope === this.#nested?.scope) this.#fold(entry);
    else if (entry.type === "assistant_message") this.#spend(entry);
  }

  #fold(entry: JournalEntry): void {
    const { labels, transcript } = this;
    const before = transcript.messages.length;
    this.#change(entry);
    // What has no name by now are the results of the calls before it, which became a message.
    for (let at = before; at < transcript.messages.length; at++)
      labels.nameUnnamed(transcript.messages[at], `${entry.id}/results`);
  }

  #change(entry: JournalEntry): void {
    const { labels } = this;
    switch (entry.type) {
      case "run_start":
        this.#hasBegun = true;
        this.#run = NOTHING;
        this.#iterations = 0;
        this.#lastText = "";
        return;
      case "history":
        this.transcript.addHistory(
          entry.messages.map((message, at) => labels.named(message, `${entry.id}/${at}`)),
        );
        return;
      case "user_message":
        this.transcript.addUser(labels.named(entry.message, entry.id));
        if (entry.source === "memory") labels.mark([entry.id], [LONG_TERM_MEMORY]);
        return;
      case "memory_edit":
        this.#hasBegun = true;
        this.#edit(entry);
        return;
      case "assistant_message":
        this.#answer(entry);
        return;
      case "tool_intent":
        if (entry.parentCallId === undefined) this.#begun.add(entry.callId);
        return;
      case "tool_result":
        if (entry.parentCallId !== undefined) return;
        this.transcript.addResult(entry.result);
        this.#begun.delete(entry.callId);
        return;
      case "run_end":
        // Calls left to the caller stay open; any other open call will never be answered.
        if (entry.stopReason !== "awaiting_external" && entry.stopReason !== "awaiting_approval") {
          this.transcript.closeOpenCalls();
        }
        return;
      case "permission_decision":
        return;
    }
  }

  #edit({ edit, messages, marks = [] }: MemoryEditEntry): void {
    const { labels, transcript } = this;
    const ids = messages ?? transcript.messages.map((message) => labels.idOf(message));
    if (edit === "mark") labels.mark(ids, marks);
    else if (edit === "unmark") labels.unmark(ids, marks);
    else {
      const meant = new Set(ids);
      transcript.remove((message) => meant.has(labels.idOf(message)));
    }
  }

  #answer(entry: AssistantEntry): void {
    this.transcript.addAssistant(this.labels.named(entry.message, entry.id));
    this.#spend(entry);
    this.#iterations++;
    const text = textOf(entry.message.content);
    if (text !== "") this.#lastText = text;
  }

  #spend(entry: AssistantEntry): void {
    this.#session = spend(this.#session, entry);
    this.#run = spend(this.#run, entry);
  }
}

function spend(before: Spending, entry: AssistantEntry): Spending {
  // Providers report no usage for an answer that was cut: what is known stays a lower bound.
  if (entry.interrupted === true) return before;
  return {
    usage: addUsage(before.usage, entry.usage),
    costUsd:
      before.costUsd === undefined || entry.costUsd === undefined
        ? undefined
        : before.costUsd + entry.costUsd,
  };
}
