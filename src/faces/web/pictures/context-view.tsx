import type { VNode } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { JournalEntry } from "../../../core/agent/entries.ts";
import { terminalLine } from "../../../view/safe-text.ts";
import { useLanguage, useWords } from "../language/language.ts";
import { Button } from "../text/controls.tsx";
import { Columns, Dot, percentText, Table } from "./chart-parts.tsx";
import {
  CONTEXT_PARTS,
  type ContextPart,
  type ContextTurn,
  contextTurns,
  type LargePiece,
  largestPieces,
} from "./context-data.ts";

/** With more requests, a column covers several. */
const MAX_COLUMNS = 120;
/** With fewer requests, columns are as wide as with this many. */
const MIN_COLUMNS = 12;
const MAX_LABELS = 24;
const LARGEST = 8;
const NEARLY_FULL = 0.8;

const CLASSES: { readonly [part in ContextPart]: string } = {
  fixed: "t-think",
  input: "t-model",
  answers: "t-edit",
  results: "t-bash",
  summary: "c3",
  remarks: "t-look",
  images: "c2",
};

export interface ContextProps {
  readonly entries: readonly JournalEntry[];
  readonly windowTokens?: number | undefined;
  readonly onChoose?: ((entryId: string) => void) | undefined;
}

/** The model's window by request: its contents, and the share read from the cache. */
export function ContextChart({ entries, windowTokens, onChoose }: ContextProps): VNode {
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

/** How full the window is, and how much came from the cache. */
function Fill({
  turn: { inputTokens, cacheReadTokens, isEstimated },
  windowTokens,
}: {
  readonly turn: ContextTurn;
  readonly windowTokens: number | undefined;
}): VNode {
  const { words, count } = useLanguage();
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
  const { words, count } = useLanguage();
  const drawn = Math.min(MAX_COLUMNS, turns.length);
  const onKeyDown = (event: KeyboardEvent): void => {
    const by = { ArrowLeft: -1, ArrowRight: 1, Home: -turns.length, End: turns.length }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    choose(Math.max(0, Math.min(turns.length - 1, at + by)));
  };
  const columns = Array.from({ length: drawn }, (_none, column) => {
    const first = Math.floor((column * turns.length) / drawn);
    const end = Math.floor(((column + 1) * turns.length) / drawn);
    const isChosen = at >= first && at < end;
    const turnIndex = isChosen ? at : fullest(turns, first, end);
    const { inputTokens = 0, parts } = turns[turnIndex] ?? {};
    return {
      title: `${words.requestOf(turnIndex + 1, turns.length)}: ${count(inputTokens)}`,
      parts: CONTEXT_PARTS.map((part) => [CLASSES[part], parts?.[part] ?? 0] as const).filter(
        ([, tokens]) => tokens > 0,
      ),
      label: column % Math.ceil(drawn / MAX_LABELS) === 0 ? String(first + 1) : undefined,
      isChosen,
      choose: () => choose(turnIndex),
    };
  });
  return (
    <div
      class="chart plot"
      role="slider"
      tabIndex={0}
      aria-label={words.contextChart}
      aria-valuemin={1}
      aria-valuemax={turns.length}
      aria-valuenow={at + 1}
      aria-valuetext={`${words.requestOf(at + 1, turns.length)}: ${words.tokens(count(turns[at]?.inputTokens ?? 0))}`}
      onKeyDown={onKeyDown}
    >
      <Columns columns={columns} least={MIN_COLUMNS} height={232} tickText={count} />
    </div>
  );
}

/** The index of the largest request in a range. */
function fullest(turns: readonly ContextTurn[], from: number, to: number): number {
  let largest = from;
  for (let at = from; at < to; at++)
    if ((turns[at]?.inputTokens ?? 0) > (turns[largest]?.inputTokens ?? 0)) largest = at;
  return largest;
}

function Parts({ turn: { parts, inputTokens } }: { readonly turn: ContextTurn }): VNode {
  const { words, count } = useLanguage();
  const rows = CONTEXT_PARTS.map((name) => ({ name, tokens: parts[name] }))
    .filter(({ tokens }) => tokens > 0)
    .sort((left, right) => right.tokens - left.tokens);
  return (
    <section>
      <Table
        title={words.whatsInIt}
        rows={rows}
        columns={[
          {
            head: "",
            cell: ({ name }) => (
              <>
                <Dot kind={CLASSES[name]} />
                {words.contextParts[name]}
              </>
            ),
          },
          { head: words.tokensColumn, look: "r", cell: ({ tokens }) => count(tokens) },
          { head: words.share, look: "r dim", cell: ({ tokens }) => percentText(tokens, inputTokens) },
        ]}
      />
    </section>
  );
}

function Largest({
  entries,
  turn,
  onChoose,
}: Pick<ContextProps, "entries" | "onChoose"> & { readonly turn: ContextTurn }): VNode {
  const { words, count } = useLanguage();
  const pieces = useMemo(() => largestPieces(entries, turn.entryId, LARGEST), [entries, turn.entryId]);
  return (
    <section>
      <Table
        title={words.largestItems}
        rows={pieces}
        columns={[
          {
            head: "",
            look: "wrap",
            cell: (piece) =>
              onChoose === undefined || piece.entryId === undefined ? (
                <PieceName piece={piece} />
              ) : (
                <button type="button" class="link cut" onClick={() => onChoose(piece.entryId ?? "")}>
                  <PieceName piece={piece} />
                </button>
              ),
          },
          { head: words.tokensColumn, look: "r", cell: ({ tokens }) => count(tokens) },
          { head: words.since, look: "r dim", cell: ({ since }) => words.request(since) },
        ]}
      />
    </section>
  );
}

function PieceName({ piece: { part, label, detail } }: { readonly piece: LargePiece }): VNode {
  const words = useWords();
  if (part === "results")
    return (
      <>
        {words.verbs[label] ?? terminalLine(label, 40)} <code>{terminalLine(detail, 60)}</code>
      </>
    );
  return <>{terminalLine(label, 60) || words.contextParts[part]}</>;
}
