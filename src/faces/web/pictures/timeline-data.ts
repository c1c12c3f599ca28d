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
import { defined } from "../../../core/base/json.ts";
import { isWaiting } from "../../../core/base/stop-reason.ts";
import { messageText } from "../../../core/message/message.ts";
import { RunClock } from "../../../journal/run-clock.ts";
import { Scopes } from "../../../journal/scopes.ts";
import { callTitle, oneLine } from "../../../view/call-text.ts";
import { type TimeAxis, timeAxis } from "./time-axis.ts";

/**
 * The kind of time a bar stands for. `message`: a person wrote something; it takes no time · `asking`: a
 * person is asked · `waiting`: from the request to its first part · `streaming` · `failed`: a failed attempt
 * · `backoff`: the pause before the next one · `compaction` · `tool`.
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

/** How something ended. `cut`: it has no end in the journal, and no process is working on it. */
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

/** A lane of a timeline. Its bars are in order and do not overlap. */
export interface TimelineLane {
  readonly kind: "you" | "model" | "tools" | "agent";
  /** Subagents that used it, one after the other. */
  readonly names: readonly string[];
  readonly bars: readonly TimelineBar[];
}

/** A model request with its usage. */
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

/** The categories a session's time is divided into; of several at once the first counts. */
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

/** The distribution of a session's time. */
export interface Timeline {
  readonly lanes: readonly TimelineLane[];
  readonly requests: readonly TimelineRequest[];
  readonly axis: TimeAxis;
  /** Milliseconds by category. Every moment of every run counts once. */
  readonly shares: { readonly [share in TimeShare]: number };
  readonly total: Spending;
  readonly runs: number;
  readonly calls: number;
}

/**
 * The timeline of a session. `now`: milliseconds since the epoch, while a process is working on it; without
 * it, anything unfinished ended with the last entry. A clock set back stands still until it catches up.
 */
export function runTimeline(entries: readonly JournalEntry[], now?: number): Timeline {
  const fold = new TimelineFold();
  const runs = new RunClock();
  const scopes = new Scopes();
  const requests: TimelineRequest[] = [];
  let total = NO_SPENDING;
  for (const entry of entries) {
    const owner = scopes.of(entry)?.scope ?? "";
    const began = runs.isOpen ? undefined : workSince(entry);
    // The start of this run is missing: its line is damaged.
    if (began !== undefined) runs.apply({ type: "run_resume", time: began });
    const cutAt = runs.apply(entry);
    if (cutAt !== undefined) fold.closeAll(cutAt, "cut");
    fold.apply(entry, { owner, time: runs.time, runFrom: runs.from });
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
    axis: timeAxis(runs.stretches),
    shares: timeShares(lanes, runs.stretches),
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

/** When the work began that only a run does; undefined for any other entry. */
function workSince(entry: JournalEntry): number | undefined {
  if (entry.scope !== undefined) return undefined;
  if (entry.type === "tool_intent") return entry.time;
  return entry.type === "assistant_message" ? entry.time - durationOf(entry.durationMs) : undefined;
}

/** A length of time; 0 for impossible figures of a foreign journal. */
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
    for (const bar of bars) putBehind(lane.bars, bar);
  }
  return lanes.flatMap((own, at) =>
    own
      .filter(({ bars }) => bars.length > 0)
      .map(({ names, bars }) => ({ kind: LANES[at] ?? "agent", names: [...names], bars })),
  );
}

/** Adds a bar; if it overlaps the last one, it starts where that one ended. */
function putBehind(bars: TimelineBar[], bar: TimelineBar): void {
  const from = Math.max(bar.from, bars.at(-1)?.to ?? bar.from);
  const to = Math.max(from, bar.to);
  const isMark = bar.kind === "message" || bar.kind === "waiting" || bar.kind === "tool";
  if (to > from || isMark) bars.push({ ...bar, from, to });
}

interface Place {
  readonly owner: string;
  readonly time: number;
  readonly runFrom: number;
}

