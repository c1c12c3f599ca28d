import { expect, test } from "vitest";
import { parseStat } from "./process-identity.ts";

test("a row of /proc is read whatever the program's name", () => {
  const stat = "4711 (a) b (c)) S 12 13 14 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 987654 1000 200";
  expect(parseStat(4711, stat)).toEqual({
    pid: 4711,
    ppid: 12,
    group: 13,
    session: 14,
    startTime: "987654",
    state: "running",
  });
});

test("a row that was cut short is none", () => {
  expect([parseStat(1, ""), parseStat(1, "1 (a) S 2 3")]).toEqual([undefined, undefined]);
});

test("a zombie has ended, a process that frees its memory is exiting", () => {
  const rest = "12 13 14 0 -1 FLAGS 1 2 3 4 5 6 7 8 20 0 1 0 987654";
  const stateOf = (state: string, flags: number) =>
    parseStat(1, `1 (a) ${state} ${rest.replace("FLAGS", String(flags))}`)?.state;
  expect([stateOf("R", 0), stateOf("R", 4), stateOf("Z", 0), stateOf("X", 0)]).toEqual([
    "running",
    "exiting",
    "ended",
    "ended",
  ]);
});
