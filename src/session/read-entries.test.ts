import { expect, test } from "vitest";
import { isJournalEntry } from "./read-session.ts";

const OF_CALL = { id: "entry_1", callId: "a", name: "deploy", reason: "r", action: "allow", by: "rule" };

test.each(["tool_intent", "permission_decision", "approval_request"])(
  "a %s is read whatever a schema has made of the arguments",
  (type) => {
    const inputs = [{ to: "a" }, "a", ["a"], 1];
    expect(inputs.map((input) => isJournalEntry({ ...OF_CALL, type, input }))).toEqual([
      true,
      true,
      true,
      true,
    ]);
  },
);

test("a question about nothing is left out, and the beginning of a call is not", () => {
  expect([
    isJournalEntry({ ...OF_CALL, type: "approval_request" }),
    isJournalEntry({ ...OF_CALL, type: "approval_request", input: null }),
    isJournalEntry({ ...OF_CALL, type: "tool_intent" }),
  ]).toEqual([false, false, true]);
});
