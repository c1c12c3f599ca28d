import { isRecord } from "../../core/base/json.ts";
import type { ToolInput } from "../../core/message/message.ts";
import { ASK_TOOL, type AskedQuestion, askForm } from "../../tools/ask-tool.ts";
import type { OfferedChoice, Question, QuestionReply } from "../../view/question.ts";
import { PLAN_TOOL } from "../../view/question-kind.ts";
import type { PlanDecision } from "./plan-tool.ts";

/** A question about a call that takes more than a yes or no. */
export interface AskedValue {
  readonly question: Pick<Question, "type" | "reason" | "choices" | "schema" | "options">;
  /** The input the call runs with after a reply; `undefined`: it is refused, and the run ends. */
  readonly inputAfter: (reply: QuestionReply) => ToolInput | undefined;
}

const CHOICES: readonly OfferedChoice[] = [{ choice: "no" }, { choice: "stop" }];

/** The value that a call asks a person for; `undefined` for one that may only be allowed or refused. */
export function askedValue(tool: string, input: ToolInput): AskedValue | undefined {
  if (tool === ASK_TOOL && Array.isArray(input["questions"]))
    return askedAnswers(input["questions"] as readonly AskedQuestion[]);
  if (tool === PLAN_TOOL && typeof input["plan"] === "string") return askedPlan(input["plan"]);
  return undefined;
}

function askedAnswers(questions: readonly AskedQuestion[]): AskedValue {
  return {
    question: { type: "elicitation", reason: "", choices: CHOICES, schema: askForm(questions) },
    inputAfter: (reply) => {
      if ("value" in reply) return { questions, answers: isRecord(reply.value) ? reply.value : {} };
      return reply.choice === "stop" ? undefined : { questions, answers: {} };
    },
  };
}

const STARTS: NonNullable<Question["options"]> = [
  { value: "auto", label: "Start in auto" },
  { value: "default", label: "Start in ask" },
];

function askedPlan(plan: string): AskedValue {
  const decided = (decision: PlanDecision): ToolInput => ({ plan, ...decision });
  return {
    question: { type: "choice", reason: "", choices: CHOICES, options: STARTS },
    inputAfter: (reply) => {
      if ("value" in reply) return decided({ decision: reply.value === "auto" ? "auto" : "default" });
      return decided(reply.choice === "stop" ? { decision: "keep" } : { changes: reply.reason ?? "" });
    },
  };
}