interface OpenCall {
  asked?: CallEntry & { readonly time: number };
  /** Includes its track once it runs. */
  began?: CallEntry & { readonly time: number; readonly track: Track };
}

/** The conversation, or a running subagent. */
interface Worker {
  readonly track: Track;
  readonly calls: Map<string, OpenCall>;
  /** Time of the last event other than a failed attempt. */
  heardAt: number;
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

  apply(entry: JournalEntry, place: Place): void {
    const { owner, time, runFrom } = place;
    if (entry.type === "run_start" && owner !== "" && entry.scope === owner) {
      this.#leave(owner, time, "cut");
      this.#subagents.set(owner, this.#worker(this.#track("agent", time, entry.agent ?? owner), time));
    }
    const worker = this.#subagents.get(owner) ?? this.#main;
    this.#main.heardAt = Math.max(this.#main.heardAt, runFrom);
    switch (entry.type) {
      case "retry":
        worker.retries.push({ entry, time });
        return;
      case "user_message":
        this.#said(entry, time);
        break;
      case "assistant_message":
        answer(worker, entry, place);
        break;
      case "model_usage":
        if (entry.purpose === "compaction") compaction(worker, entry, place);
        break;
      case "approval_request":
        this.#callOf(worker, entry.callId).asked = { ...entry, time };
        break;
      case "permission_decision":
        this.#answered(worker.calls.get(entry.callId), time, "ok");
        break;
      case "tool_intent":
        this.#started(worker, entry, time);
        break;
      case "tool_result":
        this.#finished(worker, entry, time);
        break;
      case "run_end":
        this.#end(entry, worker, place);
        return;
      default:
    }
    worker.heardAt = time;
  }

  /** Ends everything open: `cut`, its process is gone; `running`, it continues until now. */
  closeAll(time: number, status: "cut" | "running"): void {
    for (const worker of [this.#main, ...this.#subagents.values()]) {
      const [last] = worker.retries;
      if (last !== undefined) failedRequest(worker, { entryId: last.entry.id, time, status });
      this.#closeCalls(worker, time, status);
    }
    this.#subagents.clear();
  }

  #track(kind: Track["kind"], from: number, name?: string): Track {
    const track: Track = { kind, from, bars: [], ...defined({ name }) };
    this.#tracks.push(track);
    return track;
  }

