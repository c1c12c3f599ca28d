import type {
  CompactionEntry,
  NoteEntry,
  RunEndEntry,
  RunStartEntry,
  ToolResultEntry,
  UserEntry,
} from "../../core/agent/entry.ts";
import type { AgentEvent, SubagentEvent } from "../../core/agent/event.ts";
import { addSpending, NO_SPENDING } from "../../core/agent/spending.ts";
import { textOf } from "../../core/message/message.ts";
import { estimateTokens } from "../../core/model/estimate.ts";
import type { TodoItem } from "../../tools/todo-tool.ts";
import { ItemFold } from "./fold-items.ts";
import type { Notice } from "./notice.ts";
import type { Outcome } from "./outcome.ts";
import { parseShellNote, sharedText } from "./shell-note.ts";
import { innermost, SubagentFolds } from "./subagent-folds.ts";
import type { JobView, RunView, SessionView, ToolItem, ViewChange, ViewItem } from "./view.ts";

type RunFacts = Pick<RunEndEntry, "id" | "time" | "scope" | "stopReason"> & {
  readonly error?: { readonly code: string; readonly message: string };
};

/** The part of a view that no entry says. */
export type HostView = Pick<
  SessionView,
  "state" | "queue" | "queueHeld" | "steering" | "questions" | "model" | "mode"
> & { readonly effort: SessionView["effort"] | undefined; readonly windowTokens: number | undefined };

/**
 * The fold from events to what a screen shows: the same for events as they come and for the entries of a
 * session that is resumed, but for what only the moment knows. Feed it every event once, in order.
 */
export class ViewFold {
  readonly #main: ItemFold;
  readonly #subagents: SubagentFolds;
  #host: HostView;
  #run: RunView | undefined;
  /** Tokens of the answers of the run that are complete. */
  #answeredTokens = 0;
  #todo: readonly TodoItem[] = [];
  #jobs: readonly JobView[] = [];
  /** When something was last said of each job. */
  readonly #heardOf = new Map<string, number>();
  #context: SessionView["context"];
  #spent = NO_SPENDING;
  #spentBefore = NO_SPENDING;
  /** What the model is told of commands that were shown already. */
  readonly #told = new Set<string>();
  #view: SessionView | undefined;
  #restChanged = false;

  /** `items`: the list that the items are put into. Default: a new one. */
  constructor(host: HostView, items?: ViewItem[]) {
    this.#host = host;
    this.#main = new ItemFold(items);
    this.#subagents = new SubagentFolds(this.#main);
    this.#context = contextOf(0, host.windowTokens);
  }

  get view(): SessionView {
    return (this.#view ??= this.#build());
  }

  /** What has changed since the last call. */
  take(): ViewChange {
    const items = this.#main.list.take();
    const rest = this.#restChanged;
    this.#restChanged = false;
    return { items, rest };
  }

  /** Takes up what is not an event. */
  host(host: HostView): void {
    if (host.windowTokens !== this.#host.windowTokens)
      this.#context = contextOf(this.#context.usedTokens, host.windowTokens);
    this.#host = host;
    for (const { callId } of host.questions) if (callId !== undefined) this.#main.asks(callId);
    this.#changed();
  }

  notice(notice: Notice): void {
    if (notice.code === "model_chosen") return;
    this.#notice(`notice_${this.#main.list.items.length}`, Date.now(), notice);
  }

  apply(event: AgentEvent): void {
    this.#view = undefined;
    if (event.type === "subagent") this.#subagent(event);
    else if ("scope" in event && event.scope !== undefined && this.#subagents.takes(event))
      this.#spend(event);
    else this.#own(event);
  }

  #own(event: AgentEvent): void {
    this.#spend(event);
    this.#progress(event);
    switch (event.type) {
      case "run_start":
      case "run_resume":
        this.#begin(event);
        return;
      case "user_message":
        if (!this.#wasShown(event)) this.#main.apply(event);
        return;
      case "tool_result":
        this.#main.apply(event);
        this.#facts(event);
        return;
      case "run_end":
        this.#end(event);
        return;
      case "compaction":
        this.#compaction(event);
        return;
      case "note":
        this.#note(event);
        return;
      case "warning":
        this.notice({ level: "warning", code: "other", message: event.message });
        return;
      case "rollback_end":
      case "compaction_undone":
        this.#notice(event.id, event.time, REMARKS[event.type]);
        return;
      default:
        this.#main.apply(event);
    }
  }

  /**
   * What the model is told of a command was shown when it was run; what is said inside a pattern is no
   * message of the user.
   */
  #wasShown({ source, message, scope }: UserEntry): boolean {
    if (scope !== undefined) return true;
    return source === "observed" && this.#told.delete(textOf(message.content));
  }

  #compaction({ id, time, tokensBefore, tokensAfter, method }: CompactionEntry): void {
    this.#main.list.add({ id, time, type: "compaction", before: tokensBefore, after: tokensAfter, method });
    this.#context = contextOf(tokensAfter, this.#host.windowTokens);
    this.#changed();
  }

  #note(entry: NoteEntry): void {
    const note = parseShellNote(entry);
    if (note === undefined) return;
    this.#main.list.add({ id: entry.id, time: entry.time, type: "shell", ...note });
    if (note.shared) this.#told.add(sharedText(note));
  }

