import { invalidArgument } from "./errors.ts";
import { isRecord } from "./json.ts";
import type { JsonSchema } from "./schema.ts";
import { type DetailedIssue, pathText } from "./schema-keywords.ts";
import { closestMatch, didYouMean, numberOf } from "./text.ts";
import { compileOptionSchema } from "./validate-json.ts";

/**
 * A schema for our own options and settings: JSON Schema plus `x-function` (true: a function), `x-has`
 * (methods), `x-say` (what to pass, in words), `x-secret` (never repeated) and, on a property, `x-aka` (its
 * names elsewhere). Compiled on first use.
 */
export interface OptionSchema {
  readonly schema: JsonSchema;
  readonly findIssue: (value: unknown) => DetailedIssue | undefined;
}

export type Properties<T> = { readonly [K in keyof Required<T>]: JsonSchema };

export function optionSchema(schema: JsonSchema): OptionSchema {
  let compiled: OptionSchema["findIssue"] | undefined;
  return {
    schema,
    findIssue: (value) => {
      compiled ??= compileOptionSchema(schema);
      return compiled(value);
    },
  };
}

/** A schema for an object with exactly these fields. */
export function objectSchema<T>(
  properties: Properties<T>,
  required: readonly (keyof T & string)[] = [],
): OptionSchema {
  return optionSchema({ type: "object", properties, required, additionalProperties: false });
}

