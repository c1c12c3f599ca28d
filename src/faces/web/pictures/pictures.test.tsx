import type { VNode } from "preact";
import { renderToString } from "preact-render-to-string";
import { expect, test } from "vitest";
import { JournalMaker } from "../../../../test/web/made-journal.ts";
import type { JournalEntry } from "../../../core/agent/entries.ts";
import type { ServerStats, StatsRow } from "../../../server/server-api.ts";
import { LANGUAGES, LanguageContext } from "../language/language.ts";
import { ContextPicture } from "./context-view.tsx";
import { FilesView } from "./files-view.tsx";
import { PICTURE_WORDS } from "./picture-words.ts";
import { ReplayView } from "./replay-view.tsx";
import { StatsView } from "./stats-view.tsx";
import { TimelinePicture } from "./timeline-picture.tsx";

const ROW: StatsRow = {
  key: "total",
  sessions: 1,
  runs: 2,
  turns: 3,
  inputTokens: 4_000,
  outputTokens: 50,
  cacheReadTokens: 2_000,
  cacheWriteTokens: 0,
  cacheShare: 0.5,
  cost: null,
  unpriced: 1,
  failures: 1,
};
const STATS: ServerStats = {
  by: "day",
  rows: [
    { ...ROW, key: "2026-01-30", cost: 1 },
    { ...ROW, key: "2026-02-02", cost: null },
  ],
  total: ROW,
};

function pictures(entries: readonly JournalEntry[], stats: ServerStats): readonly VNode[] {
  const nothing = (): void => {};
  return [
    <TimelinePicture entries={entries} onChoose={nothing} />,
    <ContextPicture entries={entries} windowTokens={40_000} onChoose={nothing} />,
    <FilesView entries={entries} onChoose={nothing} onUndo={nothing} />,
    <ReplayView entries={entries} renderItems={(items) => items.length} onFork={nothing} />,
    <StatsView stats={stats} onGroup={nothing} />,
  ];
}

test("every picture has a name in each language, and no figure that is none", () => {
  const entries = new JournalMaker(11).make(400);
  for (const language of LANGUAGES) {
    for (const picture of pictures(entries, STATS)) {
      const markup = renderToString(
        <LanguageContext.Provider value={language}>{picture}</LanguageContext.Provider>,
      );
      const drawn = markup.match(/<svg (?!viewBox)[^>]*>/g) ?? [];
      expect(drawn.filter((tag) => !/ role="img" aria-labelledby="/.test(tag))).toEqual([]);
      expect(
        markup
          .match(/ aria-labelledby="([^" ]+)/g)
          ?.every((name) => markup.includes(`id="${name.slice(18)}"`)) ?? true,
      ).toBe(true);
      expect(markup).toMatch(/^<section class="picture" aria-label="[^"]+"/);
      expect(markup).not.toMatch(/NaN|undefined|Infinity|\[object/);
    }
  }
});

test("a session in which nothing has happened is told in words", () => {
  for (const language of LANGUAGES) {
    const { nothing, noChanges } = PICTURE_WORDS[language];
    const texts = pictures([], { ...STATS, rows: [] }).map((picture) =>
      renderToString(<LanguageContext.Provider value={language}>{picture}</LanguageContext.Provider>),
    );
    expect(texts.map((text) => text.includes(nothing) || text.includes(noChanges))).toEqual([
      true,
      true,
      true,
      true,
      true,
    ]);
  }
});

test("what a tool or a file is called stays text", () => {
  const entries = new JournalMaker(11).make(400).map((entry): JournalEntry => {
    if (entry.type === "tool_intent") return { ...entry, name: "<img src=x onerror=alert(1)>" };
    if (entry.type !== "checkpoint") return entry;
    return { ...entry, changes: entry.changes.map((change) => ({ ...change, path: "<script>x</script>" })) };
  });
  for (const picture of pictures(entries, STATS)) expect(renderToString(picture)).not.toMatch(/<img|<script/);
});
