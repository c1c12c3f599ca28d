import type { NanoAgentError } from "../base/errors.ts";
import type { ToolInput } from "../message/block.ts";
import type { AssistantMessage, Message } from "../message/message.ts";
import type { FinishReason, ModelRequest, StreamPart } from "../model/model.ts";
import type { Tool, ToolResult } from "../tool/tool.ts";
import type { JournalEntry, NewEntry } from "./entry.ts";
import type { Ending, RunResult } from "./result.ts";

/** The beginning of a run. */
export interface RunBeginning {
  /** Its input; empty for a run that goes on. */
  readonly messages: readonly Message[];
  /** Entries recorded before the input, e.g. what a long-term memory has found. */
  readonly before: readonly NewEntry[];
}

/** An answer of the model before it is recorded. */
export interface Answer {
  readonly message: AssistantMessage;
  readonly finishReason: FinishReason;
}

/** A tool call as the model made it, or as plugins left it. */
export interface MadeCall {
  readonly callId: string;
  readonly name: string;
  readonly input: ToolInput;
  /** Call this one was made by (`batch`), or the one that started the subagent that makes it. */
  readonly parentCallId?: string;
  /** After the call: it ran. Absent where it was refused, or could not be made. */
  readonly hasRun?: true;
}

/** The outcome for a call: it goes on with this input, or a rule refuses it and the model is told why. */
export type CallVerdict = { readonly input: ToolInput } | { readonly refuse: string; readonly rule: string };

/** State that follows from the entries of one transcript. */
export interface Fold {
  apply(entry: JournalEntry): void;
}

/** A plugin's change of a value; nothing where it leaves it as it is. */
export type Change<T> = Promise<T | undefined> | undefined;

/**
 * The port for whatever plugs in around the steps of a run, those of nested runs and subagents included; only
 * `beforeRun` and `afterRun` are for the run as a whole. Plugins are asked in order, before and after alike,
 * and each sees what those before it made. Where one throws, the run ends with `error` after the step it
 * stands at: a call does not run, or its result is withheld. `Run` is
 * {@link import("./run-context.ts").RunContext}, which holds the plugins itself.
 */
export interface Plugin<Run> {
  /** Tools the model can call besides those of its agent. */
  readonly tools?: readonly Tool[];
  /** A fold the plugin looks at with `run.state.fold`: one is kept for every transcript. */
  readonly fold?: new () => Fold;

  beforeRun?(run: Run, beginning: RunBeginning): Change<RunBeginning>;
  /** Before a request of the conversation is put together: the place to make room for it. Must not throw. */
  beforeTurn?(run: Run): Promise<void> | undefined;
  /** Changes a request; they hold for this one alone and are not recorded. */
  beforeRequest?(run: Run, request: ModelRequest): Change<ModelRequest>;
  /** Makes an observer of an answer's parts, which may throw {@link import("./plugins.ts").LeftAnswer}. */
  watchAnswer?(): (part: StreamPart) => void;
  afterRequest?(run: Run, answer: Answer, request: ModelRequest): Change<Answer>;
  /** `again`: try once more · `in_vain`: do not · nothing: ask the other plugins. Must not throw. */
  afterFailure?(run: Run, error: NanoAgentError): Change<"again" | "in_vain">;
  /** Before the call is checked and judged by permission. */
  beforeCall?(run: Run, call: MadeCall): Change<CallVerdict>;
  /** Before the result is recorded; of refused and failed calls too. */
  afterCall?(run: Run, result: ToolResult, call: MadeCall): Change<ToolResult>;
  /** When the calls of an answer have their results; may end the run. Throws for the journal only. */
  afterTurn?(run: Run): Change<Ending>;
  afterRun?(run: Run, result: RunResult, beginning: RunBeginning): Change<RunResult>;
}
