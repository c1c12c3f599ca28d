import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Json } from "../../../core/base/errors.ts";
import { ownValue } from "../../../core/base/json.ts";
import { withHiddenShown } from "../../../permission/hidden-characters.ts";
import type { QuestionAnswer } from "../../../server/server-api.ts";
import type { OfferedChoice, Question } from "../../../view/question.ts";
import { questionKind, questionSubject } from "../../../view/question-kind.ts";
import { type ValueField, valueFields } from "../../../view/value-fields.ts";
import { useWords } from "../language/language.ts";
import { Button } from "../text/controls.tsx";
import { DiffView, LineCounts } from "../text/diff-view.tsx";
import { StateMark } from "../text/icons.tsx";
import { Markdown } from "../text/markdown.tsx";
import { isTyping } from "../use-keys.ts";
import { ValueForm } from "./value-form.tsx";

/** Options of {@link QuestionView}. */
interface QuestionProps {
  readonly question: Question;
  /** How many are open. */
  readonly all?: number;
  /** False: it is shown, and answered elsewhere. */
  readonly isWritable?: boolean;
  readonly answer: (answer: QuestionAnswer) => Promise<unknown>;
}

/** An open question with all that is asked, why, and the answers it takes. None is preselected. */
export function QuestionView({ question, all = 1, isWritable = true, answer }: QuestionProps): VNode {
  const { id, type } = question;
  const kind = questionKind(question);
  const [isSending, setSending] = useState(false);
  const lateClicks = useLateClicks();
  const send = (given: QuestionAnswer): void => {
    setSending(true);
    void answer(given).finally(() => setSending(false));
  };
  if (kind === "ask")
    return (
      <section class="ask" aria-labelledby={`question-${id}`} {...lateClicks}>
        <AskForm question={question} isWritable={isWritable && !isSending} send={send} />
      </section>
    );
  return (
    <section class="ask" aria-labelledby={`question-${id}`}>
      <Head question={question} all={all} />
      <Subject question={question} />
      {isWritable && (
        <fieldset
          class={type === "permission" || kind === "plan" ? "acts" : undefined}
          disabled={isSending}
          {...lateClicks}
        >
          {type === "permission" && <Choices question={question} send={send} />}
          {kind === "plan" && <PlanChoices question={question} send={send} />}
          {type === "choice" && kind !== "plan" && <Options question={question} send={send} />}
          {type === "elicitation" && <ValueForm schema={question.schema ?? {}} send={send} />}
        </fieldset>
      )}
    </section>
  );
}

function Head({ question, all }: { readonly question: Question; readonly all: number }): VNode {
  const words = useWords();
  const { id, diff, outside, tool = "" } = question;
  const steps = planOf(question)?.match(/^\d+[.)]\s/gm)?.length ?? 0;
  const target = outside ?? diff?.path ?? (questionKind(question) === "call" ? tool : undefined);
  return (
    <header>
      <StateMark mark="wait" name={words.marks.wait} />
      <h2 id={`question-${id}`} tabIndex={-1}>
        <Title question={question} />
      </h2>
      {target !== undefined && <span class="mono cut">{withHiddenShown(target)}</span>}
      {diff !== undefined && (
        <span class="num">
          <LineCounts lines={diff} />
        </span>
      )}
      {all > 1 && <span class="end num">{words.questionAt(1, all)}</span>}
      {all === 1 && steps > 0 && <span class="end num">{words.planSteps(steps)}</span>}
    </header>
  );
}

function Title({ question }: { readonly question: Question }): VNode {
  const words = useWords();
  const what = words.questionKind[questionKind(question)];
  const { agent } = question;
  return <>{agent === undefined ? what : `${words.questionOf(withHiddenShown(agent))}: ${what}`}</>;
}

function planOf(question: Question): string | undefined {
  const plan = questionKind(question) === "plan" ? question.input?.["plan"] : undefined;
  return typeof plan === "string" ? plan : undefined;
}

