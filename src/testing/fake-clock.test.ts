import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { FakeClock } from "./fake-clock.ts";

describe("FakeClock", () => {
  it("wakes sleepers in the order of their time, each at its own time", async () => {
    const clock = new FakeClock(1000);
    const woken: string[] = [];
    const note = (name: string) => (): void => void woken.push(`${name} at ${clock.now()}`);
    const all = [
      clock.sleep(30).then(note("late")),
      clock.sleep(10).then(note("early")),
      clock.sleep(99).then(note("never")),
    ];
    await clock.advance(50);
    expect(woken).toEqual(["early at 1010", "late at 1030"]);
    expect([clock.now(), clock.sleeping]).toEqual([1050, 1]);
    await clock.advance(49);
    await Promise.all(all);
  });

  it("wakes a sleeper that sleeps again within the time that passes", async () => {
    const clock = new FakeClock(0);
    const laps: number[] = [];
    const running = (async () => {
      for (let lap = 0; lap < 3; lap += 1) {
        await clock.sleep(10);
        laps.push(clock.now());
      }
    })();
    await clock.advance(30);
    await running;
    expect(laps).toEqual([10, 20, 30]);
  });

  it("rejects an aborted sleep with the reason and leaves nothing behind", async () => {
    const clock = new FakeClock();
    const controller = new AbortController();
    const sleeping = clock.sleep(10, controller.signal);
    controller.abort("stop");
    await expect(sleeping).rejects.toBe("stop");
    await expect(clock.sleep(10, controller.signal)).rejects.toBe("stop");
    expect([clock.sleeping, getEventListeners(controller.signal, "abort").length]).toEqual([0, 0]);
  });

  it("tells when somebody sleeps", async () => {
    const clock = new FakeClock();
    const seen = clock.untilSleeping(2);
    const sleepers = [clock.sleep(1), clock.sleep(2)];
    await seen;
    await clock.advance(2);
    await Promise.all(sleepers);
    expect(clock.sleeping).toBe(0);
  });

  it("does not move backwards", async () => {
    await expect(new FakeClock().advance(-1)).rejects.toMatchObject({ code: "invalid_argument" });
  });
});
