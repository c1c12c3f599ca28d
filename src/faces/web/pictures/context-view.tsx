import type { VNode } from "preact";
import { useId, useMemo, useState } from "preact/hooks";
import type { JournalEntry } from "../../../core/agent/entries.ts";
import { useFormats } from "../language/formats.ts";
import { CONTEXT_PARTS, type ContextTurn, contextTurns, largestPieces } from "./context-picture.ts";
import { percentText, stacked, ticksUpTo } from "./figures.ts";
import { PictureTable, PlainTable } from "./picture-table.tsx";
import { usePictureWords } from "./picture-words.ts";
import { ShareStrip } from "./share-strip.tsx";
import { turnColumns } from "./turn-columns.ts";
import { useWidth } from "./use-width.ts";

const HEIGHT_PX = 200;
const HEAD_PX = 18;
const MIN_COLUMN_PX = 4;
const MAX_COLUMN_PX = 36;
const LARGEST = 10;
const MAX_LABEL = 60;

/** The model's window, request by request: what filled it, and what of it came from the cache. */
export function ContextPicture({
  entries,
  windowTokens,
  onChoose,
}: {
  readonly entries: readonly JournalEntry[];
  /** Size of the model's window, where it is known. */
  readonly windowTokens?: number;
  /** Shows an entry in the conversation. */
  readonly onChoose?: (entryId: string) => void;
}): VNode {
  const words = usePictureWords();
  const count = entries.length;
  const turns = useMemo(() => contextTurns(entries.slice(0, count)), [entries, count]);
  const [place, setPlace] = useState<number>();
  const last = turns.length - 1;
  const at = Math.min(place ?? last, last);
  const turn = turns[at];
  if (turn === undefined) return <p class="soft">{words.nothing}</p>;
  return (
    <section class="picture" aria-label={words.context}>
      <TurnsDrawing turns={turns} at={at} windowTokens={windowTokens} onChoose={setPlace} />
      <p class="picture-row">
        <button type="button" disabled={at <= 0} onClick={() => setPlace(at - 1)}>
          {words.previous}
        </button>
        <input
          type="range"
          aria-label={words.columns.turn}
          aria-valuetext={words.request(at + 1)}
          min={0}
          max={last}
          value={at}
          onInput={(event) => setPlace(Number(event.currentTarget.value))}
        />
        <button type="button" disabled={at >= last} onClick={() => setPlace(at + 1)}>
          {words.next}
        </button>
      </p>
      <TurnDetail entries={entries} turn={turn} windowTokens={windowTokens} onChoose={onChoose} />
      <TurnTable turns={turns} onChoose={setPlace} at={at} />
      <p class="soft">{words.contextNote}</p>
    </section>
  );
}

function TurnsDrawing({
  turns,
  at,
  windowTokens,
  onChoose,
}: {
  readonly turns: readonly ContextTurn[];
  readonly at: number;
  readonly windowTokens: number | undefined;
  readonly onChoose: (at: number) => void;
}): VNode {
  const words = usePictureWords();
  const formats = useFormats();
  const id = useId();
  const { ref, width } = useWidth<HTMLDivElement>();
  const columns = turnColumns(turns, Math.max(1, Math.floor(width / MIN_COLUMN_PX)));
  const step = Math.min(MAX_COLUMN_PX, width / Math.max(1, columns.length));
  const highest = columns.reduce((all, { turn }) => Math.max(all, turn.inputTokens), 1);
  // A window that is far from full would leave a picture of nothing but air.
  const most =
    windowTokens !== undefined && windowTokens <= highest * 4 ? Math.max(windowTokens, highest) : highest;
  const yOf = (tokens: number): number => HEAD_PX + HEIGHT_PX * (1 - tokens / most);
  const height = HEAD_PX + HEIGHT_PX;
  return (
    <div ref={ref}>
      <svg class="context" role="img" aria-labelledby={`${id}t`} width={width} height={height + 2}>
        <title id={`${id}t`}>{words.contextOf(turns.length)}</title>
        {columns.map(({ turn, first, count }, place) => (
          <g key={turn.entryId} class="bar" onClick={() => onChoose(turn.turn - 1)}>
            <title>
              {`${words.request(turn.turn)}: ${formats.count(turn.inputTokens)}. ${turn.event === undefined ? "" : words.events[turn.event]}`}
            </title>
            <TurnColumn turn={turn} x={place * step} width={step > 3 ? step - 1 : step} yOf={yOf} />
            {at >= first && at < first + count && (
              <rect
                class="outline"
                x={place * step}
                y={yOf(turn.inputTokens)}
                width={step > 3 ? step - 1 : step}
                height={yOf(0) - yOf(turn.inputTokens)}
              />
            )}
          </g>
        ))}
        <TokenLines most={most} windowTokens={windowTokens} width={width} yOf={yOf} />
      </svg>
    </div>
  );
}

