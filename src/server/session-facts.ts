import type { JournalEntry, RunEndEntry } from "../core/agent/entries.ts";
import {
  addSpending,
  isSpending,
  NO_SPENDING,
  type Spending,
  type SpendingEntry,
} from "../core/agent/state.ts";
import type { Redaction } from "../core/base/redaction.ts";
import { isWaiting } from "../core/base/stop-reason.ts";
import { messageText } from "../core/message/message.ts";
import type { ServerStats, StatsBy, StatsRow } from "./server-api.ts";
import { isOfFile, shownPath } from "./session-changes.ts";

/** The use of one model on one day. */
export interface UseOfDay {
  /** `2026-01-31`, where the server is. */
  readonly day: string;
  readonly model: string;
  readonly runs: number;
  readonly turns: number;
  readonly failures: number;
  readonly spending: Spending;
}

/** The facts of a session that lists and statistics show. */
export interface SessionFacts {
  readonly cwd: string;
  readonly title: string | undefined;
  readonly model: string | undefined;
  readonly createdAt: number | undefined;
  readonly updatedAt: number | undefined;
  readonly messageCount: number;
  readonly total: Spending;
  readonly files: readonly string[];
  /** `open`: the newest run has no end · `waiting`: it waits for answers. */
  readonly run: "none" | "open" | "waiting" | "ended";
  readonly use: readonly UseOfDay[];
}

/** Options of a {@link FactsFold}. */
export interface FactsFoldOptions {
  /** True for an entry of a copy that is of another session: that one counts it. Default: none is. */
  readonly isOfOther?: (entry: JournalEntry) => boolean;
  /** Takes secrets out of the title before it is cut. Default: they stay. */
  readonly redaction?: Redaction | undefined;
}

/** Folds entries into {@link SessionFacts}, one after the other: it keeps nothing of the conversation. */
export class FactsFold {
  readonly #use = new Map<string, UseOfDay>();
  readonly #files = new Map<string, readonly [path: string, root: string]>();
  readonly #asked = new Set<string>();
  #title: string | undefined;
  #model: string | undefined;
  #createdAt: number | undefined;
  #updatedAt: number | undefined;
  #messageCount = 0;
  #total = NO_SPENDING;
  #run: SessionFacts["run"] = "none";
  #runKey: readonly [day: string, model: string] | undefined;
  readonly #options: FactsFoldOptions;
  /** The entry at hand was taken over from another session. */
  #isCopied = false;

  constructor(options: FactsFoldOptions = {}) {
    this.#options = options;
  }

  facts(cwd: string): SessionFacts {
    return {
      cwd,
      title: this.#title,
      model: this.#model,
      createdAt: this.#createdAt,
      updatedAt: this.#updatedAt,
      messageCount: this.#messageCount,
      total: this.#total,
      files: [...this.#files.values()].map(([path, root]) => shownPath(path, root, cwd)),
      run: this.#run === "open" && this.#asked.size > 0 ? "waiting" : this.#run,
      use: [...this.#use.values()],
    };
  }

  apply(entry: JournalEntry): void {
    this.#createdAt ??= entry.time;
    this.#updatedAt = entry.time;
    this.#isCopied = this.#options.isOfOther?.(entry) === true;
    if (isSpending(entry)) this.#spend(entry);
    if (entry.type === "checkpoint")
      for (const change of entry.changes.filter(isOfFile)) {
        const { path } = change;
        this.#files.set(`${entry.root}\0${path}`, [path, entry.root]);
      }
    if (entry.scope === undefined) this.#ofConversation(entry);
  }

  #ofConversation(entry: JournalEntry): void {
    switch (entry.type) {
      case "run_start":
        this.#begin(entry.model);
        this.#count(dayOf(entry.time), entry.model, { runs: 1 });
        return;
      case "run_resume":
        this.#begin(entry.model);
        return;
      case "model_change":
        this.#model = entry.model;
        return;
      case "history":
        this.#messageCount += entry.messages.length;
        return;
      case "user_message":
        this.#messageCount++;
        if (entry.source === "input" || entry.source === "steering")
          this.#title ??= titleOf(messageText(entry.message), this.#options.redaction);
        return;
      case "assistant_message":
        this.#messageCount++;
        return;
      case "approval_request":
        this.#asked.add(entry.callId);
        return;
      case "tool_intent":
      case "tool_result":
        this.#asked.delete(entry.callId);
        return;
      case "run_end":
        this.#end(entry);
        return;
      default:
        return;
    }
  }

  #begin(model: string): void {
    this.#model = model;
    this.#run = "open";
    this.#asked.clear();
  }

