import { Agent } from "../agent/agent.ts";
import { endingOf } from "../core/agent/perform.ts";
import type { Ending, RunResult } from "../core/agent/result.ts";
import { beforeTurn, type Run } from "../core/agent/run.ts";
import { defined } from "../core/base/defined.ts";
import { NanoAgentError } from "../core/base/errors.ts";
import { ToolRegistry } from "../core/tool/tool.ts";
import { cleanSteps, parsePlan } from "./parse-plan.ts";
import { Phases, standsAtQuestion } from "./phases.ts";
import { type PlanAndSolveAgentOptions, type PlanSettings, planOptions } from "./plan-options.ts";
import type { FinishedStep } from "./plan-prompts.ts";
import { planTool, stepFailedTool } from "./plan-tools.ts";

/** Model requests one round of planning may make: the plan, and a second try when it had too many steps. */
const PLANNER_ITERATIONS = 2;

/** Where the execution of a plan came to. */
type Execution =
  | { readonly type: "done"; readonly last: RunResult }
  | { readonly type: "stopped"; readonly last: RunResult }
  | { readonly type: "failed"; readonly failure: string };

/**
 * Plans first, then carries out one step after the other, each with a loop and tools of its own, knowing the
 * question, the plan and earlier results. Plan and steps are nested runs: the conversation keeps the question
 * and the answer.
 */
export class PlanAndSolveAgent extends Agent {
  readonly #plan: PlanSettings;

  /** Throws `invalid_argument` for options that cannot work. */
  constructor(options: PlanAndSolveAgentOptions) {
    const { plan, own } = planOptions(options);
    super(own);
    this.#plan = plan;
  }

  override async conduct(run: Run): Promise<RunResult> {
    if (!standsAtQuestion(run)) return super.conduct(run);
    await beforeTurn(run);
    const phases = new Phases(run);
    const finished: FinishedStep[] = [];
    let failure: string | undefined;
    for (let round = 1; ; round++) {
      const planned = await this.#makePlan(phases, { round, finished, failure });
      if ("stopReason" in planned)
        return phases.end({ ...planned, text: lastText(finished) || (planned.text ?? "") });
      const mayFail = round <= this.#plan.maxReplans;
      const executed = await this.#execute({ run, phases, finished, mayFail }, planned.steps);
      if (executed.type === "stopped")
        return phases.end(endingOf(executed.last, lastText(finished, executed.last.text)));
      if (executed.type === "done") return this.#answer({ run, phases, finished }, executed.last);
      failure = executed.failure;
    }
  }

  /** The steps to do, or how the run ends without them. */
  async #makePlan(
    phases: Phases,
    work: {
      readonly round: number;
      readonly finished: readonly FinishedStep[];
      readonly failure: string | undefined;
    },
  ): Promise<{ readonly steps: readonly string[] } | Ending> {
    const { round, finished, failure } = work;
    const { maxSteps, noPlanAnswer } = this.#plan;
    const context = { question: phases.question, finished, ...defined({ failure }) };
    let tooMany = 0;
    const tool = planTool(maxSteps, (count) => {
      tooMany = count;
    });
    const result = await phases.run({ phase: "planning", round }, this.#plan.plannerPrompt(context), {
      tools: new ToolRegistry([tool]),
      toolChoice: { type: "tool", name: tool.name },
      maxIterations: PLANNER_ITERATIONS,
      onMaxIterations: "last",
    });
    if (result.stopReason !== "max_iterations" && !phases.canGoOnFrom(result)) return endingOf(result);
    const steps = Array.isArray(result.output) ? cleanSteps(result.output) : parsePlan(result.text);
    if (steps.length > 0 && steps.length <= maxSteps) return { steps };
    const count = steps.length === 0 ? tooMany : steps.length;
    const why =
      count === 0
        ? `The model made no plan of 1 to ${maxSteps} steps. Ask for something that takes steps, or use a model that follows tool calls.`
        : `The model's plan has ${count} steps, which is more than ${maxSteps}. Raise maxSteps, or ask for less at once.`;
    const error = new NanoAgentError("invalid_response", why, { details: { maxSteps } });
    return { stopReason: "error", text: noPlanAnswer, error };
  }

  async #execute(
    work: {
      readonly run: Run;
      readonly phases: Phases;
      readonly finished: FinishedStep[];
      readonly mayFail: boolean;
    },
    steps: readonly string[],
  ): Promise<Execution> {
    const { run, phases, finished, mayFail } = work;
    const plan = [...finished.map(({ step }) => step), ...steps];
    for (;;) {
      const step = plan[finished.length] ?? "";
      let failure: string | undefined;
      const failed = stepFailedTool((reason) => {
        failure = reason;
      });
      const isLast = finished.length === plan.length - 1;
      const withValue = isLast && !this.#plan.synthesize && run.until.finishTool !== undefined;
      const tools = withValue ? run.tools : this.tools;
      const prompt = this.#plan.executorPrompt({ question: phases.question, plan, finished, step });
      const last = await phases.run({ phase: "execution", step: finished.length + 1, plan }, prompt, {
        tools: mayFail ? new ToolRegistry([...tools.list(), failed]) : tools,
        finishTool: withValue ? run.until.finishTool : undefined,
        toolChoice: run.until.toolChoice,
      });
      if (mayFail && last.stopReason === "max_iterations") failure ??= "Its model requests were used up.";
      if (failure !== undefined) return { type: "failed", failure: `${step}\n${failure}` };
      if (!phases.canGoOnFrom(last)) return { type: "stopped", last };
      finished.push({ step, result: last.text });
      if (isLast) return { type: "done", last };
    }
  }

  async #answer(
    work: { readonly run: Run; readonly phases: Phases; readonly finished: readonly FinishedStep[] },
    last: RunResult,
  ): Promise<RunResult> {
    const { run, phases, finished } = work;
    if (!this.#plan.synthesize) return phases.end(endingOf(last, lastText(finished)));
    const finish = run.until.finishTool === undefined ? undefined : run.tools.get(run.until.finishTool);
    const prompt = this.#plan.synthesisPrompt({ question: phases.question, finished });
    const answer = await phases.run({ phase: "final_answer" }, prompt, {
      tools: new ToolRegistry(finish === undefined ? [] : [finish]),
      finishTool: finish?.name,
    });
    return phases.end(endingOf(answer, lastText(finished, answer.text)));
  }
}

/** `text`, or where it is empty the newest result that is not. */
function lastText(finished: readonly FinishedStep[], text = ""): string {
  return text === "" ? (finished.findLast(({ result }) => result !== "")?.result ?? "") : text;
}
