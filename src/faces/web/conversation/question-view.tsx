import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { ownValue } from "../../../core/base/json.ts";
import { withHiddenShown } from "../../../permission/hidden-characters.ts";
import type { QuestionAnswer } from "../../../server/server-api.ts";
import type { OfferedChoice, Question } from "../../../view/question.ts";
import { questionKind, questionSubject } from "../../../view/question-kind.ts";
import { useWords } from "../language/language.ts";
import { DiffView, LineCounts } from "../text/diff-view.tsx";
import { StateMark } from "../text/icons.tsx";
import { Markdown } from "../text/markdown.tsx";
import { AskForm } from "./ask-form.tsx";
import { useAnswerKeys } from "./use-answer-keys.ts";
import { useLateClicks } from "./use-late-clicks.ts";
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
        <button type="button" class="btn bare last" onClick={() => give(stop)}>
          {words.choice.stop}
          <kbd>Esc</kbd>
        </button>
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
      <button type="button" class="btn" onClick={change}>
        <kbd>{options.length + 1}</kbd>
        {words.changePlan}
      </button>
      <button type="button" class="btn bare last" onClick={keep}>
        {words.keepPlanning}
        <kbd>Esc</kbd>
      </button>
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
      <button type="button" class="btn" onClick={sayNo}>
        {says}
        <kbd>↵</kbd>
      </button>
      <button type="button" class="btn bare last" onClick={back}>
        {words.backFromNo}
        <kbd>Esc</kbd>
      </button>
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
