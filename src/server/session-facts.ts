import type {
  JournalEntry,
  PermissionEntry,
  RollbackEntry,
  RunEndEntry,
  ToolResultEntry,
  UserEntry,
} from "../core/agent/entries.ts";
import {
  addSpending,
  isSpending,
  isUncharged,
  NO_SPENDING,
  type Spending,
  type SpendingEntry,
} from "../core/agent/state.ts";
import { omitUndefined } from "../core/base/json.ts";
import { isWaiting } from "../core/base/stop-reason.ts";
import type { Redaction } from "../core/base/text.ts";
import { addUsage, messageText, NO_USAGE, type Usage } from "../core/message/message.ts";
import { SessionTrace } from "../view/session-trace.ts";
import { badRequest } from "./refusal.ts";
import type { ListedSession, ServerStats, SessionEnd, StatsBy, StatsFilter, StatsRow } from "./server-api.ts";
import { isOfFile, shownPath } from "./session-changes.ts";

/** The use of one model on one day. */
export interface UseOfDay {
  /** `2026-01-31`, in the server's time zone. */
  readonly day: string;
  readonly model: string;
  readonly runs: number;
  readonly turns: number;
  readonly failures: number;
  readonly usage: Usage;
  /** USD of the requests with a known price. */
  readonly cost: number;
  readonly priced: number;
  readonly unpriced: number;
  readonly added: number;
  readonly removed: number;
  readonly asked: number;
  readonly askedMs: number;
}

/** The facts of a session for lists and statistics. */
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
  /** When the newest run began or resumed. */
  readonly runAt: number | undefined;
  /** How the newest run ended; absent while it has no end. */
  readonly end: SessionEnd | undefined;
  /** Lines added and removed by calls, without those of undone runs. */
  readonly lines: { readonly added: number; readonly removed: number };
  readonly trace: string;
  readonly use: readonly UseOfDay[];
}

/** Folds entries into {@link SessionFacts} one by one, without keeping the conversation. */
export class FactsFold {
  readonly #use = new Map<string, UseOfDay>();
  readonly #files = new Map<string, readonly [path: string, root: string]>();
  /** When each open question was asked, by call id. */
  readonly #asked = new Map<string, number>();
  #title: string | undefined;
  #model: string | undefined;
  #createdAt: number | undefined;
  #updatedAt: number | undefined;
  #messageCount = 0;
  #total = NO_SPENDING;
  #run: SessionFacts["run"] = "none";
  #runAt: number | undefined;
  #endOfRun: SessionEnd | undefined;
  #lines = { added: 0, removed: 0 };
  /** The lines before each run; below, those before each undo by its entry. */
  readonly #linesBefore: SessionFacts["lines"][] = [];
  readonly #linesUndone = new Map<string, SessionFacts["lines"]>();
  readonly #trace = new SessionTrace();
  #runKey: readonly [day: string, model: string] | undefined;
  readonly #redaction: Redaction | undefined;
  readonly #isCountedElsewhere: (entry: JournalEntry) => boolean;
  /** The current entry was copied from another session. */
  #isCopied = false;

  /** `isOfOther`: true for an entry of a copy that another session counts. */
  constructor(redaction: Redaction | undefined, isCountedElsewhere: (entry: JournalEntry) => boolean) {
    this.#redaction = redaction;
    this.#isCountedElsewhere = isCountedElsewhere;
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
      runAt: this.#runAt,
      end: this.#endOfRun,
      lines: this.#lines,
      trace: this.#trace.text,
      use: [...this.#use.values()],
    };
  }

  apply(entry: JournalEntry): void {
    this.#createdAt ??= entry.time;
    this.#updatedAt = entry.time;
    this.#isCopied = this.#isCountedElsewhere(entry);
    this.#trace.apply(entry);
    if (isSpending(entry)) this.#spend(entry);
    if (entry.type === "tool_result") this.#countLines(entry);
    if (entry.type === "checkpoint")
      for (const change of entry.changes.filter(isOfFile)) {
        const { path } = change;
        this.#files.set(`${entry.root}\0${path}`, [path, entry.root]);
      }
    if (entry.scope === undefined) this.#applyToConversation(entry);
  }

