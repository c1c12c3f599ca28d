import type { VNode } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { terminalLine } from "../../../app/safe-text.ts";
import { faultText, useWork, type Work, WorkLine } from "../announce.tsx";
import { useFormats } from "../language/formats.ts";
import { useWords } from "../language/language.ts";
import { useReader } from "../reader.ts";
import { hrefOf, type Route, SESSION_VIEWS } from "../route.ts";
import { CopyButton } from "../text/copy-button.tsx";
import { Conversation } from "./conversation.tsx";
import { type SessionActions, sessionActions } from "./session-actions.ts";
import { SessionPictures } from "./session-pictures.tsx";
import { type OpenSession, useSession } from "./use-session.ts";

type SessionRoute = Extract<Route, { readonly type: "session" }>;

/** One session, in one of its views. */
export function SessionPage({ route }: { readonly route: SessionRoute }): VNode {
  const words = useWords();
  const reader = useReader();
  const work = useWork();
  const { id } = route;
  const session = useSession(id);
  const actions = sessionActions({
    id,
    reader,
    work,
    words,
    goTo: (href) => {
      location.hash = href;
    },
  });
  useTitle(terminalLine(session.detail?.title ?? "", 60), words.state[session.state]);
  if (session.fault !== undefined)
    return (
      <p class="bad" role="alert">
        {terminalLine(faultText(session.fault, words), 500)} <a href="#/">{words.backToSessions}</a>
      </p>
    );
  return (
    <>
      <Heading session={session} actions={actions} />
      <nav class="views" aria-label={words.sessionViews}>
        {SESSION_VIEWS.map((view) => (
          <a
            key={view}
            href={hrefOf({ type: "session", id, view })}
            aria-current={view === route.view ? "page" : undefined}
          >
            {words.views[view]}
          </a>
        ))}
      </nav>
      <div class="notes">
        <WorkLine work={work} />
        {!session.isConnected && (
          <p class="announcement warn" role="status">
            {words.connectionLost}
          </p>
        )}
      </div>
      {session.isReady ? (
        <View route={route} session={session} actions={actions} work={work} />
      ) : (
        <p class="soft" aria-busy="true">
          {words.loading}
        </p>
      )}
    </>
  );
}

interface ViewProps extends HeadingProps {
  readonly route: SessionRoute;
  readonly work: Work;
}

function View({ route: { id, view, entry }, ...rest }: ViewProps): VNode {
  if (view === "chat") return <Conversation id={id} entry={entry} {...rest} />;
  return <SessionPictures id={id} view={view} {...rest} />;
}

function useTitle(title: string, state: string): void {
  const before = useRef(document.title);
  useEffect(() => {
    document.title = [title, state, "nano-agent"].filter((part) => part !== "").join(" · ");
  }, [title, state]);
  useEffect(
    () => () => {
      document.title = before.current;
    },
    [],
  );
}

interface HeadingProps {
  readonly session: OpenSession;
  readonly actions: SessionActions;
}

function Heading({ session, actions }: HeadingProps): VNode {
  const words = useWords();
  const { detail, state } = session;
  const isWritable = detail?.readOnly === false;
  return (
    <header class="session-head">
      <h1>
        {terminalLine(detail?.title ?? "", 160) || words.untitled}
        <span class={`state ${state}`}>{words.state[state]}</span>
      </h1>
      <p class="path soft">{terminalLine(detail?.cwd ?? "", 300)}</p>
      <Figures session={session} />
      <p class="row">
        <button type="button" title={words.forkHint} onClick={() => actions.fork()}>
          {words.fork}
        </button>
        {isWritable && state === "idle" && (
          <>
            <button type="button" title={words.undoHint} onClick={() => actions.undo()}>
              {words.undo}
            </button>
            <button type="button" title={words.redoHint} onClick={() => actions.redo()}>
              {words.redo}
            </button>
          </>
        )}
      </p>
      {detail?.damaged !== undefined && <p class="bad">{words.damaged(linesOf(detail.damaged))}</p>}
      {detail?.readOnly === true && <p class="soft">{words.readOnly}</p>}
      {detail?.goOn !== undefined && (
        <p class="soft">
          {words.goOn} <code>{terminalLine(detail.goOn, 500)}</code> <CopyButton text={detail.goOn} />
        </p>
      )}
    </header>
  );
}

/** The numbers of the first few lines. */
function linesOf(damaged: readonly { readonly line: number }[]): string {
  const first = damaged.slice(0, 5).map(({ line }) => line);
  return `${first.join(", ")}${damaged.length > first.length ? ", …" : ""}`;
}

function Figures({ session: { view } }: { readonly session: OpenSession }): VNode {
  const words = useWords();
  const { count, money } = useFormats();
  const { usage, costUsd, model } = view;
  return (
    <p class="facts soft">
      {model !== "" && <span>{terminalLine(model, 80)}</span>}
      <span>{words.tokens(count(usage.inputTokens + usage.outputTokens))}</span>
      <span>{costUsd === undefined ? words.costUnknown : money(costUsd)}</span>
    </p>
  );
}
