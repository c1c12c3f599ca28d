import { expect, test } from "vitest";
import { RunWatch } from "../../src/durable/run-handle.ts";
import { RunStore } from "../../src/durable/run-store.ts";
import { roomMaker } from "./attack-room.ts";

const openRoom = roomMaker();

test("who waits after something has changed looks anew, and at the runs of all who wait", async () => {
  let looks = 0;
  class CountedStore extends RunStore {
    override viewsOf(ids: readonly string[]): ReturnType<RunStore["viewsOf"]> {
      looks++;
      return super.viewsOf(ids);
    }
  }
  const room = await openRoom((database, schema) => new CountedStore(database, schema));
  const watch = new RunWatch(room.runs, () => undefined);
  await room.add("first", "second");
  watch.poke();
  const isReached = (): boolean => true;
  const together = await Promise.all(["first", "second"].map((run) => watch.when(run, { isReached })));
  const looksTogether = looks;
  watch.poke();
  const ended = watch.when("first", { isReached: ({ state }) => state === "ended" });
  await room.database.query(`update ${room.runs.schema}.runs set state = 'ended' where id = 'first'`);
  const { state } = await ended;
  watch.close();
  expect([together.map(({ id }) => id), looksTogether, state]).toEqual([["first", "second"], 1, "ended"]);
});
