import type { ToolInput } from "../message/block.ts";
import type { Tool } from "../tool/tool.ts";

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
   * Where a command runs when it is allowed: confined, confined with the network of the host, or not confined.
   * Absent for what is not a command.
   */
  readonly runs?: "inside" | "network" | "outside";
  /** Runs, or is asked about, instead of the input of the call, where the gate judged another form. */
  readonly input?: ToolInput;
  /** The rule that would allow the call, and that a person may add. */
  readonly suggestion?: string;
}

/**
 * Why a call was decided so, for programs: a code of the loop, of the permission room (`deny_rule`,
 * `ask_rule`, `no_rule`, `plan_mode`, `dont_ask_mode`, `protected_path`, `not_judged`), or of your own gate.
 */
export type DecisionCode = LoopDecisionCode | (string & {});

/** Codes of the loop. `cannot_wait`: inside another call · `answered_otherwise`: by a message, not a yes. */
export type LoopDecisionCode =
  | "needs_approval"
  | "nobody_to_ask"
  | "cannot_wait"
  | "person"
  | "run_ending"
  | "answered_otherwise"
  | "hook"
  | "gate_failed"
  | "approver_failed";

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

/**
 * A yes that a rule gave: nobody was shown the call, and a tool that wants a person still asks for one.
 * `input`: the form that the rules allow, which the gate judges once more.
 */
export interface UnaskedYes {
  readonly approved: true;
  readonly unasked: true;
  readonly input?: ToolInput;
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
