import type { VNode } from "preact";
import { useId, useState } from "preact/hooks";
import type { JsonSchema } from "../../../core/base/schema.ts";
import { withHiddenShown } from "../../../permission/hidden-characters.ts";
import type { QuestionAnswer } from "../../../server/server-api.ts";
import { type ValueField, valueFields } from "../../../view/value-fields.ts";
import { useWords } from "../language/language.ts";
import { type GivenValues, initialValues, offeredTexts, readValues } from "./given-values.ts";

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
        <button type="submit" class="btn main">
          {words.sendValue}
        </button>
        <button type="button" class="btn" onClick={() => send({ choice: "no" })}>
          {words.refuse}
        </button>
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
