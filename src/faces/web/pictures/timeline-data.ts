import type {
  AssistantEntry,
  JournalEntry,
  RetryEntry,
  RunEndEntry,
  ToolResultEntry,
} from "../../../core/agent/entries.ts";
import {
  addSpending,
  isSpending,
  NO_SPENDING,
  type Spending,
  type SpendingEntry,
} from "../../../core/agent/state.ts";
import { omitUndefined } from "../../../core/base/json.ts";
import { isWaiting } from "../../../core/base/stop-reason.ts";
import { messageText } from "../../../core/message/message.ts";
import { RunClock } from "../../../journal/run-clock.ts";
import { Scopes } from "../../../journal/scopes.ts";
import { callTitle, oneLine } from "../../../view/call-text.ts";
import { type TimeAxis, timeAxis } from "./time-axis.ts";

/**
 * `message`: the user wrote something; takes no time · `asking`: waiting for the user · `waiting`: from the
 * request to its first part · `streaming` · `failed`: a failed attempt · `backoff`: the pause before the next
 * one · `compaction` · `tool`.
 */
export type BarKind =
  | "message"
  | "asking"
  | "waiting"
  | "streaming"
  | "failed"
  | "backoff"
  | "compaction"
  | "tool";

/** `cut`: without an end in the journal, and no process is working on it. */
export type BarStatus = "ok" | "error" | "denied" | "aborted" | "running" | "cut";

/** One bar of a timeline. Times are milliseconds since the epoch. */
export interface TimelineBar {
  readonly entryId: string;
  readonly kind: BarKind;
  readonly from: number;
  readonly to: number;
  /** Tool or model; the text of a message. */
  readonly label: string;
  /** For a call: its command, path or pattern. */
  readonly detail?: string;
  readonly status: BarStatus;
}

/** Bars are in order and do not overlap. */
export interface TimelineLane {
  readonly kind: "you" | "model" | "tools" | "agent";
  /** Subagents that used it, one after the other. */
  readonly names: readonly string[];
  readonly bars: readonly TimelineBar[];
}

export interface TimelineRequest {
  readonly entryId: string;
  readonly time: number;
  readonly inputTokens: number;
  readonly cacheReadTokens: number;
  /** True for a subagent's request. */
  readonly isNested: boolean;
  /** Total of all requests so far. */
  readonly spent: Spending;
}

/** The categories of a session's time. If several apply at once, the first counts. */
export const TIME_SHARES = [
  "streaming",
  "waiting",
  "compaction",
  "retry",
  "asking",
  "tool",
  "other",
] as const;

export type TimeShare = (typeof TIME_SHARES)[number];

export interface Timeline {
  readonly lanes: readonly TimelineLane[];
  readonly requests: readonly TimelineRequest[];
  readonly axis: TimeAxis;
  /** Milliseconds by category. Every moment of a run counts once. */
  readonly shares: { readonly [share in TimeShare]: number };
  readonly total: Spending;
  readonly runs: number;
  readonly calls: number;
}

/**
 * The timeline of a session. `now`: milliseconds since the epoch, if a process is working on it; without it,
 * unfinished activity ends with the last entry. If the clock was set back, time stands still until it catches
 * up.
 */
export function runTimeline(entries: readonly JournalEntry[], now?: number): Timeline {
  const fold = new TimelineFold();
  const runs = new RunClock();
  const scopes = new Scopes();
  const requests: TimelineRequest[] = [];
  let total = NO_SPENDING;
  for (const entry of entries) {
    const owner = scopes.of(entry)?.scope ?? "";
    const startedAt = runs.isOpen ? undefined : impliedRunStart(entry);
    // The start of this run is missing: its line is damaged.
    if (startedAt !== undefined) runs.apply({ type: "run_resume", time: startedAt });
    const interruptedAt = runs.apply(entry);
    if (interruptedAt !== undefined) fold.closeAll(interruptedAt, "cut");
    fold.apply(entry, { owner, time: runs.time, runFrom: runs.startedAt });
    if (!isSpending(entry)) continue;
    total = addSpending(total, entry);
    requests.push(requestOf(entry, { time: runs.time, isNested: owner !== "", total }));
  }
  const isLive = runs.isOpen && now !== undefined;
  fold.closeAll(runs.end(now), isLive ? "running" : "cut");
  const { lanes } = fold;
  return {
    lanes,
    requests,
    axis: timeAxis(runs.intervals),
    shares: timeShares(lanes, runs.intervals),
    total,
    runs: runs.runs,
    calls: fold.calls,
  };
}

