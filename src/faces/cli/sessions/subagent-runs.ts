import type { JournalEntry, RunEndEntry, RunStartEntry } from "../../../core/agent/entries.ts";
import type { Spending } from "../../../core/agent/state.ts";
import { messageText, toolCallsOf } from "../../../core/message/message.ts";
import { Scopes, type SubagentScope } from "../../../journal/scopes.ts";
import { SpendingTally } from "../../../journal/session-usage.ts";

/** One request of a subagent: what it said and the tools it called. */
export interface SubagentTurn {
  readonly text: string;
  readonly tools: readonly string[];
}

/** The work of a subagent for the call that started it, as the entries of a session tell it. */
export interface SubagentRun {
  /** Place of its first entry. */
  readonly at: number;
  readonly callId: string;
  readonly agent: string;
  readonly model: string;
  readonly turns: readonly SubagentTurn[];
  readonly toolCalls: number;
  /** Calls that failed, were refused or were stopped. */
  readonly failedCalls: number;
  /** Requests, tokens and cost, those of its own subagents included. */
  readonly used: Spending;
  /** Milliseconds from its first entry to its last. */
  readonly durationMs: number;
  /** Undefined while it is at work, or when it was cut. */
  readonly end: RunEndEntry | undefined;
  readonly subagents: readonly SubagentRun[];
}

/** The subagents of the conversation and its patterns, in the order in which they began. */
export function subagentRuns(entries: readonly JournalEntry[]): readonly SubagentRun[] {
  const scopes = new Scopes();
  const runs = new Map<SubagentScope, OpenRun>();
  const outer: OpenRun[] = [];
  entries.forEach((entry, at) => {
    const from = scopes.of(entry);
    if (from !== undefined && entry.type === "run_start") {
      const run = new OpenRun(at, from, entry);
      runs.set(from, run);
      const around = from.parent && runs.get(from.parent);
      (around?.subagents ?? outer).push(run);
    }
    for (let scope = from; scope !== undefined; scope = scope.parent) runs.get(scope)?.add(entry);
  });
  return outer;
}

class OpenRun implements SubagentRun {
  readonly at: number;
  readonly callId: string;
  readonly agent: string;
  readonly model: string;
  readonly turns: SubagentTurn[] = [];
  readonly subagents: OpenRun[] = [];
  toolCalls = 0;
  failedCalls = 0;
  durationMs = 0;
  end: RunEndEntry | undefined;
  readonly #scope: string;
  readonly #startedAt: number;
  readonly #spent = new SpendingTally();

  constructor(at: number, { scope, callId, agent }: SubagentScope, { time, model }: RunStartEntry) {
    this.at = at;
    this.callId = callId;
    this.agent = agent;
    this.model = model;
    this.#scope = scope;
    this.#startedAt = time;
  }

  get used(): Spending {
    return this.#spent.total;
  }

  add(entry: JournalEntry): void {
    // What comes after its end is no work of it.
    if (this.end !== undefined) return;
    this.durationMs = Math.max(this.durationMs, entry.time - this.#startedAt);
    this.#spent.add(entry);
    if (entry.scope !== this.#scope) return;
    if (entry.type === "run_end") this.end = entry;
    if (entry.type === "assistant_message") {
      const { message } = entry;
      const tools = toolCallsOf(message).map(({ name }) => name);
      this.turns.push({ text: messageText(message, "\n"), tools });
    }
    if (entry.type !== "tool_result") return;
    this.toolCalls++;
    if (entry.status !== "ok") this.failedCalls++;
  }
}
