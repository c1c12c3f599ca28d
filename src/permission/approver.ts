import type {
  ApprovalRequest,
  Approver,
  ApproverAnswer,
  GateDecision,
  GateRequest,
} from "../core/agent/ports.ts";
import { raceAbort } from "../core/base/async.ts";
import { errorMessage } from "../core/base/errors.ts";
import { omitUndefined } from "../core/base/json.ts";
import type { ToolInput } from "../core/message/message.ts";
import { isEditTool, isFileTool, type SessionRules } from "./rule.ts";

/**
 * A question to a person about one tool call, with its gate's findings. Nothing in it is made safe for a
 * terminal. Its signal is aborted when the answer is no longer needed.
 */
export interface ApprovalQuestion
  extends Pick<GateRequest, "callId" | "parentCallId" | "agent" | "input" | "cwd" | "signal">,
    Pick<GateDecision, "code" | "part" | "place" | "runs"> {
  readonly tool: string;
  /** The reason for asking, in one sentence. */
  readonly reason: string;
  /** The path, if a file tool leaves the workspace. */
  readonly outside?: string;
  /** The rule that `always` would add, exactly as it would be saved. Absent: `always` is not offered. */
  readonly rule?: string;
  /** True if `edits` is offered: a change inside the workspace that only the mode asks about. */
  readonly offersEdits: boolean;
}

/**
 * A person's answer. `once`: this call · `edits`: it, and every edit inside the workspace until the session
 * ends · `always`: it, and the rule is saved · `no`: refused, with an optional reason for the model · `stop`:
 * refused, and the run ends · `answered`: it runs with this input, which holds their answer. `fails`: nobody
 * was asked, since the call can only end with this error.
 */
export type ApprovalReply =
  | { readonly choice: "once" | "edits" | "always" }
  | { readonly choice: "no" | "stop"; readonly reason?: string }
  | { readonly choice: "answered"; readonly input: ToolInput }
  | { readonly choice: "fails"; readonly error: string };

/** The port for asking a person, one question at a time. An unknown reply refuses. */
export interface ApprovalPrompt {
  ask(question: ApprovalQuestion): Promise<ApprovalReply>;
  /** Tells the person the effect of an answer: where a rule was saved, or that it could not be. */
  tell(message: string): void;
}

/** Options of an approver. */
export interface ApproverOptions {
  readonly prompt: ApprovalPrompt;
  /** Receives the rules from answers: the same object the policy uses. */
  readonly session: SessionRules;
  /** Judges a call again with the current rules and mode. */
  readonly recheck: (request: GateRequest) => GateDecision | Promise<GateDecision>;
  /** True for a path inside the workspace. Default: always false, and `edits` is not offered. */
  readonly isInside?: (place: string) => boolean;
  /** Calls back after each change of the mode, until the returned function is called. Default: never. */
  readonly onModeChange?: (listener: () => void) => () => void;
  /** Saves a rule and resolves to its location. Default: `always` is not offered. */
  readonly remember?: (rule: string) => Promise<string>;
}

/**
 * Turns questions of the gate into questions to a person, one at a time. A yes covers the whole call that was
 * shown. A question is withdrawn when another mode decides it. Only the run limits how long a person may
 * take: its signal and its wall time.
 */
export function createApprover(options: ApproverOptions): Approver {
  let last: Promise<unknown> = Promise.resolve();
  const stops = new Map<string, number>();
  return (request) => {
    const { sessionId } = request;
    const stopsBefore = stops.get(sessionId);
    const ask = async (): Promise<ApproverAnswer> => {
      // A person who wants the run to end is not asked the remaining questions.
      if (stops.get(sessionId) !== stopsBefore) return { approved: false, stop: true };
      const answer = await answerFor(request, options);
      if (typeof answer === "object" && "stop" in answer && answer.stop === true)
        stops.set(sessionId, (stops.get(sessionId) ?? 0) + 1);
      return answer;
    };
    const answer = last.then(ask);
    last = answer.catch(() => undefined);
    return answer;
  };
}

async function answerFor(request: ApprovalRequest, options: ApproverOptions): Promise<ApproverAnswer> {
  const decided = await decideWithoutAsking(request, options);
  if (decided !== undefined) return decided;
  request.signal.throwIfAborted();
  const { prompt, session, remember, onModeChange } = options;
  const question = questionOf(request, options);
  const closed = new AbortController();
  const signal = AbortSignal.any([request.signal, closed.signal]);
  const pendingReply = Promise.withResolvers<ApprovalReply | { readonly byMode: ApproverAnswer }>();
  const unlisten = onModeChange?.(() => {
    decideWithoutAsking(request, options).then((now) => {
      if (now !== undefined) pendingReply.resolve({ byMode: now });
    }, pendingReply.reject);
  });
  try {
    // A prompt that ignores the abort must not block the next question.
    raceAbort(prompt.ask({ ...question, signal }), request.signal).then(
      pendingReply.resolve,
      pendingReply.reject,
    );
    const given = await pendingReply.promise;
    request.signal.throwIfAborted();
    if ("byMode" in given) return given.byMode;
    if (given.choice === "once") return true;
    if (given.choice === "answered") return { approved: true, input: given.input };
    if (given.choice === "edits" && question.offersEdits) {
      session.allowEdits();
      return true;
    }
    if (given.choice === "always" && question.rule !== undefined && remember !== undefined) {
      session.allow(question.rule);
      const saved = remember(question.rule).then((place) => `is saved in ${place}`);
      prompt.tell(`${question.rule} ${await saved.catch(notSavedText)}`);
      return true;
    }
    return refusalOf(given);
  } finally {
    unlisten?.();
    closed.abort();
  }
}

async function decideWithoutAsking(
  request: ApprovalRequest,
  { recheck }: ApproverOptions,
): Promise<ApproverAnswer | undefined> {
  const now = await recheck(request);
  if (now.action === "deny") return { approved: false, ...omitUndefined({ reason: now.reason }) };
  // A tool's own question is for a person, even if a rule allows the call.
  if (now.action === "ask" || request.decision.code === "needs_approval") return undefined;
  // Allowed by rules, without asking.
  return { approved: true, unasked: true };
}

/** An unknown reply refuses too. */
function refusalOf(reply: ApprovalReply): ApproverAnswer {
  if (reply.choice === "fails") return { approved: false, error: reply.error };
  if (reply.choice !== "no" && reply.choice !== "stop") return { approved: false };
  const words = reply.reason?.trim() ?? "";
  const reason = words === "" ? {} : { reason: `the user said: ${words}` };
  return { approved: false, ...reason, ...(reply.choice === "stop" ? { stop: true } : {}) };
}

function questionOf(
  { callId, parentCallId, name, agent, input, cwd, signal, decision }: ApprovalRequest,
  { isInside = () => false, remember }: ApproverOptions,
): ApprovalQuestion {
  const { part, reason, code, place, suggestion, runs } = decision;
  const outside = isFileTool(name) && place !== undefined && !isInside(place) ? place : undefined;
  // Rules about keys and protected paths ask, whatever the session allows.
  const offersEdits = isEditTool(name) && code === "no_rule" && place !== undefined && outside === undefined;
  const rule = offersEdits || remember === undefined ? undefined : suggestion;
  return {
    callId,
    tool: name,
    input,
    reason: reason ?? "It needs approval.",
    cwd,
    ...omitUndefined({ parentCallId, agent, part, code, place, outside, runs, rule }),
    offersEdits,
    signal,
  };
}

function notSavedText(error: unknown): string {
  return `holds for this session only, as it could not be saved: ${errorMessage(error)}`;
}
