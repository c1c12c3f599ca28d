import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { ListedSession, SessionPage } from "../../../server/server-api.ts";
import { terminalLine } from "../../../view/safe-text.ts";
import { useLanguage, useWords } from "../language/language.ts";
import { Sheet } from "../rail.tsx";
import { goTo } from "../route.ts";
import { Icon, type IconName, StateMark } from "../text/icons.tsx";
import { startNew } from "../use-keys.ts";
import { useReader, useWork, type Work, WorkLine } from "../work.tsx";
import { folderName, outcomeOf } from "./live-sessions.ts";

/** Delay between the last key and a search. */
const SEARCH_DELAY_MS = 200;

interface FindProps {
  readonly close: () => void;
  readonly settings: () => void;
  readonly keys: () => void;
}

interface Hit {
  readonly group: string;
  readonly mark: VNode;
  readonly name: string;
  readonly subtitle: string;
  readonly passage: string;
  readonly go: () => void;
}

/** Searches titles and conversations; also offers actions. */
export function Find({ close, settings, keys }: FindProps): VNode {
  const words = useWords();
  const work = useWork();
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const query = text.trim();
  const result = useSearch(query, work);
  const { sessions = [], searched } = result?.page ?? {};
  const groups = useGroups(query, sessions, { settings, keys });
  const all = [...groups.values()].flat();
  const choose = (hit: Hit): void => {
    close();
    hit.go();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const chosen = all[at];
    if (step !== undefined) setAt(Math.max(0, Math.min(all.length - 1, at + step)));
    else if (event.key === "Enter" && !event.isComposing && chosen !== undefined) choose(chosen);
    else return;
    event.preventDefault();
  };
  return (
    <Sheet name={words.search} close={close} look="find">
      <label class="q">
        <Icon name="search" />
        <span class="hide">{words.search}</span>
        <input
          value={text}
          placeholder={words.searchHint}
          autocomplete="off"
          onKeyDown={onKeyDown}
          onInput={({ currentTarget }) => {
            setText(currentTarget.value);
            setAt(0);
          }}
        />
      </label>
      <hr />
      <WorkLine work={work} />
      <div class="results">
        <p class="soft empty" aria-live="polite" hidden={result === undefined || sessions.length > 0}>
          {words.nothingFound(result?.text ?? "")}
        </p>
        {[...groups].map(([group, own]) => (
          <section key={group}>
            <h2>{group}</h2>
            {own.map((hit, index) => (
              <HitRow key={index} hit={hit} query={query} isOn={hit === all[at]} choose={() => choose(hit)} />
            ))}
          </section>
        ))}
      </div>
      <p class="keys">
        <kbd>↑</kbd>
        <kbd>↓</kbd> {words.chooseKey} <kbd>↵</kbd> {words.openKey} <kbd>Esc</kbd> {words.closeKey}
        <span class="end num" role="status">
          {searched !== undefined && words.searchedOf(searched.sessions, searched.of)}
        </span>
      </p>
    </Sheet>
  );
}

function useGroups(
  query: string,
  sessions: readonly ListedSession[],
  { settings, keys }: Pick<FindProps, "settings" | "keys">,
): ReadonlyMap<string, readonly Hit[]> {
  const { words, moment } = useLanguage();
  const matches = (name: string): boolean => name.toLowerCase().includes(query.toLowerCase());
  const hits = sessions.map((session): Hit => {
    const { id, title, cwd, updatedAt, passages: [passage] = [] } = session;
    const name = terminalLine(title ?? "", 120) || words.untitled;
    const passageText = passage === undefined || matches(name) ? "" : terminalLine(passage, 200);
    return {
      group: passageText === "" ? words.sessions : words.inConversations,
      mark: <StateMark mark={outcomeOf(session, words).mark} />,
      name,
      subtitle: `${terminalLine(folderName(cwd), 40)} · ${moment(updatedAt, Date.now())}`,
      passage: passageText,
      go: () => goTo({ type: "session", id, view: "chat" }),
    };
  });
  const action = (icon: IconName, name: string, go: () => void): Hit => ({
    group: words.actionGroup,
    mark: <Icon name={icon} />,
    name,
    subtitle: "",
    passage: "",
    go,
  });
  const stats = (): void => goTo({ type: "stats" });
  return Map.groupBy(
    [
      ...hits.sort(
        (left, right) => Number(left.group !== words.sessions) - Number(right.group !== words.sessions),
      ),
      action("plus", query === "" ? words.newSession : words.newSessionOf(query), () => startNew(query)),
      ...[
        action("bars", words.statistics, stats),
        action("settings", words.settings, settings),
        action("keys", words.keys, keys),
      ].filter(({ name }) => matches(name)),
    ],
    ({ group }) => group,
  );
}

interface HitProps {
  readonly hit: Hit;
  readonly query: string;
  readonly isOn: boolean;
  readonly choose: () => void;
}

function HitRow({ hit: { mark, name, subtitle, passage }, query, isOn, choose }: HitProps): VNode {
  return (
    <button type="button" class={isOn ? "opt on" : "opt"} onClick={choose}>
      {mark}
      <b class="cut">
        <Marked text={name} query={query} />
      </b>
      <span class="m">{subtitle}</span>
      {passage !== "" && (
        <span class="hit cut">
          <Marked text={passage} query={query} />
        </span>
      )}
    </button>
  );
}

/** Text with the searched words marked. */
function Marked({ text, query }: { readonly text: string; readonly query: string }): VNode {
  const parts = query.split(/\s+/).map((word) => word.replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&"));
  if (query === "") return <>{text}</>;
  const pieces = text.split(new RegExp(`(${parts.join("|")})`, "giu"));
  return <>{pieces.map((piece, at) => (at % 2 === 1 ? <mark key={at}>{piece}</mark> : piece))}</>;
}

interface SearchMatch {
  readonly page: SessionPage;
  readonly text: string;
}

function useSearch(query: string, work: Work): SearchMatch | undefined {
  const reader = useReader();
  const [match, setMatch] = useState<SearchMatch>();
  useEffect(() => {
    let isStale = false;
    const search = async (): Promise<void> => {
      const options = { limit: 20, ...(query === "" ? {} : { q: query }) };
      const page = await work.attempt(() => reader.sessions(options));
      // A search slower than its successor is outdated.
      if (!isStale && page !== undefined) setMatch({ page, text: query });
    };
    const timer = setTimeout(() => void search(), SEARCH_DELAY_MS);
    return () => {
      isStale = true;
      clearTimeout(timer);
    };
  }, [query]);
  return match;
}