function requestOf(
  entry: SpendingEntry,
  { time, isNested, total }: { readonly time: number; readonly isNested: boolean; readonly total: Spending },
): TimelineRequest {
  const { usage } = addSpending(NO_SPENDING, entry);
  const { inputTokens } = usage;
  const cacheReadTokens = Math.min(inputTokens, usage.cacheReadTokens ?? 0);
  return { entryId: entry.id, time, inputTokens, cacheReadTokens, isNested, spent: total };
}

/** The start of a run implied by an entry that only occurs in runs; undefined for other entries. */
function impliedRunStart(entry: JournalEntry): number | undefined {
  if (entry.scope !== undefined) return undefined;
  if (entry.type === "tool_intent") return entry.time;
  return entry.type === "assistant_message" ? entry.time - durationOf(entry.durationMs) : undefined;
}

/** A duration; 0 for impossible values of foreign journals. */
function durationOf(ms: unknown): number {
  return typeof ms === "number" && Number.isFinite(ms) && ms > 0 ? ms : 0;
}

/** Bars for one lane: those of a call, the model or a subagent. */
interface Track {
  readonly kind: TimelineLane["kind"];
  /** For a subagent. */
  readonly name?: string;
  readonly from: number;
  readonly bars: TimelineBar[];
}

const LANES: readonly TimelineLane["kind"][] = ["you", "model", "tools", "agent"];

/** Assigns tracks to lanes so that simultaneous ones never share a lane. */
function lanesOf(tracks: readonly Track[]): readonly TimelineLane[] {
  const lanes = LANES.map(() => [] as { readonly names: Set<string>; readonly bars: TimelineBar[] }[]);
  const isFree = (bars: readonly TimelineBar[], from: number): boolean => (bars.at(-1)?.to ?? from) <= from;
  for (const { kind, name, from, bars } of tracks) {
    if (bars.length === 0) continue;
    const own = lanes[LANES.indexOf(kind)] ?? [];
    let lane = own.find((each) => isFree(each.bars, from));
    if (lane === undefined) own.push((lane = { names: new Set(), bars: [] }));
    if (name !== undefined) lane.names.add(name);
    for (const bar of bars) appendBar(lane.bars, bar);
  }
  return lanes.flatMap((own, at) =>
    own
      .filter(({ bars }) => bars.length > 0)
      .map(({ names, bars }) => ({ kind: LANES[at] ?? "agent", names: [...names], bars })),
  );
}

/** Adds a bar; if it overlaps the last one, it starts where that one ended. */
function appendBar(bars: TimelineBar[], bar: TimelineBar): void {
  const from = Math.max(bar.from, bars.at(-1)?.to ?? bar.from);
  const to = Math.max(from, bar.to);
  const isPoint = bar.kind === "message" || bar.kind === "waiting" || bar.kind === "tool";
  if (to > from || isPoint) bars.push({ ...bar, from, to });
}

interface EntryContext {
  readonly owner: string;
  readonly time: number;
  readonly runFrom: number;
}

interface OpenCall {
  question?: CallEntry & { readonly time: number };
  /** With its track, once the call runs. */
  start?: CallEntry & { readonly time: number; readonly track: Track };
}

/** The conversation, or a running subagent. */
interface Worker {
  readonly track: Track;
  readonly calls: Map<string, OpenCall>;
  /** Time of the last event other than a failed attempt. */
  lastEventAt: number;
  retries: { readonly entry: RetryEntry; readonly time: number }[];
}

type CallEntry = Pick<Extract<JournalEntry, { readonly type: "tool_intent" }>, "id" | "name" | "input">;

/** Folds a session's entries into tracks of bars. Feed it every entry once, in order. */
class TimelineFold {
  calls = 0;
  readonly #tracks: Track[] = [];
  readonly #you = this.#track("you", Number.NEGATIVE_INFINITY);
  readonly #main = this.#worker(this.#track("model", Number.NEGATIVE_INFINITY), Number.NEGATIVE_INFINITY);
  readonly #subagents = new Map<string, Worker>();

