import { NanoAgentError } from "../base/errors.ts";
import type { ToolSpec } from "../model/model.ts";
import { assertToolName } from "./define-tool.ts";
import type { Tool } from "./tool.ts";

/** The tools of one agent, by name, in the order they were added. */
export class ToolRegistry {
  readonly #tools = new Map<string, Tool>();
  /** What the model is shown; kept until the set changes so that wires see the same object on every request. */
  #specs: readonly ToolSpec[] | undefined;

  /** Throws `invalid_argument` for an unusable name, a name defined twice, or something that is no tool. */
  constructor(tools: readonly Tool[] = []) {
    for (const tool of tools) this.add(tool);
  }

  /** Adds a tool. Throws `invalid_argument` when its name is taken. */
  add(tool: Tool): void {
    if (typeof tool !== "object" || tool === null)
      throw new NanoAgentError(
        "invalid_argument",
        `A tool is ${tool === null ? "null" : `a ${typeof tool}`}: pass defineTool({ … }).`,
      );
    assertToolName(tool.name);
    if (typeof tool.schema?.validate !== "function") {
      throw new NanoAgentError(
        "invalid_argument",
        `Tool "${tool.name}" was not made by defineTool(): pass defineTool({ … }).`,
      );
    }
    if (this.#tools.has(tool.name)) {
      throw new NanoAgentError(
        "invalid_argument",
        `Tool "${tool.name}" is defined twice: rename or remove one of them.`,
      );
    }
    this.#tools.set(tool.name, tool);
    this.#specs = undefined;
  }

  /** Removes a tool; false when there was none. */
  remove(name: string): boolean {
    this.#specs = undefined;
    return this.#tools.delete(name);
  }

  get(name: string): Tool | undefined {
    return this.#tools.get(name);
  }

  list(): readonly Tool[] {
    return [...this.#tools.values()];
  }

  names(): readonly string[] {
    return [...this.#tools.keys()];
  }

  /** The tools as the model sees them. The same array until the set changes. */
  specs(): readonly ToolSpec[] {
    this.#specs ??= this.list()
      .filter(isOffered)
      .map(({ name, description, schema }) => ({ name, description, parameters: schema.jsonSchema }));
    return this.#specs;
  }
}

/** Whether the model is shown a tool. */
export function isOffered({ offered }: Tool): boolean {
  return offered !== false;
}
