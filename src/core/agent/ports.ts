import type { NanoAgentError } from "../base/errors.ts";
import type { AssistantMessage, Message, ToolInput } from "../message/message.ts";
import type { FinishReason, ModelRequest, StreamPart } from "../model/model.ts";
import type { Tool, ToolAccess, ToolResult } from "../tool/tool.ts";
import type { JournalEntry, NewEntry } from "./entries.ts";
import type { DecisionCode, Ending, RunResult } from "./result.ts";

/** A call that wants to run. */
export interface GateRequest {
  readonly callId: string;
  readonly tool: Tool;
  readonly name: string;
  /** Validated input. */
  readonly input: ToolInput;
  readonly cwd: string;
  readonly sessionId: string;
  /** Call this one was made by (`batch`), or the call that started the subagent that makes it. */
  readonly parentCallId?: string;
  /** Name of the subagent that makes the call; absent in the conversation itself. */
  readonly agent?: string;
  readonly signal: AbortSignal;
}

/** The decision of a gate about a call, and why. */
export interface GateDecision {
  readonly action: "allow" | "ask" | "deny";
  /** Why, in one sentence for people and the model. Required unless allowed. */
  readonly reason?: string;
  /** The same for programs, in words of the gate: see {@link DecisionCode}. */
  readonly code?: DecisionCode;
  /** The rule that decided. */
  readonly rule?: string;
  /** The part of the call that decided, e.g. one command of a pipeline. */
  readonly part?: string;
  /**
   * The place the call leads to, links resolved: a file, or the folder it works in. A yes that comes in a
   * later run holds for that place alone.
   */
  readonly place?: string;
  /**
   * Where a command runs when it is allowed: confined, confined with the network of the host, or not
   * confined. Absent for what is not a command.
   */
  readonly runs?: "inside" | "network" | "outside";
  /** The rule that would allow the call, and that a person may add. */
  readonly suggestion?: string;
}

/** The port of the permission layer. A gate that throws denies. */
export interface Gate {
  check(request: GateRequest): GateDecision | Promise<GateDecision>;
}

/** A question for a person. */
export interface ApprovalRequest extends GateRequest {
  readonly decision: GateDecision;
}

/**
 * A person's answer. `input` of a yes runs instead of what was asked about, if the schema of the tool takes
 * it and no rule forbids it; `reason` of a refusal reaches the model; `stop` ends the whole run after this
 * turn (`denied`), and nothing more is asked. `"later"`: the run ends with `awaiting_approval`, and a later
 * run brings the answer; for a call inside another one it is a refusal. `question` names the question that is
 * answered, of those of a call: an answer to one that is open no more counts like none.
 */
export type ApprovalAnswer =
  | boolean
  | "later"
  | {
      readonly approved: boolean;
      readonly input?: ToolInput;
      readonly reason?: string;
      readonly stop?: boolean;
      readonly question?: string;
    };

/** An approval by a rule: no person saw the call, so a tool that needs one still asks. */
export interface UnaskedYes {
  readonly approved: true;
  readonly unasked: true;
}

/** The call cannot succeed, so no one was asked: it ends with this error and does not count as refused. */
export interface CertainFailure {
  readonly approved: false;
  readonly error: string;
}

/** The answers of an {@link Approver}. */
export type ApproverAnswer = ApprovalAnswer | UnaskedYes | CertainFailure;

/** Asks a person. Throwing, or answering anything but a clear yes, denies. */
export type Approver = (request: ApprovalRequest) => ApproverAnswer | Promise<ApproverAnswer>;

/** Answers to calls that wait for approval, by call id. `"later"` leaves a call waiting, like no answer. */
export type Approvals = { readonly [callId: string]: ApprovalAnswer };

/** A call that is about to run, or has ended. */
export interface CheckpointedCall {
  readonly callId: string;
  readonly tool: Tool;
  /** The name the model called it by. */
  readonly name: string;
  /** The places the call touches. */
  readonly access: ToolAccess;
}

/**
 * The port that keeps what tool calls change, so that it can be put back. Every call that runs passes it,
 * those inside other calls and in nested runs too; calls overlap as the loop lets them.
 */
export interface Checkpointer {
  /** Keeps what the call may change. When it throws, the call does not run and its result says why. */
  before(call: CheckpointedCall): Promise<void>;
  /**
   * Finds what the call changed, however it ended. Resolves to the entries that record it, to be stored
   * before the result of the call. What it throws becomes a `warning` event.
   */
  after(call: CheckpointedCall): Promise<readonly NewEntry[]>;
}

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
export interface RequestedCall {
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
 * {@link import("./run.ts").Run}, which holds the plugins itself.
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
  /** Makes an observer of an answer's parts, which may throw {@link import("./run.ts").AbortedAnswer}. */
  watchAnswer?(): (part: StreamPart) => void;
  afterRequest?(run: Run, answer: Answer, request: ModelRequest): Change<Answer>;
  /** `again`: try once more · `in_vain`: do not · nothing: ask the other plugins. Must not throw. */
  afterFailure?(run: Run, error: NanoAgentError): Change<"again" | "in_vain">;
  /** Before the call is checked and judged by permission. */
  beforeCall?(run: Run, call: RequestedCall): Change<CallVerdict>;
  /** Before the result is recorded; of refused and failed calls too. */
  afterCall?(run: Run, result: ToolResult, call: RequestedCall): Change<ToolResult>;
  /** When the calls of an answer have their results; may end the run. Throws for the journal only. */
  afterTurn?(run: Run): Change<Ending>;
  afterRun?(run: Run, result: RunResult, beginning: RunBeginning): Change<RunResult>;
}
