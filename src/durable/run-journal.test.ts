import { expect, test } from "vitest";
import { RunJournal } from "./run-journal.ts";

test("the end of a run is acknowledged when all before it is stored, and is stored by itself", async () => {
  const stored: (readonly string[])[] = [];
  const journal = new RunJournal({
    run: "run",
    epoch: 1,
    entries: [],
    seq: 0,
    newest: null,
    store: async ({ records }) => {
      stored.push(records.map((record) => (JSON.parse(record) as { readonly type: string }).type));
      return 0;
    },
    onStored: () => undefined,
  });
  void journal.append({ type: "note", kind: "k", data: null });
  void journal.append({ type: "history", messages: [] });
  await journal.append({ type: "run_end", stopReason: "completed", iterations: 1 });
  expect(stored.flat()).toEqual(["note", "history"]);
  expect((await journal.end())?.records).toHaveLength(1);
});