  #applyToConversation(entry: JournalEntry): void {
    switch (entry.type) {
      case "run_start":
        this.#linesBefore.push(this.#lines);
        this.#begin(entry);
        this.#count(dayOf(entry.time), entry.model, { runs: 1 });
        return;
      case "run_resume":
        this.#begin(entry);
        return;
      case "model_change":
        this.#model = entry.model;
        return;
      case "history":
        this.#messageCount += entry.messages.length;
        return;
      case "user_message":
        this.#messageCount++;
        this.#title ??= this.#titleIn(entry);
        return;
      case "assistant_message":
        this.#messageCount++;
        return;
      case "approval_request":
        this.#asked.set(entry.callId, entry.time);
        return;
      case "permission_decision":
        this.#recordAnswer(entry);
        return;
      case "tool_intent":
      case "tool_result":
        this.#asked.delete(entry.callId);
        return;
      case "run_end":
        this.#end(entry);
        return;
      case "rollback":
        this.#rollBack(entry);
        return;
      default:
        return;
    }
  }

  #titleIn({ source, message }: UserEntry): string | undefined {
    const isOfPerson = source === "input" || source === "steering";
    return isOfPerson ? titleOf(messageText(message), this.#redaction) : undefined;
  }

  /** After an undo of some files, or into the middle of a run, the count of lines is unknown and stays. */
  #rollBack({ id, to, partial, redoes = "" }: RollbackEntry): void {
    this.#linesUndone.set(id, this.#lines);
    const isWhole = to !== undefined && to.turn <= 1 && partial !== true;
    const lines = isWhole ? this.#linesBefore[to.run - 1] : this.#linesUndone.get(redoes);
    this.#lines = lines ?? this.#lines;
  }

  #begin({ model, time }: { readonly model: string; readonly time: number }): void {
    this.#model = model;
    this.#run = "open";
    this.#runAt = time;
    this.#endOfRun = undefined;
    this.#asked.clear();
  }

  #recordAnswer({ callId, time, by }: PermissionEntry): void {
    const askedAt = this.#asked.get(callId);
    if (askedAt === undefined || by !== "person") return;
    this.#count(dayOf(time), this.#model ?? "", { asked: 1, askedMs: Math.max(0, time - askedAt) });
  }

  #countLines({ metadata: { diff } = {}, time }: ToolResultEntry): void {
    if (typeof diff !== "string") return;
    const count = (prefix: RegExp): number => diff.match(prefix)?.length ?? 0;
    const [added, removed] = [count(/^\+(?!\+\+ )/gm), count(/^-(?!-- )/gm)];
    this.#lines = { added: this.#lines.added + added, removed: this.#lines.removed + removed };
    this.#count(dayOf(time), this.#model ?? "", { added, removed });
  }

  #end({ stopReason, time, limit, detail, error }: RunEndEntry): void {
    this.#run = isWaiting(stopReason) ? "waiting" : "ended";
    const reason = detail ?? error?.message;
    this.#endOfRun = {
      reason: stopReason,
      time,
      ...omitUndefined({ limit, detail: reason && this.#redacted(reason) }),
    };
    if (stopReason !== "error") return;
    const [day, model] = this.#runKey ?? [dayOf(time), this.#model ?? ""];
    this.#count(day, model, { failures: 1 });
  }

  #spend(entry: SpendingEntry): void {
    this.#total = addSpending(this.#total, entry);
    const isTurn = entry.type === "assistant_message" && entry.scope === undefined;
    const { usage, costUsd } = addSpending(NO_SPENDING, entry);
    const price = costUsd === undefined ? { unpriced: 1 } : { priced: 1, cost: costUsd };
    this.#count(dayOf(entry.time), entry.model, {
      turns: isTurn ? 1 : 0,
      ...(!isUncharged(entry) && { usage, ...price }),
    });
  }

  #count(day: string, model: string, more: Partial<Sums>): void {
    if (more.runs !== undefined) this.#runKey = [day, model];
    if (this.#isCopied) return;
    const key = `${day} ${model}`;
    this.#use.set(key, { day, model, ...addSums(this.#use.get(key) ?? NO_SUMS, more) });
  }

  #redacted(text: string): string | undefined {
    return titleOf(text, this.#redaction);
  }
}

export function listedOf({
  cwd,
  title,
  model,
  createdAt = 0,
  updatedAt = createdAt,
  messageCount,
  total,
  files,
  runAt,
  end,
  lines,
  trace,
}: SessionFacts): Omit<ListedSession, "id" | "state" | "passages"> {
  return {
    cwd,
    ...omitUndefined({ title, model, runAt, end }),
    createdAt,
    updatedAt,
    messageCount,
    usage: total.usage,
    cost: total.costUsd ?? null,
    files,
    lines,
    trace,
  };
}

type Sums = Omit<UseOfDay, "day" | "model">;

const NO_SUMS: Sums = {
  runs: 0,
  turns: 0,
  failures: 0,
  usage: NO_USAGE,
  cost: 0,
  priced: 0,
  unpriced: 0,
  added: 0,
  removed: 0,
  asked: 0,
  askedMs: 0,
};

function addSums(left: Sums, { usage = NO_USAGE, ...counts }: Partial<Sums>): Sums {
  const sums: { [name: string]: number } = {};
  for (const [name, value] of Object.entries(counts)) sums[name] = left[name as keyof typeof counts] + value;
  return { ...left, ...sums, usage: addUsage(left.usage, usage) };
}

const MAX_TITLE = 200;
/** Characters that are redacted for a title: a secret may begin in the title and end beyond it. */
const MAX_READ = 100_000;

