import { getEventListeners } from "node:events";
import fc from "fast-check";
import { describe, expect, it, test, vi } from "vitest";
import { backoffDelayMs, LinkedAbort, parseRetryAfter, raceAbort, systemClock } from "./async.ts";

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

test("is aborted with its parent, with the same reason, and so is what hangs on it", () => {
  const parent = new AbortController();
  const child = new LinkedAbort(parent.signal);
  const grandchild = new LinkedAbort(child.signal);
  parent.abort("enough");
  expect([child.signal.reason, grandchild.signal.reason]).toEqual(["enough", "enough"]);
  expect(new LinkedAbort(grandchild.signal).signal.reason).toBe("enough");
});

test("is aborted alone, once, and not any more with its parent when it is unlinked", () => {
  const parent = new LinkedAbort(undefined);
  const [alone, unlinked] = [new LinkedAbort(parent.signal), new LinkedAbort(parent.signal)];
  alone.abort("first");
  unlinked.unlink();
  parent.abort("second");
  expect([alone.signal.reason, unlinked.signal.aborted]).toEqual(["first", false]);
});

test("tells those who wait, with no listener on the signal for each", async () => {
  const run = new LinkedAbort(undefined);
  let listeners = 0;
  run.signal.addEventListener = () => listeners++;
  const [answer, never] = [raceAbort(Promise.resolve("there"), run.signal), new Promise(() => undefined)];
  const waits = [raceAbort(never, run.signal), raceAbort(never, run.signal)];
  await expect(answer).resolves.toBe("there");
  run.abort("enough");
  await expect(Promise.allSettled(waits)).resolves.toEqual([
    { status: "rejected", reason: expect.objectContaining({ code: "aborted", cause: "enough" }) },
    { status: "rejected", reason: expect.objectContaining({ code: "aborted", cause: "enough" }) },
  ]);
  expect(listeners).toBe(0);
});

describe("backoffDelayMs", () => {
  it("doubles its upper bound until the cap", () => {
    const almostOne = (): number => 0.999999;
    const delays = [1, 2, 3, 7, 8, 5000].map((attempt) => backoffDelayMs(attempt, { random: almostOne }));
    expect(delays).toEqual([499, 999, 1999, 29_999, 29_999, 29_999]);
  });

  it("gives an overloaded server time to recover, however the draws fall", () => {
    const delays = [1, 2, 3, 4, 5].map((attempt) => backoffDelayMs(attempt, { random: () => 0 }));
    expect(delays).toEqual([250, 500, 1_000, 2_000, 4_000]);
  });

  it("draws a whole number between half the bound and the bound", () => {
    fc.assert(
      fc.property(
        fc.integer(),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (attempt, drawn) => {
          const delay = backoffDelayMs(attempt, { baseMs: 100, maxMs: 5000, random: () => drawn });
          const bound = Math.min(5000, 100 * 2 ** Math.max(0, attempt - 1));
          expect(Number.isInteger(delay) && delay >= bound / 2 && delay < bound).toBe(true);
        },
      ),
    );
  });
});

describe("parseRetryAfter", () => {
  const now = Date.UTC(2026, 0, 1, 0, 0, 0);

  it.each([
    ["0", 0],
    [" 12 ", 12_000],
    ["1.5", 1500],
    ["86400", 86_400_000],
    ["Thu, 01 Jan 2026 00:00:30 GMT", 30_000],
    ["Thursday, 01-Jan-26 00:00:30 GMT", 30_000],
    ["Thu Jan  1 00:00:30 2026", 30_000],
    ["Wed, 31 Dec 2025 23:59:59 GMT", 0],
  ])("reads %j", (value, ms) => {
    expect(parseRetryAfter(value, now)).toBe(ms);
  });

  it.each([
    null,
    undefined,
    "",
    "-5",
    "soon",
    "1e9",
    "Infinity",
    "NaN",
    "0x10",
    "12 s",
    "99999999999",
    "9".repeat(400),
    "Mon, never at all",
  ])("does not believe %j", (value) => {
    expect(parseRetryAfter(value, now)).toBeUndefined();
  });

  it("gives a wait between nothing and a year, or nothing, for any text", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const ms = parseRetryAfter(text, now);
        expect(ms === undefined || (ms >= 0 && ms <= 366 * 86_400_000)).toBe(true);
      }),
    );
  });
});
