import type { JournalEntry } from "../../../core/agent/entry.ts";
import { addSpending, isSpending, NO_SPENDING, type Spending } from "../../../core/agent/spending.ts";
import { ScopeOwners } from "./scope-owners.ts";
import { type TimeAxis, timeAxis } from "./time-axis.ts";
import { type TimeShares, timeShares } from "./time-shares.ts";
import { durationOf, type TimelineRow } from "./timeline-bar.ts";
import { TimelineRows } from "./timeline-rows.ts";

/** What a model request used, where it stands in time. */
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
  const owners = new ScopeOwners();
  const requests: (TimelineRequest & { toolMs: number })[] = [];
  const newest = new Map<string, TimelineRequest & { toolMs: number }>();
  const runs: { from: number; to: number }[] = [];
  let total = NO_SPENDING;
  let time = Number.NEGATIVE_INFINITY;
  let isOpen = false;
  for (const entry of entries) {
    time = Math.max(time, entry.time);
    const owner = owners.of(entry);
    const isOuter = entry.scope === undefined;
    const begins = isOuter && (entry.type === "run_start" || entry.type === "run_resume");
    if (begins || runs.length === 0) {
      if (begins && isOpen) rows.cutAll(runs.at(-1)?.to ?? time);
      runs.push({ from: time, to: time });
      isOpen = true;
    }
    const run = runs.at(-1);
    // What a host writes between runs, such as another model, is no work.
    if (run !== undefined && isOpen) run.to = time;
    rows.apply(entry, { owner, time, runFrom: run?.from ?? time });
    if (isSpending(entry)) {
      total = addSpending(total, entry);
      const request = { ...requestOf(entry, { time, total }), agent: owners.nameOf(owner) };
      requests.push(request);
      newest.set(owner, request);
    } else if (entry.type === "tool_result" && entry.parentCallId === undefined) {
      const request = newest.get(owner);
      if (request !== undefined) request.toolMs += durationOf(entry.durationMs);
    }
    if (isOuter && entry.type === "run_end") isOpen = false;
  }
  const end = isOpen && now !== undefined ? Math.max(now, time) : time;
  const last = runs.at(-1);
  if (last !== undefined && isOpen) last.to = end;
  if (isOpen && now !== undefined) rows.goOn(end);
  else rows.cutAll(last?.to ?? end);
  const made = rows.rows();
  return { rows: made, requests, axis: timeAxis(runs), shares: timeShares(made, runs), total };
}

type SpendingEntry = Extract<JournalEntry, { readonly type: "assistant_message" | "model_usage" }>;

function requestOf(
  entry: SpendingEntry,
  { time, total }: { readonly time: number; readonly total: Spending },
): Omit<TimelineRequest, "agent"> & { toolMs: number } {
  const { usage } = addSpending(NO_SPENDING, entry);
  return {
    entryId: entry.id,
    time,
    inputTokens: usage.inputTokens,
    cacheReadTokens: Math.min(usage.inputTokens, usage.cacheReadTokens ?? 0),
    outputTokens: usage.outputTokens,
    costUsd: addSpending(NO_SPENDING, entry).costUsd,
    spent: total,
    durationMs: durationOf(entry.durationMs),
    firstTokenMs: entry.type === "assistant_message" ? entry.firstTokenMs : undefined,
    toolMs: 0,
    model: entry.model,
  };
}
