import type { NanoAgentError } from "../core/base/errors.ts";
import type { ModelRequest, ToolSpec } from "../core/model/model.ts";

/**
 * The tools whose definitions one provider refuses: each request with one of them would fail, so requests go
 * on without it. Which tool is meant follows from its name in the refusal, or its place in the list.
 */
export class RefusedTools {
  readonly #refused = new Set<ToolSpec>();
  /** The same list each time: encoders keep the text of lists they know. */
  #lists = new WeakMap<readonly ToolSpec[], readonly ToolSpec[]>();

  /** The request as it can be sent. */
  without(request: ModelRequest): ModelRequest {
    const { tools } = request;
    if (this.#refused.size === 0 || tools === undefined) return request;
    const left = this.#lists.get(tools) ?? tools.filter((tool) => !this.#refused.has(tool));
    this.#lists.set(tools, left);
    if (left.length > 0) return left.length === tools.length ? request : { ...request, tools: left };
    const { tools: _tools, toolChoice: _choice, ...rest } = request;
    return rest;
  }

  /** Learns from a failed request: the name of the tool that the next goes without, if that is the cause. */
  learn({ tools = [], toolChoice }: ModelRequest, error: NanoAgentError): string | undefined {
    if (error.code !== "bad_request") return undefined;
    const param = error.details["param"];
    const tool = toolIn(`${typeof param === "string" ? param : ""} ${error.message}`, tools);
    const isForced = typeof toolChoice === "object" && toolChoice.name === tool?.name;
    if (tool === undefined || isForced) return undefined;
    this.#refused.add(tool);
    this.#lists = new WeakMap();
    return tool.name;
  }
}

/** A place in the list of tools, as the vendors write it: `tools[3].function`, `tools.3.custom`, … */
const PLACE = /\b(?:tools|function_?declarations)[[.](\d+)\b(?!\]?\.function_?declarations)/i;
/** Words about what a tool takes. Without them its name may stand in a complaint about a message. */
const SCHEMA_WORDS = /schema|parameters|function_?declaration/i;

function toolIn(text: string, tools: readonly ToolSpec[]): ToolSpec | undefined {
  const [, place] = PLACE.exec(text) ?? [];
  if (place !== undefined) return tools[Number(place)];
  if (!SCHEMA_WORDS.test(text)) return undefined;
  const words = new Set(text.match(/['"`][\w-]+['"`]/g)?.map((word) => word.slice(1, -1)));
  return tools.find(({ name }) => words.has(name));
}
