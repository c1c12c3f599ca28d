import { readText } from "../core/base/check-options.ts";
import { compileSchema } from "../core/base/compile-schema.ts";
import type { Json } from "../core/base/errors.ts";
import { equalJson, type Fields, isRecord, omitUndefined, ownValue, safeParse } from "../core/base/json.ts";
import type { JsonSchema } from "../core/base/schema.ts";
import type { Question, QuestionReply } from "./question.ts";
import { questionKind } from "./question-kind.ts";

interface FormProblem {
  /** A sentence about what is wrong. */
  readonly fault: string;
}

/** Collects a value that fits a schema, field by field, each as text typed by a person. */
export class ValueForm {
  readonly fields: readonly ValueField[];
  readonly #schema: JsonSchema;
  readonly #values: (Json | undefined)[] = [];

  constructor(schema: JsonSchema) {
    this.#schema = schema;
    this.fields = valueFields(schema);
  }

  /** Index in {@link fields} of the current field. */
  get at(): number {
    return this.#values.length;
  }

  /** The current field; `undefined` after the last one, when any text means yes. */
  get field(): ValueField | undefined {
    return this.fields[this.at];
  }

  /** Takes text for the current field, which stays current if it is invalid. Returns the complete value. */
  take(text: string): FormProblem | { readonly value: Json } | undefined {
    const { field } = this;
    if (field !== undefined) {
      const read = readField(field, text.trim());
      return "fault" in read ? read : this.give(read.value);
    }
    return this.#finish();
  }

  /** Takes a value for the current field, like {@link take}; `undefined` leaves it out. */
  give(value: Json | undefined): FormProblem | { readonly value: Json } | undefined {
    this.#values.push(value);
    return this.#finish();
  }

