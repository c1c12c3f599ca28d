import { describe, expect, test } from "vitest";
import type { ProcessRow } from "../../system/process-identity.ts";
import { parsePs, selectRows } from "./process-table.ts";

const row = (pid: number, ppid: number, group = pid, session = group): ProcessRow => {
  return { pid, ppid, group, session, startTime: "1", state: "running" };
};
const pids = (rows: readonly ProcessRow[]): readonly number[] => rows.map(({ pid }) => pid);

describe("the process table", () => {
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
          startTime: "Thu Nov 21 03:46:00 2026",
          state: "running",
        },
        text: "/bin/bash -c sleep 9 HOME=/x NANO_AGENT_CALL=abc.1.",
      },
      {
        row: {
          pid: 502,
          ppid: 501,
          group: 501,
          session: 501,
          startTime: "Fri Jan  1 00:00:01 2027",
          state: "running",
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
