import { getEventListeners } from "node:events";
import { describe, expect, it, vi } from "vitest";
import { systemClock } from "./clock.ts";

describe("systemClock", () => {
  it("sleeps and leaves no listener behind", async () => {
    const { signal } = new AbortController();
    await systemClock.sleep(1, signal);
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  it("rejects with the signal's reason when aborted while asleep, and leaves no listener behind", async () => {
    const controller = new AbortController();
    const reason = new Error("stop");
    const sleeping = systemClock.sleep(60_000, controller.signal);
    controller.abort(reason);
    await expect(sleeping).rejects.toBe(reason);
    expect(getEventListeners(controller.signal, "abort")).toEqual([]);
  });

  it("rejects at once with the reason of a signal that is already aborted", async () => {
    const reason = new Error("too late");
    await expect(systemClock.sleep(0, AbortSignal.abort(reason))).rejects.toBe(reason);
  });

  it.each([0, -5, Number.NaN])("does not wait for %d", async (ms) => {
    await expect(systemClock.sleep(ms)).resolves.toBeUndefined();
  });

  it("asks the machine for no timer of a time that has passed, of which it would warn", () => {
    const asked = vi.spyOn(globalThis, "setTimeout");
    const callback = (): void => undefined;
    for (const ms of [-0.05, 0, 5]) systemClock.timer?.(ms, callback)();
    expect(asked.mock.calls.map(([, ms]) => ms)).toEqual([0, 0, 5]);
  });

  it("waits longer than one timer of the runtime can", async () => {
    vi.useFakeTimers();
    try {
      let awake = false;
      const month = 30 * 86_400_000;
      const sleeping = systemClock.sleep(month).then(() => {
        awake = true;
      });
      await vi.advanceTimersByTimeAsync(month - 1);
      expect(awake).toBe(false);
      await vi.advanceTimersByTimeAsync(1);
      await sleeping;
      expect(awake).toBe(true);
    } finally {
      vi.useRealTimers();
    }
  });
});
