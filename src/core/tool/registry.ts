import { misuse } from "../base/errors.ts";
import type { ToolSpec } from "../model/model.ts";
import { assertToolName } from "./define-tool.ts";
import type { Tool } from "./tool.ts";

/** The tools of one agent, by name, in the order they were added. */
export class ToolRegistry {
  readonly #tools = new Map<string, Tool>();
  /** What the model is shown. Kept until the set changes: wires recognise the object. */
  #specs: readonly ToolSpec[] | undefined;
  /** Counts changes. */
  #version = 0;
  #base: { readonly registry: ToolRegistry; names: readonly string[]; version: number } | undefined;

  /** Throws `invalid_argument` for an unusable name, a name defined twice, or something that is no tool. */
  constructor(tools: readonly Tool[] = []) {
    for (const tool of tools) this.add(tool);
  }

  /** Adds a tool. Throws `invalid_argument` when its name is taken. */
  add(tool: Tool): void {
    assertTool(tool);
    if (this.#tools.has(tool.name)) {
      throw misuse(`Tool "${tool.name}" is defined twice: rename or remove one of them.`);
    }
    this.#tools.set(tool.name, tool);
    this.#changed();
  }

  /** Removes a tool; false when there was none. */
  remove(name: string): boolean {
    this.#changed();
    return this.#tools.delete(name);
  }

  /**
   * A registry of these tools and one more, which goes along with every later change of this one. Throws as
   * {@link add} does.
   */
  with(tool: Tool): ToolRegistry {
    const all = new ToolRegistry([...this.list(), tool]);
    all.#base = { registry: this, names: this.names(), version: this.#version };
    return all;
  }

  get(name: string): Tool | undefined {
    this.#follow();
    return this.#tools.get(name);
  }

  list(): readonly Tool[] {
    this.#follow();
    return [...this.#tools.values()];
  }

  names(): readonly string[] {
    this.#follow();
    return [...this.#tools.keys()];
  }

  /** The tools as the model sees them. The same array until the set changes. */
  specs(): readonly ToolSpec[] {
    this.#follow();
    this.#specs ??= this.list()
      .filter(isOffered)
      .map(({ name, description, schema }) => ({ name, description, parameters: schema.jsonSchema }));
    return this.#specs;
  }

  #changed(): void {
    this.#specs = undefined;
    this.#version++;
  }

  /** Takes over what changed in the registry this one was made of; what is new there comes last here too. */
  #follow(): void {
    const base = this.#base;
    if (base === undefined || base.registry.#version === base.version) return;
    const before = new Set(base.names);
    const now = base.registry.list();
    for (const name of base.names)
      if (base.registry.get(name) !== this.#tools.get(name)) this.#tools.delete(name);
    for (const tool of now)
      if (!this.#tools.has(tool.name) || before.has(tool.name)) this.#tools.set(tool.name, tool);
    base.names = base.registry.names();
    base.version = base.registry.#version;
    this.#changed();
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

/** Whether the model is shown a tool. */
export function isOffered({ offered }: Tool): boolean {
  return offered !== false;
}
