import type {
  AgentEvent,
  CompactionEntry,
  NoteEntry,
  RunEndEntry,
  RunResumeEntry,
  RunStartEntry,
  ToolResultEntry,
  UserEntry,
} from "../core/agent/entries.ts";
import { NO_SPENDING } from "../core/agent/state.ts";
import { omitUndefined } from "../core/base/json.ts";
import { textOf, type Usage } from "../core/message/message.ts";
import { estimateTokens } from "../core/model/estimate.ts";
import { Scopes } from "../journal/scopes.ts";
import { SpendingTally } from "../journal/session-usage.ts";
import type { TodoItem } from "../tools/todo-tool.ts";
import { EvidenceFold, evidenceText } from "./evidence.ts";
import type { FileDiff } from "./file-diff.ts";
import { ItemFold } from "./items.ts";
import type { Notice } from "./notice.ts";
import type { Outcome } from "./outcome.ts";
import { PLAN_TOOL } from "./question-kind.ts";
import { parseShellNote, parseUntilNote, roundText, sharedText, type UntilNote } from "./session-notes.ts";
import { SessionTrace } from "./session-trace.ts";
import type { JobView, RunView, SessionView, ToolItem, ViewChange, ViewItem } from "./view.ts";
import { noticeOf } from "./words.ts";

type RunEndItem = Extract<ViewItem, { readonly type: "run_end" }>;

type RunFacts = Pick<RunEndEntry, "id" | "time" | "scope" | "stopReason" | "limit"> & {
  readonly error?: { readonly code: string; readonly message: string } | undefined;
};

/** The part of a view that is not in the entries. */
export type HostView = Pick<
  SessionView,
  "state" | "queue" | "queueHeld" | "steering" | "questions" | "model" | "mode"
> & {
  readonly effort: SessionView["effort"] | undefined;
  /** The command required of runs: it tells more about the end of a run than the last answer. */
  readonly until?: string | undefined;
  readonly windowTokens: number | undefined;
  /** Exit codes of this process's background jobs that have ended: no entry records that. */
  readonly endedJobs: ReadonlyMap<string, number | null>;
};

/** The host of a session that is only viewed. */
export const EMPTY_HOST: HostView = {
  state: "idle",
  queue: [],
  queueHeld: false,
  steering: [],
  questions: [],
  model: "",
  mode: "default",
  effort: undefined,
  windowTokens: undefined,
  endedJobs: new Map(),
};

/** Folds events, or stored entries, into a view. Feed it each event once, in order. */
export class ViewFold {
  readonly #main: ItemFold;
  #host: HostView;
  #run: RunView | undefined;
  #lastRun: RunView | undefined;
  /** True while a run's required command keeps it from ending. */
  #isCheckingUntil = false;
  /** The steps of the run, and the position of its first item. */
  #trace = new SessionTrace();
  #firstItem = 0;
  readonly #evidence = new EvidenceFold();
  /** Time of the newest run's last event. */
  #lastTime = 0;
  /** Tokens of the run's completed answers. */
  #answeredTokens = 0;
  #todo: readonly TodoItem[] = [];
  #plan: string | undefined;
  #jobs: readonly JobView[] = [];
  /** Time of each job's last report. */
  readonly #reportedAt = new Map<string, number>();
  #context: SessionView["context"];
  readonly #scopes = new Scopes();
  readonly #spent = new SpendingTally();
  #spentBefore = NO_SPENDING;
  /** Texts for the model about commands already shown. */
  readonly #shownTexts = new Set<string>();
  #view: SessionView | undefined;
  #restChanged = false;

  /** `items`: the list to fill. Default: a new one. */
  constructor(host: HostView, items?: ViewItem[]) {
    this.#host = host;
    this.#main = new ItemFold(items);
    this.#context = contextOf(0, host.windowTokens);
  }

