import type { VNode } from "preact";
import { renderToString } from "preact-render-to-string";
import { expect, test } from "vitest";
import { JournalMaker } from "../../../../test/web/made-journal.ts";
import type { JournalEntry } from "../../../core/agent/entries.ts";
import type { ServerStats, StatsRow } from "../../../server/server-api.ts";
import { LANGUAGES, LanguageContext, WORDS } from "../language/language.ts";
import { StaticContext } from "./chart-parts.tsx";
import { ContextChart } from "./context-view.tsx";
import { changedFiles } from "./files-data.ts";
import { FilesView } from "./files-view.tsx";
import { ReplayView } from "./replay-view.tsx";
import { StatsView } from "./stats-view.tsx";
import { TimelineChart } from "./timeline-view.tsx";

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
  added: 10,
  removed: 2,
  asked: 1,
  askedMs: 4_000,
};
const models = [{ model: "m/one", runs: 2, tokens: 4_050, cost: 1 }];
const STATS: ServerStats = {
  by: "day",
  rows: [
    { ...ROW, key: "2026-02-02", cost: null, models: [{ model: "m/two", runs: 1, tokens: 9, cost: null }] },
    { ...ROW, key: "2026-01-30", cost: 1, models },
  ],
  total: ROW,
};
const EMPTY: ServerStats = { by: "day", rows: [], total: { ...ROW, runs: 0, inputTokens: 0 } };

function pictures(entries: readonly JournalEntry[], stats: ServerStats): readonly VNode[] {
  const nothing = (): void => {};
  const text = async (): Promise<string> => "";
  return [
    <TimelineChart entries={entries} windowTokens={40_000} onChoose={nothing} />,
    <ContextChart entries={entries} windowTokens={40_000} onChoose={nothing} />,
    <FilesView entries={entries} onChoose={nothing} onRestore={nothing} loadText={text} />,
    <ReplayView entries={entries} renderItems={(items) => items.length} onFork={nothing} />,
    <StatsView
      stats={{ days: stats, models: { ...stats, by: "model" }, folders: { ...stats, by: "cwd" } }}
      period={30}
      filter={{}}
      setPeriod={nothing}
      setFilter={nothing}
    />,
  ];
}

test("every picture has a name in each language, and no figure that is none", () => {
  const entries = new JournalMaker(11).make(400);
  for (const language of LANGUAGES) {
    for (const picture of pictures(entries, STATS)) {
      const markup = renderToString(
        <LanguageContext.Provider value={language}>{picture}</LanguageContext.Provider>,
      );
      // A picture is named, or says nothing that its neighbours do not say.
      const drawn = markup.match(/<svg (?!x=|viewBox="0 0 1200)[^>]*>/g) ?? [];
      expect(drawn.filter((tag) => !/ role="img" aria-label="[^"]+"| aria-hidden/.test(tag))).toEqual([]);
      expect(markup).toMatch(
        /<section[^>]* class="[^"]*picture"[^>]* aria-label="[^"]+"|picture" aria-label="[^"]+"/,
      );
      expect(markup.match(/<(button|input)[^>]*><\/button>/g) ?? []).toEqual([]);
      expect(markup).not.toMatch(/NaN|undefined|Infinity|\[object/);
    }
  }
});

test("a session in which nothing has happened is told in words", () => {
  for (const language of LANGUAGES) {
    const { nothingYet, noChanges } = WORDS[language];
    const texts = pictures([], EMPTY).map((picture) =>
      renderToString(<LanguageContext.Provider value={language}>{picture}</LanguageContext.Provider>),
    );
    expect(texts.filter((text) => !text.includes(nothingYet) && !text.includes(noChanges))).toEqual([]);
  }
});

test("a model without a price has its share, and nothing costs before something was used", () => {
  const row = { ...ROW, key: "a/free", cost: null };
  const unused = { ...ROW, key: "a/failed", cost: 0, unpriced: 0, inputTokens: 0, outputTokens: 0 };
  const models = { ...STATS, by: "model", rows: [row, unused] } as const;
  const html = renderToString(
    <StatsView
      stats={{ days: STATS, models, folders: { ...STATS, by: "cwd" } }}
      period={30}
      filter={{}}
      setPeriod={() => undefined}
      setFilter={() => undefined}
    />,
  );
  expect(html).toContain('<rect class="c1" width="100%"');
  expect(html).not.toContain("$0.00");
  const start = new JournalMaker(11).make(3);
  expect(renderToString(<ReplayView entries={start} renderItems={() => ""} />)).not.toContain("$0.00");
});

test("a picture that is drawn once shows every file", () => {
  const entries = new JournalMaker(11).make(400);
  const paths = changedFiles(entries).map(({ path }) => path);
  const markup = renderToString(
    <StaticContext.Provider value={true}>
      <FilesView entries={entries} />
    </StaticContext.Provider>,
  );
  expect(paths.length).toBeGreaterThan(3);
  expect(paths.filter((path) => !markup.includes(`aria-label="${path}"`))).toEqual([]);
});

test("what a tool or a file is called stays text", () => {
  const entries = new JournalMaker(11).make(400).map((entry): JournalEntry => {
    if (entry.type === "tool_intent") return { ...entry, name: "<img src=x onerror=alert(1)>" };
    if (entry.type !== "checkpoint") return entry;
    return { ...entry, changes: entry.changes.map((change) => ({ ...change, path: "<script>x</script>" })) };
  });
  for (const picture of pictures(entries, STATS)) expect(renderToString(picture)).not.toMatch(/<img|<script/);
});
