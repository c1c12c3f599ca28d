import { misuse, type NanoAgentError } from "./errors.ts";
import type { ResolveRef } from "./expected-form.ts";
import { isRecord } from "./json.ts";
import type { JsonSchema } from "./schema.ts";
import type { Check } from "./schema-run.ts";

/** One schema object being compiled: its keywords, its place, and how the schemas in it are compiled. */
export interface SchemaNode {
  readonly schema: JsonSchema;
  /** JSON pointer of the node, e.g. `#/properties/path`. */
  readonly where: string;
  readonly compile: (schema: unknown, where: string) => Check;
  /** The schema that a `$ref` points to. Throws `invalid_argument` where there is none. */
  readonly resolve: ResolveRef;
}

/** Says that a schema cannot be used, and where it says so. */
export function schemaError(where: string, problem: string, cause?: unknown): NanoAgentError {
  return misuse(`The schema cannot be used: ${where} ${problem}.`, { cause, details: { where } });
}

/** A keyword that must be a number; `undefined` when it is absent. */
export function numberKeyword(node: SchemaNode, keyword: string): number | undefined {
  const value = node.schema[keyword];
  if (value === undefined) return undefined;
  if (typeof value !== "number" || !Number.isFinite(value))
    throw schemaError(`${node.where}/${keyword}`, "must be a number");
  return value;
}

/** A keyword that must be a list of strings; empty when it is absent. */
export function namesKeyword(
  node: SchemaNode,
  keyword: string,
  value: unknown = node.schema[keyword],
): readonly string[] {
  if (value === undefined) return [];
  if (!Array.isArray(value) || !value.every((name) => typeof name === "string")) {
    throw schemaError(`${node.where}/${keyword}`, "must be an array of strings");
  }
  return value;
}

/** A keyword that holds one schema. */
export function schemaKeyword(node: SchemaNode, keyword: string): Check | undefined {
  const value = node.schema[keyword];
  return value === undefined ? undefined : node.compile(value, `${node.where}/${keyword}`);
}

/** A keyword that holds a list of schemas; `undefined` when it is absent. */
export function schemasKeyword(node: SchemaNode, keyword: string): readonly Check[] | undefined {
  const value = node.schema[keyword];
  if (value === undefined) return undefined;
  if (!Array.isArray(value)) throw schemaError(`${node.where}/${keyword}`, "must be an array of schemas");
  return value.map((each, at) => node.compile(each, `${node.where}/${keyword}/${at}`));
}

/** The values of an object keyword as `compile` makes them, with their names; empty when absent. */
export function mapKeyword<T>(
  node: SchemaNode,
  keyword: string,
  compile: (value: unknown, where: string) => T,
): readonly (readonly [string, T])[] {
  const value: unknown = node.schema[keyword];
  if (value === undefined) return [];
  if (!isRecord(value)) throw schemaError(`${node.where}/${keyword}`, "must be an object");
  return Object.keys(value).map(
    (key) => [key, compile(value[key], `${node.where}/${keyword}/${pointerToken(key)}`)] as const,
  );
}

/** A regular expression as schemas mean it: not anchored, Unicode where its syntax allows. */
export function patternOf(source: unknown, where: string): RegExp {
  if (typeof source !== "string") throw schemaError(where, "must be a regular expression as a string");
  try {
    return new RegExp(source, "u");
  } catch {
    return plainPattern(source, where);
  }
}

function plainPattern(source: string, where: string): RegExp {
  try {
    return new RegExp(source);
  } catch (error) {
    throw schemaError(where, `is not a regular expression: ${source}`, error);
  }
}

/** A key as it stands in a JSON pointer (RFC 6901). */
export function pointerToken(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}