function titleOf(text: string, redaction: Redaction | undefined): string | undefined {
  const read = text.trim().slice(0, MAX_READ);
  const line = (redaction?.text(read) ?? read).trim().replaceAll(/\s+/g, " ");
  if (line === "") return undefined;
  return line.length <= MAX_TITLE ? line : `${line.slice(0, MAX_TITLE - 1).toWellFormed()}…`;
}

function dayOf(time: number): string {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return "unknown";
  const two = (number: number): string => String(number).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** Sums up sessions as statistics: days newest first, models and folders by cost and tokens. */
export async function statsOver(
  sessions: AsyncIterable<SessionFacts> | Iterable<SessionFacts>,
  by: StatsBy,
  filter: StatsFilter = {},
): Promise<ServerStats> {
  const rows = new Map<string, RowSum>();
  const total = new RowSum();
  for await (const { cwd, use } of sessions) {
    const touched = new Set<RowSum>();
    for (const part of use) {
      if (!isWanted(part, cwd, filter)) continue;
      const key = by === "cwd" ? cwd : part[by];
      const row = rows.get(key) ?? new RowSum();
      rows.set(key, row);
      for (const each of [row, total]) {
        each.add(part);
        touched.add(each);
      }
    }
    for (const row of touched) row.sessions++;
  }
  const all = [...rows].map(([key, row]) => row.toRow(key, by === "day"));
  return {
    by,
    rows: all.sort(by === "day" ? latestDayFirst : costliestFirst),
    total: total.toRow("total", false),
  };
}

function isWanted({ day, model }: UseOfDay, cwd: string, filter: StatsFilter): boolean {
  const { from = day, to = day } = filter;
  const isOf = (wanted: string | undefined, is: string): boolean => wanted === undefined || wanted === is;
  return day >= from && day <= to && isOf(filter.model, model) && isOf(filter.cwd, cwd);
}

function latestDayFirst(left: StatsRow, right: StatsRow): number {
  return left.key < right.key ? 1 : -1;
}

function costliestFirst(left: StatsRow, right: StatsRow): number {
  return (
    (right.cost ?? 0) - (left.cost ?? 0) ||
    right.inputTokens + right.outputTokens - left.inputTokens - left.outputTokens ||
    (left.key < right.key ? -1 : 1)
  );
}

class RowSum {
  sessions = 0;
  #sums = NO_SUMS;
  readonly #models = new Map<string, Sums>();

  add({ day: _day, model, ...more }: UseOfDay): void {
    this.#sums = addSums(this.#sums, more);
    this.#models.set(model, addSums(this.#models.get(model) ?? NO_SUMS, more));
  }

  toRow(key: string, withModels: boolean): StatsRow {
    const { usage, cost: _cost, priced: _priced, ...counts } = this.#sums;
    const { inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage;
    const models = [...this.#models]
      .map(([model, sums]) => ({ model, runs: sums.runs, tokens: tokensOf(sums), cost: costOf(sums) }))
      .sort((left, right) => right.tokens - left.tokens);
    return {
      key,
      sessions: this.sessions,
      ...counts,
      inputTokens,
      outputTokens,
      cacheReadTokens,
      cacheWriteTokens,
      cacheShare: inputTokens === 0 ? 0 : Math.min(1, cacheReadTokens / inputTokens),
      cost: costOf(this.#sums),
      ...(withModels ? { models } : {}),
    };
  }
}

function tokensOf({ usage }: Sums): number {
  return usage.inputTokens + usage.outputTokens;
}

function costOf({ cost, priced, unpriced }: Sums): number | null {
  return priced === 0 && unpriced > 0 ? null : cost;
}

/** The position of a session in a list: newest first, by id if they are equally new. */
type ListPosition = Pick<ListedSession, "id" | "updatedAt">;

function newestFirst(left: ListPosition, right: ListPosition): number {
  const byId = left.id < right.id ? 1 : -1;
  return right.updatedAt - left.updatedAt || (left.id === right.id ? 0 : byId);
}

/** One page of a list after the position in `before`, and the position of its end if more follows. */
export function sliceAfter<T extends ListPosition>(
  all: readonly T[],
  { limit, before }: { readonly limit: number; readonly before: string | undefined },
): { readonly page: readonly T[]; readonly next: string | undefined } {
  const sorted = [...all].sort(newestFirst);
  const start = before === undefined ? undefined : parsePosition(before);
  const rest = start === undefined ? sorted : sorted.filter((each) => newestFirst(start, each) < 0);
  const page = rest.slice(0, limit);
  const last = page.at(-1);
  const hasMore = last !== undefined && page.length < rest.length;
  return { page, next: hasMore ? `${last.updatedAt}_${last.id}` : undefined };
}

function parsePosition(text: string): ListPosition {
  const [, updatedAt, id] = /^(-?\d{1,16}(?:\.\d{1,16})?)_([A-Za-z0-9_-]{1,128})$/.exec(text) ?? [];
  if (id === undefined) throw badRequest("before is not the next of a page.");
  return { updatedAt: Number(updatedAt), id };
}
