import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { withHiddenShown } from "../../../permission/hidden-characters.ts";
import type { QuestionAnswer } from "../../../server/server-api.ts";
import type { OfferedChoice, Question } from "../../../view/question.ts";
import { questionKind, questionSubject } from "../../../view/question-kind.ts";
import { useWords } from "../language/language.ts";
import { DiffView, LineCounts } from "../text/diff-view.tsx";
import { StateMark } from "../text/icons.tsx";
import { isTyping } from "../use-keys.ts";
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
  const [isSending, setSending] = useState(false);
  const lateClicks = useLateClicks();
  const send = (given: QuestionAnswer): void => {
    setSending(true);
    void answer(given).finally(() => setSending(false));
  };
  return (
    <section class="ask" aria-labelledby={`question-${id}`}>
      <Head question={question} all={all} />
      <Subject question={question} />
      {isWritable && (
        <fieldset class={type === "permission" ? "acts" : undefined} disabled={isSending} {...lateClicks}>
          {type === "permission" && <Choices question={question} send={send} />}
          {type === "choice" && <Options question={question} send={send} />}
          {type === "elicitation" && <ValueForm schema={question.schema ?? {}} send={send} />}
        </fieldset>
      )}
    </section>
  );
}

function Head({ question, all }: { readonly question: Question; readonly all: number }): VNode {
  const words = useWords();
  const { id, diff, outside, tool = "" } = question;
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
      {all > 1 && <span class="end num">{words.questionAt(all)}</span>}
    </header>
  );
}

function Title({ question }: { readonly question: Question }): VNode {
  const words = useWords();
  const what = words.questionKind[questionKind(question)];
  const { agent } = question;
  return <>{agent === undefined ? what : `${words.questionOf(withHiddenShown(agent))}: ${what}`}</>;
}

/** Nothing of it is cut: the end of a command is where the danger may be. */
function Subject({ question }: { readonly question: Question }): VNode {
  const { input, tool, reason, diff } = question;
  const words = useWords();
  const kind = questionKind(question);
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
  if (isRefusing) return <Refusal send={send} back={back} />;
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

/** The row of answers once somebody says no: why, if they want to say. */
function Refusal({ send, back }: Pick<AnswerProps, "send"> & { readonly back: () => void }): VNode {
  const words = useWords();
  const [reason, setReason] = useState("");
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  const sayNo = (): void => {
    const said = reason.trim();
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
        aria-label={words.reason}
        placeholder={words.reason}
        value={reason}
        autocomplete="off"
        onKeyDown={onKeyDown}
        onInput={({ currentTarget }) => setReason(currentTarget.value)}
      />
      <button type="button" class="btn" onClick={sayNo}>
        {words.sayNo}
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
