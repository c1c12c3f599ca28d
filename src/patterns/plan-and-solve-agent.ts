import { Agent } from "../agent/agent.ts";
import { type AgentOptions, patternOptions } from "../agent/options.ts";
import { endingOf } from "../core/agent/perform.ts";
import type { Ending, RunResult } from "../core/agent/result.ts";
import { beforeTurn, type Run } from "../core/agent/run.ts";
import { checkOptions } from "../core/base/check-options.ts";
import { NanoAgentError } from "../core/base/errors.ts";
import { isRecord, omitUndefined, safeParse } from "../core/base/json.ts";
import { pluralize } from "../core/base/text.ts";
import { defineTool, type Tool, ToolRegistry } from "../core/tool/tool.ts";
import { errorResult } from "../core/tool/tool-output.ts";
import { endsWithQuestion, Phases } from "./phases.ts";

/** A step that was carried out. */
export interface FinishedStep {
  readonly step: string;
  /** Its result; empty if the model said nothing. */
  readonly result: string;
}

/** The planner's input. */
export interface PlannerContext {
  readonly question: string;
  /** Steps carried out under earlier plans; empty for the first plan. */
  readonly finished: readonly FinishedStep[];
  /** Why a new plan is needed; absent for the first. */
  readonly failure?: string;
}

/** The executor's input for a step. */
export interface ExecutorContext {
  readonly question: string;
  /** The whole plan, finished steps included. */
  readonly plan: readonly string[];
  readonly finished: readonly FinishedStep[];
  readonly step: string;
}

/** The input of the synthesis. */
export interface SynthesisContext {
  readonly question: string;
  readonly finished: readonly FinishedStep[];
}

const NO_PLAN = "I could not make a plan for this, so nothing was done.";

/** Options of a {@link PlanAndSolveAgent}. `maxIterations` applies to each step, budgets to the whole run. */
export interface PlanAndSolveAgentOptions extends AgentOptions {
  /** True composes the answer from all results; false uses the last step's. Default false. */
  readonly synthesize?: boolean;
  /**
   * How many new plans a run may make after a failed step, from 0. A step fails if it uses up its model
   * requests, or if the model calls `step_failed { reason }`, which is offered while new plans are left.
   * Default 0.
   */
  readonly maxReplans?: number;
  /** Maximum steps of a plan, from 1; a longer plan goes back to the model once. Default 50. */
  readonly maxSteps?: number;
  /** The answer if there is no usable plan. Default: one English sentence. */
  readonly noPlanAnswer?: string;
  /** The request for a plan. */
  readonly plannerPrompt?: (context: PlannerContext) => string;
  /** The request for one step. */
  readonly executorPrompt?: (context: ExecutorContext) => string;
  /** The request for the final answer, with `synthesize`. */
  readonly synthesisPrompt?: (context: SynthesisContext) => string;
}

type PlanSettings = Required<Omit<PlanAndSolveAgentOptions, keyof AgentOptions>>;

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

/** Model requests per round of planning: the plan, and a second attempt if it had too many steps. */
const PLANNER_ITERATIONS = 2;

type Execution =
  | { readonly type: "done"; readonly last: RunResult }
  | { readonly type: "stopped"; readonly last: RunResult }
  | { readonly type: "failed"; readonly failure: string };

/**
 * Makes a plan, then carries out its steps one after the other, each in a loop of its own that knows the
 * question, the plan and earlier results. Plan and steps are nested runs: the conversation keeps only
 * question and answer.
 */
export class PlanAndSolveAgent extends Agent {
  readonly #plan: PlanSettings;

  /** Throws `invalid_argument` for invalid options. */
  constructor(options: PlanAndSolveAgentOptions) {
    checkOptions(options, OPTIONS);
    const { synthesize = false, maxReplans = 0, maxSteps = 50, noPlanAnswer = NO_PLAN, ...rest } = options;
    const { plannerPrompt = planPrompt, executorPrompt = stepPrompt, ...others } = rest;
    const { synthesisPrompt = answerPrompt, ...own } = others;
    super(own);
    const prompts = { plannerPrompt, executorPrompt, synthesisPrompt };
    this.#plan = { synthesize, maxReplans, maxSteps, noPlanAnswer, ...prompts };
  }

  override async conduct(run: Run): Promise<RunResult> {
    if (!endsWithQuestion(run)) return super.conduct(run);
    await beforeTurn(run);
    const phases = new Phases(run);
    const finished: FinishedStep[] = [];
    let failure: string | undefined;
    for (let round = 1; ; round++) {
      const planned = await this.#makePlan(phases, round, finished, failure);
      if ("stopReason" in planned)
        return phases.end({ ...planned, text: lastText(finished) || (planned.text ?? "") });
      const canReplan = round <= this.#plan.maxReplans;
      const executed = await this.#execute(run, phases, finished, canReplan, planned.steps);
      if (executed.type === "stopped")
        return phases.end(endingOf(executed.last, lastText(finished, executed.last.text)));
      if (executed.type === "done") return this.#answer(run, phases, finished, executed.last);
      failure = executed.failure;
    }
  }

