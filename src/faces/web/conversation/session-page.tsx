import type { VNode } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { ServerProblem } from "../../../server/create-reader.ts";
import type { SessionChange, SessionFileState } from "../../../server/server-api.ts";
import { terminalLine } from "../../../view/safe-text.ts";
import { useLanguage, useWords } from "../language/language.ts";
import { Sheet } from "../rail.tsx";
import { hrefOf, type Route, SESSION_VIEWS, type SessionViewName } from "../route.ts";
import { folderName, markOf } from "../sessions/live-sessions.ts";
import { Menu } from "../text/controls.tsx";
import { Icon, StateMark } from "../text/icons.tsx";
import { Strip, stripOf } from "../text/strip.tsx";
import { toggleCalls, useKeys } from "../use-keys.ts";
import { faultText, Skeleton, useLoaded, useReader, useWork, type Work, WorkLine } from "../work.tsx";
import { Items } from "./block-view.tsx";
import { Conversation } from "./conversation.tsx";
import { type SessionActions, sessionActions } from "./page-actions.ts";
import { type OpenSession, useSession } from "./session-feed.ts";
import { SessionSide } from "./session-side.tsx";

type SessionRoute = Extract<Route, { readonly type: "session" }>;

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
  const [isOpen, setOpen] = useState(false);
  const showDetails = (): void => {
    const column = document.querySelector<HTMLElement>(".cols > .side:not(.then)");
    if (column?.checkVisibility() === true) column.focus();
    else setOpen(true);
  };
  useSessionKeys(session, actions, { route, showDetails });
  useTitle(terminalLine(session.detail?.title ?? "", 60), session.state === "waiting" ? "◆" : "");
  if (session.fault !== undefined)
    return (
      <div class="scroll">
        <p class="wide bad" role="alert">
          <span>
            {isGone(session.fault) ? words.gone : terminalLine(faultText(session.fault, words), 500)}{" "}
            <a class="link" href="#/">
              {words.backToSessions}
            </a>
          </span>
        </p>
      </div>
    );
  return (
    <>
      <Heading session={session} actions={actions} route={route} showDetails={showDetails} />
      {session.isReady ? (
        <View route={route} session={session} actions={actions} work={work} />
      ) : (
        <div class="talk">
          <Skeleton />
        </div>
      )}
      {isOpen && (
        <Sheet name={words.details} close={() => setOpen(false)} look="details">
          <SessionSide session={session} />
        </Sheet>
      )}
    </>
  );
}

interface ViewProps {
  readonly route: SessionRoute;
  readonly session: OpenSession;
  readonly actions: SessionActions;
  readonly work: Work;
}

function View({ route: { id, view, entry }, ...rest }: ViewProps): VNode {
  if (view === "chat") return <Conversation id={id} entry={entry} {...rest} />;
  return <SessionPictures key={view} id={id} view={view} path={entry} {...rest} />;
}

function isGone(fault: unknown): boolean {
  return fault instanceof ServerProblem && fault.status === 404;
}

function useSessionKeys(
  { detail, state }: OpenSession,
  actions: SessionActions,
  { route, showDetails }: { readonly route: SessionRoute; readonly showDetails: () => void },
): void {
  const canUndo = detail?.readOnly === false && state === "idle";
  const turnTo = (step: number): void => {
    const view = SESSION_VIEWS[SESSION_VIEWS.indexOf(route.view) + step];
    if (view !== undefined) location.hash = hrefOf({ type: "session", id: route.id, view });
  };
  useKeys({
    "[": () => turnTo(-1),
    "]": () => turnTo(1),
    d: showDetails,
    o: toggleCalls,
    ...(canUndo ? { u: () => actions.undo(), U: () => actions.redo() } : {}),
  });
}

