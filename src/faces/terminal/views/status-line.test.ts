import { expect, test } from "vitest";
import { marksOf } from "../paint/theme.ts";
import { type StatusFacts, statusLine } from "./status-line.ts";

const VIEW: StatusFacts["view"] = {
  model: "anthropic/claude-sonnet-4-5",
  mode: "default",
  context: { usedTokens: 2_000, windowTokens: 200_000 },
  costUsd: 0,
};

test("where a row has no room for all, the items of extensions go first, then place, cost and window; mode and model stay", () => {
  const facts = {
    view: { ...VIEW, costUsd: 0.5 },
    location: "main",
    extra: ["3 todo"],
  };
  const marks = marksOf({ unicode: false });
  const shown = [80, 60, 50, 40, 20].map((width) =>
    statusLine(facts, { marks, width })
      .map(({ text }) => text)
      .join("")
      .trim(),
  );
  expect(shown).toEqual([
    "ask - claude-sonnet-4-5 - 1% of 200k - $0.50 - main - 3 todo",
    "ask - claude-sonnet-4-5 - 1% of 200k - $0.50 - main",
    "ask - claude-sonnet-4-5 - 1% of 200k - $0.50",
    "ask - claude-sonnet-4-5 - 1% of 200k",
    "ask",
  ]);
});
