import { Agent } from "../agent/agent.ts";
import { type AgentOptions, assertPatternOptions } from "../agent/options.ts";
import { endingOf } from "../core/agent/perform.ts";
import type { RunResult } from "../core/agent/result.ts";
import { beforeTurn, type Run } from "../core/agent/run.ts";
import { assertChoice, assertCount, assertKnown, assertType } from "../core/base/check-option.ts";
import { ToolRegistry } from "../core/tool/tool.ts";
import { isVerdict, saysNoImprovement, VERDICT_TOOL, verdictTool } from "./improvement-verdict.ts";
import { Phases, standsAtQuestion } from "./phases.ts";

/** One entry of {@link ReflectionAgent.memory}: an attempt at the task, or what was thought of it. */
export interface ReflectionRecord {
  readonly type: "execution" | "reflection";
  readonly content: string;
}

/** The three phases' requests. `task`: the question; `result`: the last attempt; `feedback` on it. */
export interface ReflectionPrompts {
  readonly execute: (context: { readonly task: string }) => string;
  readonly reflect: (context: { readonly task: string; readonly result: string }) => string;
  readonly refine: (context: {
    readonly task: string;
    readonly result: string;
    readonly feedback: string;
  }) => string;
}

/** How a {@link ReflectionAgent} is made. `maxIterations` holds for each phase, budgets for the whole. */
export interface ReflectionAgentOptions extends AgentOptions {
  /** Rounds of reflecting and refining, from 0. Default 3. */
  readonly maxRounds?: number;
  /**
   * How a reflection says that the answer is good. `text`: by the phrase `no need for improvement` or `无需改进`.
   * `structured`: by a tool `give_verdict { needs_improvement, feedback }` that it is told to call; one that
   * answers in words all the same is taken by them. Default `text`.
   */
  readonly verdict?: "text" | "structured";
  /** Replaces the requests of single phases. */
  readonly prompts?: Partial<ReflectionPrompts>;
}

/**
 * Does the task, reflects on the result, refines it, until a reflection finds nothing to improve or the
 * rounds are used up; the last attempt is the answer. Every phase is a nested run with the agent's tools: the
 * conversation keeps the task and the answer.
 */
export class ReflectionAgent extends Agent {
  readonly #maxRounds: number;
  readonly #verdict: "text" | "structured";
  readonly #prompts: ReflectionPrompts;
  #memory: ReflectionRecord[] = [];

  /** Throws `invalid_argument` for options that cannot work. */
  constructor(options: ReflectionAgentOptions) {
    const { maxRounds = 3, verdict = "text", prompts, ...own } = options;
    assertPatternOptions(own, ["maxRounds", "verdict", "prompts"]);
    assertChoice("verdict", verdict, ["text", "structured"]);
    assertKnown(prompts ?? {}, Object.keys(DEFAULT_PROMPTS), "prompt");
    for (const [name, prompt] of Object.entries(prompts ?? {}))
      assertType(`prompts.${name}`, prompt, "function");
    super(own);
    this.#maxRounds = assertCount("maxRounds", maxRounds, 0);
    this.#verdict = verdict;
    this.#prompts = { ...DEFAULT_PROMPTS, reflect: reflectPrompt(verdict), ...prompts };
  }

  /** Attempts and reflections of the newest run, in order. */
  get memory(): readonly ReflectionRecord[] {
    return this.#memory;
  }

  override async conduct(run: Run): Promise<RunResult> {
    this.#memory = [];
    if (!standsAtQuestion(run)) return super.conduct(run);
    await beforeTurn(run);
    const phases = new Phases(run);
    const task = phases.question;
    const execution = {
      tools: run.tools,
      finishTool: run.until.finishTool,
      toolChoice: run.until.toolChoice,
    };
    let last = await phases.run({ phase: "initial_execution" }, this.#prompts.execute({ task }), execution);
    if (!phases.canGoOnFrom(last)) return phases.end(endingOf(last));
    this.#remember("execution", last.text);
    for (let round = 1; round <= this.#maxRounds; round++) {
      const result = last.text;
      const reflection = await this.#reflect(phases, { round, task, result });
      if (reflection.type === "stopped") {
        const ending = endingOf(reflection.last, result);
        return phases.end(last.output === undefined ? ending : { ...ending, output: last.output });
      }
      const { feedback } = reflection;
      if (feedback !== "") this.#remember("reflection", feedback);
      if (!reflection.goOn) break;
      const prompt = this.#prompts.refine({ task, result, feedback });
      const refined = await phases.run({ phase: "refinement", round }, prompt, execution);
      if (!phases.canGoOnFrom(refined)) return phases.end(endingOf(refined, refined.text || result));
      // A model that says nothing has nothing better to offer.
      if (refined.text.trim() === "") break;
      this.#remember("execution", refined.text);
      last = refined;
    }
    return phases.end(endingOf(last));
  }

  async #reflect(
    phases: Phases,
    work: { readonly round: number; readonly task: string; readonly result: string },
  ): Promise<
    | { readonly type: "reflected"; readonly feedback: string; readonly goOn: boolean }
    | { readonly type: "stopped"; readonly last: RunResult }
  > {
    const { round, task, result } = work;
    const structured = this.#verdict === "structured";
    const last = await phases.run({ phase: "reflection", round }, this.#prompts.reflect({ task, result }), {
      tools: structured ? new ToolRegistry([...this.tools.list(), verdictTool()]) : this.tools,
      finishTool: undefined,
    });
    const feedback = last.text;
    if (structured && isVerdict(last.output))
      return { type: "reflected", feedback, goOn: last.output.needs_improvement };
    if (!phases.canGoOnFrom(last)) return { type: "stopped", last };
    return {
      type: "reflected",
      feedback,
      goOn: feedback.trim() !== "" && !saysNoImprovement(feedback),
    };
  }

  #remember(type: ReflectionRecord["type"], content: string): void {
    this.#memory.push({ type, content });
  }
}

/** How each kind of verdict is asked for. */
const ASK_FOR_VERDICT = {
  text: 'Say what is wrong or missing, and how to improve it. If the answer is good as it is, reply "no need for improvement".',
  structured: `Then call ${VERDICT_TOOL}: say what is wrong or missing and how to improve it, or that the answer is good as it is.`,
} as const;

function reflectPrompt(verdict: keyof typeof ASK_FOR_VERDICT): ReflectionPrompts["reflect"] {
  return ({ task, result }) =>
    [
      "Examine this answer and look for mistakes and for what could be better.",
      `# Task\n${task}`,
      `# Answer\n${result}`,
      ASK_FOR_VERDICT[verdict],
    ].join("\n\n");
}

const DEFAULT_PROMPTS: ReflectionPrompts = {
  execute: ({ task }) => `Do the following task:\n\n${task}`,
  reflect: reflectPrompt("text"),
  refine: ({ task, result, feedback }) =>
    [
      "Improve your answer by this feedback.",
      `# Task\n${task}`,
      `# Last answer\n${result}`,
      `# Feedback\n${feedback}`,
      "Give the improved answer, whole and on its own.",
    ].join("\n\n"),
};
