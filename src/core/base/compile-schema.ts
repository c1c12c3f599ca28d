import { errorMessage, invalidArgument, type Json } from "./errors.ts";
import { isPlainObject, isRecord, MAX_JSON_DEPTH } from "./json.ts";
import type {
  CompiledSchema,
  InferSchema,
  JsonSchema,
  SchemaInput,
  SchemaIssue,
  SchemaResult,
  StandardSchema,
} from "./schema.ts";
import { MAX_ISSUES, pathText, pointerToken, schemaError } from "./schema-keywords.ts";
import { compileValidator, type JsonValidator } from "./validate-json.ts";

/**
 * Prepares a schema for use: the JSON Schema shown to the model, and the check for what it answers. Takes
 * JSON Schema, which is copied and frozen, or a schema of any library with Standard Schema and its JSON
 * Schema extension (zod ≥ 4.2). Both are equally lenient: see {@link compileValidator}. Throws
 * `invalid_argument` for a schema that cannot be written as JSON Schema.
 */
export function compileSchema<const S extends SchemaInput>(schema: S): CompiledSchema<InferSchema<S>> {
  const compiled = isStandardSchema(schema) ? compileStandard(schema) : compileJson(schema);
  return compiled as CompiledSchema<InferSchema<S>>;
}

function compileJson(schema: unknown): CompiledSchema {
  if (!isPlainObject(schema)) {
    throw invalidArgument(
      `A schema must be a JSON Schema object or a Standard Schema (zod 4.2 or later, for one), not ${kindOf(schema)}.`,
    );
  }
  const jsonSchema = copyJson(schema, "#", []) as JsonSchema;
  return { jsonSchema, validate: compileValidator(jsonSchema) };
}

function compileStandard(schema: StandardSchema): CompiledSchema {
  const standard = schema["~standard"];
  const jsonSchema = standardJsonSchema(standard);
  const check = compileValidator(jsonSchema);
  return {
    jsonSchema,
    validate: (value) => {
      const result = runStandard(standard, value);
      return result instanceof Promise
        ? result.then((first) => (first.ok ? first : validateRepaired(standard, check, value, first)))
        : result.ok
          ? result
          : validateRepaired(standard, check, value, result);
    },
  };
}

type Standard = StandardSchema["~standard"];
type MaybePromise<T> = T | Promise<T>;

function standardJsonSchema(standard: Standard): JsonSchema {
  const { vendor, jsonSchema } = standard;
  if (jsonSchema === undefined) {
    throw invalidArgument(
      `This ${vendor} schema cannot say what it is as JSON Schema (zod can from version 4.2). Pass JSON Schema instead.`,
      { details: { vendor } },
    );
  }
  let written: unknown;
  try {
    written = jsonSchema.input({ target: "draft-2020-12" });
  } catch (error) {
    throw invalidArgument(
      `This ${vendor} schema cannot be written as JSON Schema: ${errorMessage(error)}. Use types that JSON has, or pass JSON Schema.`,
      { cause: error, details: { vendor } },
    );
  }
  if (!isRecord(written)) throw schemaError("#", `is ${kindOf(written)} and no object`);
  const { $schema: _dialect, ...rest } = copyJson(written, "#", []) as { readonly [key: string]: Json };
  return Object.freeze(rest);
}

function runStandard(standard: Standard, value: unknown): MaybePromise<SchemaResult> {
  try {
    const result = standard.validate(value);
    return result instanceof Promise ? result.then(toResult, toFailure) : toResult(result);
  } catch (error) {
    return toFailure(error);
  }
}

/** Tries the repaired form of a value the library rejected; returns the issues if that is rejected too. */
function validateRepaired(
  standard: Standard,
  check: JsonValidator,
  value: unknown,
  refusal: SchemaResult,
): MaybePromise<SchemaResult> {
  const own = check(value);
  if (!own.ok) return own;
  return own.value === value ? refusal : runStandard(standard, own.value);
}

function toResult(result: Awaited<ReturnType<Standard["validate"]>>): SchemaResult {
  if (result.issues === undefined) return { ok: true, value: result.value };
  const issues = result.issues.slice(0, MAX_ISSUES);
  return {
    ok: false,
    issues: issues.map(
      (issue): SchemaIssue => ({ path: pathText(pathOf(issue.path ?? [])), message: issue.message }),
    ),
  };
}

function toFailure(error: unknown): SchemaResult {
  return { ok: false, issues: [{ path: "", message: `the check itself failed: ${errorMessage(error)}` }] };
}

/** The segments of a path, which Standard Schema may write as objects. */
function pathOf(path: readonly unknown[]): readonly (string | number)[] {
  return path.map((segment) => {
    const key: unknown = isRecord(segment) ? segment["key"] : segment;
    return typeof key === "number" ? key : String(key);
  });
}

function isStandardSchema(schema: unknown): schema is StandardSchema {
  if (
    (typeof schema !== "object" && typeof schema !== "function") ||
    schema === null ||
    !("~standard" in schema)
  )
    return false;
  const standard = schema["~standard"];
  return isRecord(standard) && typeof standard["validate"] === "function";
}

/** A frozen copy of JSON data, without `undefined` fields; throws for anything JSON cannot hold. */
function copyJson(value: unknown, where: string, parents: readonly object[]): Json {
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number" && Number.isFinite(value)) return value;
  if (!Array.isArray(value) && !isPlainObject(value))
    throw schemaError(where, `is ${kindOf(value)}, which JSON cannot hold`);
  if (parents.includes(value)) throw schemaError(where, "contains itself; use $ref and $defs");
  if (parents.length >= MAX_JSON_DEPTH)
    throw schemaError(where, `is nested deeper than ${MAX_JSON_DEPTH} levels`);
  const ancestors = [...parents, value];
  if (Array.isArray(value))
    return Object.freeze(value.map((item, at) => copyJson(item, `${where}/${at}`, ancestors)));
  const copy: [string, Json][] = [];
  for (const [key, field] of Object.entries(value)) {
    if (field !== undefined) copy.push([key, copyJson(field, `${where}/${pointerToken(key)}`, ancestors)]);
  }
  return Object.freeze(Object.fromEntries(copy));
}

function kindOf(value: unknown): string {
  if (value === undefined || value === null) return String(value);
  if (typeof value !== "object") return `a ${typeof value} (${String(value).slice(0, 40)})`;
  return Array.isArray(value)
    ? "an array"
    : `an instance of ${Object.getPrototypeOf(value)?.constructor?.name ?? "a class"}`;
}
