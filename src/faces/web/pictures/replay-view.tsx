import type { ComponentChildren, VNode } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { JournalEntry } from "../../../core/agent/entries.ts";
import { terminalLine } from "../../../view/safe-text.ts";
import type { SessionView, ViewItem } from "../../../view/view.ts";
import { EMPTY_HOST, ViewFold } from "../../../view/view-fold.ts";
import { useLanguage, useWords } from "../language/language.ts";
import { Button, Facts, Money, Part, Segments } from "../text/controls.tsx";
import { FileLine, LineCounts } from "../text/diff-view.tsx";
import { Strip, stripOf } from "../text/strip.tsx";
import { useKeys } from "../use-keys.ts";
import { svgPercent } from "./chart-parts.tsx";
import { changedFiles } from "./files-data.ts";
import { WholeFile } from "./files-view.tsx";

/** Maximum items of the conversation shown: the newest at that moment. */
const MAX_ITEMS = 30;
const SPEEDS = [1, 4, 16] as const;
const LONGEST_WAIT_MS = 2_000;
const SHORTEST_WAIT_MS = 30;

export interface ReplayProps {
  readonly entries: readonly JournalEntry[];
  readonly cwd?: string | undefined;
  readonly renderItems: (items: readonly ViewItem[]) => ComponentChildren;
  /** The text of a changed file right after an entry. Absent: files cannot be viewed. */
  readonly loadText?: (path: string, entryId: string) => Promise<string>;
  /** Creates a session from everything up to an entry. */
  readonly onFork?: (entryId: string) => void;
}

/** Replays a session: the conversation and the files at any moment. */
export function ReplayView(props: ReplayProps): VNode {
  const { entries, renderItems } = props;
  const { words, count } = useLanguage();
  const total = entries.length;
  const moments = useMemo(() => replayMoments(entries.slice(0, total)), [entries, total]);
  const cursor = useMemo(() => new ReplayCursor(entries), [entries]);
  const [position, setPosition] = useState(0);
  const at = Math.min(position, moments.length - 1);
  const moment = moments[at];
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // The latest item is at the end.
    box.current?.scrollTo({ top: box.current.scrollHeight });
  }, [at]);
  if (moment === undefined) return <p class="wide dim">{words.nothingYet}</p>;
  const view = cursor.moveTo(moment.count);
  return (
    <>
      <Player entries={entries} moments={moments} at={at} move={setPosition} />
      <section class="cols picture" aria-label={words.views.replay}>
        <div class="mid">
          <div class="scroll" ref={box}>
            {renderItems(view.items.slice(-MAX_ITEMS))}
          </div>
        </div>
        <aside class="side then" aria-label={words.atThisPoint}>
          <FilesAtMoment {...props} moment={moment} />
          <Part title={words.soFarTitle}>
            <Facts
              rows={[
                [words.step, words.countOf(at + 1, moments.length)],
                [words.tokensColumn, count(view.usage.inputTokens + view.usage.outputTokens)],
                [words.cost, <Money key="cost" spent={view} />],
              ]}
            />
          </Part>
          {props.onFork !== undefined && (
            <section>
              <Button
                icon="fork"
                disabled={moment.isNested}
                title={moment.isNested ? words.forkNested : undefined}
                onClick={() => props.onFork?.(moment.entryId)}
              >
                {words.forkHere}
              </Button>
            </section>
          )}
        </aside>
      </section>
    </>
  );
}

interface PlayerProps {
  readonly entries: readonly JournalEntry[];
  readonly moments: readonly ReplayMoment[];
  readonly at: number;
  readonly move: (at: number) => void;
}

