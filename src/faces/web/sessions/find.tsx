import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { ListedSession, SessionPage } from "../../../server/server-api.ts";
import { terminalLine } from "../../../view/safe-text.ts";
import { useFormats, useWords } from "../language/language.ts";
import { Sheet } from "../rail.tsx";
import { hrefOf } from "../route.ts";
import { Icon, StateMark } from "../text/icons.tsx";
import { useReader, useWork, type Work, WorkLine } from "../work.tsx";
import { folderName, outcomeOf } from "./live-sessions.ts";

/** After the last key, before a search begins. */
const PAUSE_MS = 200;

export function Find({ close }: { readonly close: () => void }): VNode {
  const words = useWords();
  const work = useWork();
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const found = useSearch(text.trim(), work);
  const { sessions = [], partial = false } = found?.page ?? {};
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const chosen = sessions[at];
    if (step !== undefined) setAt(Math.max(0, Math.min(sessions.length - 1, at + step)));
    else if (event.key === "Enter" && !event.isComposing && chosen !== undefined) {
      location.hash = hrefOf({ type: "session", id: chosen.id, view: "chat" });
      close();
    } else return;
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
        {sessions.map((each, index) => (
          <Hit key={each.id} session={each} isOn={index === at} onClick={close} />
        ))}
      </div>
      <p class="soft empty" aria-live="polite" hidden={found === undefined || sessions.length > 0}>
        {words.nothingFound(found?.text ?? "")}
      </p>
      {partial && <p class="keys">{words.stillReading}</p>}
    </Sheet>
  );
}

interface SearchMatch {
  readonly page: SessionPage;
  readonly text: string;
}

function useSearch(wanted: string, work: Work): SearchMatch | undefined {
  const reader = useReader();
  const [found, setFound] = useState<SearchMatch>();
  useEffect(() => {
    let isLate = false;
    const search = async (): Promise<void> => {
      const query = { limit: 20, ...(wanted === "" ? {} : { q: wanted }) };
      const page = await work.attempt(() => reader.sessions(query));
      // A search that took longer than the one after it comes too late.
      if (!isLate && page !== undefined) setFound({ page, text: wanted });
    };
    const timer = setTimeout(() => void search(), PAUSE_MS);
    return () => {
      isLate = true;
      clearTimeout(timer);
    };
  }, [wanted]);
  return found;
}

interface HitProps {
  readonly session: ListedSession;
  readonly isOn: boolean;
  readonly onClick: () => void;
}

function Hit({ session, isOn, onClick }: HitProps): VNode {
  const words = useWords();
  const { moment } = useFormats();
  const { id, title, cwd, updatedAt, passages: [passage] = [] } = session;
  const { mark } = outcomeOf(session, words);
  return (
    <a class={isOn ? "opt on" : "opt"} href={hrefOf({ type: "session", id, view: "chat" })} onClick={onClick}>
      <StateMark mark={mark} />
      <b class="cut">{terminalLine(title ?? "", 120) || words.untitled}</b>
      <span class="m">
        {terminalLine(folderName(cwd), 40)} · {moment(updatedAt, Date.now())}
      </span>
      {passage !== undefined && <span class="hit cut">{terminalLine(passage, 200)}</span>}
    </a>
  );
}
