import { expect, test } from "vitest";
import type { NanoAgentError } from "../core/base/errors.ts";
import { FakeClock } from "../testing/fake-clock.ts";
import { Deadlines } from "./attempt.ts";

const LIMITS = {
  headerTimeoutMs: 1_000,
  idleTimeoutMs: 2_000,
  firstEventTimeoutMs: 10_000,
  requestTimeoutMs: 60_000,
};

interface WatchedStream {
  readonly deadlines: Deadlines;
  /** Lets time pass, then does something. */
  readonly after: (ms: number, step: () => void) => Promise<void>;
  /** The limit that ended the request and when, or undefined. */
  readonly ended: () => { readonly limit: unknown; readonly at: number } | undefined;
}

function watch(limits: Partial<typeof LIMITS> = {}): WatchedStream {
  const clock = new FakeClock();
  const start = clock.elapsed();
  let end: { readonly limit: unknown; readonly at: number } | undefined;
  const onTimeout = ({ details }: NanoAgentError): void => {
    end = { limit: details["limit"], at: clock.elapsed() - start };
  };
  const timeouts = { ...LIMITS, ...limits };
  const deadlines = new Deadlines(clock, timeouts, "http://127.0.0.1:1", onTimeout);
  return {
    deadlines,
    after: async (ms, step) => {
      await clock.advance(ms);
      step();
    },
    ended: () => end,
  };
}

test("bytes keep a request alive until its first event, and no longer than the limit for that", async () => {
  const { deadlines, after, ended } = watch();
  await after(500, () => deadlines.onHeaders());
  for (let at = 1; at <= 9; at++) await after(1_000, () => deadlines.recordProgress("bytes"));
  expect(ended()).toBeUndefined();
  await after(1_000, () => undefined);
  expect(ended()).toEqual({ limit: "firstEventTimeoutMs", at: 10_500 });
});

test("without any sign of life the time between events holds from the head on", async () => {
  const { deadlines, after, ended } = watch();
  await after(500, () => deadlines.onHeaders());
  await after(1_000, () => deadlines.recordProgress("bytes"));
  await after(2_000, () => undefined);
  expect(ended()).toEqual({ limit: "idleTimeoutMs", at: 3_500 });
});

test("once the first event has come only events count", async () => {
  const { deadlines, after, ended } = watch();
  await after(500, () => deadlines.onHeaders());
  await after(1_500, () => deadlines.recordProgress("bytes"));
  await after(1_500, () => deadlines.recordProgress("event"));
  for (let at = 1; at <= 3; at++) await after(600, () => deadlines.recordProgress("bytes"));
  await after(200, () => undefined);
  expect(ended()).toEqual({ limit: "idleTimeoutMs", at: 5_500 });
});

test("an answer that goes on may take longer than the limit for its first event", async () => {
  const { deadlines, after, ended } = watch();
  await after(500, () => deadlines.onHeaders());
  for (let at = 1; at <= 20; at++) await after(1_900, () => deadlines.recordProgress("event"));
  expect(ended()).toBeUndefined();
  deadlines.stop();
});

test("0 switches each limit off", async () => {
  const off = { headerTimeoutMs: 0, idleTimeoutMs: 0, firstEventTimeoutMs: 0, requestTimeoutMs: 0 };
  const { deadlines, after, ended } = watch(off);
  await after(100_000, () => deadlines.onHeaders());
  await after(100_000, () => deadlines.recordProgress("event"));
  await after(100_000, () => undefined);
  expect(ended()).toBeUndefined();
});

test("what is stopped in the moment in which a limit is reached is not ended by it", async () => {
  const due = Promise.withResolvers<void>();
  const ends: NanoAgentError[] = [];
  let at = 0;
  const clock = { now: () => at, elapsed: () => at, sleep: () => due.promise };
  const deadlines = new Deadlines(clock, LIMITS, "http://127.0.0.1:1", (error) => ends.push(error));
  at = LIMITS.headerTimeoutMs;
  due.resolve();
  deadlines.stop();
  await due.promise;
  await Promise.resolve();
  expect(ends).toEqual([]);
});

test("one timer watches all limits of a request, also where the first is not the shortest", async () => {
  const clock = new FakeClock();
  let timers = 0;
  const counting = {
    now: () => clock.now(),
    elapsed: () => clock.elapsed(),
    sleep: (ms: number, signal?: AbortSignal) => {
      timers++;
      return clock.sleep(ms, signal);
    },
  };
  const timeouts = { ...LIMITS, headerTimeoutMs: 30_000 };
  const limits: unknown[] = [];
  const onTimeout = ({ details }: NanoAgentError): void => void limits.push(details["limit"]);
  const deadlines = new Deadlines(counting, timeouts, "http://127.0.0.1:1", onTimeout);
  await clock.advance(500);
  deadlines.onHeaders();
  expect([timers, limits]).toEqual([1, []]);
  await clock.advance(2_000);
  expect(limits).toEqual(["idleTimeoutMs"]);
});
