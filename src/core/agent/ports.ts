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
  /** Already validated. */
  readonly input: ToolInput;
  readonly cwd: string;
  readonly sessionId: string;
  /** The call that made this one (`batch`) or started the subagent that makes it. */
  readonly parentCallId?: string;
  /** Name of the subagent making the call; absent in the conversation itself. */
  readonly agent?: string;
  readonly signal: AbortSignal;
}

/** The decision of a gate about a call, with its reason. */
export interface GateDecision {
  readonly action: "allow" | "ask" | "deny";
  /** One sentence for people and the model. Required unless allowed. */
  readonly reason?: string;
  /** The reason as a code, the gate's own: see {@link DecisionCode}. */
  readonly code?: DecisionCode;
  /** The rule that decided. */
  readonly rule?: string;
  /** The part of the call it is about, such as one command of a pipeline. */
  readonly part?: string;
  /**
   * Where the call leads, with links resolved: a file, or its working directory. A yes from a later run holds
   * for this place only.
   */
  readonly place?: string;
  /**
   * Where an allowed command runs: in the sandbox, in the sandbox with the host's network, or outside. Absent
   * if the call is no command.
   */
  readonly runs?: "inside" | "network" | "outside";
  /** A rule that would allow the call, offered to the person. */
  readonly suggestion?: string;
}

/** The port of the permission layer. A gate that throws refuses. */
export interface Gate {
  check(request: GateRequest): GateDecision | Promise<GateDecision>;
}

/** A question for a person. */
export interface ApprovalRequest extends GateRequest {
  readonly decision: GateDecision;
}

/**
 * A person's answer. With a yes, `input` runs in place of what was asked about, if it fits the tool's schema
 * and no rule forbids it. With a no, `reason` reaches the model, and `stop` ends the whole run after this
 * turn (`denied`) without further questions. `"later"` ends the run with `awaiting_approval`, and a later run
 * brings the answer; a call inside another one is refused instead. `question` is the id of the question
 * answered: an answer to one that is no longer open is ignored.
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

/** A yes from a rule. No person saw the call, so a tool that needs approval still asks. */
export interface UnaskedYes {
  readonly approved: true;
  readonly unasked: true;
}

/** The call cannot succeed, so nobody was asked. It ends with this error and does not count as refused. */
export interface CertainFailure {
  readonly approved: false;
  readonly error: string;
}

/** The possible answers of an {@link Approver}. */
export type ApproverAnswer = ApprovalAnswer | UnaskedYes | CertainFailure;

/** Asks a person. Throwing, or answering anything but a clear yes, refuses. */
export type Approver = (request: ApprovalRequest) => ApproverAnswer | Promise<ApproverAnswer>;

/** Answers to calls that wait for approval, by call id. `"later"`, like no answer, leaves a call waiting. */
export type Approvals = { readonly [callId: string]: ApprovalAnswer };

/** A call that is about to run, or has run. */
export interface CheckpointedCall {
  readonly callId: string;
  readonly tool: Tool;
  /** The name the model used. */
  readonly name: string;
  /** The places the call touches. */
  readonly access: ToolAccess;
}

/**
 * The port that keeps what tool calls change in files, so that it can be undone. Every call that runs passes
 * through it, nested ones included, and calls may overlap.
 */
export interface Checkpointer {
  /** Keeps what the call may change. If it throws, the call does not run and its result says why. */
  before(call: CheckpointedCall): Promise<void>;
  /**
   * Resolves to the entries that record what the call changed, however it ended. They are stored before its
   * result. An error becomes a `warning` event.
   */
  after(call: CheckpointedCall): Promise<readonly NewEntry[]>;
}

/** The start of a run. */
export interface RunBeginning {
  /** Its input; empty for a run that resumes. */
  readonly messages: readonly Message[];
  /** Entries recorded before the input, such as what a long-term memory recalled. */
  readonly before: readonly NewEntry[];
}

/** An answer of the model before it is recorded. */
export interface Answer {
  readonly message: AssistantMessage;
  readonly finishReason: FinishReason;
}

/** A tool call as the model made it, or as plugins changed it. */
export interface RequestedCall {
  readonly callId: string;
  readonly name: string;
  readonly input: ToolInput;
  /** The call that made this one (`batch`) or started the subagent that makes it. */
  readonly parentCallId?: string;
  /** In `afterCall`: the call ran. Absent if it was refused or could not start. */
  readonly hasRun?: true;
}

/** A plugin's verdict on a call: continue with this input, or refuse it with a reason for the model. */
export type CallVerdict = { readonly input: ToolInput } | { readonly refuse: string; readonly rule: string };

/** State derived from the entries of one transcript. */
export interface Fold {
  apply(entry: JournalEntry): void;
}

/** A plugin's replacement for a value; undefined to keep it. */
export type Change<T> = Promise<T | undefined> | undefined;

/**
 * The port for code around the steps of a run, nested runs and subagents included; only `beforeRun` and
 * `afterRun` concern the run as a whole. Plugins are called in order, before and after alike, and each sees
 * the changes of those before it. If one throws, the run ends with `error` after that step: the call does not
 * run, or its result is withheld. `Run` is {@link import("./run.ts").Run}, which holds its plugins.
 */
export interface Plugin<Run> {
  /** Tools the model can call in addition to the agent's. */
  readonly tools?: readonly Tool[];
  /** A fold kept for every transcript; read it with `run.state.fold`. */
  readonly fold?: new () => Fold;

  beforeRun?(run: Run, beginning: RunBeginning): Change<RunBeginning>;
  /** Called before a request of the conversation is built, to make room for it. Must not throw. */
  beforeTurn?(run: Run): Promise<void> | undefined;
  /** Changes one request; the changes are not recorded. */
  beforeRequest?(run: Run, request: ModelRequest): Change<ModelRequest>;
  /**
   * Returns an observer for the parts of one answer. It may throw {@link import("./run.ts").AbortedAnswer}.
   */
  watchAnswer?(): (part: StreamPart) => void;
  afterRequest?(run: Run, answer: Answer, request: ModelRequest): Change<Answer>;
  /** `again`: retry · `in_vain`: do not retry · undefined: ask the next plugin. Must not throw. */
  afterFailure?(run: Run, error: NanoAgentError): Change<"again" | "in_vain">;
  /** Called before the call is validated and judged. */
  beforeCall?(run: Run, call: RequestedCall): Change<CallVerdict>;
  /** Called before the result is recorded, also for refused and failed calls. */
  afterCall?(run: Run, result: ToolResult, call: RequestedCall): Change<ToolResult>;
  /**
   * Called when the calls of an answer have their results; may end the run. Throws only if the journal fails.
   */
  afterTurn?(run: Run): Change<Ending>;
  afterRun?(run: Run, result: RunResult, beginning: RunBeginning): Change<RunResult>;
}
