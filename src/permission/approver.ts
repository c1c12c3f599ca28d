import type {
  ApprovalAnswer,
  ApprovalRequest,
  Approver,
  GateDecision,
  GateRequest,
  UnaskedYes,
} from "../core/agent/gate.ts";
import { orAborted } from "../core/base/abort.ts";
import { defined } from "../core/base/defined.ts";
import { errorMessage } from "../core/base/errors.ts";
import type { ApprovalPrompt, ApprovalQuestion, ApprovalReply } from "./approval-prompt.ts";
import { parseRule } from "./parse-rule.ts";
import { ruleText } from "./rule.ts";
import type { SessionRules } from "./session-rules.ts";

/** Options of an approver. */
export interface ApproverOptions {
  readonly prompt: ApprovalPrompt;
  /** Gets the rules of `session` and `always`: the same object the policy looks at. */
  readonly session: SessionRules;
  /** Judges a call once more, with the rules that answers have brought. */
  readonly recheck: (request: GateRequest) => GateDecision | Promise<GateDecision>;
  /** Writes a rule down and resolves to where. Default: `always` is not offered. */
  readonly remember?: (rule: string) => Promise<string>;
}

/**
 * Turns questions of the gate into questions to a person, one at a time. A yes to a rule counts for the part
 * that was shown: where another part of the call still asks, the next question comes. How long a person may
 * take is bounded by the run alone: its signal and its wall time.
 */
export function createApprover(options: ApproverOptions): Approver {
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  /** How often a person has stopped something, by session. */
  const stops = new Map<string, number>();
  return (request) => {
    const { sessionId } = request;
    const isFirst = waiting++ === 0;
    const stopsBefore = stops.get(sessionId);
    const ask = async (): Promise<ApprovalAnswer | UnaskedYes> => {
      // Who wants the run to end is not asked what else waits.
      if (stops.get(sessionId) !== stopsBefore) return { approved: false, stop: true };
      const answer = await askPerson(request, options, isFirst);
      if (typeof answer === "object" && "stop" in answer && answer.stop === true)
        stops.set(sessionId, (stops.get(sessionId) ?? 0) + 1);
      return answer;
    };
    const answer = last.then(ask).finally(() => waiting--);
    last = answer.catch(() => undefined);
    return answer;
  };
}

async function askPerson(
  request: ApprovalRequest,
  options: ApproverOptions,
  isFresh: boolean,
): Promise<ApprovalAnswer | UnaskedYes> {
  const { prompt, session, remember, recheck } = options;
  const given = new Set<string>();
  let wasShown = false;
  let { decision } = request;
  if (!isFresh) {
    const now = await recheck(request);
    // An answer to an earlier question may have answered this one of the rules; a tool's own is for a person.
    if (now.action === "deny" || decision.code !== "needs_approval") decision = now;
  }
  while (decision.action === "ask") {
    request.signal.throwIfAborted();
    const question = questionOf(request, decision, { given, canAlways: remember !== undefined });
    // A prompt that does not hear of the abort holds up nobody else.
    const reply: ApprovalReply = await orAborted(prompt.ask(question), request.signal);
    request.signal.throwIfAborted();
    wasShown = true;
    if (reply.choice === "once") return true;
    const rule = ruleOf(reply, question);
    const widens = reply.choice === "session" || (reply.choice === "always" && question.canAlways);
    if (!widens || rule === undefined) return refusalOf(reply);
    given.add(rule);
    const kept = session.accept(rule, reply.choice);
    if (kept !== undefined && remember !== undefined) await writeDown(kept, remember, prompt);
    decision = await recheck(request);
  }
  if (decision.action === "allow") {
    // A call that nobody was shown runs in the form that the rules allow: it was not asked about.
    if (wasShown) return true;
    return { approved: true, unasked: true, input: decision.input ?? request.input };
  }
  return { approved: false, ...defined({ reason: decision.reason }) };
}

/** The rule that a reply is about, of those that were offered. */
function ruleOf(reply: ApprovalReply, { rule, wider }: ApprovalQuestion): string | undefined {
  return "wider" in reply && reply.wider === true ? wider : rule;
}

/** The answer for a reply that allows nothing; one that is not known refuses too. */
function refusalOf(reply: ApprovalReply): ApprovalAnswer {
  if (reply.choice !== "no" && reply.choice !== "stop") return { approved: false };
  return { approved: false, ...reasonOf(reply), ...(reply.choice === "stop" ? { stop: true } : {}) };
}

function questionOf(
  { callId, parentCallId, name, agent, input, cwd, signal }: ApprovalRequest,
  { part, parts, reason, code, place, suggestion, wider }: GateDecision,
  { given, canAlways }: { readonly given: ReadonlySet<string>; readonly canAlways: boolean },
): ApprovalQuestion {
  // A rule that was accepted and did not help is not offered again.
  const rule =
    suggestion !== undefined && !given.has(suggestion) && isRule(suggestion) ? suggestion : undefined;
  const wide = rule !== undefined && wider !== undefined && isRule(wider) ? wider : undefined;
  return {
    callId,
    tool: name,
    input,
    reason: reason ?? "It needs approval.",
    cwd,
    ...defined({ parentCallId, agent, part, parts, code, place, rule, wider: wide }),
    canAlways: canAlways && rule !== undefined,
    signal,
  };
}

/** True when a text is read back as the one rule it shows. */
function isRule(text: string): boolean {
  try {
    const rules = parseRule(text, "allow");
    return rules.length === 1 && rules[0] !== undefined && ruleText(rules[0]) === text;
  } catch {
    // Too long, or of no form a rule can have: it cannot be offered.
    return false;
  }
}

function reasonOf({ reason }: { readonly reason?: string }): { readonly reason?: string } {
  const text = reason?.trim() ?? "";
  return text === "" ? {} : { reason: `the user said: ${text}` };
}

async function writeDown(
  rule: string,
  remember: (rule: string) => Promise<string>,
  prompt: ApprovalPrompt,
): Promise<void> {
  try {
    prompt.tell(`${rule} is written to ${await remember(rule)}`);
  } catch (error) {
    prompt.tell(
      `${rule} holds for this session only, because it could not be written down: ${errorMessage(error)}`,
    );
  }
}
