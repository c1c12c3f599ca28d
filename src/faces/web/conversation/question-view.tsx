import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { OfferedChoice, Question } from "../../../app/coding-session/question.ts";
import { questionKind, questionSubject } from "../../../app/coding-session/question-kind.ts";
import { withHiddenShown } from "../../../permission/hidden-characters.ts";
import type { QuestionAnswer } from "../../../server/server-api.ts";
import { useWords } from "../language/language.ts";
import { DiffView } from "../text/diff-view.tsx";
import { useLateClicks } from "./use-late-clicks.ts";
import { ValueForm } from "./value-form.tsx";

/** Options of {@link QuestionView}. */
interface QuestionProps {
  readonly question: Question;
  readonly answer: (answer: QuestionAnswer) => Promise<unknown>;
}

/** An open question with all that is asked, why, and the answers it takes. None is preselected. */
export function QuestionView({ question, answer }: QuestionProps): VNode {
  const { id, type } = question;
  const [isSending, setSending] = useState(false);
  const lateClicks = useLateClicks();
  const send = (given: QuestionAnswer): void => {
    setSending(true);
    void answer(given).finally(() => setSending(false));
  };
  return (
    <section class="question" aria-labelledby={`question-${id}`}>
      <h2 id={`question-${id}`} tabIndex={-1}>
        <Title question={question} />
      </h2>
      <Subject question={question} />
      <fieldset disabled={isSending} {...lateClicks}>
        {type === "permission" && <Choices question={question} send={send} />}
        {type === "choice" && <Options question={question} send={send} />}
        {type === "elicitation" && <ValueForm schema={question.schema ?? {}} send={send} />}
      </fieldset>
    </section>
  );
}

function Title({ question }: { readonly question: Question }): VNode {
  const words = useWords();
  const { agent, tool = "", outside } = question;
  const kind = questionKind(question);
  const what = words.questionKind[kind];
  const target = outside ?? (kind === "call" ? tool : undefined);
  return (
    <>
      {agent === undefined ? what : `${words.questionOf(withHiddenShown(agent))}: ${what}`}
      {target !== undefined && <> {withHiddenShown(target)}</>}
    </>
  );
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
        <pre class="subject" tabIndex={0} aria-label={words.arguments} dir="ltr">
          {withHiddenShown(subjectText(question))}
        </pre>
      )}
      {[reached, given, reason]
        .filter((note) => note !== "")
        .map((note) => (
          <p key={note}>{withHiddenShown(note)}</p>
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

function Choices({ question: { id, tool, choices }, send }: AnswerProps): VNode {
  const words = useWords();
  const [reason, setReason] = useState("");
  const isRefusal = ({ choice }: OfferedChoice): boolean => choice === "no" || choice === "stop";
  const button = (offered: OfferedChoice): VNode => (
    <ChoiceButton
      key={offered.choice}
      offered={offered}
      isCommand={tool === "bash"}
      onClick={() => send(answerOf(offered, reason))}
    />
  );
  return (
    <>
      <div class="choices">{choices.filter((each) => !isRefusal(each)).map(button)}</div>
      <label for={`reason-${id}`}>{words.reason}</label>
      <input
        id={`reason-${id}`}
        value={reason}
        autocomplete="off"
        onInput={({ currentTarget }) => setReason(currentTarget.value)}
      />
      <div class="choices">{choices.filter(isRefusal).map(button)}</div>
    </>
  );
}

function answerOf({ choice, rule }: OfferedChoice, reason: string): QuestionAnswer {
  const isRefusal = choice === "no" || choice === "stop";
  return {
    choice,
    ...(rule === undefined ? {} : { rule }),
    ...(isRefusal && reason.trim() !== "" ? { reason: reason.trim() } : {}),
  };
}

function ChoiceButton({
  offered: { choice, rule },
  isCommand,
  onClick,
}: {
  readonly offered: OfferedChoice;
  readonly isCommand: boolean;
  readonly onClick: () => void;
}): VNode {
  const words = useWords();
  return (
    <button type="button" class={`choice ${choice}`} onClick={onClick}>
      <span>{choice === "once" && isCommand ? words.runOnce : words.choice[choice]}</span>
      {rule !== undefined && (
        <span class="rule">
          <code>{withHiddenShown(rule)}</code>
        </span>
      )}
    </button>
  );
}

function Options({ question: { options = [] }, send }: AnswerProps): VNode {
  const words = useWords();
  return (
    <div class="choices">
      {options.map(({ value, label }) => (
        <button key={value} type="button" class="choice" onClick={() => send({ choice: "once", value })}>
          {withHiddenShown(label)}
        </button>
      ))}
      <button type="button" class="choice no" onClick={() => send({ choice: "no" })}>
        {words.noneOfThese}
      </button>
    </div>
  );
}