  get view(): SessionView {
    return (this.#view ??= this.#build());
  }

  take(): ViewChange {
    const items = this.#main.list.take();
    const rest = this.#restChanged;
    this.#restChanged = false;
    return { items, rest };
  }

  host(host: HostView): void {
    if (host.windowTokens !== this.#host.windowTokens)
      this.#context = contextOf(this.#context.usedTokens, host.windowTokens);
    const open = new Set(host.questions.map(({ callId }) => callId));
    const closed = this.#host.questions.filter(({ callId }) => !open.has(callId));
    const wasStopping = this.#host.state === "stopping";
    this.#host = host;
    if (this.#isCheckingUntil && host.state === "idle") {
      this.#isCheckingUntil = false;
      // Its run already has an end, from before the command.
      if (wasStopping) this.fail({ stopReason: "aborted" });
      this.#run = undefined;
    }
    for (const { callId } of host.questions) if (callId !== undefined) this.#main.markAsking(callId);
    // A run that has ended to wait for an answer leaves its calls as they are.
    if (this.#run !== undefined)
      for (const { callId } of closed) if (callId !== undefined) this.#main.clearAsking(callId);
    this.#changed();
  }

  notice(notice: Notice): void {
    if (notice.code === "model_chosen") return;
    this.#notice(`notice_${this.#main.list.items.length}`, Date.now(), notice);
  }

  apply(event: AgentEvent): void {
    this.#view = undefined;
    const before = this.#spent.total;
    this.#spent.add(event);
    if (this.#spent.total !== before) this.#changed();
    this.#evidence.add(event);
    const published = this.#scopes.toPublished(event);
    if (published.type === "subagent") this.#main.apply(published);
    else this.#applyPublished(published);
  }

  #applyPublished(event: AgentEvent): void {
    this.#progress(event);
    this.#trace.apply(event);
    if (this.#run !== undefined && "time" in event && event.type !== "run_resume")
      this.#lastTime = event.time;
    this.#addNoticeOf(event);
    switch (event.type) {
      case "run_start":
      case "run_resume":
        return this.#begin(event);
      case "user_message":
        return this.#wasShown(event) ? undefined : this.#main.apply(event);
      case "tool_result":
        this.#main.apply(event);
        return this.#applyMetadata(event);
      case "run_end":
        return this.#end(event);
      case "compaction":
        return this.#compaction(event);
      case "note":
        return this.#addNote(event);
      default:
        this.#main.apply(event);
    }
  }

  #addNoticeOf(event: AgentEvent): void {
    const notice = noticeOf(event);
    if (notice !== undefined && "id" in event && "time" in event) this.#notice(event.id, event.time, notice);
    else if (notice !== undefined) this.notice(notice);
  }

  /** True for messages already shown: the note of a shared command, and messages inside a pattern. */
  #wasShown({ source, message, scope }: UserEntry): boolean {
    if (scope !== undefined) return true;
    return source !== "input" && this.#shownTexts.delete(textOf(message.content));
  }

  #compaction({ id, time, tokensBefore, tokensAfter, method }: CompactionEntry): void {
    this.#main.list.add({ id, time, type: "compaction", before: tokensBefore, after: tokensAfter, method });
    this.#context = contextOf(tokensAfter, this.#host.windowTokens);
    this.#changed();
  }

  #addNote(entry: NoteEntry): void {
    const round = parseUntilNote(entry);
    if (round !== undefined) return this.#addRound(entry, round);
    const note = parseShellNote(entry);
    if (note === undefined) return;
    this.#main.list.add({ id: entry.id, time: entry.time, type: "shell", ...note });
    if (note.shared) this.#shownTexts.add(sharedText(note));
  }

