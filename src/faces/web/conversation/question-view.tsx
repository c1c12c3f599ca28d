import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Json } from "../../../core/base/errors.ts";
import { revealInvisible } from "../../../core/base/hidden-characters.ts";
import { equalJson, omitUndefined, ownValue } from "../../../core/base/json.ts";
import type { JsonSchema } from "../../../core/base/schema.ts";
import type { QuestionAnswer } from "../../../server/server-api.ts";
import type { Question } from "../../../view/question.ts";
import { questionKind, questionSubject } from "../../../view/question-kind.ts";
import { type ValueField, ValueForm, type ValueOption } from "../../../view/value-form.ts";
import { useWords } from "../language/language.ts";
import { Button } from "../text/controls.tsx";
import { DiffView, LineCounts } from "../text/diff-view.tsx";
import { StateMark } from "../text/icons.tsx";
import { Markdown } from "../text/markdown.tsx";
import { isTyping } from "../use-keys.ts";

interface QuestionProps {
  readonly question: Question;
  readonly all?: number;
  /** False: it is shown here but answered elsewhere. */
  readonly isWritable?: boolean;
  readonly answer: (answer: QuestionAnswer) => Promise<unknown>;
}

/**
 * An open question with its subject, reason and accepted answers, none preselected. A value is entered field
 * by field.
 */
export function QuestionView({ question, all = 1, isWritable = true, answer }: QuestionProps): VNode {
  const words = useWords();
  const kind = questionKind(question);
  const [form] = useState(() => new ValueForm(schemaOf(question)));
  // A new object redraws: the form changes in place.
  const [{ problem }, setProgress] = useState({ problem: "" });
  const [isSending, setSending] = useState(false);
  const clickGuard = useClickGuard();
  const send = (choice: QuestionAnswer): void => {
    setSending(true);
    void answer(choice).finally(() => setSending(false));
  };
  const proceed = (result: ReturnType<ValueForm["give"]>): void => {
    if (result !== undefined && "value" in result) send({ choice: "once", value: result.value });
    else setProgress({ problem: result?.fault ?? "" });
  };
  const dismiss = (): void => send({ choice: "once", ...form.leave(question) });
  const { at, field, fields } = form;
  const isDecision = question.type === "permission" || kind === "plan";
  const dismissLabel =
    kind === "ask" ? words.noAnswer : question.type === "choice" ? words.noneOfThese : words.refuse;
  return (
    <section class="ask" aria-labelledby={`question-${question.id}`}>
      <Head
        question={question}
        fieldLabel={kind === "ask" ? field?.label : undefined}
        position={fields.length > 1 ? [at + 1, fields.length] : [1, all]}
      />
      {kind !== "ask" && <Subject question={question} />}
      {isWritable && (
        <fieldset class={isDecision ? "acts" : undefined} disabled={isSending} {...clickGuard}>
          {isDecision ? (
            <Decision question={question} send={send} />
          ) : (
            <FieldForm
              key={at}
              field={field}
              label={kind === "value" && question.type === "elicitation" ? labelOf(field) : ""}
              give={(value) => proceed(form.give(value))}
              take={(text) => proceed(form.take(text))}
              {...{ problem, dismiss, dismissLabel }}
            />
          )}
        </fieldset>
      )}
    </section>
  );
}

function schemaOf({ type, schema = {}, options = [] }: Question): JsonSchema {
  if (type !== "choice") return schema;
  return { oneOf: options.map(({ value, label }) => ({ const: value, title: label })) };
}

function labelOf({ name, label, note }: Partial<ValueField> = {}): string {
  return revealInvisible([name === undefined ? undefined : label, note].filter(Boolean).join(": "));
}

interface HeadProps {
  readonly question: Question;
  readonly fieldLabel: string | undefined;
  readonly position: readonly [at: number, all: number];
}

