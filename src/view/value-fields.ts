import type { Json } from "../core/base/errors.ts";
import { defined, equalJson, type Fields, isRecord, ownValue } from "../core/base/json.ts";
import type { JsonSchema } from "../core/base/schema.ts";

/** A value that a field offers. */
export interface ValueOption {
  readonly value: Json;
  /** Its name for people. */
  readonly label: string;
  /** Said about it in a sentence. */
  readonly note?: string;
}

/** A part of a value that a person fills in. */
export interface ValueField {
  /** Its property; `undefined`: the value itself, which is no object. */
  readonly name: string | undefined;
  readonly label: string;
  /** A remark next to the label. */
  readonly note: string | undefined;
  /** `one` of {@link options}, `several` of them, or `json`: anything else, written as JSON. */
  readonly kind: "text" | "number" | "boolean" | "one" | "several" | "json";
  readonly options: readonly ValueOption[];
  /** True when any other text is accepted too. */
  readonly isOpen: boolean;
  readonly isRequired: boolean;
  /** Taken where nothing is filled in. */
  readonly initial: Json | undefined;
  readonly schema: JsonSchema;
}

/** The fields of an object, else the value itself, in the forms that MCP servers ask in (elicitation). */
export function valueFields(schema: JsonSchema): readonly ValueField[] {
  const { type, properties, required } = schema;
  if (type !== "object" && !isRecord(properties)) return [fieldOf(undefined, schema, true)];
  const needed: readonly unknown[] = Array.isArray(required) ? required : [];
  return Object.entries(isRecord(properties) ? properties : {}).map(([name, property]) =>
    fieldOf(name, within(schema, isRecord(property) ? property : {}), needed.includes(name)),
  );
}

/** The schema of a property by itself: what it refers to in the whole comes with it. */
function within({ $defs, definitions }: JsonSchema, { $ref, ...own }: JsonSchema): JsonSchema {
  const [, place, name] = /^#\/(\$defs|definitions)\/([^/~%]+)$/.exec(String($ref)) ?? [];
  const named = place === "$defs" ? $defs : definitions;
  const target = name === undefined || !isRecord(named) ? undefined : ownValue(named, name);
  const kept = isRecord(target) ? target : defined({ $ref });
  return { ...defined({ $defs, definitions }), ...kept, ...own };
}

function fieldOf(name: string | undefined, schema: JsonSchema, isRequired: boolean): ValueField {
  const { title, description, format, default: initial } = schema;
  const notes = [description, format].filter((each) => typeof each === "string" && each !== "");
  const isNamed = typeof title === "string" && title !== "";
  return {
    name,
    label: isNamed ? title : (name ?? "Value"),
    note: notes.length === 0 ? undefined : notes.join(", "),
    ...choiceOf(schema),
    isRequired,
    initial,
    schema,
  };
}

function choiceOf(schema: JsonSchema): Pick<ValueField, "kind" | "options" | "isOpen"> {
  const { type, items } = schema;
  const one = optionsOf(schema);
  if (one.options.length > 0) return { kind: "one", ...one };
  const several = type === "array" && isRecord(items) ? optionsOf(items) : one;
  if (several.options.length > 0) return { kind: "several", ...several };
  return { kind: KINDS.get(type) ?? "json", options: [], isOpen: false };
}

const KINDS: ReadonlyMap<unknown, ValueField["kind"]> = new Map([
  ["string", "text"],
  [undefined, "text"],
  ["number", "number"],
  ["integer", "number"],
  ["boolean", "boolean"],
]);

function optionsOf({
  enum: values,
  enumNames,
  oneOf,
  anyOf,
}: Fields): Pick<ValueField, "options" | "isOpen"> {
  const names: readonly unknown[] = Array.isArray(enumNames) ? enumNames : [];
  if (Array.isArray(values))
    return {
      options: (values as readonly Json[]).map((value, index) => ({
        value,
        label: labelOf(names[index], value),
      })),
      isOpen: false,
    };
  const branches = ([oneOf, anyOf].find(Array.isArray) ?? []) as readonly unknown[];
  const offered = branches.filter((each) => !equalJson(each, ANY_TEXT));
  const options = offered.flatMap((each): readonly ValueOption[] => {
    const { const: value, title, description } = isRecord(each) ? each : {};
    if (value === undefined) return [];
    const note = typeof description === "string" && description.trim() !== "" ? description : undefined;
    return [{ value: value as Json, label: labelOf(title, value), ...defined({ note }) }];
  });
  // A branch of another form can only be written as JSON.
  const isChoice = options.length === offered.length;
  return { options: isChoice ? options : [], isOpen: isChoice && offered.length < branches.length };
}

/** The branch that takes words of a person's own. */
const ANY_TEXT = { type: "string" };

function labelOf(name: unknown, value: unknown): string {
  if (typeof name === "string" && name !== "") return name;
  return typeof value === "string" ? value : JSON.stringify(value);
}
