import { mkdirSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { calls, says, waits } from "../../src/testing/script.ts";
import { modelServer } from "../e2e/command.ts";
import { isAlive, pidsIn, until } from "../faults/until.ts";
import { tempFolder } from "../temp-folder.ts";
import {
  COMMAND,
  escapesThrough,
  leave,
  NEVER,
  openScreen,
  openShell,
  openTerminal,
  READY,
  rowsOf,
} from "./screen-kit.ts";
import { modelEnv } from "./screen-program.ts";
import { BIN, KEYS } from "./terminal-program.ts";

test("a line of megabytes in an answer is printed whole, and what follows it too", async () => {
  const size = 2_000_000;
  const { program } = await openScreen([says(`begin ${"x".repeat(size)} end\n\nafter it`)], {
    chunkSize: 200_000,
    columns: 200,
    rows: 50,
  });
  await program.typeUntil("go\r", "after it");
  expect(await leave(program)).toBe(0);
  // The terminal keeps 100,000 rows; all of them are counted as they come.
  const letters = program.emulator.written.split("x").length - 1;
  expect(letters).toBeGreaterThanOrEqual(size);
});

test("a pasted line of a megabyte stands as a mark, the input stays quick, and the model gets it whole", async () => {
  const { program, server } = await openScreen([says("Read it.")]);
  await program.typeUntil(KEYS.paste("y".repeat(1_000_000)), "[pasted 1000000 characters]");
  await program.typeUntil("and words\r", "Read it.");
  expect(JSON.stringify(server.requests[0]?.body)).toContain(`${"y".repeat(1_000_000)}and words`);
});

test.each([
  [1, 1],
  [3, 10],
])("started with %i rows of %i columns it takes a message, and ends well", async (rows, columns) => {
  const { program, server } = await openScreen([says("Fine.")], { rows, columns, ready: "" });
  await program.shows(() => program.emulator.written.includes("\u001B[?2004h"));
  program.type("go\r");
  await program.resize({ rows: 24, columns: 80 });
  await program.shows("Fine.");
  expect([server.requests.length, await leave(program)]).toEqual([1, 0]);
});

test("with input from a file there is no screen: the file is read with the prompt, and the answer printed plainly", async () => {
  const cwd = tempFolder({ "notes.txt": "the notes" });
  const server = await modelServer([says("An answer.")]);
  const program = openTerminal({
    cwd,
    env: modelEnv(server),
    command: ["bash", "-c", `"$0" "$1" "what is in it?" < notes.txt`, process.execPath, BIN],
  });
  const { code } = await program.end;
  const body = JSON.stringify(server.requests[0]?.body);
  expect([
    code,
    rowsOf(program).includes("An answer."),
    body.includes("the notes"),
    body.includes("what is in it?"),
  ]).toEqual([0, true, true, true]);
});

test("when the window is closed the program ends, with what it had started, and the session can be gone on with", async () => {
  const home = tempFolder();
  const cwd = tempFolder();
  const { program } = await openScreen(
    [
      calls("bash", { command: "echo $$ > job.pid; sleep 1000", background: true }),
      [says("It runs, and half of an answer"), waits(NEVER)],
    ],
    { home, cwd, args: ["--yolo"] },
  );
  await program.typeUntil("start it\r", "half of an answer");
  const jobs = (): readonly number[] => pidsIn(join(cwd, "job.pid"));
  await until(() => jobs().length === 1);
  program.hangUp();
  await program.end;
  expect(isAlive(program.pid)).toBe(false);
  await until(() => !jobs().some(isAlive));
  const again = await openScreen([says("Going on.")], {
    home,
    cwd,
    args: ["-c"],
    ready: "half of an answer",
  });
  await again.program.typeUntil("go on\r", "Going on.");
  expect(JSON.stringify(again.server.requests[0]?.body)).toContain("half of an answer");
});

test("a session whose process was killed in the middle of a run opens at rest, and is left as any other", async () => {
  const { program, server } = await openScreen([[says("Half"), waits(NEVER)]]);
  await program.typeUntil("go\r", "Half");
  program.signal("SIGKILL");
  await program.end;
  const { cwd, home } = program;
  const again = openTerminal({ cwd, home, args: ["-c"], env: modelEnv(server) });
  await again.shows((screen) => screen.includes("❯ go") && screen.includes("Stopped."));
  expect(again.emulator.screen.join("\n")).not.toMatch(/esc stops|queues/);
  again.type(KEYS.ctrl("c") + KEYS.ctrl("c"));
  expect((await again.end).code).toBe(0);
});

test("a laptop that sleeps in the middle of an answer shows the rest of it once, when it wakes", async () => {
  const gate = Promise.withResolvers<void>();
  const { program } = await openScreen([
    [says("The first part. "), waits(gate.promise), says("The second part.")],
  ]);
  await program.typeUntil("go\r", "The first part.");
  program.signal("SIGSTOP");
  program.type("typed in its sleep");
  gate.resolve();
  program.signal("SIGCONT");
  await program.shows((screen) => screen.includes("second part.") && screen.includes("typed in its sleep"));
  const text = program.emulator.rows.join("\n");
  expect([text.split("The first part.").length, text.split("The second part.").length]).toEqual([2, 2]);
  program.type(KEYS.ctrl("c"));
  await program.hides("typed in its sleep");
  expect(await leave(program)).toBe(0);
});

test("a disk that is full in the middle stops the run, says so and what is stored, and ends with 60", async () => {
  const gate = Promise.withResolvers<void>();
  const { program } = await openScreen([[waits(gate.promise), calls("read", { path: "." })], says("Read.")], {
    // A file may have so many blocks of 1,024 bytes and no more.
    command: ["bash", "-c", 'ulimit -f 3; trap "" XFSZ; exec "$@"', "bash", process.execPath, BIN],
    columns: 200,
    cwd: tempFolder({ [`${"n".repeat(200)}.txt`]: "", [`${"m".repeat(200)}.txt`]: "" }),
  });
  await program.typeUntil("look around\r", "esc stops");
  await program.typeUntil(`and then${KEYS.altEnter}`, "after 1 and then");
  gate.resolve();
  await program.shows(
    (screen) => screen.includes("The journal could not store") && screen.includes("stored and kept"),
  );
  await program.typeUntil("what I typed stays", "❯ what I typed stays");
  expect(program.emulator.screen.some((row) => row.includes("esc stops"))).toBe(false);
  await program.typeUntil(KEYS.altEnter, "after 2 what I typed stays");
  expect(await leave(program)).toBe(60);
  const rows = rowsOf(program);
  expect(rows.slice(rows.indexOf("Not sent and not saved:"), -1)).toEqual([
    "Not sent and not saved:",
    "  and then",
    "  what I typed stays",
  ]);
});

test("a message that could not be stored stands in the input again, and in the queue where that is taken", async () => {
  const { program } = await openScreen([calls("read", { path: "a".repeat(4_000) })], {
    command: ["bash", "-c", 'ulimit -f 3; trap "" XFSZ; exec "$@"', "bash", process.execPath, BIN],
    columns: 200,
  });
  const failures = (count: number) => (screen: string) =>
    screen.split("could not store").length > count && !screen.includes("esc stops");
  program.type("begin\r");
  await program.shows(failures(1));
  program.type("worth keeping\r");
  await program.shows(failures(2));
  await program.shows("❯ worth keeping");
  program.type(KEYS.altEnter);
  await program.shows(failures(3));
  await program.shows("after 1 worth keeping");
  expect(await leave(program)).toBe(60);
  const rows = rowsOf(program);
  expect(rows.slice(rows.indexOf("Not sent and not saved:"), -1)).toEqual([
    "Not sent and not saved:",
    "  worth keeping",
  ]);
});

test("names of files and branches that hold escapes are shown without them", async () => {
  const evil = "a\u001B]52;c;aGFja2Vk\u0007\u001B[2Jb\u009B31m.txt";
  const cwd = tempFolder({ [evil]: "x\n" });
  mkdirSync(join(cwd, ".git"));
  writeFileSync(join(cwd, ".git/HEAD"), "ref: refs/heads/\u001B]2;owned\u0007branch\n");
  const { program } = await openScreen(
    [
      calls("glob", { pattern: "*" }),
      calls("read", { path: evil }),
      calls("write", { path: `new-${evil}`, content: "y\n" }),
      says("Seen."),
    ],
    { cwd, args: ["--permission-mode", "acceptEdits"] },
  );
  await program.typeUntil("@a", ".txt");
  program.type(KEYS.ctrl("u"));
  await program.typeUntil("go\r", "Seen.");
  await program.typeUntil("/diff\r", "Changes");
  const untitled = program.emulator.written.replaceAll(/\u001B\]2;[^\u0007\u001B]*\u0007/g, "");
  expect([escapesThrough(program), untitled.includes("\u0007")]).toEqual([[], false]);
});