  /** The steps to do, or how the run ends without them. */
  async #makePlan(
    phases: Phases,
    round: number,
    finished: readonly FinishedStep[],
    failure: string | undefined,
  ): Promise<{ readonly steps: readonly string[] } | Ending> {
    const { maxSteps, noPlanAnswer } = this.#plan;
    const context = { question: phases.question, finished, ...omitUndefined({ failure }) };
    let excessCount = 0;
    const tool = planTool(maxSteps, (count) => {
      excessCount = count;
    });
    const result = await phases.run({ phase: "planning", round }, this.#plan.plannerPrompt(context), {
      tools: new ToolRegistry([tool]),
      toolChoice: { type: "tool", name: tool.name },
      maxIterations: PLANNER_ITERATIONS,
      onMaxIterations: "last",
    });
    if (result.stopReason !== "max_iterations" && !phases.canContinueAfter(result)) return endingOf(result);
    const steps = Array.isArray(result.output) ? cleanSteps(result.output) : parsePlan(result.text);
    if (steps.length > 0 && steps.length <= maxSteps) return { steps };
    const count = steps.length === 0 ? excessCount : steps.length;
    const reason =
      count === 0
        ? `The model made no plan of 1 to ${maxSteps} steps. Ask for something that takes steps, or use a model that follows tool calls.`
        : `The model's plan has ${count} steps, which is more than ${maxSteps}. Raise maxSteps, or ask for less at once.`;
    const error = new NanoAgentError("invalid_response", reason, { details: { maxSteps } });
    return { stopReason: "error", text: noPlanAnswer, error };
  }

  async #execute(
    run: Run,
    phases: Phases,
    finished: FinishedStep[],
    canReplan: boolean,
    steps: readonly string[],
  ): Promise<Execution> {
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
        tools: canReplan ? new ToolRegistry([...tools.list(), failed]) : tools,
        finishTool: withValue ? run.until.finishTool : undefined,
        toolChoice: run.until.toolChoice,
      });
      if (canReplan && last.stopReason === "max_iterations") failure ??= "Its model requests were used up.";
      if (failure !== undefined) return { type: "failed", failure: `${step}\n${failure}` };
      if (!phases.canContinueAfter(last)) return { type: "stopped", last };
      finished.push({ step, result: last.text });
      if (isLast) return { type: "done", last };
    }
  }

  async #answer(
    run: Run,
    phases: Phases,
    finished: readonly FinishedStep[],
    last: RunResult,
  ): Promise<RunResult> {
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

function planPrompt({ question, finished, failure }: PlannerContext): string {
  const task = `Make a plan, step by step, that solves this:\n\n${question}\n\nEach step must be something that can be done on its own. Give the steps by calling generate_plan.`;
  if (failure === undefined) return task;
  return `${task}\n\nAn earlier plan got this far:\n${formatSteps(finished)}\n\nThen a step failed:\n${failure}\n\nPlan only what is still to be done.`;
}

function stepPrompt({ question, plan, finished, step }: ExecutorContext): string {
  return [
    `# Question\n${question}`,
    `# Plan\n${formatPlan(plan)}`,
    `# Finished steps and their results\n${formatSteps(finished)}`,
    `# Current step\n${step}`,
    "Carry out the current step, and only that, and give its result.",
  ].join("\n\n");
}

function answerPrompt({ question, finished }: SynthesisContext): string {
  return [
    `# Question\n${question}`,
    `# Steps and their results\n${formatSteps(finished)}`,
    "Answer the question from these results.",
  ].join("\n\n");
}

function formatPlan(plan: readonly string[]): string {
  return plan.map((step, at) => `${at + 1}. ${step}`).join("\n");
}

function formatSteps(finished: readonly FinishedStep[]): string {
  if (finished.length === 0) return "none";
  return finished
    .map(
      ({ step, result }, at) => `Step ${at + 1}: ${step}\nResult: ${result === "" ? "(no result)" : result}`,
    )
    .join("\n\n");
}

/** `text`, or if it is empty the newest result that is not. */
function lastText(finished: readonly FinishedStep[], text = ""): string {
  return text === "" ? (finished.findLast(({ result }) => result !== "")?.result ?? "") : text;
}

/** The tool by which the planner delivers its steps; they become its output unless there are too many. */
function planTool(maxSteps: number, onTooMany: (count: number) => void): Tool {
  return defineTool({
    name: "generate_plan",
    description: "Gives the plan that solves the task, step by step.",
    parameters: {
      type: "object",
      properties: {
        steps: {
          type: "array",
          items: { type: "string" },
          description: `The steps in the order in which they are done, at most ${maxSteps}.`,
        },
      },
      required: ["steps"],
    },
    readOnly: true,
    execute: ({ steps }) => {
      const clean = cleanSteps(steps);
      if (clean.length > maxSteps) {
        onTooMany(clean.length);
        return errorResult(
          `The plan has ${pluralize(clean.length, "step")}, which is more than ${maxSteps}. Join steps, and give the whole plan again.`,
        );
      }
      const text = formatPlan(clean);
      return { content: text, title: pluralize(clean.length, "step"), finish: { text, output: clean } };
    },
  });
}

function stepFailedTool(onFailure: (reason: string) => void): Tool {
  return defineTool({
    name: "step_failed",
    description: "Gives the current step up when it cannot be done; a new plan will be made.",
    parameters: {
      type: "object",
      properties: { reason: { type: "string", description: "What was tried and why it cannot work." } },
      required: ["reason"],
    },
    readOnly: true,
    execute: ({ reason }) => {
      onFailure(reason);
      return { content: reason, finish: { text: reason } };
    },
  });
}

const CHINESE_NUMBER = "[一二三四五六七八九十百]+";
/** `1.`, `2)`, `3、`, `(4)`, `**5.**`, `Step 6:`, `步骤 7：`, `第八步：`, `⑨`. */
const NUMBERED = new RegExp(
  `^(?:#+ +)?(?:\\*\\*)?(?:[(（]?\\d{1,4}(?:[.)、）](?!\\d)|[:：])|(?:step|步骤) {0,2}(?:\\d{1,4}|${CHINESE_NUMBER}) {0,2}[:：.、]|第 {0,2}(?:\\d{1,4}|${CHINESE_NUMBER}) {0,2}步 {0,2}[:：.、,，]?|${CHINESE_NUMBER}、|[①-⑳])(?:\\*\\*)?\\s*`,
  "i",
);
const BULLET = /^[-*+•]\s+/;
/** Maximum characters that are parsed. */
const MAX_TEXT = 100_000;

/**
 * Parses a plan a model wrote as text: a JSON array of strings, or an object with one as `steps`; otherwise a
 * numbered list, a bulleted list, or an array of strings within other text. Indented lines and nested bullets
 * belong to the item above; text around the list is ignored. Empty if there is no list.
 */
export function parsePlan(text: string): readonly string[] {
  const bounded = text.slice(0, MAX_TEXT);
  const json = stepsFromJson(bounded);
  if (json !== undefined) return json;
  const lines = bounded.split(/\r\n|[\n\r\u2028\u2029]/);
  const numbered = listItems(lines, NUMBERED);
  if (numbered.length > 0) return numbered;
  const bullets = listItems(lines, BULLET);
  return bullets.length > 0 ? bullets : stepsFromArray(bounded);
}

function stepsFromJson(text: string): readonly string[] | undefined {
  const fenced = /```[a-z]*\s([\s\S]*?)```/i.exec(text)?.[1] ?? text;
  const parsed = safeParse(fenced);
  if (!parsed.ok) return undefined;
  const steps = isRecord(parsed.value) ? parsed.value["steps"] : parsed.value;
  return Array.isArray(steps) ? cleanSteps(steps) : undefined;
}

/** The steps of an array of strings within other text. */
function stepsFromArray(text: string): readonly string[] {
  const from = text.search(/\[\s*"/);
  return from < 0 ? [] : (stepsFromJson(text.slice(from, text.lastIndexOf("]") + 1)) ?? []);
}

/** The strings among `steps`, trimmed, without empty ones. */
function cleanSteps(steps: readonly unknown[]): readonly string[] {
  return steps.flatMap((step) => (typeof step === "string" && step.trim() !== "" ? [step.trim()] : []));
}

function listItems(lines: readonly string[], marker: RegExp): readonly string[] {
  const items: string[] = [];
  /** True if the next line may belong to the last item: after a blank line only an indented one does. */
  let open = false;
  for (const line of lines) {
    const isIndented = /^\s/.test(line);
    const text = line.trim();
    const match = isIndented && items.length > 0 ? null : marker.exec(text);
    if (match !== null) {
      items.push(text.slice(match[0].length));
      open = true;
    } else if (text === "") {
      open = false;
    } else if (items.length > 0 && (isIndented || (open && BULLET.test(text)))) {
      items.push(`${items.pop() ?? ""}\n${text}`);
    }
  }
  return cleanSteps(items);
}
