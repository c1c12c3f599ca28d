import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { collectGarbage } from "../../test/collect-garbage.ts";
import { openShellRoom, steady, until } from "../../test/shell-room.ts";
import { tempFolder } from "../../test/temp-folder.ts";
import { textOf } from "../core/message/message.ts";

describe("bash shows how a command ended", () => {
  test.each([
    ["success without output", "true", "(no output)\n[exit code 0, T]", false],
    ["output without a last newline", "printf hi", "hi\n[exit code 0, T]", false],
    ["a failure, with what it printed", "echo no; exit 3", "no\n[exit code 3, T]", true],
    ["a signal", "kill -SEGV $$", "(no output)\n[killed by SIGSEGV, T]", true],
    [
      "the exit code of a program that a signal ended",
      "exit 137",
      "(no output)\n[exit code 137 (SIGKILL), T]",
      true,
    ],
    [
      "an unknown command",
      "nosuchthing",
      "/bin/bash: line 1: nosuchthing: command not found\n[exit code 127, T]",
      true,
    ],
    [
      "both outputs in the order they came",
      "for i in 1 2 3; do echo o$i; echo e$i >&2; done",
      "o1\ne1\no2\ne2\no3\ne3\n[exit code 0, T]",
      false,
    ],
    [
      "what a script writes to /dev/stderr",
      "echo a > /dev/stdout; echo b > /dev/stderr; echo c | tee /dev/stderr",
      "a\nb\nc\nc\n[exit code 0, T]",
      false,
    ],
    [
      "cleaned bytes",
      "printf 'a\\xff\\0b\\n1%%\\r2%%\\n\\033[31mred\\033[0m\\n'",
      "a\ufffdb\n2%\nred\n[exit code 0, T]",
      false,
    ],
  ])("%s", async (_name, command, text, isError) => {
    const result = await openShellRoom().bash({ command });
    expect([steady(result), result.isError]).toEqual([text, isError]);
  });

  test("facts for programs come along", async () => {
    const { metadata, title } = await openShellRoom().bash({ command: "echo abc; exit 2" });
    expect({ ...metadata, title }).toEqual({
      exitCode: 2,
      signal: null,
      durationMs: expect.any(Number),
      outputBytes: 4,
      title: "exit code 2",
    });
  });
});

describe("bash does not wait for anybody", () => {
  test.each([
    ["cat", "cat", 0],
    ["read", "read answer", 1],
    [
      "an editor for a commit message",
      "git init -q . && touch a && git add a && git -c user.name=n -c user.email=e commit",
      1,
    ],
    ["a pager", "seq 3 | ${PAGER:-less}", 0],
    ["the terminal", "exec 2>/dev/null; echo x > /dev/tty", 1],
    [
      "a password prompt",
      "git -c credential.helper= credential fill <<< $'protocol=https\\nhost=h.test\\n' >/dev/null 2>&1",
      128,
    ],
  ])("%s", async (_name, command, exitCode) => {
    const { metadata } = await openShellRoom().bash({ command });
    expect(metadata).toMatchObject({ exitCode });
  });

  test("commands see the given variables, the marks of an unattended run, and nothing of this process", async () => {
    const room = openShellRoom({ env: { GIVEN: "yes" } });
    const { content } = await room.bash({ command: "env | sort | cut -d= -f1 | tr '\\n' ' '" });
    expect(steady({ content })).toBe(
      "AI_AGENT EDITOR GIT_EDITOR GIT_MERGE_AUTOEDIT GIT_PAGER GIT_SEQUENCE_EDITOR GIT_TERMINAL_PROMPT GIVEN HOME " +
        "MANPAGER NANO_AGENT_CALL PAGER PATH PWD ROOM SHLVL SSH_ASKPASS_REQUIRE TERM VISUAL _ \n[exit code 0, T]",
    );
  });
});

describe("bash bounds what it returns", () => {
  test("long output is shown in part, and the whole of it is in a private file", async () => {
    const outputDir = tempFolder();
    const room = openShellRoom({ outputDir });
    const { content, metadata } = await room.bash({ command: "seq 1 100000" });
    const path = join(outputDir, "output-1.txt");
    const text = textOf(content);
    await room.tools.dispose();
    const whole = readFileSync(path, "utf8");
    expect([
      text.startsWith("1\n2\n"),
      text.includes("\n99999\n100000\n[exit code 0"),
      Buffer.byteLength(text) <= 51_200,
    ]).toEqual([true, true, true]);
    expect(text).toMatch(
      new RegExp(`\\n\\[\\d+ of 588895 bytes left out here; the full text is in ${path}\\]\\n`),
    );
    expect([whole.length, whole.endsWith("\n100000\n"), (statSync(path).mode & 0o777).toString(8)]).toEqual([
      588_895,
      true,
      "600",
    ]);
    expect(metadata).toMatchObject({ outputBytes: 588_895, outputPath: path });
  });

  test("ten thousand tiny lines come in order", async () => {
    const command = "for ((i = 0; i < 10000; i++)); do echo $i; done";
    const result = await openShellRoom().bash({ command });
    expect(steady(result)).toMatch(
      /^0\n1\n2\n(\d+\n)+\[\d+ of 48890 bytes left out here; .*\]\n(\d+\n)+9998\n9999\n\[exit code 0, T\]$/,
    );
  });

  test("a command that never stops writing is stopped, and memory stays bounded", async () => {
    const room = openShellRoom({ maxOutputBytes: 200_000_000 });
    const held = (): number => {
      collectGarbage();
      return process.memoryUsage().arrayBuffers;
    };
    const before = held();
    const command = "yes | head -c 150000000; touch half; until [ -e go ]; do sleep 0.01; done; yes";
    const running = room.bash({ command, timeout_ms: 600_000 });
    await until(() => existsSync(join(room.cwd, "half")));
    // What nothing holds any more is given back when the system finds the time.
    await expect.poll(() => held() - before, { interval: 500 }).toBeLessThan(50_000_000);
    writeFileSync(join(room.cwd, "go"), "");
    const result = await running;
    expect(steady(result)).toContain(
      "[stopped after T; the command and all it started were ended: it wrote more than 200000000 bytes.",
    );
    expect([result.isError, room.processes()]).toEqual([true, []]);
  });

  test("text shows while the command still runs", async () => {
    const room = openShellRoom();
    const seen: string[] = [];
    const command = "echo first; until [ -e go ]; do sleep 0.01; done; echo last";
    const running = room.bash({ command }, { onUpdate: (text) => seen.push(text) });
    await until(() => seen.length > 0);
    writeFileSync(join(room.cwd, "go"), "");
    expect([seen[0], steady(await running)]).toEqual(["first\n", "first\nlast\n[exit code 0, T]"]);
  });
});

