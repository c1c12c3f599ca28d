import type { AgentEvent, AssistantEntry } from "../core/agent/entries.ts";
import type { TextBlock, ToolInput } from "../core/message/message.ts";
import { FINISH_TOOL } from "./finish-tool.ts";
import type { Hook } from "./hook.ts";

/** The parts {@link finishPrintHook} shows. */
export interface FinishPrintOptions {
  /** Names of finish tools. Default `finish` and `Finish`, as in structured output and `ReActAgent`. */
  readonly tools?: readonly string[];
  /** Argument that holds the answer; without a text in it, all are shown as JSON. Default `answer`. */
  readonly field?: string;
}

/**
 * A `pre_print` hook for readers that show messages: a call of the finish tool is shown as the text it
 * delivers, and its arguments as they stream, its start and its result are left out, unless it failed. One
 * hook per agent: it remembers what it is in the middle of.
 */
export function finishPrintHook(options: FinishPrintOptions = {}): Hook<"pre_print"> {
  const { field = "answer" } = options;
  const tools = new Set(options.tools ?? [FINISH_TOOL, "Finish"]);
  /** Positions, in the answer at work, of calls of the finish tool. */
  const streaming = new Set<number>();
  return (_agent, { event }) => {
    if (event === undefined) return undefined;
    if (hides(event, tools, streaming)) return { event: undefined };
    return event.type === "assistant_message" ? { event: asText(event, tools, field) } : undefined;
  };
}

function hides(event: AgentEvent, tools: ReadonlySet<string>, streaming: Set<number>): boolean {
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

function asText(entry: AssistantEntry, tools: ReadonlySet<string>, field: string): AssistantEntry {
  const { message } = entry;
  if (!message.content.some((block) => block.type === "tool_use" && tools.has(block.name))) return entry;
  const content = message.content.map((block) =>
    block.type === "tool_use" && tools.has(block.name) ? textOf(block.input, field) : block,
  );
  return { ...entry, message: { ...message, content } };
}

function textOf(input: ToolInput, field: string): TextBlock {
  const answer = input[field];
  return { type: "text", text: typeof answer === "string" && answer !== "" ? answer : JSON.stringify(input) };
}
