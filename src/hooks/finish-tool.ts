import { isRecord } from "../core/base/json.ts";
import type { CompiledSchema, JsonSchema } from "../core/base/schema.ts";
import { textOf } from "../core/message/message.ts";
import type { Tool, ToolResult } from "../core/tool/tool.ts";

/** Name of the tool through which a run delivers a structured value. */
export const FINISH_TOOL = "finish";

/**
 * The tool that ends a run with a value of `schema`. A schema that is no object schema is wrapped as `{ value
 * }`. Values that do not fit are answered with what is wrong, so the model can try again.
 */
export function finishTool(schema: CompiledSchema, name: string = FINISH_TOOL): Tool {
  const wrapped = schema.jsonSchema["type"] === "object" ? schema : wrap(schema);
  return {
    name,
    description: "Gives the final answer in the required form and ends the task.",
    schema: wrapped,
    readOnly: true,
    execute: (input: unknown): ToolResult => {
      const output = wrapped === schema ? input : (input as { readonly value: unknown }).value;
      const text = JSON.stringify(output);
      return { content: textOf(text), finish: { text, output } };
    },
  };
}

function wrap(schema: CompiledSchema): CompiledSchema {
  const { $defs, definitions, ...value } = schema.jsonSchema;
  return {
    jsonSchema: {
      type: "object",
      properties: { value: moved(value) as JsonSchema },
      required: ["value"],
      additionalProperties: false,
      // References are counted from the root, so what they name stays there.
      ...($defs === undefined ? {} : { $defs: moved($defs) as JsonSchema }),
      ...(definitions === undefined ? {} : { definitions: moved(definitions) as JsonSchema }),
    },
    validate: async (input) => {
      const inner = await schema.validate((input as { readonly value?: unknown } | null)?.value);
      if (inner.ok) return { ok: true, value: { value: inner.value } };
      const issues = inner.issues.map(({ path, message }) => ({
        path: `value${path === "" ? "" : `.${path}`}`,
        message,
      }));
      return { ok: false, issues };
    },
  };
}

/** A part of a schema in which references to the old root lead to where that is now. */
function moved(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(moved);
  if (!isRecord(part)) return part;
  return Object.fromEntries(
    Object.entries(part).map(([key, value]) => [
      key,
      key === "$ref" && typeof value === "string" ? movedReference(value) : moved(value),
    ]),
  );
}

function movedReference(reference: string): string {
  if (!reference.startsWith("#") || /^#\/(?:\$defs|definitions)\//.test(reference)) return reference;
  return `#/properties/value${reference.slice(1)}`;
}
