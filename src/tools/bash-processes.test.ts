import { describe, expect, test } from "vitest";
import { openShellRoom, type ShellRoom, steady, until } from "../../test/shell-room.ts";

const SLEEP = "sleep 1000";

/** The result of a call about a command that goes on as a job. */
async function leftOver(room: ShellRoom, command: string): Promise<readonly unknown[]> {
  const { metadata } = await room.bash({ command });
  // A process that is just becoming another program has no environment to be found by for a moment.
  await until(() => room.processes().length > 0);
  return [metadata?.["exitCode"], metadata?.["jobId"]];
}

const CHILDREN: readonly (readonly [string, (redirection: string) => string])[] = [
  ["a background child", (to) => `${SLEEP} ${to} &`],
  ["a background child under nohup", (to) => `nohup ${SLEEP} ${to} &`],
  ["a child in a session of its own", (to) => `setsid ${SLEEP} ${to} &`],
  ["a double fork", (to) => `(${SLEEP} ${to} &) &`],
  ["a double fork in a session of its own", (to) => `(setsid bash -c '${SLEEP} ${to} & wait' ${to} &)`],
  ["a disowned child", (to) => `${SLEEP} ${to} & disown`],
  ["a child in a group of its own", (to) => `set -m; ${SLEEP} ${to} &`],
  ["a child that writes all the time", (to) => `(while sleep 0.01; do echo tick; done) ${to} &`],
  ["a child without our environment", (to) => `env -i /usr/bin/${SLEEP} ${to} & ${SLEEP} ${to} &`],
];

const REDIRECTIONS: readonly (readonly [string, string])[] = [
  ["holds both outputs", ""],
  ["holds one output", "2>/dev/null"],
  ["holds the error output", ">/dev/null"],
  ["holds nothing", ">/dev/null 2>&1"],
  ["closed everything", "<&- >&- 2>&-"],
];

const TABLE = CHILDREN.flatMap(([child, command]) =>
  REDIRECTIONS.map(([held, redirection]) => [`${child} ${held}`, command(redirection)] as const),
);

describe.skipIf(process.platform !== "linux")(
  "bash returns, names what is left, and the session ends it",
  () => {
    test.each(TABLE)("%s", async (_name, command) => {
      const room = openShellRoom();
      const during = await leftOver(room, `${command}\necho started`);
      await room.tools.dispose();
      expect([during, room.processes()]).toEqual([[0, "job_1"], []]);
    });

    test("the result lists the processes by command", async () => {
      // Until the child has become `sleep` it is a copy of the shell.
      const become = `until [ "$(tr '\\0' ' ' < /proc/$!/cmdline)" = "${SLEEP} " ]; do :; done`;
      const command = `${SLEEP} >/dev/null 2>&1 &\n${become}\necho up`;
      const result = await openShellRoom().bash({ command });
      expect([steady(result), result.isError]).toEqual([
        `up\n[exit code 0, T]\n[1 process of this command still running as job_1, until the session ends:]\n  PID ${SLEEP}`,
        false,
      ]);
    });

    test("a writer that outlives its call is read on, so that it does not die of a broken pipe", async () => {
      const room = openShellRoom();
      const command =
        "(for i in 1 2 3; do echo early; done; touch begun; until [ -e go ]; do sleep 0.01; done; echo late; touch done; sleep 1000) & until [ -e begun ]; do sleep 0.01; done";
      await room.bash({ command });
      await room.bash({ command: "touch go; until [ -e done ]; do sleep 0.01; done" });
      await until(async () => steady(await room.job({ action: "output", id: "job_1" })).startsWith("late\n"));
      expect(room.processes()).not.toEqual([]);
    });

    test("what was killed at once needs no waiting", async () => {
      const room = openShellRoom();
      await room.bash({ command: `setsid ${SLEEP} >/dev/null 2>&1 & ${SLEEP} &`, background: true });
      await until(() => room.processes().filter((command) => command === SLEEP).length === 2);
      room.tools.killNow();
      await until(() => room.processes().length === 0);
      expect(room.processes()).toEqual([]);
    });
  },
);

const TREES: readonly (readonly [string, string])[] = [
  ["a program", SLEEP],
  ["a shell with children", `${SLEEP} & ${SLEEP} & wait`],
  [
    "children in other groups and sessions",
    `set -m; ${SLEEP} & setsid ${SLEEP} & setsid setsid ${SLEEP} & wait`,
  ],
  ["a child whose parents are gone", `(setsid bash -c '${SLEEP} & ${SLEEP}' &) ; ${SLEEP}`],
  ["a pipeline", `${SLEEP} | ${SLEEP} | cat`],
  ["a tree that ignores TERM", `trap '' TERM; ${SLEEP} & setsid ${SLEEP} & while :; do ${SLEEP}; done`],
  [
    "a shell that starts new children when asked to end",
    `trap '${SLEEP} & ${SLEEP}' TERM; while :; do ${SLEEP} & wait; done`,
  ],
  ["a stopped program", `kill -STOP $BASHPID; ${SLEEP}`],
  ["a child without our environment", `env -i /usr/bin/${SLEEP} & wait`],
  [
    "a child without our environment in its own session",
    `env -i /usr/bin/setsid /usr/bin/${SLEEP} & wait; ${SLEEP}`,
  ],
];

describe.skipIf(process.platform !== "linux")("bash ends the whole tree", () => {
  test.each(TREES)("when the time is up: %s", async (_name, command) => {
    const room = openShellRoom();
    const result = await room.bash({ command, timeout_ms: 150 });
    expect([
      steady(result).split("\n").at(-1),
      result.isError,
      result.metadata?.["ended"],
      room.processes(),
    ]).toEqual([
      "[timed out after T; the command and all it started were ended. Pass a longer timeout_ms (milliseconds), or background: true]",
      true,
      "timed_out",
      [],
    ]);
  });

  test.each(TREES)("when the run is aborted: %s", async (_name, command) => {
    const room = openShellRoom();
    const controller = new AbortController();
    const options = { signal: controller.signal, onUpdate: () => controller.abort() };
    const result = await room.bash({ command: `echo begun; ${command}` }, options);
    const lines = steady(result).split("\n");
    expect([lines[0], lines.at(-1), result.isError, result.metadata?.["ended"], room.processes()]).toEqual([
      "begun",
      "[aborted after T; the command and all it started were ended]",
      true,
      "aborted",
      [],
    ]);
  });

  test("when the session ends while it runs", async () => {
    const room = openShellRoom();
    const running = room.bash({ command: `${SLEEP} & ${SLEEP}` });
    await until(() => room.processes().includes(SLEEP));
    await room.tools.dispose();
    const ended = steady(await running);
    // On a busy machine the grace may be over before the shell got to act on TERM.
    expect([ended, room.processes()]).toEqual([
      expect.stringMatching(/^\(no output\)\n\[killed by SIG(TERM|KILL), T\]$/),
      [],
    ]);
  });

  test("and lets a program that handles TERM say goodbye", async () => {
    const room = openShellRoom({ graceMs: 5000 });
    const controller = new AbortController();
    const command = "trap 'echo bye; exit 0' TERM; echo ready; while :; do sleep 0.01; done";
    const options = { signal: controller.signal, onUpdate: () => controller.abort() };
    const result = await room.bash({ command }, options);
    expect(steady(result)).toMatch(/(^|\n)bye\n\[aborted/);
  });
});