  #end({ stopReason, time }: RunEndEntry): void {
    this.#run = isWaiting(stopReason) ? "waiting" : "ended";
    if (stopReason !== "error") return;
    const [day, model] = this.#runKey ?? [dayOf(time), this.#model ?? ""];
    this.#count(day, model, { failures: 1 });
  }

  #spend(entry: SpendingEntry): void {
    this.#total = addSpending(this.#total, entry);
    const isTurn = entry.type === "assistant_message" && entry.scope === undefined;
    this.#count(dayOf(entry.time), entry.model, { turns: isTurn ? 1 : 0, entry });
  }

  #count(
    day: string,
    model: string,
    more: {
      readonly runs?: number;
      readonly turns?: number;
      readonly failures?: number;
      readonly entry?: SpendingEntry;
    },
  ): void {
    if (more.runs !== undefined) this.#runKey = [day, model];
    if (this.#isCopied) return;
    const key = `${day} ${model}`;
    const before = this.#use.get(key) ?? { day, model, ...NO_USE };
    this.#use.set(key, {
      day,
      model,
      runs: before.runs + (more.runs ?? 0),
      turns: before.turns + (more.turns ?? 0),
      failures: before.failures + (more.failures ?? 0),
      spending: more.entry === undefined ? before.spending : addSpending(before.spending, more.entry),
    });
  }
}

const NO_USE = { runs: 0, turns: 0, failures: 0, spending: NO_SPENDING };

const MAX_TITLE = 200;
/** Looked at for a title: what stands out of sight may show that a secret begins within it. */
const MAX_READ = 100_000;

function titleOf(text: string, redaction: Redaction | undefined): string | undefined {
  const read = text.trim().slice(0, MAX_READ);
  const line = (redaction?.text(read) ?? read).trim().replaceAll(/\s+/g, " ");
  if (line === "") return undefined;
  return line.length <= MAX_TITLE ? line : `${line.slice(0, MAX_TITLE - 1).toWellFormed()}…`;
}

/** The day of a moment, by the clock of the server. */
function dayOf(time: number): string {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return "unknown";
  const two = (number: number): string => String(number).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** Adds sessions up to statistics: days newest first, models and folders by their cost and tokens. */
export async function statsOver(
  sessions: AsyncIterable<SessionFacts> | Iterable<SessionFacts>,
  by: StatsBy,
): Promise<ServerStats> {
  const rows = new Map<string, RowSum>();
  const total = new RowSum();
  for await (const { cwd, use } of sessions) {
    const touched = new Set([total]);
    for (const part of use) {
      const key = by === "cwd" ? cwd : part[by];
      let row = rows.get(key);
      if (row === undefined) rows.set(key, (row = new RowSum()));
      touched.add(row);
      row.add(part);
      total.add(part);
    }
    if (use.length > 0) for (const row of touched) row.sessions++;
  }
  const all = [...rows].map(([key, row]) => row.toRow(key));
  return { by, rows: all.sort(by === "day" ? newestFirst : dearestFirst), total: total.toRow("total") };
}

function newestFirst(left: StatsRow, right: StatsRow): number {
  return left.key < right.key ? 1 : -1;
}

function dearestFirst(left: StatsRow, right: StatsRow): number {
  return (
    (right.cost ?? 0) - (left.cost ?? 0) ||
    right.inputTokens + right.outputTokens - left.inputTokens - left.outputTokens ||
    (left.key < right.key ? -1 : 1)
  );
}

class RowSum {
  sessions = 0;
  #runs = 0;
  #turns = 0;
  #failures = 0;
  #input = 0;
  #output = 0;
  #read = 0;
  #written = 0;
  #cost: number | undefined = 0;

  add({ runs, turns, failures, spending: { usage, costUsd } }: UseOfDay): void {
    this.#runs += runs;
    this.#turns += turns;
    this.#failures += failures;
    this.#input += usage.inputTokens;
    this.#output += usage.outputTokens;
    this.#read += usage.cacheReadTokens ?? 0;
    this.#written += usage.cacheWriteTokens ?? 0;
    this.#cost = this.#cost === undefined || costUsd === undefined ? undefined : this.#cost + costUsd;
  }

  toRow(key: string): StatsRow {
    return {
      key,
      sessions: this.sessions,
      runs: this.#runs,
      turns: this.#turns,
      inputTokens: this.#input,
      outputTokens: this.#output,
      cacheReadTokens: this.#read,
      cacheWriteTokens: this.#written,
      cacheShare: this.#input === 0 ? 0 : Math.min(1, this.#read / this.#input),
      cost: this.#cost ?? null,
      failures: this.#failures,
    };
  }
}
