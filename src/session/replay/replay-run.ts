import type {
  ApprovalRequestEntry,
  AssistantEntry,
  JournalEntry,
  NewEntry,
  ToolResultEntry,
} from "../../core/agent/entries.ts";
import { MemoryJournal } from "../../core/agent/journal.ts";
import { loop } from "../../core/agent/loop.ts";
import { endRun } from "../../core/agent/perform.ts";
import { newRun, type Run } from "../../core/agent/run.ts";
import { SessionState } from "../../core/agent/state.ts";
import { misuse, NanoAgentError, toNanoAgentError } from "../../core/base/errors.ts";
import { defined } from "../../core/base/json.ts";
import type { CompiledSchema, SchemaResult } from "../../core/base/schema.ts";
import { hashText } from "../../core/base/text.ts";
import {
  type Message,
  type ToolInput,
  type ToolUseBlock,
  textOf,
  toolCallsOf,
} from "../../core/message/message.ts";
import { OUTCOME_UNKNOWN } from "../../core/message/transcript.ts";
import type { Model, ModelRequest, StreamPart } from "../../core/model/model.ts";
import {
  defineTool,
  type Tool,
  type ToolContext,
  ToolRegistry,
  type ToolResult,
} from "../../core/tool/tool.ts";
import {
  checkedInput,
  type RecordedCall,
  type RecordedRun,
  recordedApprovals,
  recordedGate,
  runFacts,
  SAID_BY_LOOP,
} from "./recorded-run.ts";

/** Runs a call instead of answering it from the record; undefined: it did not run. Never rejects. */
export type ToolRunner = (
  call: { readonly name: string; readonly input: ToolInput },
  context: ToolContext,
) => Promise<ToolResult | undefined>;

/** The replacements used to run a run again. */
export interface ReplayTools {
  /** Tools whose schemas check the arguments again. Other tools accept the recorded ones. */
  readonly tools?: readonly Tool[];
  readonly runTool?: ToolRunner | undefined;
  /** Stops the replay. */
  readonly signal?: AbortSignal | undefined;
}

export interface LiveOutcome {
  readonly content: ToolResultEntry["result"]["content"];
  readonly isError: boolean;
  /** Equal for equivalent results, if the tool reports it: see `essence` of a tool's result. */
  readonly fingerprint: string | undefined;
}

/** Stop reasons from outside the loop: a person, a signal, a limit. */
const OUTSIDE: ReadonlySet<string> = new Set(["aborted", "budget", "loop_detected"]);

/** A replay of a recorded run: the real loop with the recorded answers, decisions, input, interruptions. */
export class RunReplay {
  readonly requests: (readonly Message[])[] = [];
  readonly outcomes: Map<string, LiveOutcome> = new Map();
  /** True if the model was asked more often than the record has answers. */
  askedTooOften = false;
  /** True if the end came from outside and was taken from the record. */
  endedAsRecorded = false;
  failure: NanoAgentError | undefined;
  readonly #run: RecordedRun;
  readonly #options: ReplayTools;
  readonly #facts: ReturnType<typeof runFacts>;
  readonly #abort = new AbortController();
  readonly #journal: MemoryJournal;
  readonly #delivered = new Set<JournalEntry>();
  readonly #settled = new Map<string, PromiseWithResolvers<void>>();
  #taken = 0;

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

