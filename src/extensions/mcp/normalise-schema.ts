import { type Fields, fieldsOf, isRecord, ownValue } from "../../core/base/json.ts";

/** A tool's schema as every provider takes it, and how its arguments lead back to the server's. */
export interface NormalisedSchema {
  readonly schema: { readonly [key: string]: unknown };
  /** The server's names of parameters, for those whose name providers refuse. */
  readonly renamed: ReadonlyMap<string, string>;
}

/** The form of a parameter's name in the API of Anthropic. */
const PROPERTY_NAME = /^[a-zA-Z0-9_.-]{1,64}$/;
const COMBINATORS = ["allOf", "anyOf", "oneOf"] as const;
const MAX_DEPTH = 20;

/**
 * Brings the input schema of a server's tool to the form that every provider takes: an object at the top,
 * without `$ref` and combinators there (their parameters are put together; those are required that each
 * alternative requires), and with names of parameters that can be sent. The server checks its arguments
 * itself, so a schema may come out wider than it was. `undefined` for what is no schema at all.
 */
export function normaliseSchema(schema: unknown): NormalisedSchema | undefined {
  if (schema === undefined) return { schema: { type: "object", properties: {} }, renamed: new Map() };
  if (!isRecord(schema)) return undefined;
  const { properties, required } = flattened(schema, { root: schema, depth: 0 });
  const { $schema: _dialect, $id: _id, $ref: _ref, ...rest } = schema;
  for (const combinator of [...COMBINATORS, "not", "if", "then", "else", "enum", "const"])
    delete (rest as Record<string, unknown>)[combinator];
  const renamed = new Map<string, string>();
  const named = Object.entries(properties).map(([name, value]): [string, unknown] => {
    const own = PROPERTY_NAME.test(name) ? name : freeName(name, { properties, renamed });
    if (own !== name) renamed.set(own, name);
    return [own, value];
  });
  const ownNames = new Map([...renamed].map(([own, name]) => [name, own]));
  const needed = required
    .filter((name) => Object.hasOwn(properties, name))
    .map((name) => ownNames.get(name) ?? name);
  return {
    schema: {
      ...rest,
      type: "object",
      properties: Object.fromEntries(named),
      ...(needed.length === 0 ? { required: undefined } : { required: needed }),
    },
    renamed,
  };
}

/** The arguments of a call under the names that the server knows. */
export function originalNames(input: Fields, { renamed }: Pick<NormalisedSchema, "renamed">): Fields {
  if (renamed.size === 0) return input;
  return Object.fromEntries(Object.entries(input).map(([name, value]) => [renamed.get(name) ?? name, value]));
}

interface FlatSchema {
  readonly properties: Fields;
  readonly required: readonly string[];
}

interface Walk {
  readonly root: Fields;
  readonly depth: number;
}

function flattened(schema: Fields, { root, depth }: Walk): FlatSchema {
  if (depth > MAX_DEPTH) return { properties: {}, required: [] };
  const below = { root, depth: depth + 1 };
  const parts: FlatSchema[] = [
    { properties: fieldsOf(schema["properties"]), required: textsOf(schema["required"]) },
  ];
  const target = resolve(schema["$ref"], root);
  if (target !== undefined) parts.push(flattened(target, below));
  for (const each of listOf(schema["allOf"])) parts.push(flattened(each, below));
  for (const key of ["anyOf", "oneOf"]) {
    const alternatives = listOf(schema[key]).map((each) => flattened(each, below));
    if (alternatives.length > 0) parts.push(oneOfThem(alternatives));
  }
  return {
    properties: merged(parts),
    required: [...new Set(parts.flatMap(({ required }) => required))],
  };
}

function oneOfThem(alternatives: readonly FlatSchema[]): FlatSchema {
  const [first, ...others] = alternatives.map(({ required }) => required);
  return {
    properties: merged(alternatives),
    required: (first ?? []).filter((name) => others.every((each) => each.includes(name))),
  };
}

/** Of two schemas for one parameter both count. */
function merged(parts: readonly FlatSchema[]): Fields {
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

/** The schema a reference inside the document leads to. */
function resolve(reference: unknown, root: Fields): Fields | undefined {
  if (typeof reference !== "string" || !reference.startsWith("#/")) return undefined;
  let at: unknown = root;
  for (const part of reference.slice(2).split("/")) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    at = isRecord(at) ? ownValue(at, key) : undefined;
  }
  return isRecord(at) ? at : undefined;
}

function freeName(
  name: string,
  taken: { readonly properties: Fields; readonly renamed: ReadonlyMap<string, string> },
): string {
  const base = name.replaceAll(/[^a-zA-Z0-9_.-]/g, "_").slice(0, 60) || "_";
  for (let number = 1; ; number++) {
    const own = number === 1 ? base : `${base}_${number}`;
    if (!Object.hasOwn(taken.properties, own) && !taken.renamed.has(own)) return own;
  }
}

function listOf(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.filter((each) => isRecord(each)) : [];
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}
