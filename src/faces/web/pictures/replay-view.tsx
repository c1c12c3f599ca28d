import type { ComponentChildren, VNode } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { JournalEntry } from "../../../core/agent/entries.ts";
import type { ViewItem } from "../../../view/view.ts";
import { useFormats } from "../language/formats.ts";
import { filesAt } from "./file-changes.ts";
import { usePictureWords } from "./picture-words.ts";
import { ReplayCursor, type ReplayMoment, replayMoments } from "./replay-moments.ts";

/** Items that are shown of the conversation: the newest ones at that moment. */
const SHOWN_ITEMS = 30;
const PLAY_MS = 400;

/** A slider through a session: the conversation and the files as they were at any moment. */
export function ReplayView({
  entries,
  renderItems,
  loadText,
  onFork,
}: {
  readonly entries: readonly JournalEntry[];
  /** Draws items of the conversation. */
  readonly renderItems: (items: readonly ViewItem[]) => ComponentChildren;
  /** The text of a changed file right after an entry. Absent: files cannot be looked at. */
  readonly loadText?: (path: string, entryId: string) => Promise<string>;
  /** Makes a new session of all up to an entry. */
  readonly onFork?: (entryId: string) => void;
}): VNode {
  const words = usePictureWords();
  const total = entries.length;
  const moments = useMemo(() => replayMoments(entries.slice(0, total)), [entries, total]);
  const cursor = useMemo(() => new ReplayCursor(entries), [entries]);
  const [place, setPlace] = useState(0);
  const at = Math.min(place, moments.length - 1);
  const moment = moments[at];
  const box = useRef<HTMLElement>(null);
  useEffect(() => {
    // What has just happened stands at the end.
    box.current?.scrollTo({ top: box.current.scrollHeight });
  }, [at]);
  if (moment === undefined) return <p class="soft">{words.nothing}</p>;
  const { items, usage, costUsd } = cursor.moveTo(moment.count);
  return (
    <section class="picture" aria-label={words.replay}>
      <ReplayControls moments={moments} at={at} onMove={setPlace} />
      <MomentLine moment={moment} tokens={usage.inputTokens + usage.outputTokens} costUsd={costUsd} />
      {onFork !== undefined && (
        <p class="picture-row">
          <button type="button" disabled={moment.isNested} onClick={() => onFork(moment.entryId)}>
            {words.forkHere}
          </button>
          {moment.isNested && <span class="soft">{words.forkNested}</span>}
        </p>
      )}
      <section class="replay-conversation" ref={box} aria-label={words.conversation}>
        {renderItems(items.slice(-SHOWN_ITEMS))}
      </section>
      <FilesThen entries={entries} moment={moment} loadText={loadText} />
    </section>
  );
}

function ReplayControls({
  moments,
  at,
  onMove,
}: {
  readonly moments: readonly ReplayMoment[];
  readonly at: number;
  readonly onMove: (at: number) => void;
}): VNode {
  const words = usePictureWords();
  const [isPlaying, setPlaying] = useState(false);
  const last = moments.length - 1;
  useEffect(() => {
    if (!isPlaying) return undefined;
    if (at >= last) {
      setPlaying(false);
      return undefined;
    }
    const timer = setTimeout(() => onMove(at + 1), PLAY_MS);
    return () => clearTimeout(timer);
  }, [isPlaying, at, last, onMove]);
  const moment = moments[at];
  const text = `${words.moment(at + 1, moments.length)}: ${moment === undefined ? "" : words.types[moment.type]}`;
  return (
    <>
      <input
        class="replay-slider"
        type="range"
        aria-label={words.replay}
        aria-valuetext={text}
        min={0}
        max={last}
        value={at}
        onInput={(event) => onMove(Number(event.currentTarget.value))}
      />
      <p class="picture-row">
        <button type="button" disabled={at <= 0} onClick={() => onMove(0)}>
          {words.first}
        </button>
        <button type="button" disabled={at <= 0} onClick={() => onMove(at - 1)}>
          {words.previous}
        </button>
        <button type="button" disabled={at >= last && !isPlaying} onClick={() => setPlaying(!isPlaying)}>
          {isPlaying ? words.stopPlay : words.play}
        </button>
        <button type="button" disabled={at >= last} onClick={() => onMove(at + 1)}>
          {words.next}
        </button>
        <button type="button" disabled={at >= last} onClick={() => onMove(last)}>
          {words.last}
        </button>
        <span>{words.moment(at + 1, moments.length)}</span>
      </p>
    </>
  );
}

function MomentLine({
  moment: { type, label, time },
  tokens,
  costUsd,
}: {
  readonly moment: ReplayMoment;
  readonly tokens: number;
  readonly costUsd: number | undefined;
}): VNode {
  const words = usePictureWords();
  const formats = useFormats();
  const cost = costUsd === undefined ? words.unknown : formats.money(costUsd);
  return (
    <p class="picture-chosen">
      <b>{words.types[type]}</b> <span dir="auto">{label}</span> ·{" "}
      <span class="soft">
        {formats.moment(time, 0)} · {words.soFar(formats.count(tokens), cost)}
      </span>
    </p>
  );
}

interface ShownText {
  readonly path: string;
  readonly entryId: string;
  /** `undefined` while it is on its way; `null`: there is none to show. */
  readonly text: string | null | undefined;
}

function FilesThen({
  entries,
  moment: { count, entryId },
  loadText,
}: {
  readonly entries: readonly JournalEntry[];
  readonly moment: ReplayMoment;
  readonly loadText: ((path: string, entryId: string) => Promise<string>) | undefined;
}): VNode {
  const words = usePictureWords();
  const files = useMemo(() => filesAt(entries, count), [entries, count]);
  const [shown, setShown] = useState<ShownText>();
  const show = async (path: string): Promise<void> => {
    const asked = { path, entryId };
    const settle = (text: string | null): void =>
      setShown((now) => (now?.path === path && now.entryId === entryId ? { ...asked, text } : now));
    setShown({ ...asked, text: undefined });
    await loadText?.(path, entryId).then(settle, () => settle(null));
  };
  const isCurrent = shown !== undefined && shown.entryId === entryId;
  return (
    <>
      <h3>{words.filesThen}</h3>
      {files.length === 0 ? (
        <p class="soft">{words.noChanges}</p>
      ) : (
        <ul class="picture-list">
          {files.map(({ path, kind }) => (
            <li key={path}>
              <span class={`swatch back-${kind}`} aria-hidden="true" />
              {loadText === undefined || kind === "deleted" ? (
                <code>{path}</code>
              ) : (
                <button type="button" class="link" title={words.readFile} onClick={() => void show(path)}>
                  <code>{path}</code>
                </button>
              )}{" "}
              <span class="soft">{words.kinds[kind]}</span>
            </li>
          ))}
        </ul>
      )}
      {isCurrent && shown.text !== undefined && (
        <div class="file-then">
          <p class="picture-row">
            <code>{shown.path}</code>
            <button type="button" onClick={() => setShown(undefined)}>
              {words.close}
            </button>
          </p>
          {shown.text === null ? <p class="soft">{words.noText}</p> : <pre>{shown.text}</pre>}
        </div>
      )}
    </>
  );
}
