import type { Json, JsonObject } from "../core/base/errors.ts";
import { isRecord } from "../core/base/json.ts";
import type { JsonSchema } from "../core/base/schema.ts";

const CHOICES = ["anyOf", "oneOf"] as const;

/**
 * How a schema of arguments is shown to a model, without `anyOf`, `oneOf` and `allOf` at its top, where
 * OpenAI and Anthropic refuse them: the properties of all branches in one object, of which those are required
 * that every branch requires (of `allOf`: any). The call itself is checked against the schema as it was.
 */
export function plainObjectSchema(schema: JsonSchema): JsonSchema {
  return plain(schema, schema);
}

/** `root` holds what `$ref` points to. */
function plain(schema: JsonSchema, root: JsonSchema): JsonSchema {
  if (!("anyOf" in schema || "oneOf" in schema || "allOf" in schema)) return schema;
  const { anyOf: _any, oneOf: _one, allOf, ...rest } = schema;
  let whole: JsonSchema = { ...rest, type: "object" };
  for (const part of branchesOf(allOf, root)) whole = joined(whole, part);
  for (const keyword of CHOICES) {
    const branches = branchesOf(schema[keyword], root);
    if (branches.length === 0) continue;
    const required = branches
      .map(requiredOf)
      .reduce((all, each) => all.filter((name) => each.includes(name)));
    const properties = branches.map(propertiesOf).reduce(mergedProperties);
    whole = joined(whole, { properties, required });
  }
  return whole;
}

function joined(left: JsonSchema, right: JsonSchema): JsonSchema {
  const required = [...new Set([...requiredOf(left), ...requiredOf(right)])];
  return {
    ...left,
    properties: mergedProperties(propertiesOf(left), propertiesOf(right)),
    ...(required.length === 0 ? {} : { required }),
  };
}

/** A property that branches describe differently may be any of them. */
function mergedProperties(left: JsonObject, right: JsonObject): JsonObject {
  const merged: { [name: string]: Json | undefined } = { ...left };
  for (const [name, schema] of Object.entries(right)) {
    const known = merged[name];
    const isNew = known === undefined || JSON.stringify(known) === JSON.stringify(schema);
    Object.defineProperty(merged, name, {
      value: isNew ? schema : { anyOf: [...choicesOf(known ?? {}), schema] },
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return merged;
}

function choicesOf(schema: Json): readonly Json[] {
  const only = isRecord(schema) && Object.keys(schema).length === 1 ? schema["anyOf"] : undefined;
  return Array.isArray(only) ? (only as readonly Json[]) : [schema];
}

function branchesOf(schemas: unknown, root: JsonSchema): readonly JsonSchema[] {
  if (!Array.isArray(schemas)) return [];
  return schemas.filter(isRecord).map((schema) => plain(resolved(schema as JsonSchema, root), root));
}

/** The schema a reference into `$defs` or `definitions` stands for; others as they are. */
function resolved(schema: JsonSchema, root: JsonSchema): JsonSchema {
  const [, list = "", name = ""] = /^#\/(\$defs|definitions)\/([^/~%]+)$/.exec(String(schema["$ref"])) ?? [];
  const found = isRecord(root[list]) ? root[list][name] : undefined;
  return isRecord(found) ? found : schema;
}

function propertiesOf({ properties }: JsonSchema): JsonObject {
  return isRecord(properties) ? properties : {};
}

function requiredOf({ required }: JsonSchema): readonly string[] {
  return Array.isArray(required) ? required.filter((name) => typeof name === "string") : [];
}
