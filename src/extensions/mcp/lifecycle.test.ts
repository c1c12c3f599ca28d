import fc from "fast-check";
import { expect, test } from "vitest";
import { afterEvent, type Lifecycle, type LifecycleEvent, MAX_ATTEMPTS } from "./mcp-server.ts";

const EVENTS: readonly LifecycleEvent[] = [
  { type: "wanted" },
  { type: "opened" },
  { type: "open_failed", reason: "r", login: false },
  { type: "open_failed", reason: "r", login: true },
  { type: "lost", reason: "r", served: true },
  { type: "lost", reason: "r", served: false },
  { type: "due" },
  { type: "stop" },
];

const lives = (events: readonly LifecycleEvent[]): readonly Lifecycle[] => {
  let life: Lifecycle = { state: "idle" };
  return events.map((event) => (life = afterEvent(life, event)));
};

test("every state is reached", () => {
  const fails: LifecycleEvent = { type: "open_failed", reason: "r", login: false };
  const start: LifecycleEvent[] = [{ type: "wanted" }];
  for (let attempt = 1; attempt < MAX_ATTEMPTS; attempt++) start.push(fails, { type: "due" });
  const seen = lives([
    ...start,
    fails,
    { type: "wanted" },
    { type: "open_failed", reason: "r", login: true },
    { type: "wanted" },
    { type: "opened" },
    { type: "stop" },
  ]).map(({ state }) => state);
  expect(new Set(seen)).toEqual(
    new Set(["starting", "waiting", "failed", "needs_login", "ready", "stopped"]),
  );
});

test("a server that dies as soon as it is ready is left alone in the end; one that worked begins anew", () => {
  const round = (served: boolean): LifecycleEvent[] => [
    { type: "opened" },
    { type: "lost", reason: "r", served },
    { type: "due" },
  ];
  const restarts = (served: boolean): Lifecycle | undefined =>
    lives([{ type: "wanted" }, ...Array.from({ length: 20 }, () => round(served)).flat()]).at(-1);
  expect([restarts(true), restarts(false)]).toMatchObject([
    { state: "starting", attempt: 1 },
    { state: "failed" },
  ]);
});

test("whatever happens, a stopped server stays stopped, and it is ready only after it was opened", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...EVENTS)), (events) => {
      const seen = lives(events);
      const stop = events.findIndex(({ type }) => type === "stop");
      const afterStop = stop === -1 ? [] : seen.slice(stop);
      const becomesReady = seen.flatMap(({ state }, at) =>
        state === "ready" && seen[at - 1]?.state !== "ready" ? [events[at]?.type] : [],
      );
      expect([afterStop.every(({ state }) => state === "stopped"), new Set(becomesReady).size <= 1]).toEqual([
        true,
        true,
      ]);
      expect(becomesReady.every((type) => type === "opened")).toBe(true);
    }),
  );
});