function Head({ question, fieldLabel, position: [at, all] }: HeadProps): VNode {
  const words = useWords();
  const { id, diff, outside, tool = "", agent, runs } = question;
  const kind = questionKind(question);
  const what = words.questionKind[kind];
  const title = agent === undefined ? what : `${words.questionOf(revealInvisible(agent))}: ${what}`;
  const steps = planOf(question)?.match(/^\d+[.)]\s/gm)?.length ?? 0;
  const target = outside ?? diff?.path ?? (kind === "call" ? tool : undefined);
  return (
    <header>
      <StateMark mark="wait" />
      <h2 id={`question-${id}`} tabIndex={-1}>
        {fieldLabel === undefined ? title : revealInvisible(fieldLabel)}
      </h2>
      {target !== undefined && <span class="mono cut">{revealInvisible(target)}</span>}
      {kind === "run" && runs === "inside" && <span class="dim">{words.inSandbox}</span>}
      {diff !== undefined && (
        <span class="num">
          <LineCounts lines={diff} />
        </span>
      )}
      {all > 1 && <span class="end num">{words.countOf(at, all)}</span>}
      {all === 1 && steps > 0 && <span class="end num">{words.steps(steps)}</span>}
    </header>
  );
}

function planOf(question: Question): string | undefined {
  const plan = questionKind(question) === "plan" ? question.input?.["plan"] : undefined;
  return typeof plan === "string" ? plan : undefined;
}

/** Shown in full: the danger may be at the end of a command. */
function Subject({ question }: { readonly question: Question }): VNode {
  const { input, tool, reason, diff } = question;
  const words = useWords();
  const kind = questionKind(question);
  const plan = planOf(question);
  if (plan !== undefined) return <Markdown text={revealInvisible(plan)} />;
  const reached = kind === "network" || kind === "unsandboxed" ? words.reached[kind] : "";
  const { reason: modelReason } = tool === "bash" && input !== undefined ? input : {};
  const reasonLine =
    typeof modelReason === "string" && modelReason.trim() !== "" ? words.reasonGiven(modelReason) : "";
  return (
    <>
      {diff !== undefined && <DiffView diff={diff} whole />}
      {diff === undefined && input !== undefined && (
        <pre class={tool === "bash" ? "cmd" : "cmd json"} tabIndex={0} aria-label={words.arguments} dir="ltr">
          {revealInvisible(subjectText(question))}
        </pre>
      )}
      {[reached, reasonLine, reason]
        .filter((note) => note !== "")
        .map((note) => (
          <p key={note} class="why">
            {revealInvisible(note)}
          </p>
        ))}
    </>
  );
}

function subjectText(question: Question): string {
  const { input = {} } = question;
  const subject = questionSubject(question);
  if (subject === undefined) return JSON.stringify(input, undefined, 2);
  const { main, others } = subject;
  return Object.keys(others).length === 0 ? main : `${main}\n${JSON.stringify(others, undefined, 2)}`;
}

interface AnswerProps {
  readonly question: Question;
  readonly send: (answer: QuestionAnswer) => void;
}

interface Choice {
  readonly key: string;
  readonly label: string;
  readonly rule?: string | undefined;
  readonly act: () => void;
}

/** The answers to a call or a plan as numbered buttons, without a further confirmation. */
function Decision({ question, send }: AnswerProps): VNode {
  const words = useWords();
  const { tool, choices, options = [] } = question;
  const isPlan = question.type === "choice";
  const [isRefusing, setRefusing] = useState(false);
  const refuse = (): void => setRefusing(true);
  const buttons: readonly Choice[] = isPlan
    ? [
        ...options.map(({ value, label }) => ({
          key: value,
          label: ownValue(words.planStart, value) ?? label,
          act: () => send({ choice: "once", value }),
        })),
        { key: "no", label: words.changePlan, act: refuse },
      ]
    : choices
        .filter(({ choice }) => choice !== "stop")
        .map(({ choice, rule }) => ({
          key: choice,
          label: choice === "once" && tool === "bash" ? words.runOnce : words.choice[choice],
          rule,
          act: choice === "no" ? refuse : () => send({ choice, ...omitUndefined({ rule }) }),
        }));
  const canStop = isPlan || choices.some(({ choice }) => choice === "stop");
  const stop = (): void => {
    if (isRefusing) setRefusing(false);
    else if (canStop) send({ choice: "stop" });
  };
  useAnswerKeys(isRefusing ? [] : buttons.map(({ act }) => act), stop);
  if (isRefusing) return <Refusal isPlan={isPlan} send={send} back={stop} />;
  return (
    <>
      {buttons.map(({ key, label, rule, act }, at) => (
        <Button key={key} look={at === 0 && key !== "no" ? "main" : ""} onClick={act}>
          <kbd>{at + 1}</kbd>
          {label}
          {rule !== undefined && <code title={revealInvisible(rule)}>{revealInvisible(rule)}</code>}
        </Button>
      ))}
      {canStop && (
        <Button kbd="Esc" look="bare last" onClick={stop}>
          {isPlan ? words.keepPlanning : words.choice.stop}
        </Button>
      )}
    </>
  );
}

