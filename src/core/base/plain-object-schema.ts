import { type Fields, fieldsOf, isRecord, ownValue } from "./json.ts";
import type { JsonSchema } from "./schema.ts";

/** Keywords that OpenAI or Anthropic refuse at the top of a schema of arguments. */
const REFUSED_KEYWORDS = ["$ref", "allOf", "anyOf", "oneOf", "not", "if", "then", "else", "enum", "const"];

/**
 * How a schema of arguments is shown to a model: without references and choices at its top, where providers
 * refuse them. The properties of all branches stand in one object, of which those are required that every
 * branch requires (of `allOf`: any). It may be wider than the schema, and is the same object where that is
 * plain already.
 */
export function plainObjectSchema(schema: JsonSchema): JsonSchema {
  if (!REFUSED_KEYWORDS.some((keyword) => keyword in schema)) return schema;
  const rest = Object.entries(schema).filter(([keyword]) => !REFUSED_KEYWORDS.includes(keyword));
  const { properties, required } = flatten(schema, schema, new Map());
  return {
    ...Object.fromEntries(rest),
    type: "object",
    properties,
    ...(required.length === 0 ? {} : { required }),
  } as JsonSchema;
}

interface FlatSchema {
  readonly properties: Fields;
  readonly required: readonly string[];
}

/** `root` holds what `$ref` points to. A schema inside itself adds nothing. */
function flatten(schema: Fields, root: Fields, known: Map<Fields, FlatSchema>): FlatSchema {
  const before = known.get(schema);
  if (before !== undefined) return before;
  known.set(schema, { properties: {}, required: [] });
  const flattenAll = (value: unknown): readonly FlatSchema[] =>
    Array.isArray(value) ? value.filter(isRecord).map((each) => flatten(each, root, known)) : [];
  const { properties, required, allOf, anyOf, oneOf } = schema;
  const names = Array.isArray(required) ? required.filter((name) => typeof name === "string") : [];
  const parts = [
    { properties: fieldsOf(properties), required: names },
    ...flattenAll([resolveReference(schema["$ref"], root)]),
    ...flattenAll(allOf),
    ...[anyOf, oneOf].flatMap((choices) => mergeChoices(flattenAll(choices))),
  ];
  const flat = {
    properties: mergeProperties(parts),
    required: [...new Set(parts.flatMap((part) => part.required))],
  };
  known.set(schema, flat);
  return flat;
}

function mergeChoices(branches: readonly FlatSchema[]): readonly FlatSchema[] {
  const [first, ...others] = branches.map(({ required }) => required);
  if (first === undefined) return [];
  const required = first.filter((name) => others.every((each) => each.includes(name)));
  return [{ properties: mergeProperties(branches), required }];
}

/** A property that several describe differently may be any of them. */
function mergeProperties(parts: readonly FlatSchema[]): Fields {
  const all = new Map<string, unknown[]>();
  for (const { properties } of parts)
    for (const [name, value] of Object.entries(properties)) {
      const known = all.get(name) ?? [];
      if (!known.some((each) => JSON.stringify(each) === JSON.stringify(value))) known.push(value);
      all.set(name, known);
    }
  return Object.fromEntries(
    [...all].map(([name, values]) => [name, values.length === 1 ? values[0] : { anyOf: values }]),
  );
}

function resolveReference(reference: unknown, root: Fields): unknown {
  if (typeof reference !== "string" || !reference.startsWith("#")) return undefined;
  let at: unknown = root;
  for (const part of reference.split("/").slice(1)) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    at = isRecord(at) ? ownValue(at, key) : undefined;
  }
  return at;
}
