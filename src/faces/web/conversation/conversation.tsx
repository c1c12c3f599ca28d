import type { VNode } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { ConnectionRetry } from "../../../server/create-reader.ts";
import type { SessionDetail } from "../../../server/server-api.ts";
import { modeName } from "../../../view/mode-names.ts";
import type { Question } from "../../../view/question.ts";
import { terminalLine } from "../../../view/safe-text.ts";
import type { RunView } from "../../../view/view.ts";
import { type Work, WorkLine } from "../announce.tsx";
import { useFormats } from "../language/formats.ts";
import { useWords } from "../language/language.ts";
import { useReader } from "../reader.ts";
import { StateMark } from "../text/icons.tsx";
import { Composer } from "./composer.tsx";
import { EndActionsContext } from "./end-actions.ts";
import { ItemList, placeOfEntry } from "./item-list.tsx";
import { QuestionView } from "./question-view.tsx";
import type { SessionActions } from "./session-actions.ts";
import { SessionSide } from "./session-side.tsx";
import type { OpenSession } from "./use-session.ts";

interface ConversationProps {
  readonly id: string;
  readonly session: OpenSession;
  readonly actions: SessionActions;
  readonly work: Work;
  /** Id of the entry to lead to. */
  readonly entry: string | undefined;
}

/** The conversation of a session, and the dock to take part in it. */
export function Conversation({ id, session, actions, work, entry }: ConversationProps): VNode {
  const words = useWords();
  const reader = useReader();
  const [draft, setDraft] = useState("");
  const { view, entries, state, questions, detail, retry } = session;
  const place = useMemo(() => {
    const wanted = entries.find((each) => each.id === entry);
    return wanted === undefined ? undefined : placeOfEntry(view.items, wanted);
  }, [entry]);
  const send = async (text: string, when: "now" | "after"): Promise<boolean> =>
    (await work.attempt(() => reader.send(id, { text, when }).then(() => true))) ?? false;
  // The question shows the plan that it is about.
  const asked = questions[0]?.callId;
  const items = asked === undefined ? view.items : view.items.filter((item) => item.id !== `plan_${asked}`);
  const isWritable = detail?.readOnly === false;
  const end = view.items.findLast((item) => item.type === "run_end");
  const actionsAtEnd = { end: end?.id, isWritable: isWritable && state === "idle", actions };
  return (
    <div class="cols">
      <div class="mid">
        <div class="scroll">
          <section aria-label={words.conversation}>
            <EndActionsContext.Provider value={actionsAtEnd}>
              <ItemList key={`${id} ${entry ?? ""}`} items={items} place={place} />
            </EndActionsContext.Provider>
          </section>
        </div>
        <div class="dock">
          <WorkLine work={work} />
          {retry !== undefined && <ConnectionLost retry={retry} />}
          {view.run !== undefined && state === "running" && retry === undefined && <RunLine run={view.run} />}
          <Questions id={id} questions={questions} work={work} isWritable={isWritable} />
          <Queue session={session} />
          {isWritable && questions.length === 0 && (
            <Composer
              isRunning={state !== "idle"}
              draft={draft}
              change={setDraft}
              mode={session.mode && modeName(session.mode)}
              model={terminalLine(view.model.replace(/^[^/]*\//, ""), 40)}
              send={send}
              stop={actions.stop}
            />
          )}
          {detail?.readOnly === true && <ReadOnly detail={detail} fork={() => actions.fork()} />}
        </div>
      </div>
      <SessionSide session={session} />
    </div>
  );
}

/** Says when the next attempt follows, and makes it at once when asked. */
function ConnectionLost({ retry }: { readonly retry: ConnectionRetry }): VNode {
  const words = useWords();
  const [left, setLeft] = useState(0);
  useEffect(() => {
    const end = Date.now() + retry.inMs;
    const count = (): void => setLeft(Math.max(1, Math.ceil((end - Date.now()) / 1_000)));
    count();
    const timer = setInterval(count, 1_000);
    return () => clearInterval(timer);
  }, [retry]);
  return (
    <p class="note warn">
      <span role="status">{words.connectionLost}</span>
      <span class="num">{words.retryingIn(left)}</span>
      <button type="button" class="btn small" onClick={retry.now}>
        {words.retryNow}
      </button>
    </p>
  );
}

/** Says who holds a session that cannot be written from here. */
function ReadOnly({ detail, fork }: { readonly detail: SessionDetail; readonly fork: () => void }): VNode {
  const words = useWords();
  const { clock } = useFormats();
  const { heldBy } = detail;
  return (
    <p class="note">
      {heldBy === undefined ? words.readOnly : words.heldBy(heldBy.pid, clock(heldBy.since))}
      <button type="button" class="btn" onClick={fork}>
        {words.fork}
      </button>
    </p>
  );
}

function RunLine({ run: { phase, retry, outputTokens } }: { readonly run: RunView }): VNode {
  const words = useWords();
  const { count } = useFormats();
  return (
    <p class="status" role="status">
      <StateMark mark="run" name="" />
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
  readonly isWritable: boolean;
}

function Questions({ id, questions, work, isWritable }: QuestionsProps): VNode {
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
      <p class="hide" role="alert">
        {questions.length === 0 ? "" : words.questionsWait(questions.length)}
      </p>
      {first !== undefined && (
        <QuestionView
          key={first.id}
          question={first}
          all={questions.length}
          isWritable={isWritable}
          answer={(answer) => work.attempt(() => reader.answer(first.id, { ...answer, sessionId: id }))}
        />
      )}
    </div>
  );
}

function Queue({ session: { queue, queueHeld } }: { readonly session: OpenSession }): VNode | null {
  const words = useWords();
  if (queue.length === 0) return null;
  return (
    <section aria-label={words.queue(queue.length)}>
      {queueHeld && <p class="status">{words.queueHeld}</p>}
      <ol class="queue">
        {queue.map(({ id, text }) => (
          <li key={id}>
            <span class="w">{words.afterThis}</span>
            <span class="cut grow">{terminalLine(text, 300)}</span>
          </li>
        ))}
      </ol>
    </section>
  );
}
