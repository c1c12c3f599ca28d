import type { VNode } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { JournalEntry } from "../../../core/agent/entries.ts";
import { terminalLine } from "../../../view/safe-text.ts";
import { useFormats, useWords } from "../language/language.ts";
import { Button } from "../text/controls.tsx";
import {
  type ContextPart,
  type ContextTurn,
  contextTurns,
  type LargePiece,
  largestPieces,
} from "./context-data.ts";
import { percentText, place, stacked, ticksUpTo } from "./figures.ts";
import { Dot } from "./timeline-view.tsx";

const TOP_PX = 20;
const BOTTOM_PX = 210;
/** Columns that are drawn: of more requests, each stands for several. */
const MAX_COLUMNS = 120;
/** Few requests are drawn as narrow as this many. */
const MIN_COLUMNS = 12;
const MAX_NUMBERS = 24;
const LARGEST = 8;
const NEARLY_FULL = 0.8;

/** Parts that are shown as one: what a tool costs is its calls and their results. */
const SHOWN_PARTS = {
  results: ["calls", "results"],
  fixed: ["fixed"],
  answers: ["answers"],
  input: ["input"],
  remarks: ["remarks"],
  summary: ["summary"],
  images: ["images"],
} as const satisfies { readonly [name: string]: readonly ContextPart[] };

type ShownPart = keyof typeof SHOWN_PARTS;

/** From the bottom of a column. */
const ORDER: readonly ShownPart[] = ["fixed", "summary", "input", "remarks", "answers", "results", "images"];

const CLASSES: { readonly [part in ShownPart]: string } = {
  fixed: "t-think",
  input: "t-model",
  answers: "t-edit",
  results: "t-bash",
  summary: "c3",
  remarks: "t-look",
  images: "c2",
};

/** Options of {@link ContextPicture}. */
export interface ContextProps {
  readonly entries: readonly JournalEntry[];
  /** Size of the model's window, when it is known. */
  readonly windowTokens?: number | undefined;
  /** Shows an entry in the conversation. */
  readonly onChoose?: ((entryId: string) => void) | undefined;
}

/** The model's window, request by request: what filled it, and what of it came from the cache. */
export function ContextPicture({ entries, windowTokens, onChoose }: ContextProps): VNode {
  const words = useWords();
  const count = entries.length;
  const turns = useMemo(() => contextTurns(entries.slice(0, count)), [entries, count]);
  const [choice, choose] = useState<number>();
  const last = turns.length - 1;
  const at = Math.min(choice ?? last, last);
  const turn = turns[at];
  if (turn === undefined) return <p class="dim">{words.nothingYet}</p>;
  const move = (step: number): void => choose(Math.max(0, Math.min(last, at + step)));
  return (
    <section class="picture" aria-label={words.views.context}>
      <section>
        <div class="hd">
          <h2>{words.requestOf(at + 1, turns.length)}</h2>
          <Fill turn={turn} windowTokens={windowTokens} />
          <span class="end">
            <Button icon="back" look="bare icon" name={words.before} onClick={() => move(-1)} />
            <Button icon="right" look="bare icon" name={words.after} onClick={() => move(1)} />
          </span>
        </div>
        <Turns turns={turns} at={at} choose={choose} />
      </section>
      {turn.event !== undefined && <p class="dim">{words.contextEvents[turn.event]}</p>}
      <div class="two">
        <Parts turn={turn} />
        <Largest entries={entries} turn={turn} onChoose={onChoose} />
      </div>
    </section>
  );
}

/** How full the window is, and how much of it came from the cache. */
function Fill({
  turn: { inputTokens, cacheReadTokens, isEstimated },
  windowTokens,
}: {
  readonly turn: ContextTurn;
  readonly windowTokens: number | undefined;
}): VNode {
  const words = useWords();
  const { count } = useFormats();
  const isFull = windowTokens !== undefined && inputTokens >= NEARLY_FULL * windowTokens;
  const parts = [
    windowTokens === undefined
      ? words.tokens(count(inputTokens))
      : `${words.tokensOf(count(inputTokens), count(windowTokens))} · ${percentText(inputTokens, windowTokens)}`,
    ...(cacheReadTokens > 0 ? [words.fromCache(percentText(cacheReadTokens, inputTokens))] : []),
    ...(isEstimated ? [words.estimated] : []),
    ...(isFull ? [words.compactHint] : []),
  ];
  return <span class={isFull ? "num warn" : "dim num"}>{parts.join(" · ")}</span>;
}

interface TurnsProps {
  readonly turns: readonly ContextTurn[];
  readonly at: number;
  readonly choose: (at: number) => void;
}