/** Lines at round counts, and at the size of the window. */
function TokenLines({
  most,
  windowTokens,
  width,
  yOf,
}: {
  readonly most: number;
  readonly windowTokens: number | undefined;
  readonly width: number;
  readonly yOf: (tokens: number) => number;
}): VNode {
  const formats = useFormats();
  return (
    <g class="axis">
      {ticksUpTo(most, 4)
        .slice(1)
        .map((tick) => (
          <g key={tick}>
            <line x1={0} x2={width} y1={yOf(tick)} y2={yOf(tick)} />
            <text x={2} y={yOf(tick) - 3}>
              {formats.count(tick)}
            </text>
          </g>
        ))}
      {windowTokens !== undefined && windowTokens <= most && (
        <line class="limit" x1={0} x2={width} y1={yOf(windowTokens)} y2={yOf(windowTokens)} />
      )}
    </g>
  );
}

/** One request: its parts on top of each other, and a line up to where the cache went. */
function TurnColumn({
  turn,
  x,
  width,
  yOf,
}: {
  readonly turn: ContextTurn;
  readonly x: number;
  readonly width: number;
  readonly yOf: (tokens: number) => number;
}): VNode {
  const parts = CONTEXT_PARTS.filter((part) => turn.parts[part] > 0);
  return (
    <>
      {stacked(parts.map((part) => turn.parts[part])).map(([from, to], at) => (
        <rect
          key={parts[at]}
          class={`mark-${parts[at]}`}
          x={x}
          y={yOf(to)}
          width={width}
          height={yOf(from) - yOf(to)}
        />
      ))}
      {turn.cacheReadTokens > 0 && (
        <line
          class="cache-line"
          x1={x}
          x2={x + width}
          y1={yOf(turn.cacheReadTokens)}
          y2={yOf(turn.cacheReadTokens)}
        />
      )}
      {turn.event !== undefined && <circle class="event" cx={x + width / 2} cy={6} r={3} />}
    </>
  );
}

function TurnDetail({
  entries,
  turn,
  windowTokens,
  onChoose,
}: {
  readonly entries: readonly JournalEntry[];
  readonly turn: ContextTurn;
  readonly windowTokens: number | undefined;
  readonly onChoose: ((entryId: string) => void) | undefined;
}): VNode {
  const words = usePictureWords();
  const formats = useFormats();
  const { entryId, inputTokens, cacheReadTokens, event } = turn;
  const pieces = useMemo(() => largestPieces(entries, entryId, LARGEST), [entries, entryId]);
  const title = [
    words.request(turn.turn),
    `${formats.count(inputTokens)}${turn.isEstimated ? ` (${words.estimated})` : ""}`,
    ...(windowTokens === undefined
      ? []
      : [`${percentText(inputTokens, windowTokens)} · ${words.window(formats.count(windowTokens))}`]),
    `${words.fromCache} ${percentText(cacheReadTokens, inputTokens)}`,
  ].join(" · ");
  return (
    <>
      <ShareStrip
        title={title}
        parts={CONTEXT_PARTS.map((part) => ({
          name: part,
          label: words.parts[part],
          value: turn.parts[part],
          text: formats.count(Math.round(turn.parts[part])),
        }))}
      />
      {event !== undefined && <p>{words.events[event]}</p>}
      {onChoose !== undefined && (
        <button type="button" onClick={() => onChoose(entryId)}>
          {words.show}
        </button>
      )}
      <details class="picture-table">
        <summary>{words.largest}</summary>
        <PlainTable
          columns={[words.part, words.tokens, words.share]}
          rows={pieces.map(({ part, tokens, label }, at) => ({
            key: String(at),
            cells: [
              label === "" ? words.parts[part] : `${words.parts[part]}: ${label.slice(0, MAX_LABEL)}`,
              formats.count(tokens),
              percentText(tokens, inputTokens),
            ],
          }))}
        />
      </details>
    </>
  );
}

function TurnTable({
  turns,
  at: chosen,
  onChoose,
}: {
  readonly turns: readonly ContextTurn[];
  readonly at: number;
  readonly onChoose: (at: number) => void;
}): VNode {
  const words = usePictureWords();
  const formats = useFormats();
  return (
    <PictureTable
      columns={[
        words.columns.turn,
        words.input,
        words.fromCache,
        ...CONTEXT_PARTS.map((part) => words.parts[part]),
        words.columns.messages,
      ]}
      count={turns.length}
      rowAt={(at) => {
        const turn = turns[at];
        if (turn === undefined) return { key: String(at), cells: [] };
        return {
          key: turn.entryId,
          isChosen: at === chosen,
          onChoose: () => onChoose(at),
          cells: [
            at + 1,
            formats.count(turn.inputTokens),
            formats.count(turn.cacheReadTokens),
            ...CONTEXT_PARTS.map((part) => formats.count(Math.round(turn.parts[part]))),
            turn.messages,
          ],
        };
      }}
    />
  );
}
