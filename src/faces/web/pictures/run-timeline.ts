import type { JournalEntry } from "../../../core/agent/entries.ts";
import {
  addSpending,
  isSpending,
  NO_SPENDING,
  type Spending,
  type SpendingEntry,
} from "../../../core/agent/state.ts";
import { ScopeOwners } from "./scope-owners.ts";
import { type TimeAxis, timeAxis } from "./time-axis.ts";
import { type TimeShares, timeShares } from "./time-shares.ts";
import { durationOf, type TimelineRow } from "./timeline-bar.ts";
import { TimelineRows } from "./timeline-rows.ts";

/** The use of a model request, where it stands in time. */
export interface TimelineRequest {
  readonly entryId: string;
  readonly time: number;
  readonly inputTokens: number;
  readonly cacheReadTokens: number;
  readonly outputTokens: number;
  /** Of this request; `undefined` for an unknown price. */
  readonly costUsd: number | undefined;
  /** Of all requests so far. */
  readonly spent: Spending;
  readonly durationMs: number;
  readonly firstTokenMs: number | undefined;
  /** Milliseconds in the calls of its answer, those made by calls left out. */
  readonly toolMs: number;
  readonly model: string;
  /** Name of the subagent that made it. */
  readonly agent: string | undefined;
}

/** Where the time of a session went. */
export interface Timeline {
  readonly rows: readonly TimelineRow[];
  readonly requests: readonly TimelineRequest[];
  readonly axis: TimeAxis;
  readonly shares: TimeShares;
  readonly total: Spending;
}

/**
 * The timeline of a session. `now`: milliseconds since the epoch, while somebody is at work on it; without
 * it, what has no end ended with the last entry. A clock that was set back stands still until it catches up.
 */
export function runTimeline(entries: readonly JournalEntry[], now?: number): Timeline {
  const rows = new TimelineRows();
  const runs = new RunStretches();
  const owners = new ScopeOwners();
  const requests = new RequestFold();
  for (const entry of entries) {
    const owner = owners.of(entry);
    const cutAt = runs.apply(entry);
    if (cutAt !== undefined) rows.cutAll(cutAt);
    const { time, from } = runs;
    rows.apply(entry, { owner, time, runFrom: from });
    requests.apply(entry, { owner, time, agent: owners.nameOf(owner) });
  }
  const isLive = runs.isOpen && now !== undefined;
  const end = runs.end(now);
  if (isLive) rows.goOn(end);
  else rows.cutAll(end);
  const made = rows.rows();
  return {
    rows: made,
    requests: requests.list,
    axis: timeAxis(runs.stretches),
    shares: timeShares(made, runs.stretches),
    total: requests.total,
  };
}

/** When runs began and ended, and the time as the timeline has it. */
class RunStretches {
  readonly stretches: { readonly from: number; to: number }[] = [];
  /** Of the newest entry; never less than before. */
  time: number = Number.NEGATIVE_INFINITY;
  /** True while the newest run has no end. */
  isOpen = false;

  /** When the newest run began. */
  get from(): number {
    return this.stretches.at(-1)?.from ?? this.time;
  }

  /** Takes an entry. Returns when the run before it ended, if the entry begins one and that one was cut. */
  apply({ type, scope, time }: JournalEntry): number | undefined {
    this.time = Math.max(this.time, time);
    const isOuter = scope === undefined;
    const begins = isOuter && (type === "run_start" || type === "run_resume");
    const cutAt = begins && this.isOpen ? this.stretches.at(-1)?.to : undefined;
    if (begins || this.stretches.length === 0) {
      this.stretches.push({ from: this.time, to: this.time });
      this.isOpen = true;
    }
    // What a host writes between runs, such as another model, is no work.
    if (this.isOpen) this.#reach(this.time);
    if (isOuter && type === "run_end") this.isOpen = false;
    return cutAt;
  }

  /** The end of the newest run; one that has none by itself goes on until now. */
  end(now: number | undefined): number {
    if (this.isOpen && now !== undefined) this.#reach(Math.max(now, this.time));
    return this.stretches.at(-1)?.to ?? this.time;
  }

  #reach(time: number): void {
    const last = this.stretches.at(-1);
    if (last !== undefined) last.to = time;
  }
}

type OpenRequest = TimelineRequest & { toolMs: number };

/** The model requests of a session, in order, with the time of the calls that each of them led to. */
class RequestFold {
  readonly list: OpenRequest[] = [];
  total: Spending = NO_SPENDING;
  /** By subagent. */
  readonly #newest = new Map<string, OpenRequest>();

  apply(
    entry: JournalEntry,
    place: { readonly owner: string; readonly time: number; readonly agent: string | undefined },
  ): void {
    const { owner, time, agent } = place;
    if (isSpending(entry)) {
      this.total = addSpending(this.total, entry);
      const request = { ...requestOf(entry, { time, total: this.total }), agent };
      this.list.push(request);
      this.#newest.set(owner, request);
    } else if (entry.type === "tool_result" && entry.parentCallId === undefined) {
      const request = this.#newest.get(owner);
      if (request !== undefined) request.toolMs += durationOf(entry.durationMs);
    }
  }
}

function requestOf(
  entry: SpendingEntry,
  { time, total }: { readonly time: number; readonly total: Spending },
): Omit<OpenRequest, "agent"> {
  const { usage, costUsd } = addSpending(NO_SPENDING, entry);
  return {
    entryId: entry.id,
    time,
    inputTokens: usage.inputTokens,
    cacheReadTokens: Math.min(usage.inputTokens, usage.cacheReadTokens ?? 0),
    outputTokens: usage.outputTokens,
    costUsd,
    spent: total,
    durationMs: durationOf(entry.durationMs),
    firstTokenMs: entry.type === "assistant_message" ? entry.firstTokenMs : undefined,
    toolMs: 0,
    model: entry.model,
  };
}
