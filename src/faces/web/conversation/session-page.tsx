import type { VNode } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { JournalEntry } from "../../../core/agent/entries.ts";
import { ServerProblem } from "../../../server/create-reader.ts";
import { checkpointHistory } from "../../../session/undo/checkpoint-history.ts";
import { terminalLine } from "../../../view/safe-text.ts";
import { useLanguage, useWords } from "../language/language.ts";
import { ContextChart } from "../pictures/context-view.tsx";
import { FilesView } from "../pictures/files-view.tsx";
import { ReplayView } from "../pictures/replay-view.tsx";
import { TimelineChart } from "../pictures/timeline-view.tsx";
import { Sheet } from "../rail.tsx";
import { goTo, hrefOf, SESSION_VIEWS } from "../route.ts";
import { folderName, markOf } from "../sessions/live-sessions.ts";
import { Menu } from "../text/controls.tsx";
import { Icon, StateMark } from "../text/icons.tsx";
import { Strip, stripOf } from "../text/strip.tsx";
import { toggleCalls, useKeys } from "../use-keys.ts";
import { pageErrorText, Skeleton, useLoaded, useReader, useWork, WorkLine } from "../work.tsx";
import { Items } from "./block-view.tsx";
import { Conversation } from "./conversation.tsx";
import { useSession } from "./session-feed.ts";
import { type OpenSession, SessionContext, sessionActions, useOpenSession } from "./session-scope.ts";
import { SessionSide } from "./session-side.tsx";

export function SessionPage({ route }: { readonly route: OpenSession["route"] }): VNode {
  const words = useWords();
  const reader = useReader();
  const work = useWork();
  const { id } = route;
  const session = useSession(id);
  const [isOpen, setOpen] = useState(false);
  const { entries } = session;
  const { state } = session.view;
  const isWritable = session.detail?.readOnly === false;
  const isSettled = isWritable && state === "idle";
  const rollbacks = useMemo(
    () => rollbacksIn(isSettled ? entries : []),
    [entries, entries.length, isSettled],
  );
  const open: OpenSession = {
    ...session,
    route,
    work,
    actions: sessionActions(id, reader, work, words),
    isWritable,
    ...rollbacks,
    showDetails: () => {
      const column = document.querySelector<HTMLElement>(".cols > .side:not(.then)");
      if (column?.checkVisibility() === true) column.focus();
      else setOpen(true);
    },
    showEntry: (entry) => goTo({ type: "session", id, view: "chat", entry }),
  };
  useSessionKeys(open);
  useTitle(terminalLine(session.detail?.title ?? "", 60), state === "waiting" ? "◆" : "");
  if (session.error !== undefined)
    return (
      <div class="scroll">
        <p class="wide bad" role="alert">
          <span>
            {isGone(session.error) ? words.gone : terminalLine(pageErrorText(session.error, words), 500)}{" "}
            <a class="link" href="#/">
              {words.backToSessions}
            </a>
          </span>
        </p>
      </div>
    );
  return (
    <SessionContext.Provider value={open}>
      <Heading />
      {!session.isReady ? (
        <div class="talk">
          <Skeleton />
        </div>
      ) : route.view === "chat" ? (
        <Conversation />
      ) : (
        <SessionPictures key={route.view} />
      )}
      {isOpen && (
        <Sheet name={words.details} close={() => setOpen(false)} look="details">
          <SessionSide />
        </Sheet>
      )}
    </SessionContext.Provider>
  );
}

function rollbacksIn(entries: readonly JournalEntry[]): Pick<OpenSession, "canUndo" | "canRedo"> {
  const { inEffect, redoable } = checkpointHistory(entries);
  const runs = entries.filter(({ type, scope }) => type === "run_start" && scope === undefined).length;
  const last = inEffect.at(-1);
  return {
    canUndo: last === undefined ? undefined : last === runs ? "newest" : "earlier",
    canRedo: redoable !== undefined,
  };
}

function isGone(fault: unknown): boolean {
  return fault instanceof ServerProblem && fault.status === 404;
}

