import { describe, expect, test } from "vitest";
import { openShellRoom, steady, until } from "../../test/shell-room.ts";
import { textOf } from "../core/message/message.ts";

describe("a background command", () => {
  test("starts at once, shows its output bit by bit and how it ended", async () => {
    const room = openShellRoom();
    const wait = (name: string): string => `until [ -e ${name} ]; do sleep 0.01; done`;
    const started = await room.bash({
      command: `echo one; ${wait("a")}; echo two; ${wait("b")}; exit 4`,
      background: true,
    });
    const look = async (): Promise<string> => steady(await room.job({ action: "output", id: "job_1" }));
    const looks: string[] = [];
    for (const next of ["one", "two", "exit"]) {
      await until(async () => {
        const text = await look();
        if (text.includes(next)) looks.push(text);
        return text.includes(next);
      });
      await room.bash({ command: next === "one" ? "touch a" : "touch b" });
    }
    expect([started.content, looks]).toEqual([
      expect.stringMatching(/^Started as job_1 \(pid \d+\)\./),
      [
        "one\n[job_1: running for T]",
        "two\n[job_1: running for T]",
        "(no new output)\n[job_1: exit code 4 after T]",
      ],
    ]);
  });

  test("is listed, killed with its tree, and still known afterwards", async () => {
    const room = openShellRoom();
    await room.bash({ command: "setsid sleep 1000 & sleep 1000", background: true });
    await room.bash({ command: "exit 0", background: true });
    await until(async () => steady(await room.job({ action: "list" })).includes("job_2: exit code 0"));
    const before = steady(await room.job({ action: "list" }));
    const killed = await room.job({ action: "kill", id: "job_1" });
    const again = await room.job({ action: "kill", id: "job_1" });
    expect([before, steady(killed), killed.isError, steady(again), room.processes()]).toEqual([
      "job_1: running for T: setsid sleep 1000 & sleep 1000\njob_2: exit code 0 after T: exit 0",
      "(no new output)\n[job_1: ended]",
      false,
      "(no new output)\n[job_1: had ended already]",
      [],
    ]);
  });

  test("goes on when the run that started it is aborted, and ends with the session", async () => {
    const room = openShellRoom();
    const controller = new AbortController();
    await room.bash({ command: "sleep 1000", background: true }, { signal: controller.signal });
    controller.abort();
    await until(() => room.processes().includes("sleep 1000"));
    await room.tools.dispose();
    expect(room.processes()).toEqual([]);
  });

  test("that writes without end is bounded in memory and on disk, and is not stopped for it", async () => {
    const room = openShellRoom({ maxOutputBytes: 1_000_000 });
    await room.bash({ command: "yes", background: true });
    await until(async () => {
      const { content } = await room.job({ action: "output", id: "job_1" });
      return textOf(content).includes("the first 1000000 bytes are in");
    });
    expect(room.processes()).toEqual(["yes"]);
  });
});

describe("job answers what it cannot do", () => {
  test.each([
    [
      "a missing id",
      { action: "output" },
      'Error: action "output" needs an id. No command runs in the background.',
    ],
    [
      "an unknown id",
      { action: "kill", id: "job_9" },
      'Error: There is no job "job_9". No command runs in the background.',
    ],
  ])("%s", async (_name, input, message) => {
    expect((await openShellRoom().job(input)).content).toBe(message);
  });

  test("an unknown id among known ones", async () => {
    const room = openShellRoom();
    await room.bash({ command: "true", background: true });
    expect((await room.job({ action: "output", id: "1" })).content).toBe(
      'Error: There is no job "1". Jobs: job_1.',
    );
  });

  test("nothing to list", async () => {
    expect((await openShellRoom().job({ action: "list" })).content).toBe("No jobs.");
  });
});
