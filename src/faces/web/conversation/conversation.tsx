import type { VNode } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { Question } from "../../../app/coding-session/question.ts";
import type { RunView } from "../../../app/coding-session/view.ts";
import { terminalLine, terminalText } from "../../../app/safe-text.ts";
import type { Work } from "../announce.tsx";
import { useFormats } from "../language/formats.ts";
import { useWords } from "../language/language.ts";
import { useReader } from "../reader.ts";
import { Composer } from "./composer.tsx";
import { ItemList } from "./item-list.tsx";
import { itemOfEntry } from "./item-of-entry.ts";
import { QuestionView } from "./question-view.tsx";
import type { SessionActions } from "./session-actions.ts";
import type { OpenSession } from "./use-session.ts";

interface ConversationProps {
  readonly id: string;
  readonly session: OpenSession;
  readonly actions: SessionActions;
  readonly work: Work;
  /** Id of the entry to lead to. */
  readonly entry: string | undefined;
}

/** The conversation of a session, and the box to take part in it. */
export function Conversation({ id, session, actions, work, entry }: ConversationProps): VNode {
  const words = useWords();
  const reader = useReader();
  const { view, entries, state, questions, detail, isConnected } = session;
  const place = useMemo(() => {
    const wanted = entries.find((each) => each.id === entry);
    return wanted === undefined ? undefined : itemOfEntry(view.items, wanted);
  }, [entry]);
  const send = async (text: string, when: "now" | "after"): Promise<boolean> =>
    (await work.attempt(() => reader.send(id, { text, when }).then(() => true))) ?? false;
  return (
    <>
      <section aria-label={words.conversation}>
        <ItemList key={`${id} ${entry ?? ""}`} items={view.items} place={place} />
      </section>
      <TodoList session={session} />
      {detail?.readOnly !== true && (
        <div class="dock">
          {view.run !== undefined && state === "running" && isConnected && <RunLine run={view.run} />}
          <Questions id={id} questions={questions} work={work} />
          <Queue session={session} />
          <Composer isRunning={state !== "idle"} send={send} stop={actions.stop} />
        </div>
      )}
    </>
  );
}

function RunLine({ run: { phase, retry, outputTokens } }: { readonly run: RunView }): VNode {
  const words = useWords();
  const { count } = useFormats();
  return (
    <p class="run-line soft" role="status">
      <span class="pulse" aria-hidden="true" />
      {retry === undefined
        ? words.phase[phase]
        : words.retrying(retry.attempt, terminalLine(retry.reason, 200))}
      {/* A reader of screens would be told each token. */}
      <span aria-hidden="true"> · {words.tokens(count(outputTokens))}</span>
    </p>
  );
}

interface QuestionsProps {
  readonly id: string;
  readonly questions: readonly Question[];
  readonly work: Work;
}

function Questions({ id, questions, work }: QuestionsProps): VNode {
  const words = useWords();
  const reader = useReader();
  const box = useRef<HTMLDivElement>(null);
  const [first] = questions;
  const before = useRef(first?.id);
  useEffect(() => {
    const isFirst = before.current === undefined;
    before.current = first?.id;
    // Who writes something goes on writing; who answered goes on with the next question, or writes.
    if (document.activeElement !== document.body && document.activeElement?.id !== "main") return;
    if (first !== undefined) box.current?.querySelector<HTMLElement>("h2")?.focus();
    else if (!isFirst) box.current?.parentElement?.querySelector("textarea")?.focus();
  }, [first?.id]);
  return (
    <div ref={box}>
      <p class="hidden" role="alert">
        {questions.length === 0 ? "" : words.questionsWait(questions.length)}
      </p>
      {first !== undefined && (
        <QuestionView
          key={first.id}
          question={first}
          answer={(answer) => work.attempt(() => reader.answer(first.id, { ...answer, sessionId: id }))}
        />
      )}
      {questions.length > 1 && <p class="soft">{words.questionsWait(questions.length)}</p>}
    </div>
  );
}

function Queue({ session: { queue, queueHeld } }: { readonly session: OpenSession }): VNode | null {
  const words = useWords();
  if (queue.length === 0) return null;
  return (
    <section class="queue" aria-label={words.queue(queue.length)}>
      <p class="soft">{queueHeld ? words.queueHeld : words.queue(queue.length)}</p>
      <ol>
        {queue.map(({ id, text }) => (
          <li key={id}>{terminalLine(text, 300)}</li>
        ))}
      </ol>
    </section>
  );
}

function TodoList({ session }: { readonly session: OpenSession }): VNode | null {
  const words = useWords();
  const { todo } = session.view;
  if (todo.length === 0 || session.state === "idle") return null;
  return (
    <section class="todo" aria-label={words.todo}>
      <h2>{words.todo}</h2>
      <ul>
        {todo.map(({ content, status }, index) => (
          <li key={index} class={status}>
            <span class="soft">{words.todoState[status]}</span> {terminalText(content)}
          </li>
        ))}
      </ul>
    </section>
  );
}