function useSessionKeys({ route, actions, canUndo, canRedo, showDetails }: OpenSession): void {
  const moveTab = (step: number): void => {
    const view = SESSION_VIEWS[SESSION_VIEWS.indexOf(route.view) + step];
    if (view !== undefined) goTo({ type: "session", id: route.id, view });
  };
  useKeys({
    "[": () => moveTab(-1),
    "]": () => moveTab(1),
    d: showDetails,
    o: toggleCalls,
    ...(canUndo !== undefined ? { u: () => actions.undo() } : {}),
    ...(canRedo ? { U: () => actions.redo() } : {}),
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

function Heading(): VNode {
  const words = useWords();
  const { detail, isReady, route } = useOpenSession();
  const { id, view: here } = route;
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
          <Pill />
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
          {(close) => <Actions close={close} />}
        </Menu>
      </div>
      {isReady && here !== "replay" && <SessionStrip />}
      {detail?.damaged !== undefined && <p class="note bad">{words.damaged(linesOf(detail.damaged))}</p>}
    </header>
  );
}

/** All steps of the session in one line, linked to the conversation. */
function SessionStrip(): VNode {
  const { words, duration } = useLanguage();
  const { entries, showEntry } = useOpenSession();
  const data = useMemo(() => stripOf(entries), [entries, entries.length]);
  return (
    <Strip
      data={data}
      height={4}
      nameOf={({ kind, from, to }) => `${words.stripKinds[kind] ?? ""} ${duration(to - from)}`}
      onChoose={showEntry}
    />
  );
}

function Actions({ close }: { readonly close: () => void }): VNode {
  const words = useWords();
  const { detail, canUndo, canRedo, actions, showDetails } = useOpenSession();
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
      {canUndo !== undefined && item(words.undo, words.undoHint, () => actions.undo())}
      {canRedo && item(words.redo, words.redoHint, () => actions.redo())}
      {item(words.details, "", showDetails)}
      {goOn !== undefined &&
        item(words.goOn, terminalLine(goOn, 500), () => void navigator.clipboard.writeText(goOn))}
    </>
  );
}

/** The state of the session, and the duration of its newest run. */
function Pill(): VNode | null {
  const { words, seconds } = useLanguage();
  const { view, detail } = useOpenSession();
  const { state } = view;
  const [, tick] = useState(0);
  const isActive = state !== "idle";
  useEffect(() => {
    if (!isActive) return undefined;
    const timer = setInterval(() => tick((count) => count + 1), 1_000);
    return () => clearInterval(timer);
  }, [isActive]);
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
  const ms = isActive || end === undefined ? Date.now() - startedAt : end.durationMs;
  const look = { run: "run", wait: "wait", limit: "wait", done: "ok" }[mark as string] ?? "";
  return (
    <span class={`tag num ${look} st-${mark}`}>
      <StateMark mark={mark} />
      {isActive || end !== undefined ? seconds(ms) : words.marks[mark]}
    </span>
  );
}

function linesOf(damaged: readonly { readonly line: number }[]): string {
  const first = damaged.slice(0, 5).map(({ line }) => line);
  return `${first.join(", ")}${damaged.length > first.length ? ", …" : ""}`;
}

function SessionPictures(): VNode {
  const { route, work } = useOpenSession();
  const isWide = route.view === "timeline" || route.view === "context";
  return (
    <>
      {work.announcement !== undefined && (
        <div class="wide said">
          <WorkLine work={work} />
        </div>
      )}
      {isWide ? (
        <div class="scroll">
          <div class="wide">
            <Picture />
          </div>
        </div>
      ) : (
        <Picture />
      )}
    </>
  );
}

function Picture(): VNode | null {
  const { route, entries, view, detail, actions, showEntry: onChoose } = useOpenSession();
  const reader = useReader();
  const now = view.state === "idle" ? undefined : entries.at(-1)?.time;
  const windowTokens = detail?.windowTokens;
  switch (route.view) {
    case "timeline":
      return <TimelineChart {...{ entries, now, windowTokens, onChoose }} />;
    case "context":
      return <ContextChart {...{ entries, windowTokens, onChoose }} />;
    case "files":
      return <Files />;
    case "replay":
      return (
        <ReplayView
          entries={entries}
          cwd={detail?.cwd}
          renderItems={(items) => <Items items={items} />}
          loadText={(path, entryId) => reader.fileText(route.id, path, entryId)}
          {...(detail === undefined ? {} : { onFork: actions.fork })}
        />
      );
    default:
      return null;
  }
}

/** The server also knows contents that are not in any call's result. */
function Files(): VNode {
  const reader = useReader();
  const { route, entries, view, detail, isWritable, actions, work, showEntry } = useOpenSession();
  const { id, entry: path } = route;
  const newest = entries.findLast(({ type }) => type === "checkpoint" || type === "rollback_end")?.id;
  const loaded = useLoaded(
    () => work.attempt(() => Promise.all([reader.changes(id), reader.files(id)])),
    [id, newest],
  );
  const [changes, net] = loaded ?? [];
  return (
    <FilesView
      {...{ entries, changes, net, path, onChoose: showEntry }}
      cwd={detail?.cwd}
      loadText={(file, entryId) => reader.fileText(id, file, entryId)}
      {...(isWritable && view.state === "idle"
        ? { onRestore: (file, to) => actions.undo({ to, paths: [file] }) }
        : {})}
    />
  );
}