  /** The notice of a round. Its text for the model is not shown again: the call of the command shows it. */
  #addRound({ id, time }: NoteEntry, round: UntilNote): void {
    if (round.told !== undefined) this.#shownTexts.add(round.told);
    const { evidence } = this.#evidence;
    const ended = this.#main.list.items.findLastIndex(({ type }) => type === "run_end");
    if (ended !== -1) this.#main.list.change<RunEndItem>(ended, { evidence });
    const message = roundText(round, evidenceText(evidence));
    this.#notice(id, time, { level: round.exitCode === 0 ? "info" : "warning", code: "other", message });
  }

  /** A resumed run keeps its turns, tokens, cost and active time. */
  #begin({ type, time, scope }: RunStartEntry | RunResumeEntry): void {
    if (scope !== undefined) return;
    const before = type === "run_resume" ? (this.#run ?? this.#lastRun) : undefined;
    const workedMs = before === undefined ? 0 : Math.max(0, this.#lastTime - before.startedAt);
    const { turn = 0, outputTokens = 0 } = before ?? {};
    this.#isCheckingUntil = false;
    this.#run = { startedAt: time - workedMs, turn, outputTokens, phase: "waiting" };
    this.#answeredTokens = outputTokens;
    if (before === undefined) {
      this.#spentBefore = this.#spent.total;
      this.#trace = new SessionTrace();
      this.#firstItem = this.#main.list.items.length;
    }
    this.#changed();
  }

  /** Ends a run that recorded no end. */
  fail({ stopReason, error }: Pick<Outcome, "stopReason" | "error">): void {
    // There was nothing to do: a command, or a refused message.
    if (error === undefined && this.#run === undefined) return;
    const id = `failed_${this.#main.list.items.length}`;
    this.#end({ id, time: Date.now(), stopReason, error });
  }

  /** Ends a run without a recorded end whose process is gone. */
  endAbandonedRun(): void {
    if (this.#run === undefined) return;
    const id = `left_${this.#main.list.items.length}`;
    this.#end({ id, time: this.#lastTime, stopReason: "aborted" });
  }

  #end({ id, time, scope, stopReason, limit, error }: RunFacts): void {
    if (scope !== undefined) return;
    if (stopReason !== "awaiting_approval" && stopReason !== "awaiting_external") this.#main.close();
    const { costUsd } = this.#spent.total;
    const before = this.#spentBefore.costUsd;
    this.#main.list.add({
      id,
      time,
      type: "run_end",
      stopReason,
      ...omitUndefined({ limit, error: error && { code: error.code, message: error.message } }),
      durationMs: time - (this.#run?.startedAt ?? time),
      costUsd: costUsd === undefined || before === undefined ? undefined : costUsd - before,
      ...omitUndefined({
        changes: changesIn(this.#main.list.items.slice(this.#firstItem)),
        trace: this.#trace.text === "" ? undefined : this.#trace.text,
        evidence: this.#host.until === undefined ? this.#evidence.evidence : undefined,
      }),
    });
    this.#lastRun = this.#run;
    this.#run = undefined;
    this.#changed();
  }

  #progress(event: AgentEvent): void {
    const { until, state } = this.#host;
    if (
      event.type === "tool_intent" &&
      this.#run === undefined &&
      until !== undefined &&
      state === "running"
    ) {
      this.#isCheckingUntil = this.#lastRun !== undefined;
      this.#run = this.#lastRun;
    }
    const run = this.#run;
    if (run === undefined) return;
    switch (event.type) {
      case "turn_start":
        return this.#setRun({ ...run, turn: event.iteration, phase: "waiting" });
      case "thinking_delta":
        return this.#addOutput(run, "thinking", event.text);
      case "text_delta":
        return this.#addOutput(run, "answering", event.text);
      case "tool_call_delta":
        return this.#addOutput(run, "answering", event.json);
      case "retry": {
        const { attempt, delayMs, error } = event;
        const retry = { attempt, until: event.time + delayMs, reason: error.message };
        return this.#setRun({ ...run, retry, phase: "waiting", outputTokens: this.#answeredTokens });
      }
      case "compaction_start":
        return this.#setRun({ ...run, phase: "compacting" });
      case "assistant_message": {
        this.#answeredTokens += event.usage.outputTokens;
        const { retry: _over, ...rest } = run;
        this.#run = { ...rest, outputTokens: this.#answeredTokens, phase: "tools" };
        if (event.scope === undefined) this.#measure(event.usage);
        return this.#changed();
      }
      default:
        return;
    }
  }

  #addOutput({ retry: _over, ...run }: RunView, phase: RunView["phase"], text: string): void {
    this.#setRun({ ...run, phase, outputTokens: run.outputTokens + estimateTokens(text) });
  }

  #setRun(run: RunView): void {
    this.#run = run;
    this.#changed();
  }

  #measure({ inputTokens, outputTokens }: Usage): void {
    if (inputTokens > 0) this.#context = contextOf(inputTokens + outputTokens, this.#host.windowTokens);
  }

  #applyMetadata({ name, metadata = {}, callId, time }: ToolResultEntry): void {
    const { todos, plan, jobId } = metadata;
    if (name === PLAN_TOOL && typeof plan === "string") {
      this.#plan = plan;
      this.#changed();
    }
    if (name === "todo" && Array.isArray(todos)) {
      this.#todo = todos;
      this.#changed();
    }
    if (typeof jobId !== "string") return;
    this.#reportedAt.set(jobId, time);
    this.#job(jobId, metadata, callId);
  }

  /** Marks jobs as ended that were last reported before a moment. */
  endJobs(before: number): void {
    this.#jobs = this.#jobs.map((job) =>
      job.state === "running" && (this.#reportedAt.get(job.id) ?? 0) < before
        ? { ...job, state: "ended", exitCode: null }
        : job,
    );
    this.#changed();
  }

  #job(id: string, { processes, exitCode }: NonNullable<ToolResultEntry["metadata"]>, callId: string): void {
    const known = this.#jobs.find((job) => job.id === id);
    const isEnded = exitCode !== undefined && Array.isArray(processes) && processes.length === 0;
    const command = this.#commandOf(callId) || (known?.command ?? "");
    const job: JobView = isEnded
      ? { id, command, state: "ended", exitCode: typeof exitCode === "number" ? exitCode : null }
      : { id, command, state: "running" };
    this.#jobs =
      known === undefined ? [...this.#jobs, job] : this.#jobs.map((each) => (each === known ? job : each));
    this.#changed();
  }

  /** The command of the newest call: its result has just arrived. */
  #commandOf(callId: string): string {
    const { items } = this.#main.list;
    const item = items.findLast((each): each is ToolItem => each.type === "tool" && each.callId === callId);
    const command = item?.input["command"];
    return typeof command === "string" ? command : "";
  }

  #notice(id: string, time: number, notice: Notice): void {
    this.#main.list.add({ id, time, type: "notice", notice });
    this.#view = undefined;
  }

  #changed(): void {
    this.#restChanged = true;
    this.#view = undefined;
  }

  #build(): SessionView {
    const { windowTokens: _window, endedJobs, effort, until: _until, ...host } = this.#host;
    return {
      ...host,
      ...omitUndefined({ effort, run: this.#run, plan: this.#plan }),
      items: this.#main.list.items,
      todo: this.#todo,
      jobs: this.#jobs.map((job) => {
        const exitCode = job.state === "running" ? endedJobs.get(job.id) : undefined;
        return exitCode === undefined ? job : { ...job, state: "ended", exitCode };
      }),
      context: this.#context,
      usage: this.#spent.total.usage,
      costUsd: this.#spent.total.costUsd,
    };
  }
}

function contextOf(usedTokens: number, windowTokens: number | undefined): SessionView["context"] {
  return { usedTokens, ...omitUndefined({ windowTokens }) };
}

function changesIn(items: readonly ViewItem[]): Extract<ViewItem, { type: "run_end" }>["changes"] {
  const diffs = diffsIn(items);
  if (diffs.length === 0) return undefined;
  const sum = (side: "added" | "removed"): number => diffs.reduce((all, diff) => all + diff[side], 0);
  return { files: new Set(diffs.map(({ path }) => path)).size, added: sum("added"), removed: sum("removed") };
}

/** The changes made by calls, including those of subagents, in order. */
export function diffsIn(items: readonly ViewItem[]): readonly FileDiff[] {
  return items.flatMap((item) => {
    if (item.type !== "tool") return [];
    const own = item.diff !== undefined && item.state === "ok" ? [item.diff] : [];
    return [...own, ...diffsIn(item.agent?.items ?? [])];
  });
}
