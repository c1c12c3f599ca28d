import { type Fields, isRecord, safeParse } from "../core/base/json.ts";

const MAX_VIOLATIONS = 50;

/** Names every vendor takes for a tool. */
const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;

/** Collects what is wrong with a request, and holds the checks that all wires share. */
export class Violations {
  readonly list: string[] = [];
  readonly #callIds = new Set<string>();
  readonly #toolNames = new Set<string>();
  #hasVendorTools = false;

  /** Notes one fault: where it is, and what it is. */
  add(where: string, problem: string): void {
    if (this.list.length < MAX_VIOLATIONS) this.list.push(`${where} ${problem}`);
  }

  /** Every text below `value`, keys included, must be well-formed Unicode. */
  text(where: string, value: unknown): void {
    if (typeof value === "string") {
      if (!value.isWellFormed()) this.add(where, "holds half a surrogate pair");
    } else if (Array.isArray(value)) {
      for (const [at, item] of value.entries()) this.text(`${where}[${at}]`, item);
    } else if (isRecord(value)) {
      for (const [key, field] of Object.entries(value)) {
        if (!key.isWellFormed()) this.add(where, "has a key with half a surrogate pair");
        this.text(`${where}.${key}`, field);
      }
    }
  }

  /** The value as a list of objects; anything else is noted and left out. */
  objects(where: string, value: unknown): readonly (readonly [where: string, item: Fields])[] {
    if (!Array.isArray(value)) {
      this.add(where, "is not an array");
      return [];
    }
    const items: (readonly [string, Fields])[] = [];
    for (const [at, item] of value.entries()) {
      if (isRecord(item)) items.push([`${where}[${at}]`, item]);
      else this.add(`${where}[${at}]`, "is not an object");
    }
    return items;
  }

  /** {@link Violations.objects} of a list that must not be empty; `problem` says so. */
  someObjects(
    where: string,
    value: unknown,
    problem = "is empty",
  ): readonly (readonly [where: string, item: Fields])[] {
    const items = this.objects(where, value);
    if (items.length === 0) this.add(where, problem);
    return items;
  }

  /** The value must be a text that is not empty. */
  nonEmpty(where: string, value: unknown): value is string {
    if (typeof value === "string" && value !== "") return true;
    this.add(where, value === "" ? "is empty" : "is not text");
    return false;
  }

  /** The id of a tool call: text, and used once in the whole request. */
  callId(where: string, id: unknown): void {
    if (!this.nonEmpty(where, id)) return;
    if (this.#callIds.has(id)) this.add(where, `uses the id ${id} a second time`);
    this.#callIds.add(id);
  }

  /** The name of a tool, called or declared. */
  toolName(where: string, name: unknown): void {
    if (typeof name !== "string" || !TOOL_NAME.test(name)) {
      this.add(where, `is ${JSON.stringify(name)}; a tool name is 1 to 64 of a-z A-Z 0-9 _ -`);
    }
  }

  /** The declaration of a tool: a valid name that no other has, and an object schema. */
  tool(
    where: string,
    tool: {
      readonly name: unknown;
      readonly schema: unknown;
      readonly schemaOptional?: boolean;
      readonly takesChoice?: boolean;
    },
  ): void {
    this.toolName(`${where}.name`, tool.name);
    if (typeof tool.name === "string") {
      if (this.#toolNames.has(tool.name)) this.add(where, `declares the tool ${tool.name} a second time`);
      this.#toolNames.add(tool.name);
    }
    if (tool.schema === undefined && tool.schemaOptional === true) return;
    const type = isRecord(tool.schema) ? tool.schema["type"] : undefined;
    if (type !== "object" && type !== "OBJECT") this.add(where, "has no schema of type object");
    const choice = ["anyOf", "oneOf", "allOf"].find((key) => isRecord(tool.schema) && key in tool.schema);
    if (choice !== undefined && tool.takesChoice !== true)
      this.add(where, `has a schema with ${choice} at its top`);
  }

  /** A tool that runs at the vendor, or has no schema: only its name counts, where it has one. */
  vendorTool(name: unknown): void {
    this.#hasVendorTools = true;
    if (typeof name === "string") this.#toolNames.add(name);
  }

  /** A choice of tools must have tools, and a named one must be declared. */
  toolChoice(name: unknown): void {
    const where = "tool_choice";
    if (this.#toolNames.size === 0 && !this.#hasVendorTools) this.add(where, "is given without tools");
    if (typeof name === "string" && !this.#toolNames.has(name))
      this.add(where, `names ${name}, which is not declared`);
  }

  /** JSON text of an object, as calls carry their arguments. */
  argumentsText(where: string, value: unknown): void {
    const parsed = typeof value === "string" ? safeParse(value) : undefined;
    if (parsed?.ok !== true || !isRecord(parsed.value)) this.add(where, "is not JSON text of an object");
  }

  /** The answers must be one for each call, no more and no less. */
  answers(where: string, calls: readonly string[], answered: readonly unknown[]): void {
    const open = new Set(calls);
    for (const id of answered) {
      if (typeof id !== "string" || !calls.includes(id))
        this.add(where, `answers ${JSON.stringify(id)}, which was not called right before`);
      else if (!open.delete(id)) this.add(where, `answers the call ${id} twice`);
    }
    for (const id of open) this.add(where, `does not answer the call ${id}`);
  }
}
