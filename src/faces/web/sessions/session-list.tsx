import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { ListedSession, OpenApproval, SessionPage } from "../../../server/server-api.ts";
import { questionKind, questionSubject } from "../../../view/question-kind.ts";
import { terminalLine } from "../../../view/safe-text.ts";
import { useLanguage, useWords } from "../language/language.ts";
import { hrefOf } from "../route.ts";
import { Button } from "../text/controls.tsx";
import { LineCounts } from "../text/diff-view.tsx";
import { StateMark, Trace } from "../text/icons.tsx";
import { useReader, useWork, WorkLine } from "../work.tsx";
import { folderName, outcomeOf, PAGE_SIZE, useLiveSessions } from "./live-sessions.ts";
import { NewSessionBox } from "./new-session.tsx";

/** Home: the box for a new session, current activity, and all sessions by day. */
export function SessionList({ cwd }: { readonly cwd: string | undefined }): VNode {
  const words = useWords();
  const { page, approvals } = useLiveSessions();
  const reader = useReader();
  const work = useWork();
  const [older, setOlder] = useState<SessionPage>();
  useEffect(() => setOlder(undefined), [cwd]);
  const first = page?.sessions ?? [];
  const known = new Set(first.map(({ id }) => id));
  const all = [...first, ...(older?.sessions ?? []).filter(({ id }) => !known.has(id))];
  const now = all
    .filter(({ state }) => state !== "idle")
    .sort((left, right) => Number(right.state === "waiting") - Number(left.state === "waiting"));
  const next = older === undefined ? page?.next : older.next;
  const more = async (): Promise<void> => {
    const query = { limit: PAGE_SIZE, ...(cwd === undefined ? {} : { cwd }), ...(next && { before: next }) };
    const loaded = await work.attempt(() => reader.sessions(query));
    if (loaded !== undefined)
      setOlder({ ...loaded, sessions: [...(older?.sessions ?? []), ...loaded.sessions] });
  };
  return (
    <div class="scroll">
      <div class="home">
        <h1 class="hide">{words.sessions}</h1>
        <NewSessionBox cwd={cwd} />
        <WorkLine work={work} />
        {now.length > 0 && (
          <section class="group" id="now">
            <header>
              <h2>{words.now}</h2>
            </header>
            <div class="now">
              {now.map((each) => (
                <Card
                  key={each.id}
                  session={each}
                  question={approvals.find((open) => open.sessionId === each.id)}
                />
              ))}
            </div>
          </section>
        )}
        <Days sessions={all.filter(({ state }) => state === "idle")} />
        <p class="empty" aria-live="polite" hidden={all.length > 0}>
          {page === undefined ? words.loading : words.noSessions}
        </p>
        {next !== undefined && (
          <Button look="load" onClick={() => void more()}>
            {words.more}
          </Button>
        )}
      </div>
    </div>
  );
}

function Card({
  session,
  question,
}: {
  readonly session: ListedSession;
  readonly question: OpenApproval | undefined;
}): VNode {
  const { words, age } = useLanguage();
  const { id, title, state, cwd, trace, runAt } = session;
  const isWaiting = state === "waiting";
  const since = (isWaiting ? question?.time : runAt) ?? session.updatedAt;
  const status =
    question === undefined
      ? words.marks[isWaiting ? "wait" : "run"]
      : questionLine(question, words.questionKind);
  return (
    <a class={`card ${isWaiting ? "wait" : "run"}`} href={hrefOf({ type: "session", id, view: "chat" })}>
      <StateMark mark={isWaiting ? "wait" : "run"} />
      <b class="cut">{terminalLine(title ?? "", 160) || words.untitled}</b>
      <p class="cut">{terminalLine(status, 200)}</p>
      <span class="m l cut">{terminalLine(folderName(cwd), 80)}</span>
      <Trace trace={trace} />
      <span class="do">
        <span class="m num when">{age(Date.now() - since)}</span>
        <span class={isWaiting ? "btn main" : "btn"}>{isWaiting ? words.answer : words.open}</span>
      </span>
    </a>
  );
}

function questionLine(question: OpenApproval, kinds: ReturnType<typeof useWords>["questionKind"]): string {
  const { main = question.outside ?? question.diff?.path ?? question.reason } =
    questionSubject(question) ?? {};
  return `${kinds[questionKind(question)]} ${main}`;
}

function Days({ sessions }: { readonly sessions: readonly ListedSession[] }): VNode {
  const { words, day, money } = useLanguage();
  const days = Map.groupBy(sessions, ({ updatedAt }) => day(updatedAt, Date.now(), words));
  return (
    <>
      {[...days].map(([name, own]) => {
        const cost = own.reduce((sum, each) => sum + (each.cost ?? 0), 0);
        return (
          <section key={name} class="group">
            <header>
              <h2>{name}</h2>
              <span class="end num">
                {words.sessionCount(own.length)}
                {cost > 0 && ` · ${money(cost)}`}
              </span>
            </header>
            <div class="list">
              {own.map((each) => (
                <Row key={each.id} session={each} />
              ))}
            </div>
          </section>
        );
      })}
    </>
  );
}

function Row({ session }: { readonly session: ListedSession }): VNode {
  const { words, money, clock } = useLanguage();
  const { id, title, cwd, trace, lines, cost, updatedAt } = session;
  const { mark, cause } = outcomeOf(session, words);
  return (
    <a class="sess" href={hrefOf({ type: "session", id, view: "chat" })}>
      <StateMark mark={mark} />
      <span class="t">
        <b class="cut">{terminalLine(title ?? "", 160) || words.untitled}</b>
        {cause !== "" && <small class={`cut st-${mark}`}>{terminalLine(cause, 60)}</small>}
      </span>
      <span class="m l cut">{terminalLine(folderName(cwd), 80)}</span>
      <Trace trace={trace} />
      <span class="m num">
        <LineCounts lines={lines} />
      </span>
      <span class="m num cost">{cost !== null && cost > 0 && money(cost)}</span>
      <time class="m num when" dateTime={new Date(updatedAt).toISOString()}>
        {clock(updatedAt)}
      </time>
    </a>
  );
}