  get lanes(): readonly TimelineLane[] {
    return lanesOf(this.#tracks);
  }

  apply(entry: JournalEntry, context: EntryContext): void {
    const { owner, time, runFrom } = context;
    if (entry.type === "run_start" && owner !== "" && entry.scope === owner) {
      this.#endSubagent(owner, time, "cut");
      this.#subagents.set(owner, this.#worker(this.#track("agent", time, entry.agent ?? owner), time));
    }
    const worker = this.#subagents.get(owner) ?? this.#main;
    this.#main.lastEventAt = Math.max(this.#main.lastEventAt, runFrom);
    switch (entry.type) {
      case "retry":
        worker.retries.push({ entry, time });
        return;
      case "user_message":
        this.#addMessage(entry, time);
        break;
      case "assistant_message":
        addAnswer(worker, entry, context);
        break;
      case "model_usage":
        if (entry.purpose === "compaction") addCompaction(worker, entry, context);
        break;
      case "approval_request":
        this.#callOf(worker, entry.callId).question = { ...entry, time };
        break;
      case "permission_decision":
        this.#endQuestion(worker.calls.get(entry.callId), time, "ok");
        break;
      case "tool_intent":
        this.#startCall(worker, entry, time);
        break;
      case "tool_result":
        this.#finishCall(worker, entry, time);
        break;
      case "run_end":
        this.#end(entry, worker, context);
        return;
      default:
    }
    worker.lastEventAt = time;
  }

  /** Ends everything open. `cut`: its process is gone; `running`: it continues until now. */
  closeAll(time: number, status: "cut" | "running"): void {
    for (const worker of [this.#main, ...this.#subagents.values()]) {
      const [last] = worker.retries;
      if (last !== undefined) addFailedRequest(worker, { entryId: last.entry.id, time, status });
      this.#closeCalls(worker, time, status);
    }
    this.#subagents.clear();
  }

  #track(kind: Track["kind"], from: number, name?: string): Track {
    const track: Track = { kind, from, bars: [], ...omitUndefined({ name }) };
    this.#tracks.push(track);
    return track;
  }

  #worker(track: Track, lastEventAt: number): Worker {
    return { track, calls: new Map(), lastEventAt, retries: [] };
  }

  #addMessage(entry: Extract<JournalEntry, { readonly type: "user_message" }>, time: number): void {
    if (entry.scope !== undefined || (entry.source !== "input" && entry.source !== "steering")) return;
    const label = oneLine(messageText(entry.message), 200);
    this.#you.bars.push({ entryId: entry.id, kind: "message", from: time, to: time, label, status: "ok" });
  }

  #end(entry: RunEndEntry, worker: Worker, { owner, time }: EntryContext): void {
    if (owner !== "" && entry.scope !== owner) return;
    const { stopReason } = entry;
    const status = stopReason === "error" ? "error" : stopReason === "aborted" ? "aborted" : "ok";
    addFailedRequest(worker, { entryId: entry.id, time, status: status === "ok" ? "error" : status });
    if (owner !== "") return this.#endSubagent(owner, time, "cut");
    for (const other of this.#subagents.keys()) this.#endSubagent(other, time, "cut");
    // Questions about waiting calls lasted until here; the pause that follows does not count.
    this.#closeCalls(worker, time, isWaiting(stopReason) ? "ok" : status === "ok" ? "cut" : "aborted");
    worker.lastEventAt = time;
  }

  #endSubagent(owner: string, time: number, status: BarStatus): void {
    const worker = this.#subagents.get(owner);
    if (worker !== undefined) this.#closeCalls(worker, time, status);
    this.#subagents.delete(owner);
  }

  #callOf(worker: Worker, callId: string): OpenCall {
    const call = worker.calls.get(callId) ?? {};
    worker.calls.set(callId, call);
    return call;
  }

  #endQuestion(call: OpenCall | undefined, time: number, status: BarStatus): void {
    if (call?.question === undefined) return;
    this.#you.bars.push(callBar(call.question, { kind: "asking", to: time, status }));
    delete call.question;
  }

  #startOf(worker: Worker, entry: CallEntry, time: number): NonNullable<OpenCall["start"]> {
    const track = worker === this.#main ? this.#track("tools", time) : worker.track;
    return { ...entry, time, track };
  }

  #startCall(worker: Worker, entry: CallEntry & { readonly callId: string }, time: number): void {
    const call = this.#callOf(worker, entry.callId);
    this.#endQuestion(call, time, "ok");
    if (call.start !== undefined) return;
    this.calls++;
    call.start = this.#startOf(worker, entry, time);
  }

  #finishCall(worker: Worker, { id, callId, name, status }: ToolResultEntry, time: number): void {
    const call = this.#callOf(worker, callId);
    this.#endQuestion(call, time, "ok");
    // A call that was refused or never began is a point without duration.
    const start = call.start ?? this.#startOf(worker, { id, name, input: {} }, time);
    start.track.bars.push(callBar(start, { kind: "tool", to: time, status }));
    worker.calls.delete(callId);
  }

  #closeCalls(worker: Worker, time: number, status: BarStatus): void {
    for (const call of worker.calls.values()) {
      this.#endQuestion(call, time, status);
      call.start?.track.bars.push(callBar(call.start, { kind: "tool", to: time, status }));
    }
    worker.calls.clear();
  }
}