function Player({ entries, moments, at, move }: PlayerProps): VNode {
  const { words, stopwatch } = useLanguage();
  const count = entries.length;
  const strip = useMemo(() => stripOf(entries.slice(0, count)), [entries, count]);
  const [isPlaying, setPlaying] = useState(false);
  const [speed, setSpeed] = useState<(typeof SPEEDS)[number]>(1);
  const last = moments.length - 1;
  const worked = strip.workedAt[(moments[at]?.count ?? 1) - 1] ?? 0;
  const next = strip.workedAt[(moments[at + 1]?.count ?? 1) - 1] ?? worked;
  const step = (by: number): void => move(Math.max(0, Math.min(last, at + by)));
  const toggle = (): void => {
    if (at >= last && !isPlaying) move(0);
    setPlaying(!isPlaying);
  };
  useEffect(() => {
    if (!isPlaying) return undefined;
    if (at >= last) {
      setPlaying(false);
      return undefined;
    }
    const wait = Math.max(SHORTEST_WAIT_MS, Math.min(LONGEST_WAIT_MS, next - worked) / speed);
    const timer = setTimeout(() => move(at + 1), wait);
    return () => clearTimeout(timer);
  }, [isPlaying, at, last, speed]);
  useKeys({ " ": toggle, ArrowLeft: () => step(-1), ArrowRight: () => step(1) });
  const past = svgPercent((100 * worked) / strip.length);
  const time = words.countOf(stopwatch(worked), stopwatch(strip.length));
  return (
    <div class="player" role="group" aria-label={words.player}>
      <Button
        icon={isPlaying ? "pause" : "play"}
        look="main round"
        name={isPlaying ? words.pause : words.play}
        onClick={toggle}
      />
      <Button icon="back" look="bare icon" name={words.stepBack} onClick={() => step(-1)} />
      <Button icon="right" look="bare icon" name={words.stepOn} onClick={() => step(1)} />
      <div class="scrub">
        <Strip data={strip} height={20} />
        <svg class="head-l" width="100%" height="32" aria-hidden="true">
          <rect class="past" x={past} width="100%" height="32" />
          <line x1={past} x2={past} y1="0" y2="32" />
        </svg>
        <input
          type="range"
          aria-label={words.step}
          aria-valuetext={`${words.stepOf(at + 1, moments.length)}, ${time}`}
          min={0}
          max={Math.round(strip.length)}
          value={Math.round(worked)}
          onKeyDown={(event) => {
            const by = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 }[event.key];
            if (by === undefined) return;
            event.preventDefault();
            step(by);
          }}
          onInput={({ currentTarget }) =>
            move(momentAt(moments, strip.workedAt, Number(currentTarget.value)))
          }
        />
      </div>
      <span class="num dim">{time}</span>
      <Segments
        label={words.speed}
        options={SPEEDS}
        nameOf={(each) => `${each}×`}
        value={speed}
        choose={setSpeed}
      />
    </div>
  );
}

/** The last moment within the given active milliseconds. */
function momentAt(moments: readonly ReplayMoment[], workedAt: readonly number[], worked: number): number {
  const index = moments.findLastIndex(({ count }) => (workedAt[count - 1] ?? 0) <= worked);
  return Math.max(0, index);
}

/** The files changed up to a moment; selecting one shows its text at that moment. */
function FilesAtMoment({
  entries,
  cwd,
  moment: { count, entryId },
  loadText,
}: ReplayProps & { readonly moment: ReplayMoment }): VNode {
  const words = useWords();
  const files = useMemo(
    () => changedFiles(entries.slice(0, count), { cwd }).filter(({ kind }) => kind !== "unchanged"),
    [entries, count, cwd],
  );
  const [path, choose] = useState<string>();
  const isThere = files.some((file) => file.path === path && file.kind !== "deleted");
  return (
    <Part title={words.filesThen} aside={<LineCounts lines={files} />}>
      {files.length === 0 && <p class="dim">{words.noneYet}</p>}
      {files.map((file) => (
        <button
          key={file.path}
          type="button"
          class="fl"
          aria-current={file.path === path ? "true" : undefined}
          onClick={() => choose(file.path === path ? undefined : file.path)}
        >
          <FileLine {...file} lines={file} />
        </button>
      ))}
      {loadText !== undefined && path !== undefined && isThere && (
        <div class="pane" role="group" aria-label={terminalLine(path, 200)}>
          <WholeFile key={`${entryId} ${path}`} path={path} entryId={entryId} loadText={loadText} />
        </div>
      )}
    </Part>
  );
}

/** A moment at which a replay can stop: right after a visible entry. */
interface ReplayMoment {
  /** Number of entries up to it. */
  readonly count: number;
  readonly entryId: string;
  readonly time: number;
  /** True within a subagent or a phase of a pattern: a fork cannot start there. */
  readonly isNested: boolean;
}

/** Entries without visible effect. */
const INVISIBLE_TYPES: ReadonlySet<JournalEntry["type"]> = new Set([
  "run_start",
  "model_usage",
  "rollback",
  "memory_edit",
]);

export function replayMoments(entries: readonly JournalEntry[]): readonly ReplayMoment[] {
  return entries.flatMap(({ id: entryId, time, type, scope }, at): readonly ReplayMoment[] =>
    INVISIBLE_TYPES.has(type) ? [] : [{ count: at + 1, entryId, time, isNested: scope !== undefined }],
  );
}

/**
 * Shows a session as it was at any moment. Moving forward folds only new entries; moving back starts over.
 */
export class ReplayCursor {
  readonly #entries: readonly JournalEntry[];
  #fold = new ViewFold(EMPTY_HOST, []);
  #count = 0;

  constructor(entries: readonly JournalEntry[]) {
    this.#entries = entries;
  }

  /** The items and usage after this many entries. The list is valid only until the next move. */
  moveTo(count: number): Pick<SessionView, "items" | "usage" | "costUsd" | "context" | "todo"> {
    if (count < this.#count) {
      this.#fold = new ViewFold(EMPTY_HOST, []);
      this.#count = 0;
    }
    for (; this.#count < count; this.#count++) {
      const entry = this.#entries[this.#count];
      if (entry !== undefined) this.#fold.apply(entry);
    }
    this.#fold.take();
    return this.#fold.view;
  }
}
