import { Agent } from "../agent/agent.ts";
import { type AgentOptions, patternOptions } from "../agent/options.ts";
import { endingOf } from "../core/agent/perform.ts";
import type { RunResult } from "../core/agent/result.ts";
import { beforeTurn, type Run } from "../core/agent/run.ts";
import { checkOptions } from "../core/base/check-options.ts";
import { isRecord } from "../core/base/json.ts";
import { defineTool, type Tool, ToolRegistry } from "../core/tool/tool.ts";
import { endsWithQuestion, Phases } from "./phases.ts";

const PHRASE = /[无無][需须須]改[进進]|no\s+need\s+for\s+improvement/giu;
/** Ends of clauses: a negation before them does not apply after them. */
const CLAUSE_END = /[.。!！?？;；,，:：\n]|\b(?:but|however|though|although|so)\b|但是?|不过|所以|因此/giu;
/** Words that negate the phrase if they stand before it in the same clause. */
const NEGATION =
  /\b(?:not|never|cannot|hardly|far\s+from|nor|deny)\b|n['’]t\b|不是|[并並绝而]非|不能说|不可说|不会说|不算|不等于|不意味|不认为|不觉得|不代表|未达到|没有达到|没达到|谈不上|远非|远未|尚未|还未|很难说|难说/iu;
/** Ends of sentences: a condition covers a whole sentence. */
const SENTENCE_END = /[.。!！?？;；\n]/gu;
/** Words before the phrase that make it a wish or a condition. */
const CONDITION =
  /\b(?:if|once|unless|until|when|only)\b|\bwould\b(?!\s+say)|如果|假如|假设|若(?!干)|只要|除非|等到|直到|才(?:能|会|算|可)?(?:说|是)?$/iu;
/** Words after it that still ask for a change. */
const REQUEST_AFTER =
  /^[^.。!！?？;；\n]{0,40}?(?:\b(?:but|however|except|although|though)\b|但是?|不过|然而|只是|除了)[^.。!！?？;；\n]{0,80}?(?:\b(?:needs?|must|should|fix|add|remove|correct|missing|wrong)\b|需要|应该?|必须|补充|修改|改进|缺|错)/iu;
/** Words after the phrase that turn it into a question or a refusal. */
const RETRACTION =
  /^["'”’」』)）\s]*(?:[?？]|(?:is|would be|was)\s+(?:not|wrong|false|too)|的?(?:说法|结论|判断)?(?:不成立|是错|并不))/iu;

/**
 * True if a reflection says that nothing needs improvement: it contains `无需改进` or `no need for improvement`
 * (in any case) at least once without a negation in the clause, a condition in the sentence, or a later
 * request for changes. In doubt there is one more round. Words can be misread; a structured verdict cannot.
 */
export function saysNoImprovement(text: string): boolean {
  for (const match of text.matchAll(PHRASE)) {
    const before = text.slice(Math.max(0, match.index - 200), match.index);
    const after = text.slice(match.index + match[0].length, match.index + match[0].length + 160);
    const isNegated = NEGATION.test(afterLast(CLAUSE_END, before)) || RETRACTION.test(after);
    if (isNegated || CONDITION.test(afterLast(SENTENCE_END, before)) || REQUEST_AFTER.test(after)) continue;
    return true;
  }
  return false;
}

function afterLast(end: RegExp, text: string): string {
  let from = 0;
  for (const match of text.matchAll(end)) from = match.index + match[0].length;
  return text.slice(from);
}

/** The value delivered by the tool of a structured verdict. */
interface Verdict {
  readonly needs_improvement: boolean;
  readonly feedback: string;
}

function isVerdict(output: unknown): output is Verdict {
  return isRecord(output) && typeof output["needs_improvement"] === "boolean";
}

const VERDICT_TOOL = "give_verdict";

/** The tool by which a reflection delivers its {@link Verdict}, which becomes the output of its run. */
function verdictTool(): Tool {
  return defineTool({
    name: VERDICT_TOOL,
    description: "Gives your judgement of the answer.",
    parameters: {
      type: "object",
      properties: {
        needs_improvement: { type: "boolean", description: "False when the answer is good as it is." },
        feedback: { type: "string", description: "What is wrong or missing, and how to improve it." },
      },
      required: ["needs_improvement", "feedback"],
    },
    readOnly: true,
    execute: (verdict) => ({
      content: verdict.feedback,
      finish: { text: verdict.feedback, output: verdict },
    }),
  });
}

/** One entry of {@link ReflectionAgent.memory}: an attempt at the task, or the feedback on it. */
export interface ReflectionRecord {
  readonly type: "execution" | "reflection";
  readonly content: string;
}

/**
 * The requests of the three phases. `task`: the question · `result`: the last attempt · `feedback`: about it.
 */
export interface ReflectionPrompts {
  readonly execute: (context: { readonly task: string }) => string;
  readonly reflect: (context: { readonly task: string; readonly result: string }) => string;
  readonly refine: (context: {
    readonly task: string;
    readonly result: string;
    readonly feedback: string;
  }) => string;
}

/** Options of a {@link ReflectionAgent}. `maxIterations` applies to each phase, budgets to the whole run. */
export interface ReflectionAgentOptions extends AgentOptions {
  /** Rounds of reflecting and refining, from 0. Default 3. */
  readonly maxRounds?: number;
  /**
   * How a reflection approves an answer. `text`: with the phrase `no need for improvement` or `无需改进` ·
   * `structured`: with a tool `give_verdict { needs_improvement, feedback }`; if it answers in text anyway,
   * the phrase decides. Default `text`.
   */
  readonly verdict?: "text" | "structured";
  /** Replaces the requests of individual phases. */
  readonly prompts?: Partial<ReflectionPrompts>;
}

const PROMPT = { "x-function": true } as const;
const OPTIONS = patternOptions<ReflectionAgentOptions>({
  maxRounds: { type: "integer", minimum: 0 },
  verdict: { enum: ["text", "structured"] },
  prompts: {
    type: "object",
    properties: { execute: PROMPT, reflect: PROMPT, refine: PROMPT },
    additionalProperties: false,
  },
});

/**
 * Does the task, reflects on the result and refines it until a reflection finds nothing to improve or the
 * rounds are used up; the last attempt is the answer. Every phase is a nested run with the agent's tools: the
 * conversation keeps only task and answer.
 */
export class ReflectionAgent extends Agent {
  readonly #maxRounds: number;
  readonly #verdict: "text" | "structured";
  readonly #prompts: ReflectionPrompts;
  #memory: ReflectionRecord[] = [];

  /** Throws `invalid_argument` for invalid options. */
  constructor(options: ReflectionAgentOptions) {
    const { maxRounds = 3, verdict = "text", prompts, ...own } = options;
    checkOptions(options, OPTIONS);
    super(own);
    this.#maxRounds = maxRounds;
    this.#verdict = verdict;
    this.#prompts = { ...DEFAULT_PROMPTS, reflect: reflectPrompt(verdict), ...prompts };
  }

  /** Attempts and reflections of the newest run, in order. */
  get memory(): readonly ReflectionRecord[] {
    return this.#memory;
  }

  override async conduct(run: Run): Promise<RunResult> {
    this.#memory = [];
    if (!endsWithQuestion(run)) return super.conduct(run);
    await beforeTurn(run);
    const phases = new Phases(run);
    const task = phases.question;
    const execution = {
      tools: run.tools,
      finishTool: run.until.finishTool,
      toolChoice: run.until.toolChoice,
    };
    let last = await phases.run({ phase: "initial_execution" }, this.#prompts.execute({ task }), execution);
    if (!phases.canContinueAfter(last)) return phases.end(endingOf(last));
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
      if (!reflection.needsRefinement) break;
      const prompt = this.#prompts.refine({ task, result, feedback });
      const refined = await phases.run({ phase: "refinement", round }, prompt, execution);
      if (!phases.canContinueAfter(refined)) return phases.end(endingOf(refined, refined.text || result));
      // A model that says nothing has no better attempt.
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
    | { readonly type: "reflected"; readonly feedback: string; readonly needsRefinement: boolean }
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
      return { type: "reflected", feedback, needsRefinement: last.output.needs_improvement };
    if (!phases.canContinueAfter(last)) return { type: "stopped", last };
    return {
      type: "reflected",
      feedback,
      needsRefinement: feedback.trim() !== "" && !saysNoImprovement(feedback),
    };
  }

  #remember(type: ReflectionRecord["type"], content: string): void {
    this.#memory.push({ type, content });
  }
}

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
