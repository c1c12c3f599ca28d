/** A step that was carried out. */
export interface FinishedStep {
  readonly step: string;
  /** Its result; empty when the model said nothing. */
  readonly result: string;
}

/** The facts the planner is told. */
export interface PlannerContext {
  readonly question: string;
  /** Steps carried out under an earlier plan; empty for the first. */
  readonly finished: readonly FinishedStep[];
  /** Why a new plan is needed; absent for the first. */
  readonly failure?: string;
}

/** The facts the executor is told about a step. */
export interface ExecutorContext {
  readonly question: string;
  /** The whole plan, finished steps included. */
  readonly plan: readonly string[];
  readonly finished: readonly FinishedStep[];
  readonly step: string;
}

/** The facts the synthesis is told. */
export interface SynthesisContext {
  readonly question: string;
  readonly finished: readonly FinishedStep[];
}

/** The default request for a plan. */
export function plannerPrompt({ question, finished, failure }: PlannerContext): string {
  const task = `Make a plan, step by step, that solves this:\n\n${question}\n\nEach step must be something that can be done on its own. Give the steps by calling generate_plan.`;
  if (failure === undefined) return task;
  return `${task}\n\nAn earlier plan went as far as this:\n${formatSteps(finished)}\n\nThen a step failed:\n${failure}\n\nPlan only what is still to be done.`;
}

/** The default request for one step. */
export function executorPrompt({ question, plan, finished, step }: ExecutorContext): string {
  return [
    `# Question\n${question}`,
    `# Plan\n${formatPlan(plan)}`,
    `# Finished steps and their results\n${formatSteps(finished)}`,
    `# Current step\n${step}`,
    "Carry out the current step, and only that, and give its result.",
  ].join("\n\n");
}

/** The default request for the final answer. */
export function synthesisPrompt({ question, finished }: SynthesisContext): string {
  return [
    `# Question\n${question}`,
    `# Steps and their results\n${formatSteps(finished)}`,
    "Answer the question from these results.",
  ].join("\n\n");
}

/** A plan as a numbered list. */
export function formatPlan(plan: readonly string[]): string {
  return plan.map((step, at) => `${at + 1}. ${step}`).join("\n");
}

/** Finished steps with what they came to; `none` when there are none. */
export function formatSteps(finished: readonly FinishedStep[]): string {
  if (finished.length === 0) return "none";
  return finished
    .map(
      ({ step, result }, at) => `Step ${at + 1}: ${step}\nResult: ${result === "" ? "(no result)" : result}`,
    )
    .join("\n\n");
}