/** An invalid value: where, and a sentence about it. */
export interface Problem {
  /** Path from the checked value; ends with the key that is missing or unknown. */
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** The first problem of a value. `name` is the value's name; `prefix` goes before the names of its fields. */
export function findProblem(
  value: unknown,
  { findIssue }: OptionSchema,
  name: string,
  prefix = "",
): Problem | undefined {
  const issue = findIssue(value);
  if (issue === undefined) return undefined;
  const nameAt = (path: Problem["path"]): string => {
    const text = pathText(path);
    if (prefix === "" || text === "") return text || name;
    return text.startsWith("[") ? prefix + text : `${prefix}.${text}`;
  };
  const { path, key, schema = {} } = issue;
  const full = key === undefined ? path : [...path, key];
  if (issue.kind === "unknown") return { path: full, message: unknownKey(issue, nameAt(path)) };
  const form = issue.kind === "missing" ? fieldsOf(schema)[key ?? ""] : schema;
  const valueText = schema["x-secret"] === true ? "not usable" : describeValue(issue.value);
  const what = key === undefined ? `is ${valueText}` : "is missing";
  const expected = describeSchema(isRecord(form) ? (form as JsonSchema) : {});
  const must = expected === "" ? "" : `; it must be ${expected}`;
  return { path: full, message: `${nameAt(full)} ${what}${must}.${suggestion(issue)}` };
}

/** Throws `invalid_argument` if a value is invalid; the message calls it `name`. */
export function check(value: unknown, schema: OptionSchema, name: string): void {
  const problem = findProblem(value, schema, name, name);
  if (problem !== undefined) throw invalidArgument(problem.message);
}

/** {@link check} for an options object, whose fields are named on their own in messages. */
export function checkOptions(options: unknown, schema: OptionSchema, name = "options"): void {
  const problem = findProblem(options, schema, name);
  if (problem !== undefined) throw invalidArgument(problem.message);
}

/** Returns `value` if it is a whole number of at least `least`; otherwise throws `invalid_argument`. */
export function assertInteger(name: string, value: number, least: number): number {
  check(value, optionSchema({ type: "integer", minimum: least }), name);
  return value;
}

export const FUNCTION_SCHEMA: OptionSchema = optionSchema({ "x-function": true });
export const OBJECT_SCHEMA: OptionSchema = optionSchema({ type: "object" });
export const STRING_SCHEMA: OptionSchema = optionSchema({ type: "string" });

/** The value of a text from an option, a variable or a form; or, if it is invalid, what is expected. */
export function readText(
  text: string,
  schema: JsonSchema,
): { readonly value: unknown } | { readonly expected: string } {
  const { type } = schema;
  let value: unknown = text;
  if (type === "number" || type === "integer") value = numberOf(text);
  else if (type === "boolean" && YES_OR_NO.test(text)) value = /^[yt]/i.test(text);
  if (compileOptionSchema(schema)(value) === undefined) return { value };
  const isTooLong = Number.isNaN(value) && /^\s*[+-]?\d{16,}(?:\.0*)?\s*$/.test(text);
  return { expected: `${describeSchema(schema)}${isTooLong ? " of at most 15 digits" : ""}` };
}

/** {@link readText} for options and variables: numbers are plain decimals, without sign or exponent. */
export function readOption(
  text: string,
  schema: JsonSchema,
): { readonly value: unknown } | { readonly expected: string } {
  const { type } = schema;
  const isNumber = type === "number" || type === "integer";
  return isNumber && !PLAIN_NUMBER.test(text) ? { expected: describeSchema(schema) } : readText(text, schema);
}

const PLAIN_NUMBER = /^(?:\d+(?:\.\d+)?|\.\d+)$/;
const YES_OR_NO = /^(?:y|yes|true|n|no|false)$/i;

/** The values a schema accepts, in words for people: `a whole number from 1`. Empty: anything. */
export function describeSchema(schema: JsonSchema): string {
  const { type, const: only, enum: values, anyOf, items, "x-say": say, "x-has": methods } = schema;
  if (typeof say === "string") return say;
  if (schema["x-function"] === true) return "a function";
  if (Array.isArray(methods)) return `an object with ${methods.map((name) => `${name}()`).join(", ")}`;
  if (only !== undefined) return JSON.stringify(only);
  if (Array.isArray(values)) return joinWithOr(values.map((value) => JSON.stringify(value)));
  if (Array.isArray(anyOf)) return joinWithOr(anyOf.map((each) => describeSchema(each as JsonSchema)));
  if (type === "number" || type === "integer") return numberForm(schema);
  if (type === "array") return isRecord(items) ? listForm(items) : "a list";
  if (type === "string") return schema["minLength"] === undefined ? "a string" : "a non-empty string";
  if (Array.isArray(type)) return joinWithOr(type.map((each) => describeSchema({ type: each })));
  return KINDS[String(type)] ?? "";
}

const KINDS: { readonly [type: string]: string } = {
  boolean: "true or false",
  object: "an object",
  null: "null",
};

function listForm(items: JsonSchema): string {
  const form = describeSchema(items);
  if (form === "") return "a list";
  return /^an? [a-z-]+(?: [a-z]+)?$/.test(form)
    ? `a list of ${form.replace(/^an? /, "")}s`
    : `a list, each ${form}`;
}

function numberForm({ type, minimum, exclusiveMinimum, maximum, exclusiveMaximum }: JsonSchema): string {
  const kind = type === "integer" ? "a whole number" : "a number";
  const least = minimum === undefined ? "" : ` from ${String(minimum)}`;
  const above = exclusiveMinimum === undefined ? "" : ` above ${String(exclusiveMinimum)}`;
  const most = maximum === undefined ? "" : ` ${least === "" ? "up to" : "to"} ${String(maximum)}`;
  const lowerBound = least + above;
  const below =
    exclusiveMaximum === undefined
      ? ""
      : `${lowerBound === "" ? "" : " and"} below ${String(exclusiveMaximum)}`;
  return kind + lowerBound + most + below;
}

/** The value may be a misplaced secret: repeat only short ones. */
function describeValue(value: unknown): string {
  if (typeof value === "function") return "a function";
  if (Array.isArray(value)) return "a list";
  if (isRecord(value)) return "an object";
  const text = typeof value === "string" ? JSON.stringify(value) : String(value);
  return text.length <= MAX_VALUE_CHARS ? text : `a ${typeof value} of ${String(value).length} characters`;
}

const MAX_VALUE_CHARS = 24;

function suggestion({ value, schema }: DetailedIssue): string {
  const values = schema?.["enum"];
  return typeof value === "string" && Array.isArray(values) ? didYouMean(value, values.map(String)) : "";
}

function unknownKey({ key = "", schema = {} }: DetailedIssue, parent: string): string {
  const { propertyNames } = schema;
  if (isRecord(propertyNames))
    return `The name ${JSON.stringify(key)} in ${parent} must be ${describeSchema(propertyNames)}.`;
  const fields = fieldsOf(schema);
  const names = Object.keys(fields);
  const isAlso = (name: string): boolean => {
    const others = (fields[name] as JsonSchema)["x-aka"];
    return Array.isArray(others) && others.includes(key);
  };
  const guess = closestMatch(key, names) ?? names.find(isAlso);
  const noun = parent === "options" ? "option" : "field";
  const where = parent === "options" ? "" : ` in ${parent}`;
  const better = guess === undefined ? `Known: ${names.join(", ")}.` : `Did you mean ${guess}?`;
  return `Unknown ${noun} ${JSON.stringify(key)}${where}. ${better}`;
}

function fieldsOf({ properties }: JsonSchema): { readonly [name: string]: unknown } {
  return isRecord(properties) ? properties : {};
}

function joinWithOr(choices: readonly string[]): string {
  return choices.length < 2
    ? choices.join("")
    : `${choices.slice(0, -1).join(", ")} or ${choices.at(-1) ?? ""}`;
}
