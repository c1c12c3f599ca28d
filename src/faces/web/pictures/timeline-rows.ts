import type { AssistantEntry, JournalEntry, RetryEntry } from "../../../core/agent/entries.ts";
import { isWaiting } from "../../../core/base/stop-reason.ts";
import { callTitle } from "../../../view/call-text.ts";
import { LanePool } from "./lane-pool.ts";
import {
  type BarKind,
  type BarStatus,
  durationOf,
  type TimelineBar,
  type TimelineRow,
} from "./timeline-bar.ts";

/** Where an entry stands: its subagent, its time as the timeline has it, when its run began. */
export interface EntryPlace {
  readonly owner: string;
  readonly time: number;
  readonly runFrom: number;
}

type MutableBar = { -readonly [K in keyof TimelineBar]: TimelineBar[K] };

interface OpenCall {
  readonly lane: number;
  readonly parts: MutableBar[];
}

/** The rows of the conversation, or of one subagent after the other. */
interface RowGroup {
  readonly agents: TimelineBar[];
  readonly model: TimelineBar[];
  readonly tools: TimelineBar[][];
}

/** The conversation, or a subagent at work. */
interface Worker {
  readonly slot: number;
  readonly group: RowGroup;
  readonly lanes: LanePool;
  readonly calls: Map<string, OpenCall>;
  /** The bar of the subagent itself. */
  readonly own: MutableBar | undefined;
  /** Where its row of the model is taken up to. */
  busyUntil: number;
  /** When something other than a failed attempt was last heard of it. */
  heardAt: number;
  retries: { readonly entry: RetryEntry; readonly time: number }[];
}

/** Puts the entries of a session into rows of bars. Feed it every entry once, in order. */
export class TimelineRows {
  readonly #groups: RowGroup[] = [newGroup()];
  readonly #slots = new LanePool();
  readonly #workers = new Map<string, Worker>();

  apply(entry: JournalEntry, place: EntryPlace): void {
    const { owner, time } = place;
    if (entry.type === "run_start" && owner !== "" && entry.scope === owner) this.#begin(entry, place);
    const worker = this.#workerOf(place);
    switch (entry.type) {
      case "retry":
        worker.retries.push({ entry, time });
        return;
      case "assistant_message":
        answer(worker, entry, place);
        break;
      case "model_usage":
        if (entry.purpose === "compaction") besideRequest(worker, entry, place);
        break;
      case "approval_request":
        part(worker, entry, { kind: "asking", time });
        break;
      case "permission_decision":
        settle(worker.calls.get(entry.callId), time, "ok");
        break;
      case "tool_intent":
        part(worker, entry, { kind: "tool", time });
        break;
      case "tool_result":
        result(worker, entry, time);
        break;
      case "run_end":
        this.#end(entry, place);
        return;
      default:
    }
    worker.heardAt = time;
  }

  /** Ends all that is open: whoever was at work on it is gone. */
  cutAll(time: number): void {
    this.#closeAll(time, "cut");
  }

  /** Draws all that is open up to now: it is at work. */
  goOn(now: number): void {
    this.#closeAll(now, "running");
  }

  rows(): readonly TimelineRow[] {
    return this.#groups.flatMap(({ agents, model, tools }, group) => {
      const rows: TimelineRow[] = [];
      if (agents.length > 0) rows.push({ kind: "agent", group, bars: agents });
      if (model.length > 0) rows.push({ kind: "model", group, bars: model });
      for (const bars of tools) if (bars.length > 0) rows.push({ kind: "tool", group, bars });
      return rows;
    });
  }

  #begin(entry: Extract<JournalEntry, { readonly type: "run_start" }>, { owner, time }: EntryPlace): void {
    this.#leave(owner, time, "cut");
    const slot = this.#slots.take() + 1;
    const group = (this.#groups[slot] ??= newGroup());
    const own: MutableBar = {
      entryId: entry.id,
      kind: "agent",
      from: time,
      to: time,
      label: entry.agent ?? owner,
      status: "running",
    };
    group.agents.push(own);
    this.#workers.set(owner, newWorker(slot, group, { own, time }));
  }

  #workerOf({ owner, runFrom }: EntryPlace): Worker {
    const known = this.#workers.get(owner) ?? this.#workers.get("");
    if (known !== undefined) {
      if (known.own === undefined) known.heardAt = Math.max(known.heardAt, runFrom);
      return known;
    }
    const [group = newGroup()] = this.#groups;
    const made = newWorker(0, group, { own: undefined, time: runFrom });
    this.#workers.set("", made);
    return made;
  }

  #end(entry: Extract<JournalEntry, { readonly type: "run_end" }>, place: EntryPlace): void {
    const { owner, time } = place;
    if (owner !== "" && entry.scope !== owner) return;
    const { stopReason } = entry;
    const status: BarStatus = stopReason === "error" ? "error" : stopReason === "aborted" ? "aborted" : "ok";
    const worker = this.#workerOf(place);
    failedRequest(worker, { entryId: entry.id, time, status: status === "ok" ? "error" : status });
    if (owner !== "") return this.#leave(owner, time, status);
    for (const other of this.#workers.keys()) if (other !== "") this.#leave(other, time, "cut");
    // Calls that wait for somebody were asked about up to here; the pause belongs to nobody.
    closeCalls(worker, time, isWaiting(stopReason) ? "ok" : status === "ok" ? "cut" : "aborted");
    worker.heardAt = time;
  }

  /** A subagent is at its end; its row is free for the next one. */
  #leave(owner: string, time: number, status: BarStatus): void {
    const worker = this.#workers.get(owner);
    if (worker?.own === undefined) return;
    closeCalls(worker, time, status === "running" ? "running" : "cut");
    worker.own.to = time;
    worker.own.status = status;
    this.#workers.delete(owner);
    this.#slots.give(worker.slot - 1);
  }

  #closeAll(time: number, status: "cut" | "running"): void {
    for (const [owner, worker] of this.#workers) {
      const [last] = worker.retries;
      if (last !== undefined) failedRequest(worker, { entryId: last.entry.id, time, status });
      if (owner === "") closeCalls(worker, time, status);
      else this.#leave(owner, time, status);
    }
  }
}