interface RefusalProps extends Pick<AnswerProps, "send"> {
  /** True: a refusal needs words. */
  readonly isPlan: boolean;
  readonly back: () => void;
}

/** The row of answers after a no, with an optional reason. */
function Refusal({ isPlan, send, back }: RefusalProps): VNode {
  const words = useWords();
  const label = isPlan ? words.whatToChange : words.reason;
  const [reason, setReason] = useState("");
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  const submit = (): void => {
    const text = reason.trim();
    if (text !== "") send({ choice: "no", reason: text });
    else if (!isPlan) send({ choice: "no" });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.isComposing || (event.key !== "Enter" && event.key !== "Escape")) return;
    event.preventDefault();
    if (event.key === "Enter") submit();
    else back();
  };
  return (
    <>
      <input
        ref={field}
        class="field"
        aria-label={label}
        placeholder={label}
        value={reason}
        autocomplete="off"
        onKeyDown={onKeyDown}
        onInput={({ currentTarget }) => setReason(currentTarget.value)}
      />
      <Button kbd="↵" onClick={submit}>
        {isPlan ? words.send : words.sayNo}
      </Button>
      <Button kbd="Esc" look="bare last" onClick={back}>
        {words.backFromNo}
      </Button>
    </>
  );
}

interface FieldProps {
  /** Undefined if there is nothing to fill in. */
  readonly field: ValueField | undefined;
  readonly label: string;
  readonly give: (value: Json | undefined) => void;
  readonly take: (text: string) => void;
  /** Why the previous input was rejected, if it was. */
  readonly problem: string;
  readonly dismiss: () => void;
  readonly dismissLabel: string;
}

/** One field: its numbered options, or free text. */
function FieldForm(props: FieldProps): VNode {
  const { field, label, give, take, problem, dismiss, dismissLabel } = props;
  const words = useWords();
  const { kind, isOpen, isRequired, initial, options: offered } = field ?? NO_FIELD;
  const yesOrNo = [true, false].map((value) => ({ value, label: value ? words.yes : words.no }));
  const options: readonly ValueOption[] = kind === "boolean" ? yesOrNo : offered;
  const isSeveral = kind === "several";
  const [chosen, setChosen] = useState(() => indexesOf(initial, options));
  const [freeText, setFreeText] = useState(
    initial === undefined || options.length > 0 ? "" : textOf(initial, kind),
  );
  const choose = (at: number): void => {
    if (!isSeveral) give(options[at]?.value);
    else setChosen(chosen.includes(at) ? chosen.filter((each) => each !== at) : [...chosen, at]);
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    const text = freeText.trim();
    const values = options.flatMap(({ value }, at) => (chosen.includes(at) ? [value] : []));
    if (isSeveral && (text !== "" || values.length > 0)) give(text === "" ? values : [...values, text]);
    else if (options.length === 0 && (text !== "" || isRequired)) take(text);
    else if (text !== "") give(text);
    else if (!isOpen && (values.length > 0 || !isRequired)) give(values[0]);
  };
  useAnswerKeys(
    options.map((_, at) => () => choose(at)),
    dismiss,
  );
  const takesText = field !== undefined && (options.length === 0 || isOpen);
  const canSend = isSeveral || options.length === 0 || !(isRequired || isOpen);
  return (
    <form onSubmit={submit}>
      {label !== "" && <p class="why">{label}</p>}
      {problem !== "" && (
        <p class="why bad" role="alert">
          {words.notAccepted} {revealInvisible(problem)}
        </p>
      )}
      <Options options={options} chosen={chosen} isSeveral={isSeveral} choose={choose} />
      <div class="acts">
        {takesText && <FreeText field={field} label={label} value={freeText} change={setFreeText} />}
        {canSend && (
          <Button type="submit" look="main">
            {words.send}
          </Button>
        )}
        <Button kbd="Esc" look="bare last" onClick={dismiss}>
          {dismissLabel}
        </Button>
      </div>
    </form>
  );
}