test("what the shell printed before stays in the scrollback, whatever the width of the window does", async () => {
  const server = await modelServer([says(Array.from({ length: 40 }, (_, at) => `row ${at}`).join("\n\n"))]);
  const program = await openShell({ env: modelEnv(server) });
  await program.typeUntil(`for i in $(seq 1 50); do echo before-$i; done; ${COMMAND}\r`, READY);
  await program.typeUntil("go\r", "row 39");
  for (const columns of [40, 100, 30, 80]) {
    await program.resize({ columns, rows: 24 });
    await program.typeUntil("x", (screen) => screen.includes("❯ x"));
  }
  program.type(KEYS.ctrl("c"));
  await program.hides("❯ xxxx");
  await program.typeUntil(KEYS.ctrl("d"), "To resume:");
  const text = program.emulator.rows.join("\n");
  const seen = Array.from(
    { length: 50 },
    (_, at) => text.split(new RegExp(`before-${at + 1}\\b`)).length - 1,
  );
  expect(seen).toEqual(Array.from({ length: 50 }, () => 1));
});

test("a reply of the terminal that comes after the end is typed into no shell", async () => {
  const server = await modelServer([says("Hello.")]);
  const program = await openShell({ env: modelEnv(server), answers: false });
  await program.typeUntil(`${COMMAND}\r`, READY);
  program.type(KEYS.ctrl("d"));
  await program.typeUntil(
    "\u001B]11;rgb:0000/0000/0000\u001B\\\u001B[?62;22c",
    (screen) => screen.split("prompt>").length === 3,
  );
  await program.typeUntil("echo the shell\r", (screen) => /^the shell$/m.test(screen));
  expect(rowsOf(program).filter((row) => row.includes("rgb:") || row.includes("62;22c"))).toEqual([]);
});

