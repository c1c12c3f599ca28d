import type { VNode } from "preact";
import { useId, useState } from "preact/hooks";
import type { Json } from "../../../core/base/errors.ts";
import { safeParse } from "../../../core/base/json.ts";
import type { JsonSchema } from "../../../core/base/schema.ts";
import { withHiddenShown } from "../../../permission/hidden-characters.ts";
import type { QuestionAnswer } from "../../../server/server-api.ts";
import { useWords } from "../language/language.ts";
import { type SchemaField, schemaFields, valueOfFields } from "./schema-fields.ts";

/** Options of {@link ValueForm}. */
interface FormProps {
  readonly schema: JsonSchema;
  readonly send: (answer: QuestionAnswer) => void;
}

/** Asks for a value: field by field where it is a flat object, else as JSON. */
export function ValueForm({ schema, send }: FormProps): VNode {
  const words = useWords();
  const fields = schemaFields(schema);
  const [given, setGiven] = useState<{ readonly [name: string]: string }>({});
  const [json, setJson] = useState("");
  const [fault, setFault] = useState("");
  const submit = (event: Event): void => {
    event.preventDefault();
    if (fields !== undefined) return send({ choice: "once", value: { ...valueOfFields(fields, given) } });
    const parsed = safeParse(json);
    if (parsed.ok) send({ choice: "once", value: parsed.value as Json });
    else setFault(words.notJson);
  };
  return (
    <form class="form" onSubmit={submit}>
      {fields?.map((field) => (
        <FieldInput
          key={field.name}
          field={field}
          value={given[field.name] ?? ""}
          change={(value) => setGiven({ ...given, [field.name]: value })}
        />
      ))}
      {fields === undefined && (
        <label>
          {words.jsonValue}
          <textarea value={json} onInput={({ currentTarget }) => setJson(currentTarget.value)} />
        </label>
      )}
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
  readonly field: SchemaField;
  readonly value: string;
  readonly change: (value: string) => void;
}

function FieldInput({ field: { label, kind, options, isRequired }, value, change }: FieldProps): VNode {
  const id = useId();
  const common = { id, required: isRequired, value };
  const onInput = ({ currentTarget }: { readonly currentTarget: { readonly value: string } }): void =>
    change(currentTarget.value);
  return (
    <>
      <label for={id}>{withHiddenShown(label)}</label>
      {kind === "options" || kind === "boolean" ? (
        <select {...common} onInput={onInput}>
          <option value="">–</option>
          {(kind === "boolean" ? ["true", "false"] : options).map((each) => (
            <option key={each} value={each}>
              {withHiddenShown(each)}
            </option>
          ))}
        </select>
      ) : kind === "number" ? (
        <input {...common} type="number" step="any" onInput={onInput} />
      ) : (
        <input {...common} onInput={onInput} />
      )}
    </>
  );
}
