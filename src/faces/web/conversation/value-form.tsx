import type { VNode } from "preact";
import { useId, useState } from "preact/hooks";
import type { Json } from "../../../core/base/errors.ts";
import { equalJson, safeParse } from "../../../core/base/json.ts";
import type { JsonSchema } from "../../../core/base/schema.ts";
import { numberOf } from "../../../core/base/text.ts";
import { withHiddenShown } from "../../../permission/hidden-characters.ts";
import type { QuestionAnswer } from "../../../server/server-api.ts";
import { type ValueField, valueFields } from "../../../view/value-fields.ts";
import { useWords } from "../language/language.ts";
import { Button } from "../text/controls.tsx";

/** Options of {@link ValueForm}. */
interface FormProps {
  readonly schema: JsonSchema;
  readonly send: (answer: QuestionAnswer) => void;
}

/** Asks for a value, field by field. */
export function ValueForm({ schema, send }: FormProps): VNode {
  const words = useWords();
  const fields = valueFields(schema);
  const [given, setGiven] = useState<GivenValues>(() => initialValues(fields));
  const [fault, setFault] = useState("");
  const submit = (event: Event): void => {
    event.preventDefault();
    const read = readValues(fields, given);
    if (read.ok) send({ choice: "once", value: read.value });
    else setFault(words.notJson);
  };
  return (
    <form class="form" onSubmit={submit}>
      {fields.map((field, index) => (
        <FieldInput
          key={index}
          field={field}
          value={given[index] ?? []}
          change={(update) => setGiven((all) => all.with(index, update(all[index] ?? [])))}
        />
      ))}
      {fault !== "" && (
        <p class="bad" role="alert">
          {fault}
        </p>
      )}
      <div class="row">
        <Button type="submit" look="main">
          {words.sendValue}
        </Button>
        <Button onClick={() => send({ choice: "no" })}>{words.refuse}</Button>
      </div>
    </form>
  );
}

interface FieldProps {
  readonly field: ValueField;
  readonly value: readonly string[];
  readonly change: (update: (value: readonly string[]) => readonly string[]) => void;
}

function FieldInput(props: FieldProps): VNode {
  const words = useWords();
  const id = useId();
  const { label, note, kind } = props.field;
  const name = withHiddenShown(note === undefined ? label : `${label}: ${note}`);
  if (kind === "several") return <CheckBoxes {...props} name={name} />;
  return (
    <>
      <label for={id}>
        {name}
        {kind === "json" && ` (${words.asJson})`}
      </label>
      <OneValue {...props} id={id} />
    </>
  );
}

function OneValue({ field, value, change, id }: FieldProps & { readonly id: string }): VNode {
  const { kind, isRequired } = field;
  const [text = ""] = value;
  const common = {
    id,
    value: text,
    required: isRequired,
    onInput: ({ currentTarget }: { readonly currentTarget: { readonly value: string } }): void =>
      change(() => [currentTarget.value]),
  };
  if (kind === "json") return <textarea {...common} />;
  if (kind === "number") return <input {...common} type="number" step="any" />;
  if (kind === "text") return <input {...common} />;
  return (
    <select {...common}>
      <option value="">–</option>
      {offeredTexts(field).map(([offered, name]) => (
        <option key={offered} value={offered}>
          {withHiddenShown(name)}
        </option>
      ))}
    </select>
  );
}

function CheckBoxes({ field, value, change, name }: FieldProps & { readonly name: string }): VNode {
  return (
    <fieldset>
      <legend>{name}</legend>
      {offeredTexts(field).map(([offered, label]) => (
        <label key={offered} class="row">
          <input
            type="checkbox"
            checked={value.includes(offered)}
            onInput={({ currentTarget: { checked } }) =>
              change((all) => [...all.filter((each) => each !== offered), ...(checked ? [offered] : [])])
            }
          />
          {withHiddenShown(label)}
        </label>
      ))}
    </fieldset>
  );
}

/** The texts of the fields of a form, in their order; several where several values are chosen. */
type GivenValues = readonly (readonly string[])[];

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
