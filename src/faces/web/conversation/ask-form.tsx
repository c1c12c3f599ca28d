import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { Json } from "../../../core/base/errors.ts";
import { withHiddenShown } from "../../../permission/hidden-characters.ts";
import type { QuestionAnswer } from "../../../server/server-api.ts";
import type { Question } from "../../../view/question.ts";
import { type ValueField, valueFields } from "../../../view/value-fields.ts";
import { useWords } from "../language/language.ts";
import { StateMark } from "../text/icons.tsx";
import { useAnswerKeys } from "./use-answer-keys.ts";

/** Options of {@link AskForm}. */
interface AskProps {
  readonly question: Question;
  readonly isWritable: boolean;
  readonly send: (answer: QuestionAnswer) => void;
}

/** The questions of the model, one after the other: options, or an answer in words of one's own. */
export function AskForm({ question, isWritable, send }: AskProps): VNode {
  const words = useWords();
  const fields = valueFields(question.schema ?? {});
  const [given, setGiven] = useState<readonly Json[]>([]);
  const field = fields[given.length];
  const sendAll = (values: readonly Json[]): void => {
    const named = values.map((value, at) => [fields[at]?.name ?? "", value] as const);
    if (named.length === 0) send({ choice: "no" });
    else send({ choice: "once", value: Object.fromEntries(named) });
  };
  const give = (value: Json): void => {
    const all = [...given, value];
    setGiven(all);
    if (all.length === fields.length) sendAll(all);
  };
  return (
    <>
      <header>
        <StateMark mark="wait" name={words.marks.wait} />
        <h2 id={`question-${question.id}`} tabIndex={-1}>
          {withHiddenShown(field?.label ?? words.questionKind.ask)}
        </h2>
        {fields.length > 1 && field !== undefined && (
          <span class="end num">{words.questionAt(given.length + 1, fields.length)}</span>
        )}
      </header>
      {field !== undefined && isWritable && (
        <AskedField key={given.length} field={field} give={give} leave={() => sendAll(given)} />
      )}
    </>
  );
}

interface FieldProps {
  readonly field: ValueField;
  readonly give: (value: Json) => void;
  readonly leave: () => void;
}

function AskedField({ field: { kind, options }, give, leave }: FieldProps): VNode {
  const words = useWords();
  const isOne = kind === "one";
  const [chosen, setChosen] = useState<ReadonlySet<number>>(new Set());
  const [own, setOwn] = useState("");
  const choose = (at: number): void => {
    const option = options[at];
    if (option === undefined) return;
    if (isOne) give(option.value);
    else
      setChosen(
        (before) => new Set(before.has(at) ? [...before].filter((each) => each !== at) : [...before, at]),
      );
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    const text = own.trim();
    const marked = options.flatMap(({ value }, at) => (chosen.has(at) ? [value] : []));
    if (isOne && text !== "") give(text);
    else if (!isOne && (text !== "" || marked.length > 0)) give(text === "" ? marked : [...marked, text]);
  };
  useAnswerKeys(
    options.map((_, at) => () => choose(at)),
    leave,
  );
  return (
    <form onSubmit={submit}>
      <div class="opts">
        {options.map(({ label, note }, at) => (
          <button
            key={at}
            type="button"
            class={chosen.has(at) ? "opt on" : "opt"}
            aria-pressed={isOne ? undefined : chosen.has(at)}
            onClick={() => choose(at)}
          >
            <kbd>{!isOne && chosen.has(at) ? "✓" : at + 1}</kbd>
            <b>{withHiddenShown(label)}</b>
            {note !== undefined && <span>{withHiddenShown(note)}</span>}
          </button>
        ))}
      </div>
      <div class="acts">
        <input
          class="field"
          aria-label={words.ownAnswer}
          placeholder={words.ownAnswer}
          value={own}
          autocomplete="off"
          onInput={({ currentTarget }) => setOwn(currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === "Escape") event.currentTarget.blur();
          }}
        />
        {!isOne && (
          <button type="submit" class="btn main">
            {words.sendValue}
          </button>
        )}
        <button type="button" class="btn bare last" onClick={leave}>
          {words.noAnswer}
          <kbd>Esc</kbd>
        </button>
      </div>
    </form>
  );
}
