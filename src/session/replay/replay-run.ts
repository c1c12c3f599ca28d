import type { AssistantEntry, JournalEntry, NewEntry, ToolResultEntry } from "../../core/agent/entries.ts";
import { MemoryJournal } from "../../core/agent/journal.ts";
import { loop } from "../../core/agent/loop.ts";
import { endRun } from "../../core/agent/perform.ts";
import { newRun, type Run } from "../../core/agent/run.ts";
import { SessionState } from "../../core/agent/state.ts";
import { invalidArgument, NanoAgentError, toNanoAgentError } from "../../core/base/errors.ts";
import { omitUndefined } from "../../core/base/json.ts";
import type { CompiledSchema, SchemaResult } from "../../core/base/schema.ts";
import { hashText } from "../../core/base/text.ts";
import { type Message, type ToolInput, textOf, toolCallsOf } from "../../core/message/message.ts";
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
  hasExternalEnd,
  isLoopMessage,
  type RecordedCall,
  type RecordedRun,
  recordedAnswer,
  recordedDecision,
  runFacts,
} from "./recorded-run.ts";

/** Runs a call instead of answering it from the record; undefined: it did not run. Never rejects. */
export type ToolRunner = (
  call: { readonly name: string; readonly input: ToolInput },
  context: ToolContext,
) => Promise<ToolResult | undefined>;

/** How tool calls are replayed. */
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

/** A replay of a recorded run: the real loop with the recorded answers, decisions, input, interruptions. */
export class RunReplay {
  readonly requests: (readonly Message[])[] = [];
  readonly outcomes: Map<string, LiveOutcome> = new Map();
  /** True if the model was asked more often than the record has answers. */
  hasExtraRequest = false;
  failure: NanoAgentError | undefined;
  readonly #run: RecordedRun;
  readonly #options: ReplayTools;
  readonly #facts: ReturnType<typeof runFacts>;
  readonly #abort = new AbortController();
  readonly #journal: MemoryJournal;
  readonly #delivered = new Set<JournalEntry>();
  #answered = 0;

  constructor(run: RecordedRun, options: ReplayTools) {
    this.#run = run;
    this.#options = options;
    this.#facts = runFacts(run);
    this.#journal = new MemoryJournal({ sessionId: run.start.sessionId });
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
   * The record has the effects of hooks and subagents, so there are none here, and no limits of time and
   * length. No loop guard either: its settings are not recorded.
   */
  #newRun(state: SessionState): Run {
    const { calls } = this.#run;
    const { finishTool, maxIterations, onMaxIterations, hasApprover } = this.#facts;
    const model = this.#model();
    return newRun(
      {
        permission: { check: ({ callId }) => recordedDecision(calls.get(callId)?.decision) },
        approve: hasApprover ? ({ callId }) => recordedAnswer(calls.get(callId) ?? {}) : undefined,
        approvals: {},
        openCalls: "close",
        cwd: "",
        toolTimeoutMs: 0,
        maxToolResultChars: Number.MAX_SAFE_INTEGER,
        maxIterations: state.progress.iterations + maxIterations,
        onMaxIterations,
      },
      {
        model: () => ({ model }),
        tools: new ToolRegistry(this.#tools()),
        journal: this.#journal,
        state,
        signal: this.#abort.signal,
        request: { sessionId: this.#journal.sessionId },
        finishTool,
        plugins: [],
        failure: {},
        workedMs: 0,
        takeSteering: () => this.#takeExternalEntries(),
        emit: () => undefined,
        isReleased: () => false,
        startSubagent: () =>
          Promise.reject(invalidArgument("A replay starts no subagents; their recorded results are used.")),
      },
    );
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
        yield { type: "finish", ...part, ...omitUndefined({ responseId }) };
      },
    };
  }

