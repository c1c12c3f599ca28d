import type { Json } from "../../../core/base/errors.ts";
import { equalJson, safeParse } from "../../../core/base/json.ts";
import { numberOf } from "../../../core/base/text.ts";
import type { ValueField } from "../../../view/value-fields.ts";

/** The texts of the fields of a form, in their order; several where several values are chosen. */
export type GivenValues = readonly (readonly string[])[];

/** The texts a field offers, each with its name for people: for an option its place in the list. */
export function offeredTexts({ kind, options }: ValueField): readonly (readonly [string, string])[] {
  if (kind === "boolean") return ["true", "false"].map((each) => [each, each]);
  return options.map(({ label }, index) => [String(index), label]);
}

/** The texts of a form before anybody has written into it. */
export function initialValues(fields: readonly ValueField[]): GivenValues {
  return fields.map((field) => {
    const { initial, kind, options } = field;
    if (initial === undefined) return [];
    if (kind === "one" || kind === "several") {
      const chosen = kind === "several" && Array.isArray(initial) ? initial : [initial];
      return options.flatMap(({ value }, index) =>
        chosen.some((each) => equalJson(each, value)) ? [String(index)] : [],
      );
    }
    return [typeof initial === "string" && kind !== "json" ? initial : JSON.stringify(initial)];
  });
}

/** The value of a form, without fields that nobody filled in; `ok` is false where JSON cannot be read. */
export function readValues(
  fields: readonly ValueField[],
  given: GivenValues,
): { readonly ok: true; readonly value: Json } | { readonly ok: false } {
  const values = fields.map((field, index) => readValue(field, given[index] ?? []));
  if (values.includes(NO_JSON)) return { ok: false };
  const [first] = fields;
  if (first !== undefined && first.name === undefined)
    return { ok: true, value: (values[0] as Json) ?? null };
  const named = fields.map(({ name = "" }, index) => [name, values[index]] as const);
  return {
    ok: true,
    value: Object.fromEntries(named.filter(([, value]) => value !== undefined)) as Json,
  };
}

const NO_JSON = Symbol("not JSON");

function readValue(
  { kind, options, isRequired }: ValueField,
  texts: readonly string[],
): Json | undefined | typeof NO_JSON {
  const [text = ""] = texts;
  if (kind === "several") {
    const chosen = options.filter((_option, index) => texts.includes(String(index)));
    return chosen.length === 0 && !isRequired ? undefined : chosen.map(({ value }) => value);
  }
  if (text === "") return kind === "text" && isRequired ? "" : undefined;
  if (kind === "one") return options[Number(text)]?.value;
  if (kind === "boolean") return text === "true";
  // A text that is not a number is refused, with the reason, by whoever takes the answer.
  if (kind === "number") return Number.isNaN(numberOf(text)) ? text : numberOf(text);
  if (kind === "text") return text;
  const parsed = safeParse(text);
  return parsed.ok ? (parsed.value as Json) : NO_JSON;
}
