import { expect, test } from "vitest";
import { marksOf } from "../paint/theme.ts";
import { type StatusFacts, statusLine } from "./status-line.ts";

const VIEW: StatusFacts["view"] = {
  model: "anthropic/claude-sonnet-4-5",
  mode: "default",
  context: { usedTokens: 2_000, windowTokens: 200_000 },
  costUsd: 0,
};

test("where a row has no room for all, the provider goes before the items of extensions, and these before the rest", () => {
  const facts = { view: VIEW, place: "main", marks: marksOf({ unicode: false }), extra: ["3 todo"] };
  const shown = [100, 80, 70, 60, 40, 20].map((width) =>
    statusLine({ ...facts, hint: undefined, width })
      .map(({ text }) => text)
      .join("")
      .trim(),
  );
  expect(shown).toEqual([
    "anthropic/claude-sonnet-4-5  -  ask  -  1% of 200k  -  $0.00  -  main  -  3 todo",
    "claude-sonnet-4-5  -  ask  -  1% of 200k  -  $0.00  -  main  -  3 todo",
    "claude-sonnet-4-5  -  ask  -  1% of 200k  -  $0.00  -  main",
    "claude-sonnet-4-5  -  ask  -  1% of 200k  -  $0.00",
    "claude-sonnet-4-5  -  ask",
    "ask",
  ]);
});
