import type { AgentEvent, AssistantEntry } from "../core/agent/entries.ts";
import { isRecord } from "../core/base/json.ts";
import type { CompiledSchema, JsonSchema } from "../core/base/schema.ts";
import { type TextBlock, type ToolInput, textOf } from "../core/message/message.ts";
import type { Tool, ToolResult } from "../core/tool/tool.ts";
import type { Hook } from "./hook.ts";

export const FINISH_TOOL = "finish";

/**
 * The tool that ends a run with a value of `schema`. A schema that is not an object schema is wrapped as `{
 * value }`. For a value that does not fit the model gets the errors and can try again.
 */
export function finishTool(schema: CompiledSchema, name: string = FINISH_TOOL): Tool {
  const wrapped = schema.jsonSchema["type"] === "object" ? schema : wrapInValue(schema);
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

function wrapInValue(schema: CompiledSchema): CompiledSchema {
  const { $defs, definitions, ...value } = schema.jsonSchema;
  return {
    jsonSchema: {
      type: "object",
      properties: { value: redirectReferences(value) as JsonSchema },
      required: ["value"],
      additionalProperties: false,
      // References start at the root, so their targets must stay there.
      ...($defs === undefined ? {} : { $defs: redirectReferences($defs) as JsonSchema }),
      ...(definitions === undefined ? {} : { definitions: redirectReferences(definitions) as JsonSchema }),
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

/** A part of a schema with its references redirected to where the old root is now. */
function redirectReferences(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(redirectReferences);
  if (!isRecord(part)) return part;
  return Object.fromEntries(
    Object.entries(part).map(([key, value]) => [
      key,
      key === "$ref" && typeof value === "string" ? redirectReference(value) : redirectReferences(value),
    ]),
  );
}

function redirectReference(reference: string): string {
  if (!reference.startsWith("#") || /^#\/(?:\$defs|definitions)\//.test(reference)) return reference;
  return `#/properties/value${reference.slice(1)}`;
}

/** Which parts {@link finishPrintHook} shows. */
export interface FinishPrintOptions {
  /** Names of finish tools. Default `finish` and `Finish`, as used by structured output and `ReActAgent`. */
  readonly tools?: readonly string[];
  /**
   * The argument that holds the answer; if it has no text, all arguments are shown as JSON. Default `answer`.
   */
  readonly field?: string;
}

/**
 * A `pre_print` hook for readers that show messages. A call of the finish tool appears as the text it
 * delivers; its streamed arguments, start and result are hidden unless it failed. Use one hook per agent: it
 * keeps state.
 */
export function finishPrintHook(options: FinishPrintOptions = {}): Hook<"pre_print"> {
  const { field = "answer" } = options;
  const tools = new Set(options.tools ?? [FINISH_TOOL, "Finish"]);
  /** Indexes of finish calls in the current answer. */
  const streaming = new Set<number>();
  return (_agent, { event }) => {
    if (event === undefined) return undefined;
    if (isHidden(event, tools, streaming)) return { event: undefined };
    return event.type === "assistant_message" ? { event: withAnswerText(event, tools, field) } : undefined;
  };
}

function isHidden(event: AgentEvent, tools: ReadonlySet<string>, streaming: Set<number>): boolean {
  switch (event.type) {
    case "turn_start":
    case "retry":
      streaming.clear();
      return false;
    case "tool_call_start":
      if (tools.has(event.name)) streaming.add(event.index);
      return tools.has(event.name);
    case "tool_call_delta":
      return streaming.has(event.index);
    case "tool_intent":
      return tools.has(event.name);
    case "tool_result":
      return tools.has(event.name) && event.status === "ok";
    default:
      return false;
  }
}

function withAnswerText(entry: AssistantEntry, tools: ReadonlySet<string>, field: string): AssistantEntry {
  const { message } = entry;
  if (!message.content.some((block) => block.type === "tool_use" && tools.has(block.name))) return entry;
  const content = message.content.map((block) =>
    block.type === "tool_use" && tools.has(block.name) ? answerIn(block.input, field) : block,
  );
  return { ...entry, message: { ...message, content } };
}

function answerIn(input: ToolInput, field: string): TextBlock {
  const answer = input[field];
  return { type: "text", text: typeof answer === "string" && answer !== "" ? answer : JSON.stringify(input) };
}