test.each(["SIGALRM", "SIGUSR2"])(
  "%s ends the program as ever, and leaves a usable terminal",
  async (name) => {
    const { program } = await openScreen([[says("Half"), waits(NEVER)]]);
    await program.typeUntil("go\r", "Half");
    program.signal(name);
    const { signal } = await program.end;
    const { emulator } = program;
    expect([
      signal,
      emulator.modes,
      emulator.written.split("\u001B[22;0t").length - emulator.written.split("\u001B[23;0t").length,
    ]).toEqual([
      constants.signals[name as NodeJS.Signals],
      { bracketedPaste: false, wraparound: true, synchronized: false },
      0,
    ]);
  },
);

test("when the program that started it is killed it ends, and the shell's prompt stays as the shell wrote it", async () => {
  const server = await modelServer([[says("Half"), waits(NEVER)]]);
  const program = await openShell({ env: modelEnv(server) });
  const agent = `echo $$ > agent.pid; exec ${COMMAND}`;
  writeFileSync(join(program.cwd, "wrapper.sh"), `echo $$ > wrapper.pid\nsh -c '${agent}'\ntrue\n`);
  await program.typeUntil("sh wrapper.sh\r", READY);
  await program.typeUntil("go\r", "Half");
  const [pid = 0] = pidsIn(join(program.cwd, "agent.pid"));
  for (const each of pidsIn(join(program.cwd, "wrapper.pid"))) process.kill(each, "SIGKILL");
  await until(() => !isAlive(pid));
  await program.typeUntil("echo the shell\r", (screen) => /^the shell$/m.test(screen));
  expect([
    program.emulator.written.includes("\u001B[23;0t"),
    program.emulator.screen.filter((row) => row.includes("echo the shell")).length,
  ]).toEqual([true, 1]);
});
