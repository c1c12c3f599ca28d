import type { Json } from "../../../core/base/errors.ts";
import { isRecord } from "../../../core/base/json.ts";
import type { JsonSchema } from "../../../core/base/schema.ts";

/** A field of a form. */
export interface SchemaField {
  readonly name: string;
  readonly label: string;
  readonly kind: "text" | "number" | "boolean" | "options";
  readonly options: readonly string[];
  readonly isRequired: boolean;
}

/** The fields of a flat object; undefined for any other schema, whose value is written as JSON. */
export function schemaFields(schema: JsonSchema): readonly SchemaField[] | undefined {
  const { properties, required } = schema;
  if (!isRecord(properties)) return undefined;
  const needed: readonly unknown[] = Array.isArray(required) ? required : [];
  const fields = Object.entries(properties).map(([name, property]) =>
    fieldOf(name, property, needed.includes(name)),
  );
  return fields.every((field) => field !== undefined) ? fields : undefined;
}

function fieldOf(name: string, property: unknown, isRequired: boolean): SchemaField | undefined {
  if (!isRecord(property)) return undefined;
  const { type, title, description } = property;
  const options = Array.isArray(property["enum"])
    ? property["enum"].filter((each): each is string => typeof each === "string")
    : [];
  const kind = options.length > 0 ? "options" : KINDS.get(type);
  const label = [title ?? name, description].filter((each) => typeof each === "string").join(": ");
  return kind === undefined ? undefined : { name, label, kind, options, isRequired };
}

const KINDS: ReadonlyMap<unknown, SchemaField["kind"]> = new Map([
  ["string", "text"],
  ["number", "number"],
  ["integer", "number"],
  ["boolean", "boolean"],
]);

/** The object that a form says; fields that nobody filled in and nobody has to are left out. */
export function valueOfFields(
  fields: readonly SchemaField[],
  given: { readonly [name: string]: string },
): { readonly [name: string]: Json } {
  return Object.fromEntries(
    fields.flatMap(({ name, kind, isRequired }): [string, Json][] => {
      const text = given[name] ?? "";
      if (kind === "boolean") return [[name, text === "true"]];
      if (text === "" && !isRequired) return [];
      return [[name, kind === "number" ? Number(text) : text]];
    }),
  );
}
