import type { AssistantEntry, JournalEntry, RetryEntry } from "../../../core/agent/entries.ts";
import {
  addSpending,
  isSpending,
  NO_SPENDING,
  type Spending,
  type SpendingEntry,
} from "../../../core/agent/state.ts";
import { isWaiting } from "../../../core/base/stop-reason.ts";
import { messageText } from "../../../core/message/message.ts";
import { Scopes } from "../../../journal/scopes.ts";
import { callTitle, oneLine } from "../../../view/call-text.ts";
import { type TimeAxis, timeAxis } from "./time-axis.ts";

/**
 * The time a bar stands for. `message`: a person wrote something; it takes no time · `asking`: a person is
 * asked · `waiting`: from the request to its first part · `streaming` · `failed`: a failed attempt ·
 * `backoff`: the pause before the next one · `compaction` · `tool`.
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

/** The way something ended. `cut`: it has no end in the journal, and no process is working on it. */
export type BarStatus = "ok" | "error" | "denied" | "aborted" | "running" | "cut";

/** One bar of a timeline. Times are milliseconds since the epoch. */
export interface TimelineBar {
  readonly entryId: string;
  readonly kind: BarKind;
  readonly from: number;
  readonly to: number;
  /** Tool or model; the text of a message. */
  readonly label: string;
  /** Of a call: its command, path or pattern. */
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

/** A model request, with what it used. */
export interface TimelineRequest {
  readonly entryId: string;
  readonly time: number;
  readonly inputTokens: number;
  readonly cacheReadTokens: number;
  /** True for a request of a subagent. */
  readonly isNested: boolean;
  /** Of all requests so far. */
  readonly spent: Spending;
}

/** The parts that the time of a session is divided into; the one first counts when several overlap. */
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

/** Where the time of a session went. */
export interface Timeline {
  readonly lanes: readonly TimelineLane[];
  readonly requests: readonly TimelineRequest[];
  readonly axis: TimeAxis;
  /** Milliseconds by part. Every moment of every run counts once. */
  readonly shares: { readonly [share in TimeShare]: number };
  readonly total: Spending;
  readonly runs: number;
  readonly calls: number;
}

/**
 * The timeline of a session. `now`: milliseconds since the epoch, while a process is working on it; without
 * it, what has no end ended with the last entry. A clock that was set back stands still until it catches up.
 */
export function runTimeline(entries: readonly JournalEntry[], now?: number): Timeline {
  const fold = new TimelineFold();
  const runs = new RunStretches();
  const scopes = new Scopes();
  const requests: TimelineRequest[] = [];
  let total = NO_SPENDING;
  for (const entry of entries) {
    const owner = scopes.of(entry)?.scope ?? "";
    const cutAt = runs.apply(entry);
    if (cutAt !== undefined) fold.closeAll(cutAt, "cut");
    fold.apply(entry, { owner, time: runs.time, runFrom: runs.from });
    if (!isSpending(entry)) continue;
    total = addSpending(total, entry);
    requests.push(requestOf(entry, { time: runs.time, isNested: owner !== "", total }));
  }
  const isLive = runs.isOpen && now !== undefined;
  fold.closeAll(runs.end(now), isLive ? "running" : "cut");
  const lanes = fold.lanes();
  return {
    lanes,
    requests,
    axis: timeAxis(runs.stretches),
    shares: timeShares(lanes, runs.stretches),
    total,
    runs: runs.count,
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

/** A length of time; 0 for impossible figures of a foreign journal. */
function durationOf(ms: unknown): number {
  return typeof ms === "number" && Number.isFinite(ms) && ms > 0 ? ms : 0;
}

/** When runs began and ended, and the time as the timeline has it. */
class RunStretches {
  readonly stretches: { readonly from: number; to: number }[] = [];
  /** Of the newest entry; never less than before. */
  time: number = Number.NEGATIVE_INFINITY;
  /** True while the newest run has no end. */
  isOpen = false;
  count = 0;

  /** When the newest run began. */
  get from(): number {
    return this.stretches.at(-1)?.from ?? this.time;
  }

  /** Takes an entry. Returns when the run before it ended, if the entry begins one and that one was cut. */
  apply({ type, scope, time }: JournalEntry): number | undefined {
    this.time = Math.max(this.time, time);
    const isOuter = scope === undefined;
    const begins = isOuter && (type === "run_start" || type === "run_resume");
    if (isOuter && type === "run_start") this.count++;
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

  /** The end of the newest run; one without an end in the journal continues until now. */
  end(now: number | undefined): number {
    if (this.isOpen && now !== undefined) this.#reach(Math.max(now, this.time));
    return this.stretches.at(-1)?.to ?? this.time;
  }

  #reach(time: number): void {
    const last = this.stretches.at(-1);
    if (last !== undefined) last.to = time;
  }
}

/** Bars in order: one that begins before the last one ended begins where that one ended. */
class Lane {
  readonly bars: TimelineBar[] = [];
  readonly names = new Set<string>();
  busyUntil = Number.NEGATIVE_INFINITY;

  put(bar: TimelineBar): void {
    const from = Math.max(bar.from, this.busyUntil);
    const to = Math.max(from, bar.to);
    const isMark = bar.kind === "message" || bar.kind === "waiting" || bar.kind === "tool";
    if (to > from || isMark) this.bars.push({ ...bar, from, to });
    this.busyUntil = to;
  }
}

/** Gives out lanes, so that what happens at the same time never shares one, each in constant time. */
class LanePool {
  readonly lanes: Lane[] = [];
  #free: Lane[] = [];
  #opened = 0;
  #taken = 0;

  take(): Lane {
    this.#taken++;
    const lane = this.#free.pop() ?? (this.lanes[this.#opened++] ??= new Lane());
    return lane;
  }

  give(lane: Lane): void {
    this.#taken--;
    this.#free.push(lane);
    if (this.#taken > 0) return;
    // The next one begins at the top again.
    this.#free = [];
    this.#opened = 0;
  }
}

interface Place {
  readonly owner: string;
  readonly time: number;
  readonly runFrom: number;
}

interface OpenCall {
  /** Its lane, once it runs. */
  lane?: Lane;
  asked?: CallEntry & { readonly time: number };
  began?: CallEntry & { readonly time: number };
}

/** The conversation, or a running subagent. */
interface Worker {
  readonly lane: Lane;
  readonly calls: Map<string, OpenCall>;
  /** When something other than a failed attempt last happened. */
  heardAt: number;
  retries: { readonly entry: RetryEntry; readonly time: number }[];
}

type CallEntry = Pick<Extract<JournalEntry, { readonly type: "tool_intent" }>, "id" | "name" | "input">;

/** Puts the entries of a session into lanes of bars. Feed it every entry once, in order. */
class TimelineFold {
  calls = 0;
  readonly #you = new Lane();
  readonly #tools = new LanePool();
  readonly #agents = new LanePool();
  readonly #workers = new Map<string, Worker>();

  apply(entry: JournalEntry, place: Place): void {
    const { owner, time } = place;
    if (entry.type === "run_start" && owner !== "" && entry.scope === owner) this.#begin(entry, place);
    const worker = this.#workerOf(place);
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
        this.#end(entry, place);
        return;
      default:
    }
    worker.heardAt = time;
  }

  /** Ends all that is open: `cut`, its process is gone; `running`, it goes on until now. */
  closeAll(time: number, status: "cut" | "running"): void {
    for (const [owner, worker] of this.#workers) {
      const [last] = worker.retries;
      if (last !== undefined) failedRequest(worker, { entryId: last.entry.id, time, status });
      if (owner === "") this.#closeCalls(worker, time, status);
      else this.#leave(owner, time, status);
    }
  }

  lanes(): readonly TimelineLane[] {
    const model = this.#workers.get("")?.lane;
    return [
      { kind: "you" as const, lane: this.#you },
      ...(model === undefined ? [] : [{ kind: "model" as const, lane: model }]),
      ...this.#tools.lanes.map((lane) => ({ kind: "tools" as const, lane })),
      ...this.#agents.lanes.map((lane) => ({ kind: "agent" as const, lane })),
    ]
      .filter(({ lane }) => lane.bars.length > 0)
      .map(({ kind, lane: { names, bars } }) => ({ kind, names: [...names], bars }));
  }

  #said(entry: Extract<JournalEntry, { readonly type: "user_message" }>, time: number): void {
    if (entry.scope !== undefined || (entry.source !== "input" && entry.source !== "steering")) return;
    const label = oneLine(messageText(entry.message), 200);
    this.#you.put({ entryId: entry.id, kind: "message", from: time, to: time, label, status: "ok" });
  }

  #begin(entry: Extract<JournalEntry, { readonly type: "run_start" }>, { owner, time }: Place): void {
    this.#leave(owner, time, "cut");
    const lane = this.#agents.take();
    lane.names.add(entry.agent ?? owner);
    this.#workers.set(owner, { lane, calls: new Map(), heardAt: time, retries: [] });
  }

  #workerOf({ owner, runFrom }: Place): Worker {
    let worker = this.#workers.get(owner);
    if (worker !== undefined && owner !== "") return worker;
    worker = this.#workers.get("") ?? {
      lane: new Lane(),
      calls: new Map(),
      heardAt: runFrom,
      retries: [],
    };
    worker.heardAt = Math.max(worker.heardAt, runFrom);
    this.#workers.set("", worker);
    return worker;
  }

