import type { VNode } from "preact";
import { useId, useState } from "preact/hooks";
import { type ValueField, valueFields } from "../../../app/coding-session/value-fields.ts";
import type { JsonSchema } from "../../../core/base/schema.ts";
import { withHiddenShown } from "../../../permission/hidden-characters.ts";
import type { QuestionAnswer } from "../../../server/server-api.ts";
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
          change={(value) => setGiven(given.with(index, value))}
        />
      ))}
      {fault !== "" && (
        <p class="bad" role="alert">
          {fault}
        </p>
      )}
      <div class="row">
        <button type="submit">{words.sendValue}</button>
        <button type="button" onClick={() => send({ choice: "no" })}>
          {words.refuse}
        </button>
      </div>
    </form>
  );
}

interface FieldProps {
  readonly field: ValueField;
  readonly value: readonly string[];
  readonly change: (value: readonly string[]) => void;
}

function FieldInput({ field, value, change }: FieldProps): VNode {
  const words = useWords();
  const id = useId();
  const { label, note, kind, isRequired } = field;
  const [text = ""] = value;
  const common = { id, required: isRequired };
  const onInput = ({ currentTarget }: { readonly currentTarget: { readonly value: string } }): void =>
    change([currentTarget.value]);
  return (
    <>
      <label for={id}>
        {withHiddenShown(note === undefined ? label : `${label}: ${note}`)}
        {kind === "json" && ` (${words.asJson})`}
      </label>
      {kind === "option" || kind === "boolean" ? (
        <select {...common} value={text} onInput={onInput}>
          <option value="">–</option>
          <Choices field={field} />
        </select>
      ) : kind === "options" ? (
        <select
          {...common}
          multiple
          onInput={({ currentTarget }) =>
            change(Array.from(currentTarget.selectedOptions, (option) => option.value))
          }
        >
          <Choices field={field} chosen={value} />
        </select>
      ) : kind === "json" ? (
        <textarea {...common} value={text} onInput={onInput} />
      ) : (
        <input
          {...common}
          value={text}
          {...(kind === "number" && { type: "number", step: "any" })}
          onInput={onInput}
        />
      )}
    </>
  );
}

function Choices({
  field,
  chosen,
}: {
  readonly field: ValueField;
  readonly chosen?: readonly string[];
}): VNode {
  return (
    <>
      {offeredTexts(field).map(([value, label]) => (
        <option key={value} value={value} {...(chosen !== undefined && { selected: chosen.includes(value) })}>
          {withHiddenShown(label)}
        </option>
      ))}
    </>
  );
}
