import type { AgentEvent } from "../../src/core/agent/entries.ts";
import type { JsonSchema } from "../../src/core/base/schema.ts";
import { type ContentBlock, type Message, textOf } from "../../src/core/message/message.ts";
import { defineTool, type Tool, type ToolDefinition } from "../../src/core/tool/tool.ts";

/** A transcript as lines of text, so that a test can state a whole conversation. */
export function lines(messages: readonly Message[]): readonly string[] {
  return messages.flatMap((message) =>
    (message.content as readonly ContentBlock[]).map((block) => {
      switch (block.type) {
        case "text":
          return `${message.role}: ${block.text}`;
        case "thinking":
          return `thinks: ${block.thinking}`;
        case "image":
          return `${message.role}: [image]`;
        case "tool_use":
          return `calls ${block.name} ${JSON.stringify(block.input)}`;
        case "tool_result":
          return `${block.is_error === true ? "error" : "result"} ${block.tool_use_id}: ${textOf(block.content)}`;
      }
    }),
  );
}

/** Events without what is never the same: ids, times. Runs of text deltas become one line. */
export function eventTypes(events: readonly AgentEvent[]): readonly string[] {
  const types: string[] = [];
  for (const { type } of events) if (types.at(-1) !== type || !type.endsWith("_delta")) types.push(type);
  return types;
}

/** A tool that answers with what it was given, unless it is told otherwise. */
export function tool(name: string, extra: Partial<Omit<ToolDefinition<JsonSchema>, "name">> = {}): Tool {
  return defineTool<JsonSchema>({
    name,
    description: `Does ${name}.`,
    parameters: { type: "object" },
    execute: (input: unknown) => `${name} ${JSON.stringify(input)}`,
    ...extra,
  });
}

/** Reads a stream to its end. */
export async function all<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of stream) items.push(item);
  return items;
}
