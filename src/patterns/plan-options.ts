import { type AgentOptions, patternOptions } from "../agent/options.ts";
import { checkOptions } from "../core/base/check.ts";
import {
  type ExecutorContext,
  executorPrompt,
  type PlannerContext,
  plannerPrompt,
  type SynthesisContext,
  synthesisPrompt,
} from "./plan-prompts.ts";

const NO_PLAN = "I could not make a plan for this, so nothing was done.";

/**
 * How a {@link import("./plan-and-solve-agent.ts").PlanAndSolveAgent} is made. `maxIterations` holds for each
 * step, budgets for the whole.
 */
export interface PlanAndSolveAgentOptions extends AgentOptions {
  /** True asks for an answer made from all results; false takes the last step's. Default false. */
  readonly synthesize?: boolean;
  /**
   * New plans one run may make after a step failed, from 0. A step fails when its model requests are used up,
   * or when the model says so by a tool `step_failed { reason }` it has while a new plan is left. Default 0.
   */
  readonly maxReplans?: number;
  /** Steps of a plan, from 1; what is longer goes back to the model once. Default 50. */
  readonly maxSteps?: number;
  /** Text of the answer when there is no usable plan. Default: one English sentence. */
  readonly noPlanAnswer?: string;
  /** The request for a plan. */
  readonly plannerPrompt?: (context: PlannerContext) => string;
  /** The request for one step. */
  readonly executorPrompt?: (context: ExecutorContext) => string;
  /** The request for the final answer, with `synthesize`. */
  readonly synthesisPrompt?: (context: SynthesisContext) => string;
}

/** The settings of the pattern, with the defaults filled in. */
export type PlanSettings = Required<Omit<PlanAndSolveAgentOptions, keyof AgentOptions>>;

const PROMPT = { "x-function": true } as const;
const OPTIONS = patternOptions<PlanAndSolveAgentOptions>({
  synthesize: { type: "boolean" },
  maxReplans: { type: "integer", minimum: 0 },
  maxSteps: { type: "integer", minimum: 1 },
  noPlanAnswer: { type: "string" },
  plannerPrompt: PROMPT,
  executorPrompt: PROMPT,
  synthesisPrompt: PROMPT,
});

/** The options of the pattern, with defaults, and of every agent. Throws `invalid_argument`. */
export function planOptions(options: PlanAndSolveAgentOptions): {
  readonly plan: PlanSettings;
  readonly own: AgentOptions;
} {
  checkOptions(options, OPTIONS);
  const { synthesize, maxReplans, maxSteps, noPlanAnswer, ...rest } = options;
  const { plannerPrompt: planner, executorPrompt: executor, synthesisPrompt: synthesis, ...own } = rest;
  const plan: PlanSettings = {
    synthesize: synthesize ?? false,
    maxReplans: maxReplans ?? 0,
    maxSteps: maxSteps ?? 50,
    noPlanAnswer: noPlanAnswer ?? NO_PLAN,
    plannerPrompt: planner ?? plannerPrompt,
    executorPrompt: executor ?? executorPrompt,
    synthesisPrompt: synthesis ?? synthesisPrompt,
  };
  return { plan, own };
}
