import { type Fields, isRecord, ownValue, safeParse } from "../core/base/json.ts";

const MAX_VIOLATIONS = 50;

/** Tool names that every vendor accepts. */
const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;

/**
 * The form of a field. `filled`: non-empty text · `words`: non-blank text · `callId`: used once in the whole
 * request · `arguments`: JSON text of an object.
 */
export type FieldKind = "text" | "filled" | "words" | "object" | "list" | "callId" | "toolName" | "arguments";

/** The required fields of each object type; other types are unknown. */
export interface FieldsByType {
  readonly [type: string]: { readonly [field: string]: FieldKind };
}

/** An object in a request, and its position. */
export type ObjectAt = readonly [where: string, item: Fields];

/** Collects the problems of a request and provides the checks that all wires share. */
export class Violations {
  readonly list: string[] = [];
  readonly #callIds = new Set<string>();
  readonly #toolNames = new Set<string>();
  #hasVendorTools = false;

  /** Records a problem at a position. */
  add(where: string, problem: string): void {
    if (this.list.length < MAX_VIOLATIONS) this.list.push(`${where} ${problem}`);
  }

  /** All strings below `value`, including keys, must be well-formed Unicode. */
  checkText(where: string, value: unknown): void {
    if (typeof value === "string") {
      if (!value.isWellFormed()) this.add(where, "holds half a surrogate pair");
    } else if (Array.isArray(value)) {
      for (const [at, item] of value.entries()) this.checkText(`${where}[${at}]`, item);
    } else if (isRecord(value)) {
      for (const [key, field] of Object.entries(value)) {
        if (!key.isWellFormed()) this.add(where, "has a key with half a surrogate pair");
        this.checkText(`${where}.${key}`, field);
      }
    }
  }

  /** Returns the value as a list of objects; anything else is recorded as a problem and skipped. */
  objects(where: string, value: unknown): readonly ObjectAt[] {
    if (!Array.isArray(value)) {
      this.add(where, "is not an array");
      return [];
    }
    const items: ObjectAt[] = [];
    for (const [at, item] of value.entries()) {
      if (isRecord(item)) items.push([`${where}[${at}]`, item]);
      else this.add(`${where}[${at}]`, "is not an object");
    }
    return items;
  }

  /** {@link Violations.objects} for a list that must not be empty, else `problem` is recorded. */
  nonEmptyObjects(where: string, value: unknown, problem = "is empty"): readonly ObjectAt[] {
    const items = this.objects(where, value);
    if (items.length === 0) this.add(where, problem);
    return items;
  }

  /** An object must have a known type and that type's fields. */
  checkTyped(where: string, item: Fields, shapes: FieldsByType, type: unknown = item["type"]): void {
    const shape = ownValue(shapes, type);
    if (shape === undefined) this.add(where, `has type ${JSON.stringify(type)}, which is not allowed here`);
    else
      for (const [name, kind] of Object.entries(shape)) this.checkField(`${where}.${name}`, item[name], kind);
  }

  /** Content as text, or as parts of the allowed types, which are returned. */
  parts(where: string, content: unknown, allowed: FieldsByType): readonly ObjectAt[] {
    if (typeof content === "string") return [];
    const parts = this.nonEmptyObjects(where, content);
    for (const [path, part] of parts) this.checkTyped(path, part, allowed);
    return parts;
  }

  checkField(where: string, value: unknown, kind: FieldKind): void {
    const problem = problemOf(value, kind);
    if (problem !== undefined) this.add(where, problem);
    else if (kind === "callId") {
      if (this.#callIds.has(String(value))) this.add(where, `uses the id ${String(value)} a second time`);
      this.#callIds.add(String(value));
    }
  }

  /** A tool declaration: a valid, unique name and an object schema. */
  checkTool(where: string, name: unknown, schema: unknown): void {
    this.checkField(`${where}.name`, name, "toolName");
    if (typeof name === "string") {
      if (this.#toolNames.has(name)) this.add(where, `declares the tool ${name} a second time`);
      this.#toolNames.add(name);
    }
    const type = isRecord(schema) ? schema["type"] : undefined;
    if (type !== "object" && type !== "OBJECT") this.add(where, "has no schema of type object");
  }

  /** A schema that OpenAI and Anthropic accept. */
  checkPlainSchema(where: string, schema: unknown): void {
    const choice = ["anyOf", "oneOf", "allOf"].find((key) => isRecord(schema) && key in schema);
    if (choice !== undefined) this.add(where, `has a schema with ${choice} at its top`);
  }

  /** A tool that runs at the vendor or has no schema: only its name is checked, if it has one. */
  addVendorTool(name: unknown): void {
    this.#hasVendorTools = true;
    if (typeof name === "string") this.#toolNames.add(name);
  }

  /** A tool choice requires tools, and a named tool must be declared. */
  checkToolChoice(name: unknown): void {
    const where = "tool_choice";
    if (this.#toolNames.size === 0 && !this.#hasVendorTools) this.add(where, "is given without tools");
    if (typeof name === "string" && !this.#toolNames.has(name))
      this.add(where, `names ${name}, which is not declared`);
  }

  /** There must be exactly one answer for each call. */
  checkAnswers(where: string, calls: readonly string[], answeredIds: readonly unknown[]): void {
    const open = new Set(calls);
    for (const id of answeredIds) {
      if (typeof id !== "string" || !calls.includes(id))
        this.add(where, `answers ${JSON.stringify(id)}, which was not called right before`);
      else if (!open.delete(id)) this.add(where, `answers the call ${id} twice`);
    }
    for (const id of open) this.add(where, `does not answer the call ${id}`);
  }
}

function problemOf(value: unknown, kind: FieldKind): string | undefined {
  if (kind === "object") return isRecord(value) ? undefined : "is not an object";
  if (kind === "list") return Array.isArray(value) ? undefined : "is not an array";
  if (kind === "arguments") return isArguments(value) ? undefined : "is not JSON text of an object";
  if (kind === "toolName")
    return TOOL_NAME.test(typeof value === "string" ? value : "")
      ? undefined
      : `is ${JSON.stringify(value)}; a tool name is 1 to 64 of a-z A-Z 0-9 _ -`;
  if (typeof value !== "string") return "is not text";
  return kind !== "text" && (kind === "words" ? value.trim() : value) === "" ? "is empty" : undefined;
}

function isArguments(value: unknown): boolean {
  const parsed = typeof value === "string" ? safeParse(value) : undefined;
  return parsed?.ok === true && isRecord(parsed.value);
}
