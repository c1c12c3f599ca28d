import type { ComponentChildren, VNode } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
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
import { useReader } from "./reader.ts";
import { hrefOf, type Route } from "./route.ts";
import { NewSessionForm } from "./sessions/new-session.tsx";
import { SessionList } from "./sessions/session-list.tsx";
import { Statistics } from "./sessions/statistics.tsx";
import { WaitingApprovals } from "./sessions/waiting-approvals.tsx";
import { useSignIn } from "./sign-in.ts";
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
  const access = useSignIn(reader);
  const main = useRef<HTMLElement>(null);
  useFocusOnChange(main, route);
  const openId = route.type === "session" ? route.id : undefined;
  return (
    <>
      <a class="skip" href="#main" onClick={(event) => focusMain(event, main.current)}>
        {words.skip}
      </a>
      <header class="bar">
        <nav aria-label={words.mainMenu}>
          <Tab to={{ type: "sessions" }} at={route}>
            {words.sessions}
          </Tab>
          <Tab to={{ type: "new" }} at={route}>
            {words.newSession}
          </Tab>
          <Tab to={{ type: "stats" }} at={route}>
            {words.statistics}
          </Tab>
        </nav>
        <div class="settings" role="group" aria-label={words.settings}>
          {children}
        </div>
      </header>
      <main id="main" tabIndex={-1} ref={main}>
        {access === "refused" && (
          <p class="announcement bad" role="alert">
            {words.signInFirst}
          </p>
        )}
        {access === "granted" && (
          <>
            <WaitingApprovals except={openId} />
            <Place route={route} />
          </>
        )}
      </main>
    </>
  );
}

function focusMain(event: Event, main: HTMLElement | null): void {
  // The fragment is the place the page is at.
  event.preventDefault();
  main?.focus();
}

/** Who chose another place with the keyboard goes on there, at its beginning. */
function useFocusOnChange(main: { readonly current: HTMLElement | null }, route: Route): void {
  const place = route.type === "session" ? `${route.id} ${route.view}` : route.type;
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
      return <SessionList />;
    case "new":
      return <NewSessionForm />;
    case "stats":
      return <Statistics />;
    case "session":
      return <SessionPage key={route.id} route={route} />;
  }
}

interface TabProps {
  readonly to: Route;
  readonly at: Route;
  readonly children: ComponentChildren;
}

function Tab({ to, at, children }: TabProps): VNode {
  return (
    <a href={hrefOf(to)} aria-current={to.type === at.type ? "page" : undefined}>
      {children}
    </a>
  );
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
  const id = useId();
  return (
    <>
      <label for={id} class="hidden">
        {label}
      </label>
      <select id={id} value={value} onInput={({ currentTarget }) => change(currentTarget.value as T)}>
        {options.map((option) => (
          <option key={option} value={option}>
            {nameOf(option)}
          </option>
        ))}
      </select>
    </>
  );
}