/** Nothing of it is cut: the end of a command is where the danger may be. */
function Subject({ question }: { readonly question: Question }): VNode {
  const { input, tool, reason, diff } = question;
  const words = useWords();
  const kind = questionKind(question);
  const plan = planOf(question);
  if (plan !== undefined) return <Markdown text={withHiddenShown(plan)} />;
  const reached = kind === "network" || kind === "unsandboxed" ? words.reached[kind] : "";
  const { reason: wanted } = tool === "bash" && input !== undefined ? input : {};
  const given = typeof wanted === "string" && wanted.trim() !== "" ? words.reasonGiven(wanted) : "";
  return (
    <>
      {diff !== undefined && <DiffView diff={diff} whole />}
      {diff === undefined && input !== undefined && (
        <pre class={tool === "bash" ? "cmd" : "cmd json"} tabIndex={0} aria-label={words.arguments} dir="ltr">
          {withHiddenShown(subjectText(question))}
        </pre>
      )}
      {[reached, given, reason]
        .filter((note) => note !== "")
        .map((note) => (
          <p key={note} class="why">
            {withHiddenShown(note)}
          </p>
        ))}
    </>
  );
}

function subjectText(question: Question): string {
  const { tool, input = {} } = question;
  const subject = tool === "bash" ? questionSubject(question) : undefined;
  if (subject === undefined) return JSON.stringify(input, undefined, 2);
  const { main, others } = subject;
  return Object.keys(others).length === 0 ? main : `${main}\n${JSON.stringify(others, undefined, 2)}`;
}

interface AnswerProps {
  readonly question: Question;
  readonly send: (answer: QuestionAnswer) => void;
}

function Choices({ question: { tool, choices }, send }: AnswerProps): VNode {
  const words = useWords();
  const [isRefusing, setRefusing] = useState(false);
  const numbered = choices.filter(({ choice }) => choice !== "stop");
  const stop = choices.find(({ choice }) => choice === "stop");
  const back = (): void => setRefusing(false);
  const give = ({ choice, rule }: OfferedChoice): void => {
    if (choice === "no") setRefusing(true);
    else send({ choice, ...(rule === undefined ? {} : { rule }) });
  };
  const leave = (): void => (isRefusing ? back() : stop && give(stop));
  useAnswerKeys(isRefusing ? [] : numbered.map((offered) => () => give(offered)), leave);
  if (isRefusing) return <Refusal asks={words.reason} says={words.sayNo} send={send} back={back} />;
  return (
    <>
      {numbered.map((offered, index) => (
        <button
          key={offered.choice}
          type="button"
          class={offered.choice === "once" ? "btn main" : "btn"}
          onClick={() => give(offered)}
        >
          <kbd>{index + 1}</kbd>
          {offered.choice === "once" && tool === "bash" ? words.runOnce : words.choice[offered.choice]}
          {offered.rule !== undefined && (
            <code title={withHiddenShown(offered.rule)}>{withHiddenShown(offered.rule)}</code>
          )}
        </button>
      ))}
      {stop !== undefined && (
        <Button kbd="Esc" look="bare last" onClick={() => give(stop)}>
          {words.choice.stop}
        </Button>
      )}
    </>
  );
}

function PlanChoices({ question: { options = [] }, send }: AnswerProps): VNode {
  const words = useWords();
  const [isChanging, setChanging] = useState(false);
  const back = (): void => setChanging(false);
  const keep = (): void => send({ choice: "stop" });
  const starts = options.map(
    ({ value }) =>
      () =>
        send({ choice: "once", value }),
  );
  const change = (): void => setChanging(true);
  useAnswerKeys(isChanging ? [] : [...starts, change], isChanging ? back : keep);
  if (isChanging)
    return <Refusal asks={words.whatToChange} says={words.sendValue} needsWords send={send} back={back} />;
  return (
    <>
      {options.map(({ value, label }, at) => (
        <button key={value} type="button" class={at === 0 ? "btn main" : "btn"} onClick={starts[at]}>
          <kbd>{at + 1}</kbd>
          {ownValue(words.planStart, value) ?? label}
        </button>
      ))}
      <Button onClick={change}>
        <kbd>{options.length + 1}</kbd>
        {words.changePlan}
      </Button>
      <Button kbd="Esc" look="bare last" onClick={keep}>
        {words.keepPlanning}
      </Button>
    </>
  );
}