  #end(entry: Extract<JournalEntry, { readonly type: "run_end" }>, place: Place): void {
    const { owner, time } = place;
    if (owner !== "" && entry.scope !== owner) return;
    const { stopReason } = entry;
    const status = stopReason === "error" ? "error" : stopReason === "aborted" ? "aborted" : "ok";
    const worker = this.#workerOf(place);
    failedRequest(worker, { entryId: entry.id, time, status: status === "ok" ? "error" : status });
    if (owner !== "") return this.#leave(owner, time, "cut");
    for (const other of this.#workers.keys()) if (other !== "") this.#leave(other, time, "cut");
    // Calls that wait for an answer were asked about until here; the pause after it belongs to no one.
    this.#closeCalls(worker, time, isWaiting(stopReason) ? "ok" : status === "ok" ? "cut" : "aborted");
    worker.heardAt = time;
  }

  /** A subagent has ended; its lane is free for the next one. */
  #leave(owner: string, time: number, status: BarStatus): void {
    const worker = this.#workers.get(owner);
    if (worker === undefined) return;
    this.#closeCalls(worker, time, status);
    this.#workers.delete(owner);
    this.#agents.give(worker.lane);
  }

  #callOf(worker: Worker, callId: string): OpenCall {
    const call = worker.calls.get(callId) ?? {};
    worker.calls.set(callId, call);
    return call;
  }

  #laneFor(worker: Worker): Lane {
    return worker === this.#workers.get("") ? this.#tools.take() : worker.lane;
  }

  #release(worker: Worker, { lane }: OpenCall): void {
    if (lane !== undefined && lane !== worker.lane) this.#tools.give(lane);
  }

  #answered(call: OpenCall | undefined, time: number, status: BarStatus): void {
    if (call?.asked === undefined) return;
    this.#you.put(callBar(call.asked, { kind: "asking", to: time, status }));
    delete call.asked;
  }

  #started(worker: Worker, entry: CallEntry & { readonly callId: string }, time: number): void {
    const call = this.#callOf(worker, entry.callId);
    this.#answered(call, time, "ok");
    if (call.began !== undefined) return;
    this.calls++;
    call.lane = this.#laneFor(worker);
    call.began = { ...entry, time };
  }

  #finished(
    worker: Worker,
    entry: Extract<JournalEntry, { readonly type: "tool_result" }>,
    time: number,
  ): void {
    const call = this.#callOf(worker, entry.callId);
    this.#answered(call, time, "ok");
    // A call that was refused, or never began, is a mark and takes no time.
    const began = call.began ?? { id: entry.id, name: entry.name, input: {}, time };
    call.lane ??= this.#laneFor(worker);
    call.lane.put(callBar(began, { kind: "tool", to: time, status: entry.status }));
    worker.calls.delete(entry.callId);
    this.#release(worker, call);
  }

  #closeCalls(worker: Worker, time: number, status: BarStatus): void {
    for (const call of worker.calls.values()) {
      this.#answered(call, time, status);
      if (call.began !== undefined) call.lane?.put(callBar(call.began, { kind: "tool", to: time, status }));
      this.#release(worker, call);
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

/** The bars of one request: its failed attempts, the pauses after them, and what came of the last one. */
function answer(worker: Worker, entry: AssistantEntry, { time, runFrom }: Place): void {
  const { id: entryId, model: label, interrupted, firstTokenMs } = entry;
  const asked = Math.max(runFrom, time - durationOf(entry.durationMs));
  const from = attempts(worker, { from: asked, to: time, label });
  const first =
    firstTokenMs === undefined ? time : Math.min(time, Math.max(from, asked + durationOf(firstTokenMs)));
  const status: BarStatus = interrupted === true ? "aborted" : "ok";
  worker.lane.put({ entryId, kind: "waiting", from, to: first, label, status });
  worker.lane.put({ entryId, kind: "streaming", from: first, to: time, label, status });
}

/** A request without an answer, when failed attempts say that there was one. */
function failedRequest(
  worker: Worker,
  { entryId, time, status }: { readonly entryId: string; readonly time: number; readonly status: BarStatus },
): void {
  const last = worker.retries.at(-1);
  if (last === undefined) return;
  const label = last.entry.error.code ?? "";
  const from = attempts(worker, { from: worker.heardAt, to: time, label });
  worker.lane.put({
    entryId,
    kind: status === "running" ? "waiting" : "failed",
    from,
    to: time,
    label,
    status,
  });
}

/** Draws failed attempts and the pauses after them; returns when the last attempt began. */
function attempts(
  worker: Worker,
  { from, to, label }: { readonly from: number; readonly to: number; readonly label: string },
): number {
  let began = from;
  for (const { entry, time } of worker.retries) {
    const entryId = entry.id;
    const failedAt = Math.min(to, Math.max(began, time));
    const again = Math.min(to, failedAt + durationOf(entry.delayMs));
    worker.lane.put({ entryId, kind: "failed", from: began, to: failedAt, label, status: "error" });
    worker.lane.put({ entryId, kind: "backoff", from: failedAt, to: again, label, status: "ok" });
    began = again;
  }
  worker.retries.length = 0;
  return began;
}

function compaction(
  { lane }: Worker,
  entry: Extract<JournalEntry, { readonly type: "model_usage" }>,
  { time, runFrom }: Place,
): void {
  const from = Math.max(runFrom, time - durationOf(entry.durationMs));
  lane.put({ entryId: entry.id, kind: "compaction", from, to: time, label: entry.model, status: "ok" });
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

/** Divides the time of runs among the things that were going on. */
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