interface TextProps {
  readonly field: ValueField;
  readonly label: string;
  readonly value: string;
  readonly change: (text: string) => void;
}

function FreeText({ field: { kind, isOpen, isRequired }, label, value, change }: TextProps): VNode {
  const words = useWords();
  const hint = isOpen ? words.ownAnswer : label;
  return (
    <input
      class="field"
      aria-label={hint}
      placeholder={kind === "json" ? words.asJson : isOpen ? hint : ""}
      value={value}
      required={isRequired && !isOpen}
      autocomplete="off"
      onInput={({ currentTarget }) => change(currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key === "Escape") event.currentTarget.blur();
      }}
    />
  );
}

interface OptionsProps {
  readonly options: readonly ValueOption[];
  readonly chosen: readonly number[];
  readonly isSeveral: boolean;
  readonly choose: (at: number) => void;
}

function Options({ options, chosen, isSeveral, choose }: OptionsProps): VNode {
  return (
    <div class="opts">
      {options.map(({ label, note }, at) => {
        const isChosen = chosen.includes(at);
        return (
          <button
            key={at}
            type="button"
            class={isChosen ? "opt on" : "opt"}
            aria-pressed={isSeveral ? isChosen : undefined}
            onClick={() => choose(at)}
          >
            <kbd>{isSeveral && isChosen ? "✓" : at + 1}</kbd>
            <b>{revealInvisible(label)}</b>
            {note !== undefined && <span>{revealInvisible(note)}</span>}
          </button>
        );
      })}
    </div>
  );
}

function indexesOf(initial: Json | undefined, options: readonly ValueOption[]): readonly number[] {
  const values = initial === undefined ? [] : [initial].flat();
  return options.flatMap(({ value }, at) => (values.some((each) => equalJson(each, value)) ? [at] : []));
}

function textOf(value: Json, kind: string): string {
  return typeof value === "string" && kind !== "json" ? value : JSON.stringify(value);
}

const NO_FIELD = { kind: "text", isOpen: false, isRequired: false, initial: undefined, options: [] } as const;

/** Earlier keys were meant for something else. */
const EARLY_KEY_MS = 200;

/** Lets digits choose, from 1, and Escape leave. */
function useAnswerKeys(choose: readonly (() => void)[], leave: () => void): void {
  const [shownAt] = useState(() => performance.now());
  const newest = useRef({ choose, leave });
  newest.current = { choose, leave };
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const { key, ctrlKey, metaKey, altKey, repeat, timeStamp } = event;
      if (ctrlKey || metaKey || altKey || repeat || timeStamp - shownAt < EARLY_KEY_MS) return;
      if (isTyping(event)) return;
      const chosen = key === "Escape" ? newest.current.leave : newest.current.choose[Number(key) - 1];
      if (chosen === undefined) return;
      event.preventDefault();
      chosen();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
}

/** Earlier clicks may be the second half of a double click on what was there before. */
const EARLY_CLICK_MS = 400;

/**
 * Props of an element that ignores clicks right after it appears. Keys work at once, because the focus
 * receives them.
 */
function useClickGuard(): { readonly onClickCapture: (click: MouseEvent) => void } {
  const [shownAt] = useState(() => performance.now());
  return {
    onClickCapture: (click) => {
      const isOfKey = click.detail === 0;
      if (isOfKey || click.timeStamp - shownAt >= EARLY_CLICK_MS) return;
      click.preventDefault();
      click.stopPropagation();
    },
  };
}