  #worker(track: Track, heardAt: number): Worker {
    return { track, calls: new Map(), heardAt, retries: [] };
  }

  #said(entry: Extract<JournalEntry, { readonly type: "user_message" }>, time: number): void {
    if (entry.scope !== undefined || (entry.source !== "input" && entry.source !== "steering")) return;
    const label = oneLine(messageText(entry.message), 200);
    this.#you.bars.push({ entryId: entry.id, kind: "message", from: time, to: time, label, status: "ok" });
  }

  #end(entry: RunEndEntry, worker: Worker, { owner, time }: Place): void {
    if (owner !== "" && entry.scope !== owner) return;
    const { stopReason } = entry;
    const status = stopReason === "error" ? "error" : stopReason === "aborted" ? "aborted" : "ok";
    failedRequest(worker, { entryId: entry.id, time, status: status === "ok" ? "error" : status });
    if (owner !== "") return this.#leave(owner, time, "cut");
    for (const other of this.#subagents.keys()) this.#leave(other, time, "cut");
    // The questions about waiting calls lasted until here; the pause that follows belongs to nobody.
    this.#closeCalls(worker, time, isWaiting(stopReason) ? "ok" : status === "ok" ? "cut" : "aborted");
    worker.heardAt = time;
  }

  #leave(owner: string, time: number, status: BarStatus): void {
    const worker = this.#subagents.get(owner);
    if (worker !== undefined) this.#closeCalls(worker, time, status);
    this.#subagents.delete(owner);
  }

  #callOf(worker: Worker, callId: string): OpenCall {
    const call = worker.calls.get(callId) ?? {};
    worker.calls.set(callId, call);
    return call;
  }

  #answered(call: OpenCall | undefined, time: number, status: BarStatus): void {
    if (call?.asked === undefined) return;
    this.#you.bars.push(callBar(call.asked, { kind: "asking", to: time, status }));
    delete call.asked;
  }

  #begun(worker: Worker, entry: CallEntry, time: number): NonNullable<OpenCall["began"]> {
    const track = worker === this.#main ? this.#track("tools", time) : worker.track;
    return { ...entry, time, track };
  }

  #started(worker: Worker, entry: CallEntry & { readonly callId: string }, time: number): void {
    const call = this.#callOf(worker, entry.callId);
    this.#answered(call, time, "ok");
    if (call.began !== undefined) return;
    this.calls++;
    call.began = this.#begun(worker, entry, time);
  }

  #finished(worker: Worker, { id, callId, name, status }: ToolResultEntry, time: number): void {
    const call = this.#callOf(worker, callId);
    this.#answered(call, time, "ok");
    // A call that was refused or never began is a mark without duration.
    const began = call.began ?? this.#begun(worker, { id, name, input: {} }, time);
    began.track.bars.push(callBar(began, { kind: "tool", to: time, status }));
    worker.calls.delete(callId);
  }

  #closeCalls(worker: Worker, time: number, status: BarStatus): void {
    for (const call of worker.calls.values()) {
      this.#answered(call, time, status);
      call.began?.track.bars.push(callBar(call.began, { kind: "tool", to: time, status }));
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
function answer(worker: Worker, entry: AssistantEntry, { time, runFrom }: Place): void {
  const { id: entryId, model: label, interrupted, firstTokenMs } = entry;
  const asked = Math.max(runFrom, time - durationOf(entry.durationMs));
  const from = attempts(worker, { from: asked, to: time, label });
  const first =
    firstTokenMs === undefined ? time : Math.min(time, Math.max(from, asked + durationOf(firstTokenMs)));
  const status: BarStatus = interrupted === true ? "aborted" : "ok";
  worker.track.bars.push({ entryId, kind: "waiting", from, to: first, label, status });
  worker.track.bars.push({ entryId, kind: "streaming", from: first, to: time, label, status });
}

/** A request without an answer, if failed attempts show that there was one. */
function failedRequest(
  worker: Worker,
  { entryId, time, status }: { readonly entryId: string; readonly time: number; readonly status: BarStatus },
): void {
  const last = worker.retries.at(-1);
  if (last === undefined) return;
  const label = last.entry.error.code ?? "";
  const from = attempts(worker, { from: worker.heardAt, to: time, label });
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
function attempts(
  worker: Worker,
  { from, to, label }: { readonly from: number; readonly to: number; readonly label: string },
): number {
  let began = from;
  for (const { entry, time } of worker.retries) {
    const entryId = entry.id;
    const failedAt = Math.min(to, Math.max(began, time));
    const again = Math.min(to, failedAt + durationOf(entry.delayMs));
    worker.track.bars.push({ entryId, kind: "failed", from: began, to: failedAt, label, status: "error" });
    worker.track.bars.push({ entryId, kind: "backoff", from: failedAt, to: again, label, status: "ok" });
    began = again;
  }
  worker.retries.length = 0;
  return began;
}

function compaction(
  { track }: Worker,
  entry: Extract<JournalEntry, { readonly type: "model_usage" }>,
  { time, runFrom }: Place,
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

const SHARE_OF: { readonly [kind in BarKind]: TimeShare } = {
  message: "other",
  streaming: "streaming",
  waiting: "waiting",
  compaction: "compaction",
  failed: "retry",
  backoff: "retry",
  asking: "asking",
  tool: "tool",
};

/** Divides the time of runs among concurrent activities. */
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
    const counts = active.findIndex((count) => count > 0);
    if (counts !== -1) sums[counts] = (sums[counts] ?? 0) + time - before;
    before = time;
    active[share] = (active[share] ?? 0) + step;
  }
  return Object.fromEntries(TIME_SHARES.map((share, at) => [share, sums[at] ?? 0])) as Timeline["shares"];
}
