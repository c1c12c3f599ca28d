import type { AgentEvent, JournalEntry, ToolResultEntry } from "../core/agent/entries.ts";
import { addSpending, NO_SPENDING, type Spending } from "../core/agent/state.ts";
import { RunClock } from "./run-clock.ts";
import { innermostEvent, Scopes } from "./scopes.ts";

/** Tokens and cost of the requests to one model. */
export interface ModelSpending extends Spending {
  /** `provider/id`. */
  readonly model: string;
}

/** Tokens and cost of model requests, including those of subagents. */
export class SpendingTally {
  #total = NO_SPENDING;
  readonly #byModel = new Map<string, Spending>();

  get total(): Spending {
    return this.#total;
  }

  get byModel(): ReadonlyMap<string, Spending> {
    return this.#byModel;
  }

  get models(): readonly ModelSpending[] {
    return [...this.#byModel].map(([model, spending]) => ({ model, ...spending }));
  }

  add(event: AgentEvent): void {
    const request = innermostEvent(event);
    if (request.type !== "assistant_message" && request.type !== "model_usage") return;
    this.#total = addSpending(this.#total, request);
    const { model } = request;
    this.#byModel.set(model, addSpending(this.#byModel.get(model) ?? NO_SPENDING, request));
  }
}

export interface ToolStats {
  readonly calls: number;
  readonly failed: number;
  readonly refused: number;
  readonly durationMs: number;
}

export interface SessionUsage {
  readonly runs: number;
  readonly models: { readonly [model: string]: Spending };
  readonly tools: { readonly [tool: string]: ToolStats };
  readonly total: Spending;
  /** Milliseconds of all runs; an interrupted run counts up to its last entry. */
  readonly runMs: number;
  /** Milliseconds in tool calls; overlapping calls each count in full. */
  readonly toolMs: number;
  /** Of the last run; undefined while it is running, or if it was interrupted. */
  readonly stopReason: string | undefined;
}

/** Adds up entries. Calls made by calls count for their tool but not for the time in tools. */
export function sessionUsage(entries: Iterable<JournalEntry>): SessionUsage {
  const spent = new SpendingTally();
  const scopes = new Scopes();
  const tools: { [tool: string]: ToolStats } = {};
  const clock = new RunClock();
  let toolMs = 0;
  let stopReason: string | undefined;
  for (const entry of entries) {
    const isDelegated = scopes.of(entry) !== undefined;
    clock.apply(entry);
    if (clock.isOpen) stopReason = undefined;
    // Runs of subagents are part of a run, and their requests and calls are counted with all others.
    if (entry.type === "run_end" && entry.scope === undefined) stopReason = entry.stopReason;
    spent.add(entry);
    if (entry.type === "tool_result") {
      tools[entry.name] = withResult(tools[entry.name], entry);
      // The time of a subagent's or inner call is part of the outer call; that of a pattern's phase is not.
      if (entry.parentCallId === undefined && !isDelegated) toolMs += entry.durationMs;
    }
  }
  return {
    runs: clock.runs,
    models: Object.fromEntries(spent.byModel),
    tools,
    total: spent.total,
    runMs: clock.activeMs,
    toolMs,
    stopReason,
  };
}

function withResult(before: ToolStats | undefined, { status, durationMs }: ToolResultEntry): ToolStats {
  return {
    calls: (before?.calls ?? 0) + 1,
    failed: (before?.failed ?? 0) + (status === "error" || status === "aborted" ? 1 : 0),
    refused: (before?.refused ?? 0) + (status === "denied" ? 1 : 0),
    durationMs: (before?.durationMs ?? 0) + durationMs,
  };
}
