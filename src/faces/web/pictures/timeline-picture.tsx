import type { VNode } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { JournalEntry } from "../../../core/agent/entries.ts";
import { useFormats } from "../language/formats.ts";
import type { DrawnBar } from "./drawn-bars.ts";
import { PictureTable } from "./picture-table.tsx";
import { usePictureWords } from "./picture-words.ts";
import { runTimeline, type Timeline } from "./run-timeline.ts";
import { ShareStrip } from "./share-strip.tsx";
import { TIME_SHARES } from "./time-shares.ts";
import type { TimelineBar } from "./timeline-bar.ts";
import { TimelineDrawing } from "./timeline-drawing.tsx";

const LONGEST = 5;
const MAX_DETAIL = 80;

/** Where the time, the tokens and the money of a session went. */
export function TimelinePicture({
  entries,
  now,
  onChoose,
}: {
  readonly entries: readonly JournalEntry[];
  /** Milliseconds since the epoch, while somebody is at work on the session. */
  readonly now?: number;
  /** Shows an entry in the conversation. */
  readonly onChoose?: (entryId: string) => void;
}): VNode {
  const words = usePictureWords();
  const formats = useFormats();
  const [chosen, setChosen] = useState<DrawnBar>();
  const count = entries.length;
  const timeline = useMemo(() => runTimeline(entries.slice(0, count), now), [entries, count, now]);
  if (timeline.rows.length === 0) return <p class="soft">{words.nothing}</p>;
  const { shares, total } = timeline;
  const cost = total.costUsd === undefined ? words.unknown : formats.money(total.costUsd);
  const choose = (bar: TimelineBar): void => setChosen({ bar, count: 1, x: 0, width: 0 });
  return (
    <section class="picture" aria-label={words.timeline}>
      <ShareStrip
        title={words.whereTime}
        parts={TIME_SHARES.map((share) => ({
          name: share,
          label: words.shares[share],
          value: shares[share],
          text: formats.duration(shares[share]),
        }))}
      />
      <ShareStrip
        title={`${words.tokens} · ${words.cost} ${cost}`}
        parts={tokenParts(timeline).map(({ name, value }) => ({
          name,
          label: words[name],
          value,
          text: formats.count(value),
        }))}
      />
      <TimelineDrawing timeline={timeline} chosen={chosen} onChoose={setChosen} />
      {chosen !== undefined && <ChosenBar drawn={chosen} onShow={onChoose} />}
      <h3>{words.longest}</h3>
      <ol class="picture-list">
        {longestBars(timeline).map((bar) => (
          <li key={`${bar.entryId} ${bar.kind}`}>
            <button type="button" class="link" onClick={() => choose(bar)}>
              {words.bars[bar.kind]} · {bar.label}
            </button>{" "}
            {bar.detail !== undefined && <code class="soft">{bar.detail.slice(0, MAX_DETAIL)}</code>}{" "}
            <b>{formats.duration(bar.to - bar.from)}</b>
          </li>
        ))}
      </ol>
      <RequestTable timeline={timeline} onShow={onChoose} />
    </section>
  );
}

function tokenParts({
  total: { usage },
}: Timeline): readonly { readonly name: "cached" | "fresh" | "written"; readonly value: number }[] {
  const cached = Math.min(usage.inputTokens, usage.cacheReadTokens ?? 0);
  return [
    { name: "cached", value: cached },
    { name: "fresh", value: usage.inputTokens - cached },
    { name: "written", value: usage.outputTokens },
  ];
}

/** The longest bars, without those of subagents, in which the others lie. */
function longestBars({ rows }: Timeline): readonly TimelineBar[] {
  let longest: readonly TimelineBar[] = [];
  for (const { bars } of rows)
    for (const bar of bars) {
      const shortest = longest.at(-1);
      const length = bar.to - bar.from;
      if (bar.kind === "agent" || length === 0) continue;
      if (longest.length === LONGEST && shortest !== undefined && length <= shortest.to - shortest.from)
        continue;
      longest = [...longest, bar]
        .sort((left, right) => right.to - right.from - left.to + left.from)
        .slice(0, LONGEST);
    }
  return longest;
}

/** The bar that was chosen, in words. */
function ChosenBar({
  drawn: { bar, count },
  onShow,
}: {
  readonly drawn: DrawnBar;
  readonly onShow: ((entryId: string) => void) | undefined;
}): VNode {
  const words = usePictureWords();
  const formats = useFormats();
  return (
    <output class="picture-chosen">
      <span class={`swatch back-${bar.kind}`} aria-hidden="true" /> <b>{words.bars[bar.kind]}</b> {bar.label}{" "}
      · {formats.duration(bar.to - bar.from)} · {words.status[bar.status]} · {formats.moment(bar.from, 0)}
      {count > 1 && <span class="soft"> · {words.more(count - 1)}</span>}{" "}
      {onShow !== undefined && (
        <button type="button" onClick={() => onShow(bar.entryId)}>
          {words.show}
        </button>
      )}
    </output>
  );
}

function RequestTable({
  timeline: { requests },
  onShow,
}: {
  readonly timeline: Timeline;
  readonly onShow: ((entryId: string) => void) | undefined;
}): VNode {
  const words = usePictureWords();
  const formats = useFormats();
  const { columns } = words;
  return (
    <PictureTable
      columns={[
        columns.turn,
        columns.time,
        columns.wait,
        columns.write,
        columns.tools,
        words.input,
        words.fromCache,
        words.output,
        words.cost,
        columns.model,
      ]}
      count={requests.length}
      rowAt={(at) => {
        const request = requests[at];
        if (request === undefined) return { key: String(at), cells: [] };
        const { entryId, durationMs, firstTokenMs } = request;
        return {
          key: entryId,
          ...(onShow === undefined ? {} : { onChoose: () => onShow(entryId) }),
          cells: [
            request.agent === undefined ? at + 1 : `${at + 1} · ${request.agent}`,
            formats.moment(request.time, 0),
            formats.duration(firstTokenMs ?? durationMs),
            firstTokenMs === undefined ? "" : formats.duration(Math.max(0, durationMs - firstTokenMs)),
            request.toolMs === 0 ? "" : formats.duration(request.toolMs),
            formats.count(request.inputTokens),
            formats.count(request.cacheReadTokens),
            formats.count(request.outputTokens),
            request.costUsd === undefined ? words.unknown : formats.money(request.costUsd),
            request.model,
          ],
        };
      }}
    />
  );
}
