import type { VNode } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { type Reader, ServerProblem } from "../../server/create-reader.ts";
import { terminalLine } from "../../view/safe-text.ts";
import { SessionPage } from "./conversation/session-page.tsx";
import { LanguageContext, useWords } from "./language/language.ts";
import { Statistics } from "./pictures/stats-view.tsx";
import { Rail, Sheet, TopBar } from "./rail.tsx";
import { goTo, parseRoute, type Route } from "./route.ts";
import { Find } from "./sessions/find.tsx";
import { type LiveSessions, LiveSessionsContext, usePolledSessions } from "./sessions/live-sessions.ts";
import { SessionList } from "./sessions/session-list.tsx";
import { KeyList, SettingsContext, SettingsForm, useSettings, useStoredSettings } from "./settings.tsx";
import { Button } from "./text/controls.tsx";
import { Logo } from "./text/icons.tsx";
import { moveRow, startNew, useKeys } from "./use-keys.ts";
import { useReader } from "./work.tsx";

export function WebPage(): VNode {
  const { settings, language } = useStoredSettings();
  return (
    <SettingsContext.Provider value={settings}>
      <LanguageContext.Provider value={language}>
        <Frame />
      </LanguageContext.Provider>
    </SettingsContext.Provider>
  );
}

function Frame(): VNode {
  const words = useWords();
  const reader = useReader();
  const route = useRoute();
  const { access, enter } = useSignIn(reader);
  const [open, setOpen] = useState<"find" | "settings" | "keys">();
  const close = (): void => setOpen(undefined);
  const main = useRef<HTMLElement>(null);
  useFocusOnChange(main, route);
  const live = usePolledSessions(access === "granted", route.type === "sessions" ? route.cwd : undefined);
  useKeys({
    "/": () => setOpen("find"),
    "?": () => setOpen("keys"),
    n: () => startNew(),
    b: () => goTo({ type: "sessions" }),
    a: () => goToQuestion(live, route),
    ArrowDown: () => moveRow(1),
    ArrowUp: () => moveRow(-1),
    j: () => moveRow(1),
    k: () => moveRow(-1),
  });
  const waiting = useWaiting(live);
  if (access === "refused") return <SignIn enter={enter} />;
  const openActions = {
    find: () => setOpen("find"),
    settings: () => setOpen("settings"),
    keys: () => setOpen("keys"),
  };
  return (
    <LiveSessionsContext.Provider value={live}>
      <a class="skip" href="#main" onClick={(event) => focusMain(event, main.current)}>
        {words.skip}
      </a>
      <div class="app">
        <Rail route={route} {...openActions} />
        <main id="main" tabIndex={-1} ref={main} data-place={route.type}>
          <TopBar waiting={waiting} {...openActions} />
          {access === "granted" && <PageContent route={route} />}
        </main>
      </div>
      {open === "find" && <Find close={close} {...openActions} />}
      {open === "settings" && (
        <Sheet name={words.settings} close={close}>
          <SettingsForm />
        </Sheet>
      )}
      {open === "keys" && (
        <Sheet name={words.keys} close={close} look="find keys-of">
          <KeyList />
        </Sheet>
      )}
    </LiveSessionsContext.Provider>
  );
}

/** Goes to the next session waiting for an answer, after the current one. */
function goToQuestion({ approvals }: LiveSessions, route: Route): void {
  const ids = [...new Set(approvals.map(({ sessionId }) => sessionId))];
  const here = route.type === "session" ? ids.indexOf(route.id) : -1;
  const next = ids[(here + 1) % Math.max(1, ids.length)];
  if (next !== undefined) goTo({ type: "session", id: next, view: "chat" });
}

/** Number of waiting sessions. The page's icon shows it, and the browser notifies on request. */
function useWaiting({ page, approvals }: LiveSessions): number {
  const words = useWords();
  const { notify } = useSettings();
  const ids = new Set(approvals.map(({ sessionId }) => sessionId));
  const before = useRef(ids);
  const newest = [...ids].find((id) => !before.current.has(id));
  useEffect(() => {
    before.current = ids;
    if (ids.size > 0) document.documentElement.dataset["state"] = "wait";
    else delete document.documentElement.dataset["state"];
    const icon = document.querySelector<HTMLLinkElement>("link[rel=icon]");
    if (icon !== null)
      icon.href = icon.href.replace(/%23(?:12a0b5|cb8510)/, ids.size > 0 ? "%23cb8510" : "%2312a0b5");
    if (newest === undefined || notify === "off" || !document.hidden) return;
    if (!("Notification" in globalThis) || Notification.permission !== "granted") return;
    const title = page?.sessions.find(({ id }) => id === newest)?.title ?? "";
    const notice = new Notification(words.marks.wait, { body: terminalLine(title, 120), tag: newest });
    notice.addEventListener("click", () => {
      focus();
      goTo({ type: "session", id: newest, view: "chat" });
    });
  }, [ids.size, newest]);
  return ids.size;
}