  /** In the order of the run: it decides which one finishes it. */
  #tools(): readonly Tool[] {
    const { start, calls, answers } = this.#run;
    const { finishTool } = this.#facts;
    const begun = [...calls.values()].flatMap(({ intent = [] }) => intent);
    const inputs = new Map<object, RecordedCall>();
    for (const { id, name, input } of answers.flatMap(({ message }) => toolCallsOf(message))) {
      const call = calls.get(id);
      if (call?.name === name) inputs.set(input, call);
    }
    // A run may have got tools after its start; the one that ends it stays last.
    const others = [...start.tools, ...begun.map(({ name }) => name)].filter((name) => name !== finishTool);
    const names = new Set([...others, ...(finishTool === undefined ? [] : [finishTool])]);
    return [...names].map((name) => {
      const known = this.#options.tools?.find((tool) => tool.name === name);
      // If calls really run, conflicting ones must not overlap.
      const access = this.#options.runTool === undefined ? undefined : known?.access;
      const schema = known?.schema ?? recordedSchema(inputs);
      return { ...this.#recordedTool(name), ...omitUndefined({ access }), schema };
    });
  }

  #recordedTool(name: string): Tool {
    return defineTool({
      name,
      description: `Stands in for ${name}.`,
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
    const answer = this.#run.answers[this.#answered];
    if (answer !== undefined) {
      this.#answered++;
      this.requests.push(request.messages);
      return answer;
    }
    const { end } = this.#run;
    if (end?.stopReason === "error")
      throw new NanoAgentError("internal", end.error?.message ?? "The recorded run failed.");
    if (end?.stopReason === "max_iterations")
      throw new NanoAgentError("internal", "The recorded request failed.");
    if (end !== undefined && !hasExternalEnd(this.#run)) this.hasExtraRequest = true;
    throw this.#interrupt();
  }

  /** Ends the run if the record says it was ended from outside, or was interrupted here. */
  #interrupt(): NanoAgentError {
    const reason =
      this.#run.end?.stopReason === "budget"
        ? new NanoAgentError("timeout", "The recorded run reached its limit here.")
        : new NanoAgentError("aborted", "The recorded run ended here.");
    this.#abort.abort(reason);
    return reason;
  }

  /** Entries from outside before the next answer: steering, and records of other kinds. */
  #takeExternalEntries(): readonly NewEntry[] {
    const { body, answers } = this.#run;
    const from = this.#answered === 0 ? 0 : body.indexOf(answers[this.#answered - 1] as JournalEntry) + 1;
    const next = answers[this.#answered];
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
        return isContinuation && !isLoopMessage(entry);
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
    if (result === undefined || result.status === "aborted")
      return { content: result?.result.content ?? OUTCOME_UNKNOWN, isError: true };
    const { name, intent } = call;
    const ran = await this.#options.runTool?.({ name, input: intent?.input ?? {} }, context);
    if (ran === undefined) await this.#runNestedCalls(call, context);
    else this.outcomes.set(call.callId, liveOutcome(ran));
    const { content, is_error: isError } = result.result;
    const ends = this.#endsRun(call) ? { finish: this.#finish(textOf(content)) } : {};
    return { content, ...(isError === true ? { isError } : {}), ...ends };
  }

  async #runNestedCalls(call: RecordedCall, context: ToolContext): Promise<void> {
    await Promise.all(
      repeatableCalls(this.#run, call.callId).map((inner) =>
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

/** A call's own calls that can be repeated: in order, up to the first without recorded arguments. */
function repeatableCalls(run: RecordedRun, callId: string): readonly RecordedCall[] {
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

/**
 * Accepts the recorded arguments of a call, found in `inputs` by the identity of the object that holds them.
 * If the record has none, the arguments were refused: the recorded result says why.
 */
function recordedSchema(inputs: ReadonlyMap<object, RecordedCall>): CompiledSchema {
  return {
    jsonSchema: { type: "object" },
    validate: async (input): Promise<SchemaResult> => {
      const call = typeof input === "object" && input !== null ? inputs.get(input) : undefined;
      return { ok: true, value: (call && checkedInput(call)) ?? input };
    },
  };
}
