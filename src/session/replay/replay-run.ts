import type {
  AgentEvent,
  ApprovalRequestEntry,
  AssistantEntry,
  JournalEntry,
  NewEntry,
  ToolResultEntry,
} from "../../core/agent/entries.ts";
import { MemoryJournal } from "../../core/agent/journal.ts";
import { loop } from "../../core/agent/loop.ts";
import { endRun } from "../../core/agent/perform.ts";
import type { Approver, Gate } from "../../core/agent/ports.ts";
import type { Run, RunSettings } from "../../core/agent/run.ts";
import { SessionState } from "../../core/agent/state.ts";
import { NanoAgentError, toNanoAgentError } from "../../core/base/errors.ts";
import { hashText } from "../../core/base/text.ts";
import { type Message, type ToolInput, type ToolUseBlock, textOf } from "../../core/message/message.ts";
import { OUTCOME_UNKNOWN } from "../../core/message/transcript.ts";
import type { Model, ModelRequest } from "../../core/model/model.ts";
import type { Tool, ToolContext, ToolResult } from "../../core/tool/tool.ts";
import { recordedApprovals, recordedGate } from "./recorded-gate.ts";
import { recordedModel } from "./recorded-model.ts";
import { checkedInput, type RecordedCall, type RecordedRun } from "./recorded-run.ts";
import { replayContext } from "./replay-context.ts";
import { isSaidByLoop, type RunFacts, runFacts } from "./run-facts.ts";
import { standInTools } from "./stand-ins.ts";

/** Runs a call instead of answering it from the record; undefined: it did not run. Never rejects. */
export type ToolRunner = (
  call: { readonly name: string; readonly input: ToolInput },
  context: ToolContext,
) => Promise<ToolResult | undefined>;

/** The parts a run is run again with. */
export interface ReplayTools {
  /** Tools whose schemas check the arguments again. Other tools take what is recorded. */
  readonly tools?: readonly Tool[];
  readonly runTool?: ToolRunner | undefined;
  /** How a run goes that is no plain loop, by its record; undefined for one that is. */
  readonly conductor?: ((run: RecordedRun) => Conductor | undefined) | undefined;
  /** Stops the replay. */
  readonly signal?: AbortSignal | undefined;
}

/** Makes what conducts a run, given the tools it has. */
export type Conductor = (tools: readonly Tool[]) => (run: Run) => Promise<unknown>;

/** Outcome of a run that was run again. */
export interface ReplayedRun {
  readonly facts: RunFacts;
  readonly entries: readonly JournalEntry[];
  /** Messages of the requests, in the order of the recorded answers. */
  readonly requests: readonly (readonly Message[])[];
  /** True when the model was asked once more than the record has answers. */
  readonly askedTooOften: boolean;
  /** True when the end came from outside and was taken from the record. */
  readonly endedAsRecorded: boolean;
  readonly outcomes: ReadonlyMap<string, LiveOutcome>;
  readonly failure: NanoAgentError | undefined;
}

/** The outcome of a call that was run. */
export interface LiveOutcome {
  readonly content: ToolResultEntry["result"]["content"];
  readonly isError: boolean;
  /** Equal for results that say the same, where the tool tells: see `essence` of a tool's result. */
  readonly fingerprint: string | undefined;
}

/** Endings that come from outside of the loop: a person, a signal, a limit. */
const OUTSIDE: ReadonlySet<string> = new Set(["aborted", "budget", "loop_detected"]);

/** Runs a recorded run again: the real loop with the record's answers, decisions, input, interruptions. */
export async function replayRun(
  run: RecordedRun,
  before: readonly JournalEntry[],
  options: ReplayTools,
): Promise<ReplayedRun> {
  return new RunReplay(run, options).perform(before);
}

class RunReplay {
  readonly #run: RecordedRun;
  readonly #options: ReplayTools;
  readonly #facts: RunFacts;
  readonly #abort = new AbortController();
  readonly #journal: MemoryJournal;
  readonly #requests: (readonly Message[])[] = [];
  readonly #delivered = new Set<JournalEntry>();
  readonly #settled = new Map<string, PromiseWithResolvers<void>>();
  readonly #outcomes = new Map<string, LiveOutcome>();
  #taken = 0;
  #askedTooOften = false;
  #endedAsRecorded = false;

