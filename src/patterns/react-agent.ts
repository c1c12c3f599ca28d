import { Agent } from "../agent/agent.ts";
import { type AgentOptions, patternOptions } from "../agent/options.ts";
import type { RunResult } from "../core/agent/result.ts";
import type { Run } from "../core/agent/run.ts";
import { checkOptions } from "../core/base/check-options.ts";
import { invalidArgument } from "../core/base/errors.ts";
import { isRecord, omitUndefined } from "../core/base/json.ts";
import type { CompiledSchema, JsonSchema } from "../core/base/schema.ts";
import { toolCallsOf } from "../core/message/message.ts";
import { assertToolName, defineTool, type Tool } from "../core/tool/tool.ts";
import { FINISH_TOOL, finishTool } from "../hooks/finish-tool.ts";
import { conductLoop, FALLBACK_ANSWER, type LoopPatternOptions } from "./simple-agent.ts";

const THOUGHT = "Thought";

/** Options of a {@link ReActAgent}. */
export interface ReActAgentOptions extends AgentOptions, LoopPatternOptions {
  /**
   * True adds a tool `Thought { reasoning }` with which a model without built-in reasoning writes down its
   * thoughts. Its calls are shown as thinking and return the thought. Default false.
   */
  readonly thoughtTool?: boolean;
  /**
   * How a run ends. `text`: with an answer without tool calls · `tool`: with a call of the finish tool; a
   * model that answers in text is reminded, then forced. Default `text`.
   */
  readonly finish?: "text" | "tool";
  /** Name of the finish tool. Its argument is `answer`, plus the fields of the schema. Default `Finish`. */
  readonly finishToolName?: string;
}

const OPTIONS = patternOptions<ReActAgentOptions>({
  thoughtTool: { type: "boolean" },
  finish: { enum: ["text", "tool"] },
  finishToolName: {},
  fallbackAnswer: { type: "string" },
});

/**
 * Reasoning and acting in turns: the loop with the two tools of the original ReAct prompt. Calls made
 * together with a finish call run as usual; then the run ends.
 */
export class ReActAgent extends Agent {
  readonly #fallbackAnswer: string;
  readonly #thoughts: boolean;
  readonly #finishName: string | undefined;

  /** Throws `invalid_argument` for invalid options, and for a tool with one of the two names. */
  constructor(options: ReActAgentOptions) {
    const {
      thoughtTool = false,
      finish = "text",
      finishToolName = "Finish",
      fallbackAnswer = FALLBACK_ANSWER,
      ...own
    } = options;
    checkOptions(options, OPTIONS);
    assertToolName(finishToolName);
    const finishName = finish === "tool" ? finishToolName : undefined;
    if (finishName !== undefined && own.tools?.some(({ name }) => name === finishName) === true)
      throw invalidArgument(
        `ReActAgent needs the name ${JSON.stringify(finishName)} for the tool that ends a run, and one of the tools has it: rename that, or set finishToolName.`,
      );
    const systemPrompt = own.systemPrompt ?? instructions(thoughtTool, finishName);
    super({
      ...own,
      ...omitUndefined({
        tools: thoughtTool ? [thoughtToolOf(), ...(own.tools ?? [])] : own.tools,
        systemPrompt,
      }),
    });
    this.#thoughts = thoughtTool;
    this.#finishName = finishName;
    this.#fallbackAnswer = fallbackAnswer;
  }

  override conduct(run: Run): Promise<RunResult> {
    const emit = withShownThoughts(this.#thoughts, this.#finishName, run.emit);
    return conductLoop({ ...run, emit }, this.#fallbackAnswer);
  }

  protected override finishToolFor(schema: CompiledSchema | undefined): Tool | undefined {
    if (this.#finishName === undefined) return super.finishToolFor(schema);
    return schema === undefined ? answerTool(this.#finishName) : extendedFinishTool(schema, this.#finishName);
  }
}

function thoughtToolOf(): Tool {
  return defineTool({
    name: THOUGHT,
    description: "Writes down what you think about the task so far and what to do next.",
    parameters: {
      type: "object",
      properties: { reasoning: { type: "string", description: "Your thoughts." } },
      required: ["reasoning"],
    },
    readOnly: true,
    execute: ({ reasoning }) => ({ content: reasoning, title: "thought" }),
  });
}

function instructions(thoughtTool: boolean, finishName: string | undefined): string | undefined {
  const lines = [
    ...(thoughtTool
      ? [`- ${THOUGHT}: call it to reason before you act and after you learned something.`]
      : []),
    "- The other tools: call them to find out and to do things, as often as the task needs.",
    ...(finishName === undefined
      ? []
      : [`- ${finishName}: call it with the final answer, and only once you know enough to give it.`]),
  ];
  if (lines.length === 1) return undefined;
  return `You solve tasks by reasoning and acting in turns, with these tools:\n${lines.join("\n")}`;
}

/** Shows thoughts as thinking, and the answer of a finish call as text after the deltas of its message. */
function withShownThoughts(
  thoughts: boolean,
  finishName: string | undefined,
  emit: Run["emit"],
): Run["emit"] {
  let last = -1;
  return (event) => {
    if (event.type === "turn_start") last = -1;
    if ("index" in event) last = Math.max(last, event.index);
    if (event.type === "assistant_message") {
      for (const { name, input } of toolCallsOf(event.message)) {
        const { reasoning, answer } = input;
        if (thoughts && name === THOUGHT && typeof reasoning === "string")
          emit({ type: "thinking_delta", text: reasoning, index: ++last });
        else if (name === finishName && typeof answer === "string")
          emit({ type: "text_delta", text: answer, index: ++last });
      }
    }
    emit(event);
  };
}

const ANSWER = { type: "string", minLength: 1, description: "The final answer." } as const;

function answerTool(name: string): Tool {
  return defineTool({
    name,
    description: "Gives the final answer and ends the task.",
    parameters: { type: "object", properties: { answer: ANSWER }, required: ["answer"] },
    readOnly: true,
    execute: ({ answer }) => ({ content: answer, finish: { text: answer } }),
  });
}

/**
 * The tool that ends a run with a value of `schema` and an optional `answer` in words; without one the text
 * of the answer is the value as JSON. A schema with its own `answer`, or one that is not an object schema, is
 * used unchanged.
 */
function extendedFinishTool(schema: CompiledSchema, name: string = FINISH_TOOL): Tool {
  const value = finishTool(schema, name);
  const { jsonSchema, validate } = schema;
  const properties = jsonSchema["properties"];
  if (jsonSchema["type"] !== "object" || (isRecord(properties) && "answer" in properties)) return value;
  const extended: JsonSchema = {
    ...jsonSchema,
    properties: {
      answer: { type: "string", description: "The answer in words." },
      ...(properties as JsonSchema | undefined),
    },
  };
  return {
    ...value,
    schema: {
      jsonSchema: extended,
      validate: async (input) => {
        if (!isRecord(input)) return validate(input);
        const { answer, ...rest } = input;
        const checked = await validate(rest);
        return checked.ok ? { ok: true, value: { answer, value: checked.value } } : checked;
      },
    },
    execute: ({ answer, value: output }: { readonly answer: unknown; readonly value: unknown }) => {
      const text = typeof answer === "string" && answer !== "" ? answer : JSON.stringify(output);
      return { content: text, finish: { text, output } };
    },
  };
}