  #begin({ time, scope }: Pick<RunStartEntry, "time" | "scope">): void {
    if (scope !== undefined) return;
    this.#run = { startedAt: time, turn: 0, outputTokens: 0, phase: "waiting" };
    this.#answeredTokens = 0;
    this.#spentBefore = this.#spent;
    this.#changed();
  }

  /** The run at work ended without an entry that says so. */
  fail({ stopReason, error }: Pick<Outcome, "stopReason" | "error">): void {
    // Nothing was to be done: a command, or a message that was refused.
    if (error === undefined && this.#run === undefined) return;
    const id = `failed_${this.#main.list.items.length}`;
    this.#end({ id, time: Date.now(), stopReason, ...(error === undefined ? {} : { error }) });
  }

  #end({ id, time, scope, stopReason, error }: RunFacts): void {
    if (scope !== undefined) return;
    if (stopReason !== "awaiting_approval" && stopReason !== "awaiting_external") this.#main.close();
    const { costUsd } = this.#spent;
    const before = this.#spentBefore.costUsd;
    this.#main.list.add({
      id,
      time,
      type: "run_end",
      stopReason,
      ...(error === undefined ? {} : { error: { code: error.code, message: error.message } }),
      durationMs: time - (this.#run?.startedAt ?? time),
      costUsd: costUsd === undefined || before === undefined ? undefined : costUsd - before,
    });
    this.#run = undefined;
    this.#changed();
  }

  /** What the run at work is doing. */
  #progress(event: AgentEvent): void {
    const run = this.#run;
    if (run === undefined) return;
    switch (event.type) {
      case "turn_start":
        this.#runs({ turn: event.iteration, phase: "waiting" });
        return;
      case "thinking_delta":
        this.#writes("thinking", event.text);
        return;
      case "text_delta":
        this.#writes("answering", event.text);
        return;
      case "tool_call_delta":
        this.#writes("answering", event.json);
        return;
      case "retry": {
        const { attempt, delayMs, error } = event;
        const retry = { attempt, until: event.time + delayMs, reason: error.message };
        this.#runs({ retry, phase: "waiting", outputTokens: this.#answeredTokens });
        return;
      }
      case "compaction_start":
        this.#runs({ phase: "compacting" });
        return;
      case "assistant_message": {
        this.#answeredTokens += event.usage.outputTokens;
        const { retry: _over, ...rest } = run;
        this.#run = { ...rest, outputTokens: this.#answeredTokens, phase: "tools" };
        if (event.scope === undefined) this.#measure(event.usage);
        this.#changed();
        return;
      }
      default:
        return;
    }
  }

  #writes(phase: RunView["phase"], text: string): void {
    const run = this.#run;
    if (run === undefined) return;
    const { retry: _over, ...rest } = run;
    this.#run = { ...rest, phase, outputTokens: run.outputTokens + estimateTokens(text) };
    this.#changed();
  }

  #runs(fields: Partial<RunView>): void {
    if (this.#run !== undefined) this.#run = { ...this.#run, ...fields };
    this.#changed();
  }

  #measure({
    inputTokens,
    outputTokens,
  }: {
    readonly inputTokens: number;
    readonly outputTokens: number;
  }): void {
    if (inputTokens > 0) this.#context = contextOf(inputTokens + outputTokens, this.#host.windowTokens);
  }

  #subagent(event: SubagentEvent): void {
    this.#spend(innermost(event));
    this.#subagents.apply(event);
  }

  #spend(event: AgentEvent): void {
    if (event.type !== "assistant_message" && event.type !== "model_usage") return;
    this.#spent = addSpending(this.#spent, event);
    this.#changed();
  }

  /** What a result says beside its text. */
  #facts({ name, metadata = {}, callId, time }: ToolResultEntry): void {
    const { todos, jobId } = metadata;
    if (name === "todo" && Array.isArray(todos)) {
      this.#todo = todos;
      this.#changed();
    }
    if (typeof jobId !== "string") return;
    this.#heardOf.set(jobId, time);
    this.#job(jobId, metadata, callId);
  }

  /** Takes jobs as ended that were last heard of before a moment. */
  endJobs(before: number): void {
    this.#jobs = this.#jobs.map((job) =>
      job.state === "running" && (this.#heardOf.get(job.id) ?? 0) < before
        ? { ...job, state: "ended", exitCode: null }
        : job,
    );
    this.#changed();
  }

  #job(id: string, { processes, exitCode }: NonNullable<ToolResultEntry["metadata"]>, callId: string): void {
    const known = this.#jobs.find((job) => job.id === id);
    const isEnded = exitCode !== undefined && Array.isArray(processes) && processes.length === 0;
    const job: JobView = {
      id,
      command: this.#commandOf(callId) || (known?.command ?? ""),
      state: isEnded ? "ended" : "running",
      ...(isEnded ? { exitCode: typeof exitCode === "number" ? exitCode : null } : {}),
    };
    this.#jobs =
      known === undefined ? [...this.#jobs, job] : this.#jobs.map((each) => (each === known ? job : each));
    this.#changed();
  }

  /** The command of the newest call: its result has just come. */
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
    const { windowTokens: _window, effort, ...host } = this.#host;
    return {
      ...host,
      ...(effort === undefined ? {} : { effort }),
      items: this.#main.list.items,
      todo: this.#todo,
      jobs: this.#jobs,
      context: this.#context,
      usage: this.#spent.usage,
      costUsd: this.#spent.costUsd,
      ...(this.#run === undefined ? {} : { run: this.#run }),
    };
  }
}

const REMARKS: { readonly [T in "rollback_end" | "compaction_undone"]: Notice } = {
  rollback_end: { level: "info", code: "undo", message: "Files were put back." },
  compaction_undone: { level: "info", code: "other", message: "The newest compaction was taken back." },
};

function contextOf(usedTokens: number, windowTokens: number | undefined): SessionView["context"] {
  return { usedTokens, ...(windowTokens === undefined ? {} : { windowTokens }) };
}