  constructor(run: RecordedRun, options: ReplayTools) {
    this.#run = run;
    this.#options = options;
    this.#facts = runFacts(run);
    this.#journal = new MemoryJournal({ sessionId: run.start.sessionId });
    for (const id of run.calls.keys()) this.#settled.set(id, Promise.withResolvers<void>());
    options.signal?.addEventListener("abort", () => this.#abort.abort(options.signal?.reason), {
      once: true,
    });
  }

  async perform(before: readonly JournalEntry[]): Promise<ReplayedRun> {
    const state = new SessionState();
    for (const entry of [...before, this.#run.start, ...this.#run.opening]) state.apply(entry);
    const { context, conduct } = this.#setUp(state);
    let failure: NanoAgentError | undefined;
    try {
      await conduct(context);
    } catch (error) {
      failure = toNanoAgentError(error);
    }
    return {
      facts: this.#facts,
      entries: [...this.#journal.entries()],
      requests: this.#requests,
      askedTooOften: this.#askedTooOften,
      endedAsRecorded: this.#endedAsRecorded,
      outcomes: this.#outcomes,
      failure,
    };
  }

  #setUp(state: SessionState): { context: Run; conduct: (run: Run) => Promise<unknown> } {
    const { model: name } = this.#run.start;
    const slash = name.indexOf("/");
    const model = recordedModel({
      provider: slash === -1 ? name : name.slice(0, slash),
      id: slash === -1 ? name : name.slice(slash + 1),
      next: (request) => this.#nextAnswer(request),
      interrupt: () => this.#interrupt(),
    });
    const begun = [...this.#run.calls.values()].filter(({ intent }) => intent !== undefined);
    const hasRun = new Set(begun.map(({ name }) => name));
    const open = state.transcript.pending.filter(({ id, name }) => {
      const { decision, result } = this.#run.calls.get(id) ?? {};
      if (state.approvals.has(id) && decision?.external !== true) return false;
      return result === undefined || (decision !== undefined && !hasRun.has(name));
    });
    const again = new Set(this.#madeAgain(state).map(({ name }) => name));
    const tools = standInTools({
      run: this.#run,
      facts: this.#facts,
      externalTools: new Set([...this.#facts.externalTools, ...open.map(({ name }) => name)]),
      tools: this.#options.tools ?? [],
      isIdempotent: (name) => again.has(name),
      keepsOrder: this.#options.runTool !== undefined,
      answer: (call, toolContext) => this.#answerCall(call, toolContext),
    });
    const { gate, approve } = recordedGate(this.#run, this.#facts, questionsIn(state));
    return {
      context: this.#context(state, {
        model,
        tools,
        gate,
        approve,
        openCalls: again.size > 0 ? "run" : "close",
      }),
      conduct: this.#conductor(tools),
    };
  }

  /** The calls of a run that was cut before which this one made itself, as its record shows. */
  #madeAgain(state: SessionState): readonly ToolUseBlock[] {
    return state.transcript.pending.filter(({ id }) => {
      const { intent, result } = this.#run.calls.get(id) ?? {};
      const { question, decision } = state.open.get(id) ?? {};
      return (
        (question ?? decision) === undefined &&
        (intent !== undefined || (result && result.status !== "aborted"))
      );
    });
  }

  #conductor(tools: readonly Tool[]): (run: Run) => Promise<unknown> {
    const own = tools.filter(({ name }) => name !== this.#facts.finishTool);
    return this.#options.conductor?.(this.#run)?.(own) ?? (async (run) => endRun(run, await loop(run)));
  }

  #context(
    state: SessionState,
    ports: {
      readonly model: Model;
      readonly tools: readonly Tool[];
      readonly gate: Gate;
      readonly approve: Approver | undefined;
      readonly openCalls: RunSettings["openCalls"];
    },
  ): Run {
    const { model, gate, approve, openCalls } = ports;
    // No guard against loops: it has spoken in the record, and how it was set up is not recorded.
    return replayContext({
      model,
      tools: ports.tools,
      journal: this.#journal,
      state,
      signal: this.#abort.signal,
      settings: {
        permission: gate,
        approve,
        approvals: recordedApprovals(this.#run, questionsIn(state)),
        openCalls,
        cwd: this.#folder(state),
        maxToolResultChars: Number.MAX_SAFE_INTEGER,
        maxIterations: state.progress.iterations + this.#facts.maxIterations,
        onMaxIterations: this.#facts.onMaxIterations,
      },
      finishTool: this.#facts.finishTool,
      takeSteering: () => this.#takeFromOutside(),
      emit: (event) => this.#onEvent(event),
    });
  }

  /** The working folder of the run, as far as a question says it. */
  #folder(state: SessionState): string {
    const asked = [...this.#run.calls.values()].flatMap(({ request = [] }) => request);
    return [...asked, ...questionsIn(state).values()].at(0)?.cwd ?? "";
  }

  #onEvent(event: AgentEvent): void {
    if (event.type === "tool_result") this.#settled.get(event.callId)?.resolve();
  }

  /** The recorded answer to the current request. Throws what ended the run where there is none. */
  #nextAnswer(request: ModelRequest): AssistantEntry {
    const answer = this.#run.answers[this.#taken];
    if (answer !== undefined) {
      this.#taken++;
      this.#requests.push(request.messages);
      return answer;
    }
    const { end, isStoppedInSubagent } = this.#run;
    if (end?.stopReason === "error")
      throw new NanoAgentError("internal", end.error?.message ?? "The recorded run failed.");
    if (end?.stopReason === "max_iterations")
      throw new NanoAgentError("internal", "The recorded request failed.");
    if (end !== undefined && !OUTSIDE.has(end.stopReason) && !isStoppedInSubagent) this.#askedTooOften = true;
    throw this.#interrupt();
  }

  /** Ends the run as the record says it was ended from outside, or where the record was cut. */
  #interrupt(): NanoAgentError {
    this.#endedAsRecorded = true;
    const reason =
      this.#run.end?.stopReason === "budget"
        ? new NanoAgentError("timeout", "The recorded run reached its limit here.")
        : new NanoAgentError("aborted", "The recorded run ended here.");
    this.#abort.abort(reason);
    return reason;
  }

  /** Entries that came from outside before the next answer: steering, and records of other kinds. */
  #takeFromOutside(): readonly NewEntry[] {
    const { body, answers } = this.#run;
    const from = this.#taken === 0 ? 0 : body.indexOf(answers[this.#taken - 1] as JournalEntry) + 1;
    const next = answers[this.#taken];
    const to = next === undefined ? body.length : body.indexOf(next);
    const taken: NewEntry[] = [];
    for (const entry of body.slice(from, to)) {
      if (this.#delivered.has(entry) || !this.#isFromOutside(entry, next !== undefined)) continue;
      this.#delivered.add(entry);
      const { id: _id, parent: _parent, time: _time, scope: _scope, ...fields } = entry;
      taken.push(fields);
    }
    return taken;
  }

  #isFromOutside(entry: JournalEntry, isContinuation: boolean): boolean {
    switch (entry.type) {
      case "user_message":
        if (entry.source === "steering") return true;
        return isContinuation && !(entry.source === "system" && isSaidByLoop(entry));
      case "assistant_message":
      case "tool_intent":
      case "tool_result":
      case "permission_decision":
      case "approval_request":
      case "run_start":
      case "run_resume":
      case "run_end":
        return false;
      default:
        return isContinuation;
    }
  }

  async #answerCall(call: RecordedCall, context: ToolContext): Promise<unknown> {
    const { result } = call;
    if (result === undefined || result.status === "aborted") {
      if (this.#facts.lastCalls.has(call.callId)) {
        await this.#othersSettled(call);
        this.#interrupt();
      }
      return { content: result?.result.content ?? OUTCOME_UNKNOWN, isError: true };
    }
    const { name, intent } = call;
    const ran = await this.#options.runTool?.({ name, input: intent?.input ?? {} }, context);
    if (ran === undefined) await this.#callWithin(call, context);
    else this.#outcomes.set(call.callId, liveOutcome(ran));
    const { content, is_error: isError } = result.result;
    const ends = this.#endsRun(call) ? { finish: this.#finish(textOf(content)) } : {};
    return { content, ...(isError === true ? { isError } : {}), ...ends };
  }

  /** Calls of the last answer that ended by themselves end before the stop; later ones may await this one. */
  async #othersSettled({ callId }: RecordedCall): Promise<void> {
    const round = [...this.#facts.lastCalls];
    const waited = this.#options.runTool === undefined ? round : round.slice(0, round.indexOf(callId));
    for (const id of waited) {
      const result = this.#run.calls.get(id)?.result;
      if (id !== callId && result !== undefined && result.status !== "aborted")
        await this.#settled.get(id)?.promise;
    }
  }

  /** Calls what the recorded call has called. */
  async #callWithin(call: RecordedCall, context: ToolContext): Promise<void> {
    await Promise.all(
      callableWithin(this.#run, call.callId).map((inner) =>
        context.callTool(inner.name, checkedInput(inner) ?? {}),
      ),
    );
  }

  #finish(text: string): { readonly text: string; readonly output?: unknown } {
    return this.#run.end?.stopReason === "structured_output" ? { text, output: null } : { text };
  }

  #endsRun({ callId, result }: RecordedCall): boolean {
    const stopReason = this.#run.end?.stopReason;
    const ends = stopReason === "finish_tool" || stopReason === "structured_output";
    return ends && result?.status === "ok" && this.#facts.lastCalls.has(callId);
  }
}

/** The questions about open calls, answered or not, by call. */
function questionsIn(state: SessionState): ReadonlyMap<string, ApprovalRequestEntry> {
  const questions = state.transcript.pending.flatMap(({ id }) => state.approvals.get(id) ?? []);
  return new Map(questions.map((question) => [question.callId, question]));
}

/** A call's own calls that can be made again: in order, up to the first without recorded arguments. */
export function callableWithin(run: RecordedRun, callId: string): readonly RecordedCall[] {
  const inner = [...run.calls.values()].filter(({ parentCallId }) => parentCallId === callId);
  const callable: RecordedCall[] = [];
  for (let number = 1; ; number++) {
    const call = inner.find((each) => each.callId === `${callId}/${number}`);
    const isKnown = call !== undefined && checkedInput(call) !== undefined;
    if (!isKnown || call.result === undefined || call.result.status === "aborted") return callable;
    callable.push(call);
  }
}

function liveOutcome({ content, isError, essence }: ToolResult): LiveOutcome {
  const fingerprint = essence === undefined ? undefined : hashText(essence).toString(36);
  return { content, isError: isError === true, fingerprint };
}