function useTitle(title: string, state: string): void {
  const before = useRef(document.title);
  useEffect(() => {
    document.title = `${state} ${title === "" ? "" : `${title} · `}nano-agent`.trim();
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
  readonly route: SessionRoute;
  readonly showDetails: () => void;
}

function Heading({ session, actions, route: { id, view: here }, showDetails }: HeadingProps): VNode {
  const words = useWords();
  const { detail } = session;
  const cwd = detail?.cwd ?? "";
  return (
    <header class="head">
      <div class="top">
        <a class="btn bare icon back" href="#/" aria-label={words.backToSessions}>
          <Icon name="back" />
        </a>
        <div class="ttl">
          {cwd !== "" && (
            <a class="path" href={hrefOf({ type: "sessions", cwd })} title={terminalLine(cwd, 300)}>
              {terminalLine(folderName(cwd), 40)} /
            </a>
          )}
          <h1 class="cut">{terminalLine(detail?.title ?? "", 160) || words.untitled}</h1>
          <Pill session={session} />
        </div>
        <nav class="tabs" aria-label={words.sessionViews}>
          {SESSION_VIEWS.map((view) => (
            <a
              key={view}
              href={hrefOf({ type: "session", id, view })}
              aria-current={view === here ? "page" : undefined}
            >
              {words.views[view]}
            </a>
          ))}
        </nav>
        <Menu look="btn bare icon more" place="left" name={words.actions} label={<Icon name="dots" />}>
          {(close) => <Actions {...{ session, actions, showDetails, close }} />}
        </Menu>
      </div>
      {session.isReady && here !== "replay" && <SessionStrip id={id} session={session} />}
      {detail?.damaged !== undefined && <p class="note bad">{words.damaged(linesOf(detail.damaged))}</p>}
    </header>
  );
}

/** All steps of the session in one line: each leads to its place in the conversation. */
function SessionStrip({
  id,
  session: { entries },
}: {
  readonly id: string;
  readonly session: OpenSession;
}): VNode {
  const { words, duration } = useLanguage();
  const data = useMemo(() => stripOf(entries), [entries, entries.length]);
  return (
    <Strip
      data={data}
      height={4}
      nameOf={({ kind, from, to }) => `${words.stripKinds[kind] ?? ""} ${duration(to - from)}`}
      onChoose={(entry) => {
        location.hash = hrefOf({ type: "session", id, view: "chat", entry });
      }}
    />
  );
}

interface ActionsProps extends Pick<HeadingProps, "session" | "actions" | "showDetails"> {
  readonly close: () => void;
}

function Actions({ session: { detail, state }, actions, showDetails, close }: ActionsProps): VNode {
  const words = useWords();
  const item = (name: string, hint: string, act: () => void): VNode => (
    <button
      type="button"
      class="opt"
      onClick={() => {
        act();
        close();
      }}
    >
      <b>{name}</b>
      {hint !== "" && <span>{hint}</span>}
    </button>
  );
  const { goOn } = detail ?? {};
  return (
    <>
      {item(words.fork, words.forkHint, () => actions.fork())}
      {detail?.readOnly === false && state === "idle" && (
        <>
          {item(words.undo, words.undoHint, () => actions.undo())}
          {item(words.redo, words.redoHint, () => actions.redo())}
        </>
      )}
      {item(words.details, "", showDetails)}
      {goOn !== undefined &&
        item(words.goOn, terminalLine(goOn, 500), () => void navigator.clipboard.writeText(goOn))}
    </>
  );
}

/** How the session stands, and how long its newest run has taken. */
function Pill({ session: { view, state, detail } }: { readonly session: OpenSession }): VNode | null {
  const { words, seconds } = useLanguage();
  const [, tick] = useState(0);
  const isAtWork = state !== "idle";
  useEffect(() => {
    if (!isAtWork) return undefined;
    const timer = setInterval(() => tick((count) => count + 1), 1_000);
    return () => clearInterval(timer);
  }, [isAtWork]);
  const end = view.items.findLast((item) => item.type === "run_end");
  if (detail === undefined || view.items.length === 0) return null;
  const mark =
    state === "running"
      ? "run"
      : state === "waiting"
        ? "wait"
        : end === undefined
          ? "cut"
          : markOf(end.stopReason);
  const startedAt = view.run?.startedAt ?? detail.runAt ?? detail.createdAt;
  const ms = isAtWork || end === undefined ? Date.now() - startedAt : end.durationMs;
  const look = { run: "run", wait: "wait", limit: "wait", done: "ok" }[mark as string] ?? "";
  return (
    <span class={`tag num ${look} st-${mark}`}>
      <StateMark mark={mark} />
      {isAtWork || end !== undefined ? seconds(ms) : words.marks[mark]}
    </span>
  );
}

function linesOf(damaged: readonly { readonly line: number }[]): string {
  const first = damaged.slice(0, 5).map(({ line }) => line);
  return `${first.join(", ")}${damaged.length > first.length ? ", …" : ""}`;
}

interface SessionPicturesProps {
  readonly id: string;
  readonly view: Exclude<SessionViewName, "chat">;
  readonly path: string | undefined;
  readonly session: OpenSession;
  readonly actions: SessionActions;
  readonly work: Work;
}

/** A session as a whole, in one of its pictures. */
function SessionPictures(props: SessionPicturesProps): VNode {
  const { view, work } = props;
  const isWide = view === "timeline" || view === "context";
  return (
    <>
      {work.said !== undefined && (
        <div class="wide said">
          <WorkLine work={work} />
        </div>
      )}
      {isWide ? (
        <div class="scroll">
          <div class="wide">
            <Picture {...props} />
          </div>
        </div>
      ) : (
        <Picture {...props} />
      )}
    </>
  );
}

function Picture(props: SessionPicturesProps): VNode {
  const { id, view, session, actions, work } = props;
  const reader = useReader();
  const pictures = usePictures(work);
  if (pictures === undefined) return <Skeleton />;
  const { entries, state, detail } = session;
  const { TimelinePicture, ContextPicture, ReplayView } = pictures;
  const onChoose = (entry: string): void => {
    location.hash = hrefOf({ type: "session", id, view: "chat", entry });
  };
  const now = state === "idle" ? undefined : entries.at(-1)?.time;
  const windowTokens = detail?.windowTokens;
  switch (view) {
    case "timeline":
      return <TimelinePicture {...{ entries, now, windowTokens, onChoose }} />;
    case "context":
      return <ContextPicture {...{ entries, windowTokens, onChoose }} />;
    case "files":
      return <Files {...props} onChoose={onChoose} pictures={pictures} />;
    case "replay":
      return (
        <ReplayView
          entries={entries}
          cwd={detail?.cwd}
          renderItems={(items) => <Items items={items} />}
          loadText={(path, entryId) => reader.fileText(id, path, entryId)}
          {...(detail === undefined ? {} : { onFork: actions.fork })}
        />
      );
  }
}

interface FilesProps extends SessionPicturesProps {
  readonly onChoose: (entry: string) => void;
  readonly pictures: NonNullable<ReturnType<typeof usePictures>>;
}

/** The server knows more of the changes than the entries say: contents that are in no result of a call. */
function Files({ id, path, session, actions, work, onChoose, pictures: { FilesView } }: FilesProps): VNode {
  const reader = useReader();
  const [changes, setChanges] = useState<readonly SessionChange[]>();
  const [net, setNet] = useState<readonly SessionFileState[]>();
  const { entries, state, detail } = session;
  const newest = entries.findLast(({ type }) => type === "checkpoint" || type === "rollback_end")?.id;
  useEffect(() => {
    void work
      .attempt(() => Promise.all([reader.changes(id), reader.files(id)]))
      .then((found) => {
        setChanges(found?.[0]);
        setNet(found?.[1]);
      });
  }, [id, newest]);
  const canUndo = detail?.readOnly === false && state === "idle";
  return (
    <FilesView
      {...{ entries, changes, net, path, onChoose }}
      cwd={detail?.cwd}
      loadText={(file, entryId) => reader.fileText(id, file, entryId)}
      {...(canUndo ? { onRestore: (file, to) => actions.undo({ to, paths: [file] }) } : {})}
    />
  );
}

/** The pictures, which are loaded when one is looked at first; undefined until then. */
export function usePictures(work: Work): typeof import("../picture-parts.ts") | undefined {
  return useLoaded(() => work.attempt(() => import("../picture-parts.ts")), []);
}
