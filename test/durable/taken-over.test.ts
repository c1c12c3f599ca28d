import { expect, test } from "vitest";
import { ClaimedRun } from "../../src/durable/claimed-run.ts";
import { RunHandle, RunWatch } from "../../src/durable/run-handle.ts";
import { RunStore, type Signal } from "../../src/durable/run-store.ts";
import { calls, says } from "../../src/testing/script.ts";
import { type Room, roomMaker } from "./attack-room.ts";
import { ASK_OUTSIDE, agentOf, noteTool } from "./fleet-room.ts";

const openRoom = roomMaker();

/** A store whose first look at what was sent is held up until it is let. */
function lateRoom(): {
  readonly room: Promise<Room>;
  readonly isAsked: Promise<void>;
  readonly end: () => void;
} {
  const asked = Promise.withResolvers<void>();
  const ending = Promise.withResolvers<void>();
  let looks = 0;
  class Late extends RunStore {
    override async waitingSignals(
      ...args: Parameters<RunStore["waitingSignals"]>
    ): Promise<readonly Signal[]> {
      if (++looks > 1) return super.waitingSignals(...args);
      asked.resolve();
      await ending.promise;
      return super.waitingSignals(...args);
    }
  }
  return {
    room: openRoom((database, schema) => new Late(database, schema)),
    isAsked: asked.promise,
    end: () => ending.resolve(),
  };
}

/** A run of two calls that wait for somebody, which a worker has begun and another one has laid aside. */
async function takenOver({ isDropped }: { readonly isDropped: boolean }) {
  const { room: opening, isAsked, end } = lateRoom();
  const room = await opening;
  const noted: unknown[] = [];
  let made = 0;
  const clerk = agentOf(
    ({ messages }) =>
      messages.length === 1
        ? [calls("note", { n: 1 }, "one"), calls("ask_outside", {}, "out")]
        : says("Done."),
    { tools: [noteTool(noted, { needsApproval: true }), ASK_OUTSIDE] },
  );
  const host = {
    runs: room.runs,
    agents: {
      clerk: (...given: Parameters<typeof clerk>) => {
        made += 1;
        return clerk(...given);
      },
    },
    wrapModel: <T>(model: T): T => model,
    withRetry: <T>(work: () => Promise<T>) => work(),
    onStored: () => undefined,
  };
  const hold = async (worker: string): Promise<ClaimedRun> => {
    const job = await room.take("held");
    const row = await room.runs.claim("held", { job, worker, version: "1" });
    if (row === undefined) throw new Error("The run was not given.");
    return new ClaimedRun(host, row);
  };
  await room.add("held");
  await room.queue.prepare([{ agent: "clerk", version: "1" }]);
  const first = await hold("first");
  const working = first.work();
  await isAsked;
  const outcome = await (await hold("second")).work();
  if (outcome.type !== "waiting") throw new Error(`The second worker: ${outcome.type}.`);
  await room.database.transaction(async (sql) => {
    if (outcome.end !== undefined) await room.runs.append(outcome.end, sql);
    await room.runs.park(sql, "held", outcome.pending);
  });
  if (isDropped) first.drop();
  const watch = new RunWatch(room.runs, () => undefined);
  const run = new RunHandle({ ...host, queue: room.queue, watch, onChanged: () => undefined }, "held");
  await run.approve("one", true);
  await run.answer("out", "so much");
  watch.close();
  const before = made;
  end();
  const lost = await working;
  const third = await (await hold("third")).work();
  return {
    outcomes: [lost.type, third.type === "ended" ? third.report.stopReason : third.type],
    noted,
    madeByFirst: made - before - 1,
  };
}

test("what is said to a run that was taken over reaches it, although the worker before comes back", async () => {
  const { outcomes, noted } = await takenOver({ isDropped: false });
  expect([outcomes, noted]).toEqual([["lost", "completed"], [1]]);
});

test("a worker that lost its run before it had read it makes no agent for it", async () => {
  const { outcomes, noted, madeByFirst } = await takenOver({ isDropped: true });
  expect([outcomes, noted, madeByFirst]).toEqual([["lost", "completed"], [1], 0]);
});
