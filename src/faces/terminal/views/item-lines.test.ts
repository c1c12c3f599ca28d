import { expect, test } from "vitest";
import type { ViewItem } from "../../../view/view.ts";
import { marksOf } from "../paint/theme.ts";
import { itemLines } from "./item-lines.ts";

type RunEnd = Extract<ViewItem, { type: "run_end" }>;

test.each<[Pick<RunEnd, "stopReason" | "limit">, string]>([
  [{ stopReason: "completed" }, ""],
  [
    { stopReason: "budget", limit: "usd" },
    "! Budget used up. A higher --max-budget-usd lets it continue. 1.0 s",
  ],
  [{ stopReason: "budget", limit: "wall_time" }, "! Time limit reached. Your next message continues. 1.0 s"],
])("a run that ended with %j is told as %j", (end, text) => {
  const item = {
    id: "e",
    version: 0,
    time: 0,
    type: "run_end",
    durationMs: 1_000,
    costUsd: undefined,
    ...end,
  };
  const context = { width: 100, marks: marksOf({ unicode: true }), now: 0, details: false };
  const lines = itemLines(item as RunEnd, context, undefined);
  expect(
    lines
      .flat()
      .map((each) => each.text)
      .join(""),
  ).toBe(text);
});