function callBar(
  { id: entryId, name: label, input, time: from }: CallEntry & { readonly time: number },
  { kind, to, status }: Pick<TimelineBar, "kind" | "to" | "status">,
): TimelineBar {
  return { entryId, kind, from, to: Math.max(from, to), label, detail: callTitle(input), status };
}

/** The bars of one request: its failed attempts, the pauses after them, and the last attempt's result. */
function addAnswer(worker: Worker, entry: AssistantEntry, { time, runFrom }: EntryContext): void {
  const { id: entryId, model: label, interrupted, firstTokenMs } = entry;
  const requestedAt = Math.max(runFrom, time - durationOf(entry.durationMs));
  const from = addAttempts(worker, { from: requestedAt, to: time, label });
  const first =
    firstTokenMs === undefined
      ? time
      : Math.min(time, Math.max(from, requestedAt + durationOf(firstTokenMs)));
  const status: BarStatus = interrupted === true ? "aborted" : "ok";
  worker.track.bars.push({ entryId, kind: "waiting", from, to: first, label, status });
  worker.track.bars.push({ entryId, kind: "streaming", from: first, to: time, label, status });
}

/** A request without an answer, known only from its failed attempts. */
function addFailedRequest(
  worker: Worker,
  { entryId, time, status }: { readonly entryId: string; readonly time: number; readonly status: BarStatus },
): void {
  const last = worker.retries.at(-1);
  if (last === undefined) return;
  const label = last.entry.error.code ?? "";
  const from = addAttempts(worker, { from: worker.lastEventAt, to: time, label });
  worker.track.bars.push({
    entryId,
    kind: status === "running" ? "waiting" : "failed",
    from,
    to: time,
    label,
    status,
  });
}

/** Draws failed attempts and the pauses after them; returns the start of the last attempt. */
function addAttempts(
  worker: Worker,
  { from, to, label }: { readonly from: number; readonly to: number; readonly label: string },
): number {
  let attemptFrom = from;
  for (const { entry, time } of worker.retries) {
    const entryId = entry.id;
    const failedAt = Math.min(to, Math.max(attemptFrom, time));
    const retryAt = Math.min(to, failedAt + durationOf(entry.delayMs));
    worker.track.bars.push({
      entryId,
      kind: "failed",
      from: attemptFrom,
      to: failedAt,
      label,
      status: "error",
    });
    worker.track.bars.push({ entryId, kind: "backoff", from: failedAt, to: retryAt, label, status: "ok" });
    attemptFrom = retryAt;
  }
  worker.retries.length = 0;
  return attemptFrom;
}

function addCompaction(
  { track }: Worker,
  entry: Extract<JournalEntry, { readonly type: "model_usage" }>,
  { time, runFrom }: EntryContext,
): void {
  const from = Math.max(runFrom, time - durationOf(entry.durationMs));
  track.bars.push({
    entryId: entry.id,
    kind: "compaction",
    from,
    to: time,
    label: entry.model,
    status: "ok",
  });
}

export const SHARE_OF: { readonly [kind in BarKind]: TimeShare } = {
  message: "other",
  streaming: "streaming",
  waiting: "waiting",
  compaction: "compaction",
  failed: "retry",
  backoff: "retry",
  asking: "asking",
  tool: "tool",
};

/** Divides the time of runs among simultaneous activities. */
function timeShares(
  lanes: readonly TimelineLane[],
  runs: readonly { readonly from: number; readonly to: number }[],
): Timeline["shares"] {
  const edges: { readonly time: number; readonly share: number; readonly step: 1 | -1 }[] = [];
  const add = (from: number, to: number, name: TimeShare): void => {
    const share = TIME_SHARES.indexOf(name);
    if (to > from) edges.push({ time: from, share, step: 1 }, { time: to, share, step: -1 });
  };
  for (const { from, to } of runs) add(from, to, "other");
  for (const { bars } of lanes) for (const { kind, from, to } of bars) add(from, to, SHARE_OF[kind]);
  edges.sort((left, right) => left.time - right.time);
  const sums = TIME_SHARES.map(() => 0);
  const active = TIME_SHARES.map(() => 0);
  let before = edges[0]?.time ?? 0;
  for (const { time, share, step } of edges) {
    const counted = active.findIndex((count) => count > 0);
    if (counted !== -1) sums[counted] = (sums[counted] ?? 0) + time - before;
    before = time;
    active[share] = (active[share] ?? 0) + step;
  }
  return Object.fromEntries(TIME_SHARES.map((share, at) => [share, sums[at] ?? 0])) as Timeline["shares"];
}