  get entries(): readonly JournalEntry[] {
    return [...this.#journal.entries()];
  }

  async perform(before: readonly JournalEntry[]): Promise<void> {
    const state = new SessionState();
    for (const entry of [...before, this.#run.start, ...this.#run.opening]) state.apply(entry);
    const run = this.#newRun(state);
    try {
      await endRun(run, await loop(run));
    } catch (error) {
      this.failure = toNanoAgentError(error);
    }
  }

  /**
   * The run once more. The record has the effects of hooks and subagents, so there are none here, and no
   * limits of time and length. No loop guard either: its settings are not recorded.
   */
  #newRun(state: SessionState): Run {
    const waited = questionsIn(state);
    const again = new Set(this.#madeAgain(state).map(({ name }) => name));
    const { gate, approve } = recordedGate(this.#run, this.#facts, waited);
    const { finishTool, maxIterations, onMaxIterations } = this.#facts;
    const model = this.#model();
    return newRun(
      {
        permission: gate,
        approve,
        approvals: recordedApprovals(this.#run, waited),
        openCalls: again.size > 0 ? "run" : "close",
        cwd: this.#folder(waited),
        toolTimeoutMs: 0,
        maxToolResultChars: Number.MAX_SAFE_INTEGER,
        maxIterations: state.progress.iterations + maxIterations,
        onMaxIterations,
      },
      {
        model: () => ({ model }),
        tools: new ToolRegistry(this.#tools(state, again)),
        journal: this.#journal,
        state,
        signal: this.#abort.signal,
        request: { sessionId: this.#journal.sessionId },
        finishTool,
        plugins: [],
        failure: {},
        workedMs: 0,
        takeSteering: () => this.#takeFromOutside(),
        emit: (event) => {
          if (event.type === "tool_result") this.#settled.get(event.callId)?.resolve();
        },
        isReleased: () => false,
        startSubagent: () =>
          Promise.reject(misuse("A replay starts no subagents; their recorded results are used.")),
      },
    );
  }

  /** The calls of an earlier interrupted run that this one made itself, according to its record. */
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

  #folder(waited: ReadonlyMap<string, ApprovalRequestEntry>): string {
    const asked = [...this.#run.calls.values()].flatMap(({ request = [] }) => request);
    return [...asked, ...waited.values()].at(0)?.cwd ?? "";
  }

  #model(): Model {
    const { model: name } = this.#run.start;
    const slash = name.indexOf("/");
    const nextAnswer = (request: ModelRequest): AssistantEntry => this.#nextAnswer(request);
    const interrupt = (): NanoAgentError => this.#interrupt();
    return {
      provider: slash === -1 ? name : name.slice(0, slash),
      id: slash === -1 ? name : name.slice(slash + 1),
      async *stream(request): AsyncGenerator<StreamPart, void, undefined> {
        const { message, interrupted, finishReason, usage, model, responseId } = nextAnswer(request);
        let index = 0;
        for (const block of message.content) yield { type: "block", index: index++, block };
        if (interrupted === true) throw interrupt();
        const part = { finishReason, usage, model: model.slice(model.indexOf("/") + 1) };
        yield { type: "finish", ...part, ...defined({ responseId }) };
      },
    };
  }

  /** The tools of the run, in order: they take the recorded input and return the recorded result. */
  #tools(state: SessionState, again: ReadonlySet<string>): readonly Tool[] {
    const { start, calls, answers } = this.#run;
    const { finishTool, externalTools } = this.#facts;
    const begun = [...calls.values()].flatMap(({ intent = [] }) => intent);
    const hasRun = new Set(begun.map(({ name }) => name));
    const open = state.transcript.pending.filter(({ id, name }) => {
      const { decision, result } = calls.get(id) ?? {};
      if (state.approvals.has(id) && decision?.external !== true) return false;
      return result === undefined || (decision !== undefined && !hasRun.has(name));
    });
    const external = new Set([...externalTools, ...open.map(({ name }) => name)]);
    const inputs = new Map<object, RecordedCall>();
    for (const { id, name, input } of answers.flatMap(({ message }) => toolCallsOf(message))) {
      const call = calls.get(id);
      if (call?.name === name) inputs.set(input, call);
    }
    // A run may have got tools after its start; the one that ends it stays last.
    const others = [...start.tools, ...hasRun].filter((name) => name !== finishTool);
    const names = new Set([...others, ...(finishTool === undefined ? [] : [finishTool])]);
    return [...names].map((name) => {
      const known = this.#options.tools?.find((tool) => tool.name === name);
      // If calls really run, conflicting ones must not overlap.
      const access = this.#options.runTool === undefined ? undefined : known?.access;
      const schema = recordedSchema(name, inputs, known?.schema);
      const { execute, ...tool } = this.#recordedTool(name, again.has(name));
      return { ...tool, ...defined({ access }), schema, ...(external.has(name) ? {} : defined({ execute })) };
    });
  }

  #recordedTool(name: string, idempotent: boolean): Tool {
    return defineTool({
      name,
      description: `Stands in for ${name}.`,
      idempotent,
      parameters: { type: "object" },
      execute: async (_input, context) => {
        const call = this.#run.calls.get(context.callId);
        if (call === undefined) return { content: "This call is not in the record.", isError: true };
        return this.#answerCall(call, context);
      },
    });
  }

  /** The recorded answer to the current request. If there is none, throws what ended the run. */
  #nextAnswer(request: ModelRequest): AssistantEntry {
    const answer = this.#run.answers[this.#taken];
    if (answer !== undefined) {
      this.#taken++;
      this.requests.push(request.messages);
      return answer;
    }
    const { end, isStoppedInSubagent } = this.#run;
    if (end?.stopReason === "error")
      throw new NanoAgentError("internal", end.error?.message ?? "The recorded run failed.");
    if (end?.stopReason === "max_iterations")
      throw new NanoAgentError("internal", "The recorded request failed.");
    if (end !== undefined && !OUTSIDE.has(end.stopReason) && !isStoppedInSubagent) this.askedTooOften = true;
    throw this.#interrupt();
  }

  /** Ends the run if the record says it was ended from outside, or was interrupted here. */
  #interrupt(): NanoAgentError {
    this.endedAsRecorded = true;
    const reason =
      this.#run.end?.stopReason === "budget"
        ? new NanoAgentError("timeout", "The recorded run reached its limit here.")
        : new NanoAgentError("aborted", "The recorded run ended here.");
    this.#abort.abort(reason);
    return reason;
  }

  /** Entries from outside before the next answer: steering, and records of other kinds. */
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
        return isContinuation && !(entry.source === "system" && SAID_BY_LOOP.has(entry.code));
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
    else this.outcomes.set(call.callId, liveOutcome(ran));
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

function questionsIn(state: SessionState): ReadonlyMap<string, ApprovalRequestEntry> {
  const questions = state.transcript.pending.flatMap(({ id }) => state.approvals.get(id) ?? []);
  return new Map(questions.map((question) => [question.callId, question]));
}

/** A call's own calls that can be repeated: in order, up to the first without recorded arguments. */
function callableWithin(run: RecordedRun, callId: string): readonly RecordedCall[] {
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

/** `inputs`: calls by the identity of the object that holds their arguments. */
function recordedSchema(
  name: string,
  inputs: ReadonlyMap<object, RecordedCall>,
  known: CompiledSchema | undefined,
): CompiledSchema {
  if (known !== undefined) return known;
  return {
    jsonSchema: { type: "object" },
    validate: async (input): Promise<SchemaResult> => {
      const call = typeof input === "object" && input !== null ? inputs.get(input) : undefined;
      return call === undefined ? { ok: true, value: input } : recordedCheck(name, call, input);
    },
  };
}

/** The recorded outcome of the argument check, for a tool with an unknown schema. */
function recordedCheck(name: string, call: RecordedCall, input: unknown): SchemaResult {
  const checked = checkedInput(call);
  if (checked !== undefined) return { ok: true, value: checked };
  const { result } = call;
  const content = result?.result.content;
  const text = typeof content === "string" ? content : "";
  const invalid = `Error: Invalid arguments for ${name}, so it was not run:\n`;
  const unchecked = `Error: The arguments of ${name} could not be checked: `;
  if (text.startsWith(invalid))
    return { ok: false, issues: [{ path: "", message: text.slice(invalid.length) }] };
  if (text.startsWith(unchecked)) throw new Error(text.slice(unchecked.length));
  return { ok: true, value: input };
}