  /** The answers given so far, if the person stops before the last question. */
  leave(question: Question): QuestionReply {
    const isAnswered = questionKind(question) === "ask" && this.at > 0;
    return isAnswered ? { value: this.#value() } : { choice: "no" };
  }

  #finish(): FormProblem | { readonly value: Json } | undefined {
    if (this.at < this.fields.length) return undefined;
    const fitted = fitValue(this.#schema, this.#value());
    if ("fault" in fitted) this.#values.length = 0;
    return fitted;
  }

  /** Returns to the previous field, if there is one. */
  back(): void {
    this.#values.pop();
  }

  #value(): Json {
    const [first] = this.fields;
    if (first !== undefined && first.name === undefined) return this.#values[0] ?? null;
    const named = this.fields.map(({ name = "" }, index) => [name, this.#values[index]] as const);
    return Object.fromEntries(named.filter(([, value]) => value !== undefined)) as Json;
  }
}

/** A value fitted to its schema, with obvious mistakes corrected; or the reason it does not fit. */
export function fitValue(schema: JsonSchema, value: Json): { readonly value: Json } | FormProblem {
  const checked = compileSchema(schema).validate(value);
  if (checked instanceof Promise) return { value };
  if (checked.ok) return { value: checked.value as Json };
  const faults = checked.issues.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`));
  return { fault: faults.join("; ") };
}

function readField(field: ValueField, text: string): FormProblem | { readonly value: Json | undefined } {
  const { initial, isRequired } = field;
  if (text === "" && (initial !== undefined || !isRequired)) return { value: initial };
  if (text === "") return { fault: "A value is needed here." };
  const read = READERS[field.kind](text, field);
  if ("fault" in read) return read;
  const fitted = fitValue(field.schema, read.value);
  return "fault" in fitted ? { fault: `This does not fit: ${fitted.fault}.` } : read;
}

type Reader = (text: string, field: ValueField) => FormProblem | { readonly value: Json };

/** Converts text by the type of its field; the rest of the schema is checked later. */
function readTyped(text: string, { schema }: ValueField): ReturnType<Reader> {
  const read = readText(text, omitUndefined({ type: schema["type"] }));
  return "value" in read ? { value: read.value as Json } : { fault: `Write ${read.expected}.` };
}

const READERS: { readonly [kind in ValueField["kind"]]: Reader } = {
  text: (value) => ({ value }),
  number: readTyped,
  boolean: readTyped,
  one: (text, field) => {
    const found = optionOf(text, field);
    if (found === undefined && field.isOpen) return { value: text };
    return found === undefined ? { fault: `Write one of: ${labelsOf(field)}.` } : { value: found.value };
  },
  several: (text, field) => {
    const texts = optionOf(text, field) === undefined ? text.split(",") : [text];
    const found = texts.map((each) => optionOf(each.trim(), field));
    if (field.isOpen && found.includes(undefined)) return { value: [text] };
    return found.every((each) => each !== undefined)
      ? { value: found.map(({ value }) => value) }
      : { fault: `Write some of these, with commas between them: ${labelsOf(field)}.` };
  },
  json: (text) => {
    const parsed = safeParse(text);
    return parsed.ok ? { value: parsed.value as Json } : { fault: "Write JSON." };
  },
};

function optionOf(text: string, { options, isOpen }: ValueField): ValueOption | undefined {
  const wanted = text.toLowerCase();
  return (
    options.find(({ label }) => label === text) ??
    options.find(({ value }) => value === text) ??
    options.find(({ label }) => label.toLowerCase() === wanted) ??
    (isOpen || isNumbered(options) ? options[Number(text) - 1] : undefined)
  );
}

function labelsOf({ options }: ValueField): string {
  if (isNumbered(options)) return options.map(({ label }, index) => `${index + 1} ${label}`).join("; ");
  return options.map(({ label }) => label).join(", ");
}

/** True for options that commas cannot separate: these can be chosen by number. */
function isNumbered(options: readonly ValueOption[]): boolean {
  return options.some(({ label }) => label.includes(","));
}

/** The input a field accepts, in words; `undefined` if anything does. `isListed`: options are visible. */
export function fieldHint(field: ValueField, isListed = false): string | undefined {
  const { kind, initial, isRequired, isOpen } = field;
  if (isOpen)
    return isListed ? undefined : `${kind === "several" ? "numbers" : "a number"}, or your own words`;
  const empty =
    initial !== undefined
      ? `empty: ${valueText(field, initial)}`
      : isRequired
        ? undefined
        : "empty: leave it out";
  const what = { ...HINTS, one: `one of: ${labelsOf(field)}`, several: `some of: ${labelsOf(field)}` };
  const parts = [isListed ? undefined : what[kind], empty].filter((each) => each !== undefined);
  return parts.length === 0 ? undefined : parts.join("; ");
}

const HINTS = { text: undefined, number: "a number", boolean: "yes or no", json: "JSON" } as const;

function valueText({ options }: ValueField, value: Json): string {
  const shown = (each: Json): string =>
    options.find((option) => option.value === each)?.label ??
    (typeof each === "string" ? each : JSON.stringify(each));
  return Array.isArray(value) ? value.map(shown).join(", ") : shown(value);
}

/** An option of a field. */
export interface ValueOption {
  readonly value: Json;
  /** Its name for people. */
  readonly label: string;
  /** Its description in a sentence. */
  readonly note?: string;
}

/** A part of a value that a person fills in. */
export interface ValueField {
  /** Its property; `undefined` for the value itself if it is not an object. */
  readonly name: string | undefined;
  readonly label: string;
  /** A remark next to the label. */
  readonly note: string | undefined;
  /** `one` of {@link options}, `several` of them, or `json`: anything else, written as JSON. */
  readonly kind: "text" | "number" | "boolean" | "one" | "several" | "json";
  readonly options: readonly ValueOption[];
  /** True if any other text is accepted too. */
  readonly isOpen: boolean;
  readonly isRequired: boolean;
  /** Used if nothing is filled in. */
  readonly initial: Json | undefined;
  readonly schema: JsonSchema;
}

/** The fields of an object, else the value itself, for the schemas MCP servers may send (elicitation). */
export function valueFields(schema: JsonSchema): readonly ValueField[] {
  const { type, properties, required } = schema;
  if (type !== "object" && !isRecord(properties)) return [fieldOf(undefined, schema, true)];
  const needed: readonly unknown[] = Array.isArray(required) ? required : [];
  return Object.entries(isRecord(properties) ? properties : {}).map(([name, property]) =>
    fieldOf(name, withDefinitions(schema, isRecord(property) ? property : {}), needed.includes(name)),
  );
}

/** The schema of a property on its own, including the definitions it refers to. */
function withDefinitions({ $defs, definitions }: JsonSchema, { $ref, ...own }: JsonSchema): JsonSchema {
  const [, keyword, name] = /^#\/(\$defs|definitions)\/([^/~%]+)$/.exec(String($ref)) ?? [];
  const named = keyword === "$defs" ? $defs : definitions;
  const target = name === undefined || !isRecord(named) ? undefined : ownValue(named, name);
  const definition = isRecord(target) ? target : omitUndefined({ $ref });
  return { ...omitUndefined({ $defs, definitions }), ...definition, ...own };
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
    return [{ value: value as Json, label: labelOf(title, value), ...omitUndefined({ note }) }];
  });
  // A branch of another form can only be written as JSON.
  const isChoice = options.length === offered.length;
  return { options: isChoice ? options : [], isOpen: isChoice && offered.length < branches.length };
}

/** The branch that accepts a person's own words. */
const ANY_TEXT = { type: "string" };

function labelOf(name: unknown, value: unknown): string {
  if (typeof name === "string" && name !== "") return name;
  return typeof value === "string" ? value : JSON.stringify(value);
}