describe("bash says clearly what it cannot do", () => {
  test.each([
    ["no command", {}, "Error: command is undefined; pass the shell command as a string."],
    [
      "a command that is not text",
      { command: 7 },
      "Error: command is number; pass the shell command as a string.",
    ],
    ["an empty command", { command: " \n" }, "Error: command is empty; pass a shell command."],
    [
      "NUL",
      { command: "echo a\0b" },
      "Error: command contains a NUL character, which no command can; leave it out.",
    ],
    [
      "no time at all",
      { command: "true", timeout_ms: 0 },
      "Error: timeout_ms is 0; pass milliseconds from 1 to 600000, or leave it out.",
    ],
    [
      "an unknown access",
      { command: "true", access: "root", reason: "x" },
      'Error: access is "root"; pass "network" (inside the sandbox, with the network) or "full" (outside of it), or leave it out.',
    ],
    [
      "access without a reason",
      { command: "true", access: "network", reason: " " },
      'Error: access "network" needs a reason: say in one sentence why, for the user who decides. Nothing was run.',
    ],
    [
      "a command too long for the system",
      { command: `: ${"x".repeat(3_000_000)}` },
      "Error: The command is too long for the system (3000002 bytes); write it to a file and run the file.",
    ],
  ])("%s", async (_name, input, message) => {
    const { content, isError } = await openShellRoom().bash(input);
    expect([content, isError]).toEqual([message, true]);
  });

  test("a working folder that is gone", async () => {
    const room = openShellRoom();
    rmSync(room.cwd, { recursive: true });
    const { content } = await room.bash({ command: "true" });
    expect(content).toBe(`Error: The working folder ${room.cwd} does not exist any more; nothing was run.`);
  });

  test("a shell that is missing", async () => {
    const shell = join(tempFolder(), "bash");
    const { content } = await openShellRoom({ shell }).bash({ command: "true" });
    expect(content).toBe(`Error: The command cannot be started: spawn ${shell} ENOENT.`);
  });

  test("a session that is over", async () => {
    const room = openShellRoom();
    await room.tools.dispose();
    const { content } = await room.bash({ command: "true" });
    expect(content).toBe("Error: The session of this shell is over.");
  });

  test("a run that was aborted before", async () => {
    const room = openShellRoom();
    const { content } = await room.bash({ command: "touch ran" }, { signal: AbortSignal.abort() });
    expect([content, existsSync(join(room.cwd, "ran"))]).toEqual([
      "Error: The command was not started: the run was aborted.",
      false,
    ]);
  });
});

test("commands run side by side without mixing their output", async () => {
  const room = openShellRoom();
  const names = Array.from({ length: 20 }, (_, index) => `n${index}`);
  const command = (name: string): string => `for i in 1 2 3; do echo ${name}; done`;
  const results = await Promise.all(names.map((name) => room.bash({ command: command(name) })));
  expect(results.map(steady)).toEqual(names.map((name) => `${`${name}\n`.repeat(3)}[exit code 0, T]`));
});

test("without a folder for pipes and files commands still run", async () => {
  const room = openShellRoom({ outputDir: "/dev/null/nothing" });
  const short = await room.bash({ command: "echo a; echo b >&2; exit 1" });
  const long = await room.bash({ command: "seq 1 20000" });
  const lines = steady(short).split("\n");
  expect([lines.slice(0, 2).toSorted(), lines[2]]).toEqual([["a", "b"], "[exit code 1, T]"]);
  expect(steady(long)).toContain("the full text could not be kept: ENOTDIR");
});

test("a temporary folder that is cleared while the session runs does no harm", async () => {
  const room = openShellRoom();
  const path = async (): Promise<string> =>
    (await room.bash({ command: "seq 1 20000" })).metadata?.["outputPath"] as string;
  const first = await path();
  rmSync(dirname(first), { recursive: true });
  const second = await path();
  expect([existsSync(second), dirname(second) === dirname(first)]).toEqual([true, false]);
});

test("the temporary folder goes with the session", async () => {
  const room = openShellRoom();
  const { metadata } = await room.bash({ command: "seq 1 20000" });
  const path = metadata?.["outputPath"] as string;
  const before = existsSync(path);
  await room.tools.dispose();
  expect([before, existsSync(path), existsSync(join(path, ".."))]).toEqual([true, false, false]);
});
