import type { ComponentChildren, VNode } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { ListedSession } from "../../server/server-api.ts";
import { terminalLine } from "../../view/safe-text.ts";
import { useWords } from "./language/language.ts";
import { hrefOf, type Route } from "./route.ts";
import { folderName, outcomeOf, useLiveSessions } from "./sessions/live-sessions.ts";
import { Button } from "./text/controls.tsx";
import { Icon, type IconName, Logo, StateMark } from "./text/icons.tsx";
import { startNew } from "./use-keys.ts";
import { useLoaded, useReader } from "./work.tsx";

interface OpenActions {
  readonly find: () => void;
  readonly settings: () => void;
  readonly keys: () => void;
}

const MAX_NEIGHBOURS = 8;

export function Rail({ route, find, settings, keys }: OpenActions & { readonly route: Route }): VNode {
  const words = useWords();
  return (
    <nav class="rail" aria-label={words.mainMenu}>
      <Brand />
      <Button kbd="N" look="new" onClick={() => startNew()}>
        {words.newSession}
      </Button>
      <button type="button" class="item" onClick={find}>
        <Icon name="search" />
        <span>{words.search}</span>
        <kbd>/</kbd>
      </button>
      <Item
        icon="list"
        to={{ type: "sessions" }}
        isCurrent={route.type === "sessions" && route.cwd === undefined}
      >
        {words.sessions}
      </Item>
      <Item icon="bars" to={{ type: "stats" }} isCurrent={route.type === "stats"}>
        {words.statistics}
      </Item>
      {route.type === "session" ? <Neighbours id={route.id} /> : <Folders route={route} />}
      <div class="foot">
        <button type="button" class="item" onClick={settings}>
          <Icon name="settings" />
          <span>{words.settings}</span>
        </button>
        <button type="button" class="item" onClick={keys}>
          <Icon name="keys" />
          <span>{words.keys}</span>
          <kbd>?</kbd>
        </button>
      </div>
    </nav>
  );
}

export function TopBar({ waiting, find, settings }: OpenActions & { readonly waiting: number }): VNode {
  const words = useWords();
  const button = (icon: IconName, name: string, onClick: () => void): VNode => (
    <Button icon={icon} look="bare icon" name={name} onClick={onClick} />
  );
  return (
    <header class="bar">
      <Brand />
      <span class="grow" />
      {waiting > 0 && (
        <a class="tag wait" href="#/" aria-label={words.questionsWait(waiting)}>
          <StateMark mark="wait" name="" />
          {waiting}
        </a>
      )}
      {button("search", words.search, find)}
      {button("plus", words.newSession, () => startNew())}
      <a class="btn bare icon" href="#/stats" aria-label={words.statistics}>
        <Icon name="bars" />
      </a>
      {button("menu", words.settings, settings)}
    </header>
  );
}

/** A panel above the page. Escape or a click outside closes it. */
export function Sheet({
  name,
  close,
  look = "settings",
  children,
}: {
  readonly name: string;
  readonly close: () => void;
  readonly look?: string;
  readonly children: ComponentChildren;
}): VNode {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    box.current?.querySelector<HTMLElement>("input, button")?.focus();
    return () => (before as HTMLElement | null)?.focus?.();
  }, []);
  return (
    <div
      class="veil"
      role="presentation"
      onClick={(event) => event.target === event.currentTarget && close()}
      onKeyDown={(event) => event.key === "Escape" && close()}
    >
      <div class={`pop ${look}`} role="dialog" aria-modal="true" aria-label={name} ref={box}>
        {children}
      </div>
    </div>
  );
}

function Brand(): VNode {
  return (
    <a class="brand" href="#/">
      <Logo />
      nano-agent
    </a>
  );
}

interface ItemProps {
  readonly icon: IconName;
  readonly to: Route;
  readonly isCurrent: boolean;
  readonly count?: number;
  readonly children: ComponentChildren;
}

function Item({ icon, to, isCurrent, count, children }: ItemProps): VNode {
  return (
    <a class="item" href={hrefOf(to)} aria-current={isCurrent ? "page" : undefined}>
      <Icon name={icon} />
      <span class="cut">{children}</span>
      {count !== undefined && <span class="num">{count}</span>}
    </a>
  );
}

/** The folders with sessions, largest first. Hidden if there is only one. */
function Folders({ route }: { readonly route: Route }): VNode | null {
  const words = useWords();
  const reader = useReader();
  const { page } = useLiveSessions();
  const newest = page?.sessions[0]?.id;
  const stats = useLoaded(async () => (newest === undefined ? undefined : reader.stats("cwd")), [newest]);
  const folders = stats?.rows.toSorted((left, right) => right.sessions - left.sessions) ?? [];
  const here = route.type === "sessions" ? route.cwd : undefined;
  if (folders.length < 2) return null;
  return (
    <>
      <h2>{words.folders}</h2>
      {folders.map(({ key, sessions }) => (
        <Item
          key={key}
          icon="folder"
          to={key === here ? { type: "sessions" } : { type: "sessions", cwd: key }}
          isCurrent={key === here}
          count={sessions}
        >
          {terminalLine(folderName(key), 80)}
        </Item>
      ))}
    </>
  );
}

/** Next to an open session: running sessions, and the newest of its folder. */
function Neighbours({ id }: { readonly id: string }): VNode {
  const words = useWords();
  const all = useLiveSessions().page?.sessions ?? [];
  const cwd = all.find((each) => each.id === id)?.cwd;
  const live = all.filter(({ state }) => state !== "idle");
  const others = all.filter((each) => each.state === "idle" && each.cwd === cwd).slice(0, MAX_NEIGHBOURS);
  const list = (name: string, sessions: readonly ListedSession[]): VNode | false =>
    sessions.length > 0 && (
      <>
        <h2>{name}</h2>
        {sessions.map((each) => {
          const { mark } = outcomeOf(each, words);
          return (
            <a
              key={each.id}
              class="item"
              href={hrefOf({ type: "session", id: each.id, view: "chat" })}
              aria-current={each.id === id ? "page" : undefined}
            >
              <StateMark mark={mark} />
              <span class="cut">{terminalLine(each.title ?? "", 80) || words.untitled}</span>
            </a>
          );
        })}
      </>
    );
  return (
    <>
      {list(words.live, live)}
      {list(terminalLine(folderName(cwd ?? ""), 80), others)}
    </>
  );
}
