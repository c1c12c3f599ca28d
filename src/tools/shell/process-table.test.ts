import { describe, expect, test } from "vitest";
import { type ProcessRow, parsePs, parseStat, selectRows } from "./process-table.ts";

const row = (pid: number, ppid: number, group = pid, session = group): ProcessRow => {
  return { pid, ppid, group, session, state: "S", startTime: "1" };
};
const pids = (rows: readonly ProcessRow[]): readonly number[] => rows.map(({ pid }) => pid);

describe("the process table", () => {
  test("a row of /proc is read whatever the program's name", () => {
    const stat = "4711 (a) b (c)) S 12 13 14 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 987654 1000 200";
    expect(parseStat(4711, stat)).toEqual({
      pid: 4711,
      ppid: 12,
      group: 13,
      session: 14,
      state: "S",
      startTime: "987654",
    });
  });

  test("a row that was cut short is none", () => {
    expect([parseStat(1, ""), parseStat(1, "1 (a) S 2 3")]).toEqual([undefined, undefined]);
  });

  test("rows of ps are read with their command and environment", () => {
    const output = [
      "  501     1   501 Ss   Thu Nov 21 03:46:00 2026 /bin/bash -c sleep 9 HOME=/x NANO_AGENT_CALL=abc.1.",
      "  502   501   501 R+   Fri Jan  1 00:00:01 2027 sleep 9",
      "garbage",
    ].join("\n");
    expect(parsePs(output)).toEqual([
      {
        row: {
          pid: 501,
          ppid: 1,
          group: 501,
          session: 501,
          state: "Ss",
          startTime: "Thu Nov 21 03:46:00 2026",
        },
        text: "/bin/bash -c sleep 9 HOME=/x NANO_AGENT_CALL=abc.1.",
      },
      {
        row: {
          pid: 502,
          ppid: 501,
          group: 501,
          session: 501,
          state: "R+",
          startTime: "Fri Jan  1 00:00:01 2027",
        },
        text: "sleep 9",
      },
    ]);
  });

  test("group, session, mark and descent make a process ours; nothing else does", () => {
    const rows = [
      row(100, 1),
      row(101, 100, 100),
      row(102, 1, 102, 100),
      row(103, 1, 103),
      row(104, 103, 104),
      row(105, 1, 105),
      row(106, 105, 106),
    ];
    expect(pids(selectRows(rows, [100], ({ pid }) => pid === 103))).toEqual([100, 101, 102, 103, 104]);
  });

  test("descent is found whatever the order of the rows", () => {
    expect(
      pids(selectRows([row(30, 20), row(20, 10), row(10, 5)], [10], () => false)).toSorted((a, b) => a - b),
    ).toEqual([10, 20, 30]);
  });

  test("this process and the first one are never ours", () => {
    expect(selectRows([row(process.pid, 7), row(1, 7)], [7], () => true)).toEqual([]);
  });
});
