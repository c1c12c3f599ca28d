import { misuse } from "../base/errors.ts";
import type { ToolSpec } from "../model/model.ts";
import { assertToolName } from "./define-tool.ts";
import type { Tool } from "./tool.ts";

/** The tools of one agent, by name, in the order they were added. */
export class ToolRegistry {
  readonly #tools = new Map<string, Tool>();
  /** The registry this one adds to. */
  #base: ToolRegistry | undefined;
  /** The tools as the model is shown them. Kept until the set changes: wires recognise the object. */
  #specs: readonly ToolSpec[] | undefined;
  /** The tools the base showed then. */
  #baseSpecs: readonly ToolSpec[] | undefined;

  /** Throws `invalid_argument` for an unusable name, a name defined twice, or something that is no tool. */
  constructor(tools: readonly Tool[] = []) {
    for (const tool of tools) this.add(tool);
  }

  /** Adds a tool. Throws `invalid_argument` when its name is taken. */
  add(tool: Tool): void {
    assertTool(tool);
    if (this.get(tool.name) !== undefined) {
      throw misuse(`Tool "${tool.name}" is defined twice: rename or remove one of them.`);
    }
    this.#tools.set(tool.name, tool);
    this.#specs = undefined;
  }

  /** Removes a tool; false when there was none. */
  remove(name: string): boolean {
    this.#specs = undefined;
    return this.#tools.delete(name);
  }

  /** A registry of these tools, as they change, and behind them one more. Throws as {@link add} does. */
  with(tool: Tool): ToolRegistry {
    const more = new ToolRegistry();
    more.#base = this;
    more.add(tool);
    return more;
  }

  get(name: string): Tool | undefined {
    return this.#tools.get(name) ?? this.#base?.get(name);
  }

  list(): readonly Tool[] {
    const before = this.#base?.list().filter(({ name }) => !this.#tools.has(name)) ?? [];
    return [...before, ...this.#tools.values()];
  }

  names(): readonly string[] {
    return this.list().map(({ name }) => name);
  }

  /** The tools as the model sees them. The same array until the set changes. */
  specs(): readonly ToolSpec[] {
    const base = this.#base?.specs();
    if (this.#specs === undefined || base !== this.#baseSpecs) {
      this.#baseSpecs = base;
      this.#specs = this.list()
        .filter(isOffered)
        .map(({ name, description, schema }) => ({ name, description, parameters: schema.jsonSchema }));
    }
    return this.#specs;
  }
}

/** Throws `invalid_argument` for what is no tool. */
export function assertTool(tool: Tool): void {
  if (typeof tool !== "object" || tool === null)
    throw misuse(`A tool is ${tool === null ? "null" : `a ${typeof tool}`}: pass defineTool({ … }).`);
  assertToolName(tool.name);
  if (typeof tool.schema?.validate !== "function")
    throw misuse(`Tool "${tool.name}" was not made by defineTool(): pass defineTool({ … }).`);
}

/** True when the model is shown a tool. */
export function isOffered({ offered }: Tool): boolean {
  return offered !== false;
}
