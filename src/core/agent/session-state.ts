import type { ToolUseBlock } from "../message/block.ts";
import { textOf } from "../message/message.ts";
import { NEVER_RAN, OUTCOME_UNKNOWN, Transcript } from "../message/transcript.ts";
import { addUsage, NO_USAGE, type Usage } from "../message/usage.ts";
import type { AssistantEntry, JournalEntry } from "./entry.ts";

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
  readonly #nested: NestedState | undefined;
  readonly #begun = new Set<string>();
  #session: Spending = NOTHING;
  #run: Spending = NOTHING;
  #iterations = 0;
  #lastText = "";

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
    switch (entry.type) {
      case "run_start":
        this.#run = NOTHING;
        this.#iterations = 0;
        this.#lastText = "";
        return;
      case "history":
        this.transcript.addHistory(entry.messages);
        return;
      case "user_message":
        this.transcript.addUser(entry.message);
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
      default:
        // What was decided about calls and done to files is no part of the conversation.
        return;
    }
  }

  #answer(entry: AssistantEntry): void {
    this.transcript.addAssistant(entry.message);
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
