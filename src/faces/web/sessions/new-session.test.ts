import { expect, test } from "vitest";
import { newSessionOf } from "./new-session.tsx";

const EMPTY = { prompt: "Go", cwd: "", model: " ", mode: "", turns: "", cost: "", minutes: "" };

test("fields that nobody filled in are not sent", () => {
  expect(newSessionOf(EMPTY)).toEqual({ prompt: "Go" });
});

test("all fields, in the units of the server", () => {
  const fields = { cwd: " /w ", model: "a/b", mode: "plan", turns: "3", cost: "0.5", minutes: "2" };
  expect(newSessionOf({ ...EMPTY, ...fields })).toEqual({
    prompt: "Go",
    cwd: "/w",
    model: "a/b",
    permissionMode: "plan",
    limits: { maxTurns: 3, maxBudgetUsd: 0.5, maxWallTime: "120s" },
  });
});
