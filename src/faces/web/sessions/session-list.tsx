import type { VNode } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { terminalLine } from "../../../app/safe-text.ts";
import type { ListedSession, SessionPage } from "../../../server/server-api.ts";
import { useWork, type Work, WorkLine } from "../announce.tsx";
import { useFormats } from "../language/formats.ts";
import { useWords } from "../language/language.ts";
import { useReader } from "../reader.ts";
import { hrefOf } from "../route.ts";

const PAGE_SIZE = 50;
/** After the last key, before a search begins. */
const PAUSE_MS = 250;

/** All sessions, newest first, with a search. */
export function SessionList(): VNode {
  const words = useWords();
  const work = useWork();
  const [text, setText] = useState("");
  const { page, isLoading, load } = useSessionPages(text.trim(), work);
  const none = text.trim() === "" ? words.noSessions : words.nothingFound;
  return (
    <>
      <h1>{words.sessions}</h1>
      <SearchForm text={text} change={setText} submit={() => void load()} />
      <WorkLine work={work} />
      <div aria-live="polite">
        {isLoading && <p class="soft">{words.loading}</p>}
        {!isLoading && page?.partial === true && <p class="soft">{words.stillReading}</p>}
        {!isLoading && page?.sessions.length === 0 && <p class="soft">{none}</p>}
      </div>
      <ul class="cards" aria-busy={isLoading}>
        {page?.sessions.map((session) => (
          <Card key={session.id} session={session} />
        ))}
      </ul>
      {page?.next !== undefined && (
        <button type="button" class="wide" onClick={() => void load(page)}>
          {words.more}
        </button>
      )}
    </>
  );
}

interface SessionPages {
  /** All pages so far, as one. */
  readonly page: SessionPage | undefined;
  readonly isLoading: boolean;
  /** Loads the page behind those there are; without any, the first. */
  readonly load: (before?: SessionPage) => Promise<void>;
}

/** The sessions that have a text, loaded anew when it changes. */
function useSessionPages(text: string, work: Work): SessionPages {
  const reader = useReader();
  const [page, setPage] = useState<SessionPage>();
  const [isLoading, setLoading] = useState(true);
  const newest = useRef(0);
  const load = async (before?: SessionPage): Promise<void> => {
    const own = ++newest.current;
    setLoading(true);
    const query = {
      limit: PAGE_SIZE,
      ...(text === "" ? {} : { q: text }),
      ...(before?.next === undefined ? {} : { before: before.next }),
    };
    const more = await work.attempt(() => reader.sessions(query));
    // A search that took longer than the one after it comes too late.
    if (own !== newest.current) return;
    setLoading(false);
    if (more !== undefined) setPage({ ...more, sessions: [...(before?.sessions ?? []), ...more.sessions] });
  };
  useEffect(() => {
    const timer = setTimeout(() => void load(), page === undefined ? 0 : PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return { page, isLoading, load };
}

interface SearchProps {
  readonly text: string;
  readonly change: (text: string) => void;
  readonly submit: () => void;
}

function SearchForm({ text, change, submit }: SearchProps): VNode {
  const words = useWords();
  const id = useId();
  const onSubmit = (event: Event): void => {
    event.preventDefault();
    submit();
  };
  return (
    <form class="search" role="search" onSubmit={onSubmit}>
      <label for={id} class="hidden">
        {words.search}
      </label>
      <input
        id={id}
        value={text}
        placeholder={words.searchHint}
        autocomplete="off"
        onInput={({ currentTarget }) => change(currentTarget.value)}
      />
      <button type="submit">{text.trim() === "" ? words.refresh : words.search}</button>
    </form>
  );
}

function Card({ session }: { readonly session: ListedSession }): VNode {
  const words = useWords();
  const { id, title, cwd, state, passages = [] } = session;
  const href = hrefOf({ type: "session", id, view: "chat" });
  return (
    <li class="card">
      <h2>
        <a href={href}>{terminalLine(title ?? "", 160) || words.untitled}</a>
        <span class={`state ${state}`}>{words.state[state]}</span>
      </h2>
      <p class="path soft">{terminalLine(cwd, 300)}</p>
      {passages.slice(0, 3).map((passage) => (
        <blockquote key={passage}>{terminalLine(passage, 300)}</blockquote>
      ))}
      <Facts session={session} />
    </li>
  );
}

function Facts({ session }: { readonly session: ListedSession }): VNode {
  const words = useWords();
  const { count, money, moment } = useFormats();
  const { updatedAt, messageCount, usage, cost, files, model } = session;
  const facts = [
    words.messages(messageCount),
    words.tokens(count(usage.inputTokens + usage.outputTokens)),
    cost === null ? words.costUnknown : money(cost),
    ...(files.length === 0 ? [] : [words.files(files.length)]),
    ...(model === undefined ? [] : [terminalLine(model, 80)]),
  ];
  return (
    <p class="facts soft">
      <time dateTime={new Date(updatedAt).toISOString()}>{moment(updatedAt, Date.now())}</time>
      {facts.map((fact) => (
        <span key={fact}>{fact}</span>
      ))}
    </p>
  );
}
