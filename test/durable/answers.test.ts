import { expect, onTestFinished, test } from "vitest";
import { Agent } from "../../src/agent/agent.ts";
import type { JournalEntry } from "../../src/core/agent/entries.ts";
import { MemoryJournal } from "../../src/core/agent/journal.ts";
import type { Sql } from "../../src/durable/database.ts";
import type { StoredReport } from "../../src/durable/durable-run.ts";
import { RunHandle, RunWatch } from "../../src/durable/run-handle.ts";
import { lineOf } from "../../src/durable/run-journal.ts";
import { encodeRecord } from "../../src/session/record.ts";
import { calls } from "../../src/testing/script.ts";
import { ScriptedModel } from "../../src/testing/scripted-model.ts";
import { roomMaker } from "./attack-room.ts";
import { ASK_OUTSIDE } from "./fleet-room.ts";

const openRoom = roomMaker();
const ID = "asked";

/** The entries of a run until it waits for two answers, and those of going on with the one to `b`. */
async function asked(): Promise<readonly [waits: readonly JournalEntry[], goesOn: readonly JournalEntry[]]> {
  const journal = new MemoryJournal();
  const model = new ScriptedModel([[calls("ask_outside", {}, "a"), calls("ask_outside", {}, "b")]]);
  const agent = new Agent({ model, tools: [ASK_OUTSIDE], journal });
  await agent.run("Go.");
  const waits = [...journal.entries()];
  await agent.run([{ role: "user", content: [{ type: "tool_result", tool_use_id: "b", content: "B" }] }]);
  const goesOn = [...journal.entries()].slice(waits.length);
  // Its end is what a worker stores last.
  return [waits, goesOn.filter(({ type }) => type !== "run_end")];
}

/** A run that nobody has begun, and a handle of it. */
async function room() {
  const { database, runs, queue, add, take } = await openRoom();
  const watch = new RunWatch(runs, (message) => expect(message).toBe(""));
  onTestFinished(() => watch.close());
  let onLoss: (() => Promise<void>) | undefined;
  const withRetry = async <T>(work: () => Promise<T>): Promise<T> => {
    const done = await work();
    const meanwhile = onLoss;
    if (meanwhile === undefined || !(await runs.waitingSignals(ID)).length) return done;
    onLoss = undefined;
    await meanwhile();
    return work();
  };
  const onChanged = (): void => watch.poke();
  await add(ID);
  let seq = 0;
  return {
    handle: new RunHandle({ runs, queue, watch, withRetry, onChanged }, ID),
    runs,
    database,
    /** The first thing that is sent counts as not sent; then something happens, and it is sent again. */
    losesAnswer: (meanwhile: () => Promise<void>): void => {
      onLoss = meanwhile;
    },
    write: async (sql: Sql, added: readonly JournalEntry[]): Promise<void> => {
      const ids = added.map(({ id }) => id);
      const records = added.map((entry) => lineOf(encodeRecord(entry).bytes));
      const batch = { run: ID, epoch: 1, after: seq, ids, records, isProgress: false, took: [] };
      await runs.append(batch, sql);
      seq += added.length;
    },
    takeUp: async (): Promise<void> => {
      await runs.claim(ID, { job: await take(ID), worker: "w", version: "1" });
    },
  };
}

test.each(["before", "while"])(
  "an answer is taken that comes %s a worker goes on with another one",
  async (when) => {
    const [waits, goesOn] = await asked();
    const { handle, runs, write, takeUp } = await room();
    await takeUp();
    await write(runs.database, when === "while" ? [...waits, ...goesOn] : waits);
    await handle.answer("a", "A");
    expect((await runs.waitingSignals(ID)).map(({ kind, call, data }) => [kind, call, data])).toEqual([
      ["answer", "a", '"A"'],
    ]);
  },
);

test("an answer is taken that comes before the call waits for it", async () => {
  const [waits] = await asked();
  const { handle, runs, database, write, takeUp } = await room();
  await takeUp();
  const answering = handle.answer("a", "A");
  // The run starts to wait while the answer does.
  await handle.status();
  await database.transaction(async (sql) => {
    await write(sql, waits);
    await runs.park(sql, ID, []);
  });
  await answering;
  expect((await handle.status()).state).toBe("queued");
});

test("an answer was taken of which only that was not heard, also when its run has ended since", async () => {
  const [waits] = await asked();
  const { handle, runs, database, write, takeUp, losesAnswer } = await room();
  await takeUp();
  await write(database, waits);
  losesAnswer(() =>
    database.transaction(async (sql) => {
      const report = { text: "", stopReason: "completed", iterations: 1, usage: {}, cost: 0 };
      await runs.end(sql, ID, report as unknown as StoredReport);
    }),
  );
  await handle.answer("a", "A");
  expect((await handle.status()).state).toBe("ended");
});

test.each(["queued", "working"])(
  "an answer to a call that a run which is %s does not have is refused",
  async (state) => {
    const { handle, takeUp } = await room();
    if (state === "working") await takeUp();
    await expect(handle.approve("a", true)).rejects.toMatchObject({
      code: "invalid_argument",
      message: `The call "a" of the run asked does not wait for approval. The run is ${state}. Waiting: none.`,
    });
  },
);