function newGroup(): RowGroup {
  return { agents: [], model: [], tools: [] };
}

function newWorker(
  slot: number,
  group: RowGroup,
  { own, time }: { readonly own: MutableBar | undefined; readonly time: number },
): Worker {
  const lanes = new LanePool();
  return { slot, group, lanes, calls: new Map(), own, busyUntil: time, heardAt: time, retries: [] };
}

/** The bars of one request: its failed attempts, the pauses behind them, and what came of the last one. */
function answer(worker: Worker, entry: AssistantEntry, { time, runFrom }: EntryPlace): void {
  const { id: entryId, model: label, interrupted } = entry;
  const asked = Math.max(runFrom, time - durationOf(entry.durationMs));
  const from = attempts(worker, { from: asked, to: time, label });
  const { firstTokenMs } = entry;
  const first =
    firstTokenMs === undefined ? time : Math.min(time, Math.max(from, asked + durationOf(firstTokenMs)));
  const status: BarStatus = interrupted === true ? "aborted" : "ok";
  put(worker, { entryId, kind: "waiting", from, to: first, label, status });
  if (firstTokenMs !== undefined)
    put(worker, { entryId, kind: "streaming", from: first, to: time, label, status });
}

/** A request that no answer came of, if failed attempts say that there was one. */
function failedRequest(
  worker: Worker,
  { entryId, time, status }: { readonly entryId: string; readonly time: number; readonly status: BarStatus },
): void {
  const last = worker.retries.at(-1);
  if (last === undefined) return;
  const label = last.entry.error.code ?? "";
  const from = attempts(worker, { from: worker.heardAt, to: time, label });
  const isOpen = status === "running";
  put(worker, { entryId, kind: isOpen ? "waiting" : "failed", from, to: time, label, status });
}

/** Draws failed attempts and the pauses behind them; returns when the last attempt began. */
function attempts(
  worker: Worker,
  { from, to, label }: { readonly from: number; readonly to: number; readonly label: string },
): number {
  let began = from;
  for (const { entry, time } of worker.retries) {
    const entryId = entry.id;
    const failedAt = Math.min(to, Math.max(began, time));
    const again = Math.min(to, failedAt + durationOf(entry.delayMs));
    put(worker, { entryId, kind: "failed", from: began, to: failedAt, label, status: "error" });
    put(worker, { entryId, kind: "backoff", from: failedAt, to: again, label, status: "ok" });
    began = again;
  }
  worker.retries = [];
  return began;
}

function besideRequest(
  worker: Worker,
  entry: Extract<JournalEntry, { readonly type: "model_usage" }>,
  { time, runFrom }: EntryPlace,
): void {
  const from = Math.max(runFrom, time - durationOf(entry.durationMs));
  put(worker, { entryId: entry.id, kind: "compaction", from, to: time, label: entry.model, status: "ok" });
}

/** Adds a bar to the row of the model, behind what stands there. */
function put(worker: Worker, bar: TimelineBar): void {
  const from = Math.max(bar.from, worker.busyUntil);
  const to = Math.max(from, bar.to);
  if (to > from || bar.kind === "waiting") worker.group.model.push({ ...bar, from, to });
  worker.busyUntil = to;
}

type CallEntry = Pick<
  Extract<JournalEntry, { readonly type: "tool_intent" }>,
  "id" | "callId" | "name" | "input"
>;

/** A call goes into its next part: first a person is asked, then it runs. */
function part(
  worker: Worker,
  { id: entryId, callId, name: label, input }: CallEntry,
  { kind, time }: { readonly kind: BarKind; readonly time: number },
): OpenCall {
  const known = worker.calls.get(callId);
  settle(known, time, "ok");
  const call = known ?? { lane: worker.lanes.take(), parts: [] };
  worker.calls.set(callId, call);
  const detail = callTitle(input);
  const bar: MutableBar = { entryId, kind, from: time, to: time, label, detail, status: "running" };
  call.parts.push(bar);
  (worker.group.tools[call.lane] ??= []).push(bar);
  return call;
}

function settle(call: OpenCall | undefined, time: number, status: BarStatus): void {
  const bar = call?.parts.at(-1);
  if (bar === undefined || bar.status !== "running") return;
  bar.to = Math.max(bar.from, time);
  bar.status = status;
}

function result(
  worker: Worker,
  entry: Extract<JournalEntry, { readonly type: "tool_result" }>,
  time: number,
): void {
  const known = worker.calls.get(entry.callId);
  const isDenied = entry.status === "denied" && known?.parts.some(({ kind }) => kind === "tool") !== true;
  // A call that was refused, or never began, is a mark and no stretch of time.
  const call =
    known === undefined || isDenied ? part(worker, { ...entry, input: {} }, { kind: "tool", time }) : known;
  settle(call, time, entry.status);
  worker.calls.delete(entry.callId);
  worker.lanes.give(call.lane);
}

function closeCalls(worker: Worker, time: number, status: BarStatus): void {
  for (const call of worker.calls.values()) {
    settle(call, time, status);
    worker.lanes.give(call.lane);
  }
  worker.calls.clear();
}
