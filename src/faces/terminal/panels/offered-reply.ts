import { defined } from "../../../core/base/json.ts";
import type { Question, QuestionReply } from "../../../view/question.ts";

/** The reply that an answer of a question stands for, by its place in the list that is shown, from 0. */
export function offeredReply(question: Question, index: number): QuestionReply | undefined {
  const { options = [], choices } = question;
  const option = options[index];
  if (option !== undefined) return { value: option.value };
  const offered = choices.filter(({ choice }) => choice !== "stop")[index - options.length];
  return offered && { choice: offered.choice, ...defined({ rule: offered.rule }) };
}
