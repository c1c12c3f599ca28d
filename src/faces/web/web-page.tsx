import type { ComponentChildren, VNode } from "preact";
import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { SessionPage } from "./conversation/session-page.tsx";
import { useKeptChoice } from "./kept-choice.ts";
import {
  LANGUAGES,
  type Language,
  LanguageContext,
  languageFor,
  useWords,
  WORDS,
} from "./language/language.ts";
import { Rail, Sheet, TopBar } from "./rail.tsx";
import { useReader } from "./reader.ts";
import type { Route } from "./route.ts";
import { Find } from "./sessions/find.tsx";
import { LiveSessionsContext, usePolledSessions } from "./sessions/live-sessions.ts";
import { SessionList } from "./sessions/session-list.tsx";
import { Statistics } from "./sessions/statistics.tsx";
import { tokenIn, useSignIn } from "./sign-in.ts";
import { Logo } from "./text/icons.tsx";
import { useKeys } from "./use-keys.ts";
import { useRoute } from "./use-route.ts";

const THEMES = ["auto", "light", "dark"] as const;
type Theme = (typeof THEMES)[number];

/** The whole page. */
export function WebPage(): VNode {
  const [language, setLanguage] = useKeptChoice("language", LANGUAGES, languageFor(navigator.languages));
  const [theme, setTheme] = useKeptChoice<Theme>("theme", THEMES, "auto");
  useLayoutEffect(() => {
    document.documentElement.lang = language === "zh" ? "zh-CN" : language;
    if (theme === "auto") delete document.documentElement.dataset["theme"];
    else document.documentElement.dataset["theme"] = theme;
  }, [language, theme]);
  return (
    <LanguageContext.Provider value={language}>
      <Frame>
        <Choice
          label={WORDS[language].languageLabel}
          options={LANGUAGES}
          value={language}
          nameOf={(each) => WORDS[each].language}
          change={setLanguage}
        />
        <Choice
          label={WORDS[language].themeLabel}
          options={THEMES}
          value={theme}
          nameOf={(each) => WORDS[language].theme[each]}
          change={setTheme}
        />
      </Frame>
    </LanguageContext.Provider>
  );
}

/** Everything inside of the language. `children` are the settings. */
function Frame({ children }: { readonly children: ComponentChildren }): VNode {
  const words = useWords();
  const reader = useReader();
  const route = useRoute();
  const { access, enter } = useSignIn(reader);
  const [open, setOpen] = useState<"find" | "settings">();
  const main = useRef<HTMLElement>(null);
  useFocusOnChange(main, route);
  const live = usePolledSessions(access === "granted", route.type === "sessions" ? route.cwd : undefined);
  useKeys({ find: () => setOpen("find") });
  const waiting = new Set(live.approvals.map(({ sessionId }) => sessionId)).size;
  useEffect(() => {
    if (waiting > 0) document.documentElement.dataset["state"] = "wait";
    else delete document.documentElement.dataset["state"];
  }, [waiting]);
  if (access === "refused") return <SignIn enter={enter} />;
  const opens = { find: () => setOpen("find"), settings: () => setOpen("settings") };
  return (
    <LiveSessionsContext.Provider value={live}>
      <a class="skip" href="#main" onClick={(event) => focusMain(event, main.current)}>
        {words.skip}
      </a>
      <div class="app">
        <Rail route={route} {...opens} />
        <main id="main" tabIndex={-1} ref={main} data-place={route.type}>
          <TopBar waiting={waiting} {...opens} />
          {access === "granted" && <Place route={route} />}
        </main>
      </div>
      {open === "find" && <Find close={() => setOpen(undefined)} />}
      {open === "settings" && (
        <Sheet name={words.settings} close={() => setOpen(undefined)}>
          {children}
        </Sheet>
      )}
    </LiveSessionsContext.Provider>
  );
}

/** The form for somebody without a token. */
function SignIn({ enter }: { readonly enter: (token: string) => void }): VNode {
  const words = useWords();
  const id = useId();
  const [token, setToken] = useState("");
  const submit = (event: Event): void => {
    event.preventDefault();
    // All of the address may be pasted too.
    enter(tokenIn(token.slice(token.indexOf("#"))) ?? token.trim());
  };
  return (
    <main class="entry">
      <Logo />
      <p role="alert">{words.signInFirst}</p>
      <form onSubmit={submit}>
        <label class="hide" for={id}>
          {words.token}
        </label>
        <input
          id={id}
          class="field"
          type="password"
          required
          autocomplete="off"
          placeholder={words.token}
          value={token}
          onInput={({ currentTarget }) => setToken(currentTarget.value)}
        />
        <button type="submit" class="btn main">
          {words.signIn}
        </button>
      </form>
    </main>
  );
}

function focusMain(event: Event, main: HTMLElement | null): void {
  // The fragment is the place the page is at.
  event.preventDefault();
  main?.focus();
}

/** Who chose another place with the keyboard goes on there, at its beginning. */
function useFocusOnChange(main: { readonly current: HTMLElement | null }, route: Route): void {
  const place =
    route.type === "session"
      ? `${route.id} ${route.view}`
      : `${route.type} ${route.type === "sessions" ? (route.cwd ?? "") : ""}`;
  const before = useRef(place);
  // Before the next key can arrive.
  useLayoutEffect(() => {
    if (before.current === place) return;
    before.current = place;
    main.current?.focus({ preventScroll: true });
    // A conversation begins at its end.
    if (route.type !== "session" || route.view !== "chat") scrollTo(0, 0);
  }, [place]);
}

function Place({ route }: { readonly route: Route }): VNode {
  switch (route.type) {
    case "sessions":
      return <SessionList cwd={route.cwd} />;
    case "stats":
      return <Statistics />;
    case "session":
      return <SessionPage key={route.id} route={route} />;
  }
}

interface ChoiceProps<T extends string> {
  readonly label: string;
  readonly options: readonly T[];
  readonly value: T;
  readonly nameOf: (option: T) => string;
  readonly change: (option: T) => void;
}

function Choice<T extends Theme | Language>({
  label,
  options,
  value,
  nameOf,
  change,
}: ChoiceProps<T>): VNode {
  return (
    <div class="set" role="group" aria-label={label}>
      <span>{label}</span>
      <span class="seg">
        {options.map((option) => (
          <button key={option} type="button" aria-pressed={option === value} onClick={() => change(option)}>
            {nameOf(option)}
          </button>
        ))}
      </span>
    </div>
  );
}
