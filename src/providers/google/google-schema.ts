import type { Json } from "../../core/base/errors.ts";
import { ownValue } from "../../core/base/json.ts";
import type { JsonSchema } from "../../core/base/schema.ts";

/**
 * A JSON Schema as the OpenAPI 3.0 subset that the `parameters` field of a function declaration takes
 * (https://ai.google.dev/api/caching#Schema). What the subset has no word for is left out, which only widens
 * the schema: `const` becomes `enum`, a type list becomes `nullable` or `anyOf`, `oneOf` becomes `anyOf`,
 * `allOf` is merged, a local `$ref` is put in place (a recursive one becomes an open object).
 */
export function toOpenApiSchema(schema: JsonSchema): JsonSchema {
  return convert(schema, { root: schema, refs: [] });
}

interface Scope {
  readonly root: JsonSchema;
  readonly refs: readonly string[];
}

type Mutable = { [key: string]: Json | undefined };

const KEPT = [
  "title",
  "description",
  "format",
  "pattern",
  "minimum",
  "maximum",
  "minItems",
  "maxItems",
  "minLength",
  "maxLength",
  "minProperties",
  "maxProperties",
  "required",
  "nullable",
  "propertyOrdering",
  "default",
];

/** References within references grow the text without bound. */
const MAX_NESTED_REFS = 8;

/** Formats each type accepts; any other word is refused with HTTP 400. */
const FORMATS: { readonly [type: string]: readonly string[] } = {
  string: ["enum", "date-time"],
  number: ["float", "double"],
  integer: ["int32", "int64"],
};

function convert(given: Json | undefined, scope: Scope): JsonSchema {
  if (!isObject(given)) return {};
  const ref = given["$ref"];
  if (typeof ref === "string") return convertRef(ref, given, scope);
  const schema = mergeAllOf(given, scope);
  const out: Mutable = {};
  for (const key of KEPT) if (schema[key] !== undefined) out[key] = schema[key];
  addType(out, schema, scope);
  addEnum(out, schema);
  addChildren(out, schema, scope);
  const { type, format } = out;
  const formats = ownValue(FORMATS, type);
  if (typeof format !== "string" || formats?.includes(format) !== true) delete out["format"];
  return out;
}

function convertRef(ref: string, given: JsonSchema, scope: Scope): JsonSchema {
  const target = ref.startsWith("#") ? resolve(scope.root, ref.slice(1)) : undefined;
  const description = given["description"];
  const own: JsonSchema = description === undefined ? {} : { description };
  if (target === undefined || scope.refs.includes(ref) || scope.refs.length >= MAX_NESTED_REFS)
    return { type: "object", ...own };
  return { ...convert(target, { ...scope, refs: [...scope.refs, ref] }), ...own };
}

function resolve(root: JsonSchema, pointer: string): JsonSchema | undefined {
  let at: Json | undefined = root;
  for (const key of pointer.split("/").slice(1)) {
    const name = key.replaceAll("~1", "/").replaceAll("~0", "~");
    at = isObject(at) ? ownValue(at, name) : undefined;
  }
  return isObject(at) ? at : undefined;
}

function mergeAllOf(schema: JsonSchema, scope: Scope): JsonSchema {
  const all = schema["allOf"];
  if (!Array.isArray(all)) return schema;
  const merged: Mutable = { ...schema };
  delete merged["allOf"];
  for (const item of all as readonly Json[]) {
    const part =
      isObject(item) && typeof item["$ref"] === "string" ? convertRef(item["$ref"], item, scope) : item;
    if (!isObject(part)) continue;
    for (const [key, value] of Object.entries(mergeAllOf(part, scope))) {
      const before = merged[key];
      if (isObject(before) && isObject(value)) merged[key] = { ...before, ...value };
      else if (Array.isArray(before) && Array.isArray(value))
        merged[key] = [...new Set([...before, ...value])];
      else merged[key] ??= value;
    }
  }
  return merged;
}

function addType(out: Mutable, schema: JsonSchema, scope: Scope): void {
  const type = schema["type"];
  if (!Array.isArray(type)) {
    if (typeof type === "string") out["type"] = type;
    else if (isObject(schema["properties"])) out["type"] = "object";
    return;
  }
  const types = (type as readonly Json[]).filter((name) => typeof name === "string" && name !== "null");
  if (type.includes("null")) out["nullable"] = true;
  if (types.length === 1) out["type"] = types[0];
  else if (types.length > 1)
    out["anyOf"] = types.map((name) => convert({ ...schema, type: name, enum: undefined }, scope));
}

/** The subset knows only lists of strings. */
function addEnum(out: Mutable, schema: JsonSchema): void {
  const values = schema["const"] === undefined ? schema["enum"] : [schema["const"]];
  if (!Array.isArray(values)) return;
  const strings = (values as readonly Json[]).filter((value) => typeof value === "string");
  if (values.includes(null)) out["nullable"] = true;
  if (
    strings.length === 0 ||
    strings.length < (values as readonly Json[]).filter((value) => value !== null).length
  )
    return;
  out["type"] = "string";
  out["enum"] = strings;
}

function addChildren(out: Mutable, schema: JsonSchema, scope: Scope): void {
  const properties = schema["properties"];
  if (isObject(properties)) {
    const entries = Object.entries(properties).map(([name, value]) => [name, convert(value, scope)] as const);
    if (entries.length > 0) out["properties"] = Object.fromEntries(entries);
    const required = out["required"];
    if (Array.isArray(required))
      out["required"] = required.filter(
        (name) => typeof name === "string" && Object.hasOwn(properties, name),
      );
  } else delete out["required"];
  if (out["type"] === "array")
    out["items"] = convert(Array.isArray(schema["items"]) ? schema["items"][0] : schema["items"], scope);
  const choices = schema["anyOf"] ?? schema["oneOf"];
  if (!Array.isArray(choices)) return;
  const others = (choices as readonly Json[]).filter(
    (choice) => !(isObject(choice) && choice["type"] === "null"),
  );
  if (others.length < choices.length) out["nullable"] = true;
  const converted = others.map((choice) => convert(choice, scope));
  if (converted.length === 1) Object.assign(out, converted[0]);
  else if (converted.length > 1) out["anyOf"] = converted;
}

function isObject(value: Json | undefined): value is JsonSchema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
