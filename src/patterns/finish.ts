import { isRecord } from "../core/base/json.ts";
import type { CompiledSchema, JsonSchema } from "../core/base/schema.ts";
import { defineTool, type Tool } from "../core/tool/tool.ts";
import { FINISH_TOOL, finishTool } from "../hooks/finish-tool.ts";

const ANSWER = { type: "string", minLength: 1, description: "The final answer." } as const;

/** The tool that ends a run with an answer in words. Its argument is `answer`. */
export function answerTool(name: string): Tool {
  return defineTool({
    name,
    description: "Gives the final answer and ends the task.",
    parameters: { type: "object", properties: { answer: ANSWER }, required: ["answer"] },
    readOnly: true,
    execute: ({ answer }) => ({ content: answer, finish: { text: answer } }),
  });
}

/**
 * The tool that ends a run with a value of `schema` and, if the model likes, an `answer` in words beside it;
 * without one the text of the answer is the value as JSON. A schema that has an `answer` of its own, or is no
 * object schema, is left as it is.
 */
export function extendedFinishTool(schema: CompiledSchema, name: string = FINISH_TOOL): Tool {
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
