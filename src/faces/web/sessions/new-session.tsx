import type { ComponentChildren, VNode } from "preact";
import { useId, useState } from "preact/hooks";
import { LISTED_MODES } from "../../../app/coding-session/mode-names.ts";
import type { RunLimits, SessionRequest } from "../../../server/server-api.ts";
import { useWork, WorkLine } from "../announce.tsx";
import { useWords } from "../language/language.ts";
import { useReader } from "../reader.ts";
import { hrefOf } from "../route.ts";

/** The fields of the form, as they are typed. */
export interface NewSessionFields {
  readonly prompt: string;
  readonly cwd: string;
  readonly model: string;
  readonly mode: string;
  readonly turns: string;
  readonly cost: string;
  readonly minutes: string;
}

const EMPTY: NewSessionFields = {
  prompt: "",
  cwd: "",
  model: "",
  mode: "",
  turns: "",
  cost: "",
  minutes: "",
};

/** The request that the fields say; empty ones say nothing. */
export function newSessionOf(fields: NewSessionFields): SessionRequest {
  const { prompt, cwd, model, mode, turns, cost, minutes } = fields;
  const limits: RunLimits = {
    ...amount("maxTurns", turns, 1),
    ...amount("maxBudgetUsd", cost, 1),
    ...amount("maxWallTimeMs", minutes, 60_000),
  };
  return {
    prompt,
    ...text("cwd", cwd),
    ...text("model", model),
    ...text("permissionMode", mode),
    ...(Object.keys(limits).length === 0 ? {} : { limits }),
  };
}

function text(name: string, value: string): { readonly [name: string]: string } {
  return value.trim() === "" ? {} : { [name]: value.trim() };
}

function amount(name: string, value: string, factor: number): { readonly [name: string]: number } {
  return value.trim() === "" ? {} : { [name]: Number(value) * factor };
}

/** The form that a new session starts with. */
export function NewSessionForm(): VNode {
  const words = useWords();
  const reader = useReader();
  const work = useWork();
  const [fields, setFields] = useState(EMPTY);
  const [isStarting, setStarting] = useState(false);
  const set = (name: keyof NewSessionFields) => (value: string) => setFields({ ...fields, [name]: value });
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    setStarting(true);
    const made = await work.attempt(() => reader.start(newSessionOf(fields)));
    setStarting(false);
    if (made !== undefined) location.hash = hrefOf({ type: "session", id: made.id, view: "chat" });
  };
  return (
    <>
      <h1>{words.newSession}</h1>
      <WorkLine work={work} />
      <form class="form" onSubmit={(event) => void submit(event)}>
        <Field label={words.prompt}>
          {(id) => (
            <textarea
              id={id}
              rows={5}
              required
              value={fields.prompt}
              onInput={({ currentTarget }) => set("prompt")(currentTarget.value)}
            />
          )}
        </Field>
        <TextField label={words.folder} hint={words.folderHint} value={fields.cwd} change={set("cwd")} />
        <TextField label={words.model} hint={words.modelHint} value={fields.model} change={set("model")} />
        <Field label={words.mode}>
          {(id) => (
            <select
              id={id}
              value={fields.mode}
              onInput={({ currentTarget }) => set("mode")(currentTarget.value)}
            >
              {(["", ...LISTED_MODES] as const).map((mode) => (
                <option key={mode} value={mode}>
                  {words.modes[mode]}
                </option>
              ))}
            </select>
          )}
        </Field>
        <fieldset>
          <legend>{words.limits}</legend>
          <NumberField label={words.maxTurns} step="1" value={fields.turns} change={set("turns")} />
          <NumberField label={words.maxCost} step="any" value={fields.cost} change={set("cost")} />
          <NumberField label={words.maxMinutes} step="any" value={fields.minutes} change={set("minutes")} />
        </fieldset>
        <button type="submit" class="primary" disabled={isStarting}>
          {words.start}
        </button>
      </form>
    </>
  );
}

interface FieldProps {
  readonly label: string;
  readonly children: (id: string) => ComponentChildren;
}

function Field({ label, children }: FieldProps): VNode {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children(id)}
    </div>
  );
}

interface InputProps {
  readonly label: string;
  readonly value: string;
  readonly change: (value: string) => void;
}

function TextField({ label, hint, value, change }: InputProps & { readonly hint: string }): VNode {
  return (
    <Field label={label}>
      {(id) => (
        <input
          id={id}
          value={value}
          placeholder={hint}
          autocomplete="off"
          spellcheck={false}
          onInput={({ currentTarget }) => change(currentTarget.value)}
        />
      )}
    </Field>
  );
}

function NumberField({ label, step, value, change }: InputProps & { readonly step: string }): VNode {
  return (
    <Field label={label}>
      {(id) => (
        <input
          id={id}
          type="number"
          min="0"
          step={step}
          value={value}
          onInput={({ currentTarget }) => change(currentTarget.value)}
        />
      )}
    </Field>
  );
}
