import { expect, test } from "vitest";
import type { DurableAgent } from "../../src/durable/durable-run.ts";
import { FakeClock } from "../../src/testing/fake-clock.ts";
import { says, waits } from "../../src/testing/script.ts";
import { roomMaker } from "./attack-room.ts";
import { agentOf } from "./fleet-room.ts";

const openRoom = roomMaker();
/** Everything that a worker does again and again. */
const LOOPS = 6;

test("a run that may end its worker keeps the others waiting for a minute, and is taken when nothing is at work", async () => {
  const room = await openRoom();
  const clock = new FakeClock();
  const begun = Promise.withResolvers<void>();
  const ending = Promise.withResolvers<undefined>();
  const clerk: DurableAgent = (host, run) => {
    if (run.id !== "long") return agentOf([says("Done.")])(host, run);
    begun.resolve();
    return agentOf([[waits(ending.promise), says("Done.")]])(host, run);
  };
  const stateOf = async (id: string): Promise<string | undefined> => (await room.runs.find(id))?.state;
  /** Lets the worker look once at everything. */
  const look = async (): Promise<void> => {
    await clock.advance(1_000);
    await clock.untilSleeping(LOOPS);
  };
  await room.add("long");
  await room.work(clerk, clock);
  await begun.promise;
  await room.add("suspect");
  await room.database.query(`update ${room.runs.schema}.runs set losses = 2 where id = 'suspect'`);
  await look();
  await room.add("quick");
  for (let seconds = 0; seconds < 30; seconds++) await look();
  const early = await stateOf("quick");
  for (let seconds = 0; seconds < 40; seconds++) await look();
  const late = await stateOf("quick");
  const suspect = await stateOf("suspect");
  ending.resolve(undefined);
  // The queue goes by the clock of the database.
  await room.database.query(`update ${room.jobs} set start_after = now() where data->>'run' = 'suspect'`);
  while ((await stateOf("suspect")) !== "ended") await look();
  expect([early, late === "queued", suspect]).toEqual(["queued", false, "queued"]);
});