function Turns({ turns, at, choose }: TurnsProps): VNode {
  const words = useWords();
  const { count } = useFormats();
  const drawn = Math.min(MAX_COLUMNS, turns.length);
  const step = 100 / Math.max(MIN_COLUMNS, drawn);
  const highest = turns.reduce((most, { inputTokens }) => Math.max(most, inputTokens), 1);
  const ticks = ticksUpTo(highest, 2);
  const most = Math.max(highest, (ticks[1] ?? highest) * Math.ceil(highest / (ticks[1] ?? highest)));
  const y = (tokens: number): number =>
    Number((BOTTOM_PX - ((BOTTOM_PX - TOP_PX) * tokens) / most).toFixed(1));
  const lines = ticksUpTo(most, 2);
  const onKeyDown = (event: KeyboardEvent): void => {
    const by = { ArrowLeft: -1, ArrowRight: 1, Home: -turns.length, End: turns.length }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    choose(Math.max(0, Math.min(turns.length - 1, at + by)));
  };
  const current = turns[at];
  return (
    <div
      class="chart plot"
      role="slider"
      tabIndex={0}
      aria-label={words.contextChart}
      aria-valuemin={1}
      aria-valuemax={turns.length}
      aria-valuenow={at + 1}
      aria-valuetext={`${words.requestOf(at + 1, turns.length)}: ${words.tokens(count(current?.inputTokens ?? 0))}`}
      onKeyDown={onKeyDown}
    >
      <svg width="100%" height="232" aria-hidden="true">
        {lines.map((tick) => (
          <g key={tick}>
            <line class="grid-l" x1="0" x2="100%" y1={y(tick)} y2={y(tick)} />
            {tick > 0 && (
              <text x="0" y={y(tick) - 6}>
                {count(tick)}
              </text>
            )}
          </g>
        ))}
        {Array.from({ length: drawn }, (_none, column) => {
          const first = Math.floor((column * turns.length) / drawn);
          const end = Math.floor(((column + 1) * turns.length) / drawn);
          const turn = fullest(turns, at >= first && at < end ? [at, at + 1] : [first, end]);
          if (turn === undefined) return null;
          const x = column * step + step * 0.08;
          return (
            <g key={column} onClick={() => choose(turn.turn - 1)}>
              <title>{`${words.requestOf(turn.turn, turns.length)}: ${count(turn.inputTokens)}`}</title>
              <rect class="hit" x={place(x)} y="0" width={place(step * 0.83)} height="232" />
              <Column turn={turn} x={x} width={step * 0.83} y={y} />
              {turn === current && (
                <rect
                  class="sel"
                  x={place(x - step * 0.03)}
                  y={y(turn.inputTokens) - 3}
                  width={place(step * 0.89)}
                  height={BOTTOM_PX - y(turn.inputTokens) + 4}
                  rx="3"
                />
              )}
              {column % Math.ceil(drawn / MAX_NUMBERS) === 0 && (
                <text x={place(x + step * 0.415)} y="227" text-anchor="middle">
                  {first + 1}
                </text>
              )}
            </g>
          );
        })}
      </svg>
    </div>
  );
}

function fullest(
  turns: readonly ContextTurn[],
  [from, to]: readonly [number, number],
): ContextTurn | undefined {
  let found = turns[from];
  for (let at = from; at < to; at++) {
    const turn = turns[at];
    if (turn !== undefined && turn.inputTokens > (found?.inputTokens ?? 0)) found = turn;
  }
  return found;
}

function tokensIn({ parts }: ContextTurn, name: ShownPart): number {
  return SHOWN_PARTS[name].reduce((sum, part) => sum + parts[part], 0);
}

interface ColumnProps {
  readonly turn: ContextTurn;
  readonly x: number;
  readonly width: number;
  readonly y: (tokens: number) => number;
}

function Column({ turn, x, width, y }: ColumnProps): VNode {
  const shown = ORDER.filter((name) => tokensIn(turn, name) > 0);
  return (
    <>
      {stacked(shown.map((name) => tokensIn(turn, name))).map(([from, to], at) => (
        <rect
          key={at}
          class={CLASSES[shown[at] ?? "fixed"]}
          x={place(x)}
          y={y(to)}
          width={place(width)}
          height={Math.max(0.4, Number((y(from) - y(to) - 1).toFixed(1)))}
          rx="1.5"
        />
      ))}
    </>
  );
}

function Parts({ turn }: { readonly turn: ContextTurn }): VNode {
  const words = useWords();
  const { count } = useFormats();
  const shown = ORDER.filter((name) => tokensIn(turn, name) > 0).sort(
    (left, right) => tokensIn(turn, right) - tokensIn(turn, left),
  );
  return (
    <section>
      <table class="t">
        <thead>
          <tr>
            <th class="h">
              <h2>{words.whatsInIt}</h2>
            </th>
            <th class="r">{words.tokensColumn}</th>
            <th class="r">{words.share}</th>
          </tr>
        </thead>
        <tbody>
          {shown.map((name) => (
            <tr key={name}>
              <td>
                <Dot kind={CLASSES[name]} />
                {words.contextParts[name]}
              </td>
              <td class="r">{count(tokensIn(turn, name))}</td>
              <td class="r dim">{percentText(tokensIn(turn, name), turn.inputTokens)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Largest({
  entries,
  turn,
  onChoose,
}: Pick<ContextProps, "entries" | "onChoose"> & { readonly turn: ContextTurn }): VNode {
  const words = useWords();
  const { count } = useFormats();
  const pieces = useMemo(() => largestPieces(entries, turn.entryId, LARGEST), [entries, turn.entryId]);
  return (
    <section>
      <table class="t">
        <thead>
          <tr>
            <th class="h">
              <h2>{words.largestItems}</h2>
            </th>
            <th class="r">{words.tokensColumn}</th>
            <th class="r">{words.since}</th>
          </tr>
        </thead>
        <tbody>
          {pieces.map((piece, at) => (
            <tr key={at}>
              <td class="wrap">
                {onChoose === undefined || piece.entryId === undefined ? (
                  <PieceName piece={piece} />
                ) : (
                  <button type="button" class="link cut" onClick={() => onChoose(piece.entryId ?? "")}>
                    <PieceName piece={piece} />
                  </button>
                )}
              </td>
              <td class="r">{count(piece.tokens)}</td>
              <td class="r dim">{words.request(piece.since)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function PieceName({ piece: { part, label, detail } }: { readonly piece: LargePiece }): VNode {
  const words = useWords();
  if (part === "calls" || part === "results")
    return (
      <>
        {words.verbs[label] ?? terminalLine(label, 40)} <code>{terminalLine(detail, 60)}</code>
      </>
    );
  return <>{terminalLine(label, 60) || words.contextParts[part]}</>;
}