interface RefusalProps extends Pick<AnswerProps, "send"> {
  readonly asks: string;
  readonly says: string;
  /** True where nothing can come of a no without words. */
  readonly needsWords?: boolean;
  readonly back: () => void;
}

/** The row of answers once somebody says no: why, if they want to say. */
function Refusal({ asks, says, needsWords = false, send, back }: RefusalProps): VNode {
  const words = useWords();
  const [reason, setReason] = useState("");
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  const sayNo = (): void => {
    const said = reason.trim();
    if (needsWords && said === "") return;
    send({ choice: "no", ...(said === "" ? {} : { reason: said }) });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.isComposing || (event.key !== "Enter" && event.key !== "Escape")) return;
    event.preventDefault();
    if (event.key === "Enter") sayNo();
    else back();
  };
  return (
    <>
      <input
        ref={field}
        class="field"
        aria-label={asks}
        placeholder={asks}
        value={reason}
        autocomplete="off"
        onKeyDown={onKeyDown}
        onInput={({ currentTarget }) => setReason(currentTarget.value)}
      />
      <Button kbd="↵" onClick={sayNo}>
        {says}
      </Button>
      <Button kbd="Esc" look="bare last" onClick={back}>
        {words.backFromNo}
      </Button>
    </>
  );
}

function Options({ question: { options = [] }, send }: AnswerProps): VNode {
  const words = useWords();
  const none = (): void => send({ choice: "no" });
  const choose = options.map(
    ({ value }) =>
      () =>
        send({ choice: "once", value }),
  );
  useAnswerKeys(choose, none);
  return (
    <div class="opts">
      {options.map(({ value, label }, index) => (
        <button key={value} type="button" class="opt" onClick={choose[index]}>
          <kbd>{index + 1}</kbd>
          <b>{withHiddenShown(label)}</b>
        </button>
      ))}
      <button type="button" class="opt" onClick={none}>
        <kbd>Esc</kbd>
        <b>{words.noneOfThese}</b>
      </button>
    </div>
  );
}

/** Options of {@link AskForm}. */
interface AskProps {
  readonly question: Question;
  readonly isWritable: boolean;
  readonly send: (answer: QuestionAnswer) => void;
}

/** The questions of the model, one after the other: options, or an answer in words of one's own. */
function AskForm({ question, isWritable, send }: AskProps): VNode {
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
          <Button type="submit" look="main">
            {words.sendValue}
          </Button>
        )}
        <Button kbd="Esc" look="bare last" onClick={leave}>
          {words.noAnswer}
        </Button>
      </div>
    </form>
  );
}

/** Keys that were pressed this soon were meant for something else. */
const EARLY_KEY_MS = 200;

/** Has the digits choose, from 1 on, and Escape leave. */
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

/** Time in which a click may be the second half of one that was meant for what stood there before. */
const EARLY_MS = 400;

/** Props of what takes no click right after it was shown. Keys work at once: they go where the focus is. */
function useLateClicks(): { readonly onClickCapture: (click: MouseEvent) => void } {
  const [shownAt] = useState(() => performance.now());
  return {
    onClickCapture: (click) => {
      const isOfKey = click.detail === 0;
      if (isOfKey || click.timeStamp - shownAt >= EARLY_MS) return;
      click.preventDefault();
      click.stopPropagation();
    },
  };
}