function SignIn({ enter }: { readonly enter: (token: string) => void }): VNode {
  const words = useWords();
  const [token, setToken] = useState("");
  const submit = (event: Event): void => {
    event.preventDefault();
    // The whole address may be pasted, too.
    enter(tokenIn(token.slice(token.indexOf("#"))) ?? token.trim());
  };
  return (
    <main class="entry">
      <Logo />
      <p role="alert">{words.signInFirst}</p>
      <form onSubmit={submit}>
        <input
          aria-label={words.token}
          class="field"
          type="password"
          required
          autocomplete="off"
          placeholder={words.token}
          value={token}
          onInput={({ currentTarget }) => setToken(currentTarget.value)}
        />
        <Button type="submit" look="main">
          {words.signIn}
        </Button>
      </form>
    </main>
  );
}

function focusMain(event: Event, main: HTMLElement | null): void {
  // The fragment holds the page's route.
  event.preventDefault();
  main?.focus();
}

/** Moves the focus to the new page, so that a keyboard user continues at its start. */
function useFocusOnChange(main: { readonly current: HTMLElement | null }, route: Route): void {
  const page =
    route.type === "session"
      ? `${route.id} ${route.view}`
      : `${route.type} ${route.type === "sessions" ? (route.cwd ?? "") : ""}`;
  const before = useRef(page);
  // Runs before the next key can arrive.
  useLayoutEffect(() => {
    if (before.current === page) return;
    before.current = page;
    main.current?.focus({ preventScroll: true });
    // A conversation opens at its end.
    if (route.type !== "session" || route.view !== "chat") scrollTo(0, 0);
  }, [page]);
}

function PageContent({ route }: { readonly route: Route }): VNode {
  switch (route.type) {
    case "sessions":
      return <SessionList cwd={route.cwd} />;
    case "stats":
      return <Statistics />;
    case "session":
      return <SessionPage key={route.id} route={route} />;
  }
}

export function tokenIn(fragment: string): string | undefined {
  const token = new URLSearchParams(fragment.replace(/^#/, "")).get("token");
  return token === null || token === "" ? undefined : token;
}

/** The server's decision on access; `unknown` while a token is being exchanged. */
type Access = "unknown" | "granted" | "refused";

/** Exchanges the address's token for a cookie, after removing it from the address. */
function useSignIn(reader: Reader): {
  readonly access: Access;
  readonly enter: (token: string) => void;
} {
  const [access, setAccess] = useState<Access>(tokenIn(location.hash) === undefined ? "granted" : "unknown");
  useEffect(() => {
    const enter = (): void => {
      const token = tokenIn(location.hash);
      if (token !== undefined) history.replaceState(null, "", `${location.pathname}${location.search}#/`);
      void accessWith(reader, token).then(setAccess);
    };
    const onHash = (): void => {
      if (tokenIn(location.hash) !== undefined) enter();
    };
    enter();
    addEventListener("hashchange", onHash);
    return () => removeEventListener("hashchange", onHash);
  }, [reader]);
  return { access, enter: (token) => void accessWith(reader, token).then(setAccess) };
}

/** The server's response to a token, or without one to the existing cookie. */
export async function accessWith(reader: Reader, token: string | undefined): Promise<Access> {
  try {
    if (token === undefined) await reader.sessions({ limit: 1 });
    else await reader.signIn(token);
    return "granted";
  } catch (error) {
    // Other failures are reported by the request that meets them.
    return error instanceof ServerProblem && error.status === 401 ? "refused" : "granted";
  }
}

function useRoute(): Route {
  const [fragment, setFragment] = useState(location.hash);
  useEffect(() => {
    const follow = (): void => setFragment(location.hash);
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  return parseRoute(fragment);
}
