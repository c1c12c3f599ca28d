import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { calls, says, waits } from "../../src/testing/script.ts";
import { modelServer } from "../e2e/command.ts";
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
import { modelEnv, takesKeys } from "./screen-program.ts";
import { KEYS } from "./terminal-program.ts";

test("a question is answered on the screen, stays in the scrollback, and the terminal is as it was", async () => {
  const { program } = await openScreen([says("Hello **there**.\n\n- one\n- two")]);
  await program.typeUntil("hi\r", "• two");
  await program.shows("gpt-5");
  const code = await leave(program);
  const rows = rowsOf(program);
  expect({
    code,
    said: rows.slice(rows.indexOf("❯ hi"), rows.indexOf("• two") + 1),
    goOn: rows.at(-1)?.startsWith("To resume: nano-agent "),
    modes: program.emulator.modes,
    erased: program.emulator.written.includes("\u001B[3J"),
    alternate: program.emulator.written.includes("[?1049h"),
    title: program.emulator.written.includes("\u001B[23;0t"),
    column: program.emulator.cursor.column,
  }).toEqual({
    code: 0,
    said: ["❯ hi", "Hello there.", "• one", "• two"],
    goOn: true,
    modes: { bracketedPaste: false, wraparound: true, synchronized: false },
    erased: false,
    alternate: false,
    title: true,
    column: 0,
  });
});

test("a prompt on the command line is sent first", async () => {
  const server = await modelServer([says("Done with it.")]);
  const program = openTerminal({ args: ["do", "it"], env: modelEnv(server) });
  await program.shows("Done with it.");
  expect(rowsOf(program)).toContain("❯ do it");
  expect(await leave(program)).toBe(0);
});

test("a command asks, and a yes runs what was shown", async () => {
  const { program } = await openScreen([
    calls("bash", { command: "touch made; echo made it" }),
    says("It is there."),
  ]);
  await program.typeUntil("make it\r", "── ◆ Run ──");
  await program.shows("$ touch made; echo made it");
  // A question announces itself: nothing else says that it waits.
  expect(program.emulator.screen.join("\n")).not.toMatch(/waits|esc stops|● bash/);
  await takesKeys(program);
  expect(existsSync(join(program.cwd, "made"))).toBe(false);
  await program.typeUntil("1", "It is there.");
  expect(existsSync(join(program.cwd, "made"))).toBe(true);
  expect(await leave(program)).toBe(0);
});

test("a refusal with a reason reaches the model, and the run goes on", async () => {
  const { program, server } = await openScreen([
    calls("bash", { command: "rm -rf build" }),
    says("I will not."),
  ]);
  await program.typeUntil("clean up\r", "No, and say why");
  await takesKeys(program);
  await program.typeUntil("3", "enter say no");
  await program.typeUntil("use npm run clean\r", "I will not.");
  expect(JSON.stringify(server.requests.at(-1)?.body)).toContain("use npm run clean");
  expect(await leave(program)).toBe(3);
});

test("Shift+Tab in a question changes the mode, and the question goes where that allows the call", async () => {
  const { program } = await openScreen([
    calls("write", { path: "made", content: "x" }),
    says("It is there."),
  ]);
  await program.typeUntil("make it\r", "Allow all edits in this session");
  await takesKeys(program);
  await program.typeUntil(KEYS.shiftTab, "It is there.");
  await program.shows("plan: Reads only");
  expect(existsSync(join(program.cwd, "made"))).toBe(false);
});

test("a new folder is asked about once, and the answer is kept for it", async () => {
  const [cwd, home] = [tempFolder(), tempFolder()];
  const env = { NANO_AGENT_PERMISSION_MODE: "" };
  const ready = "How should nano-agent work in this folder?";
  const first = await openScreen([], { cwd, home, env, ready });
  await takesKeys(first.program);
  await first.program.typeUntil("3", READY);
  await first.program.shows("  plan · ");
  expect(await leave(first.program)).toBe(0);
  const again = await openScreen([], { cwd, home, env });
  await again.program.shows("  plan · ");
  expect(await leave(again.program)).toBe(0);
});

test("Escape stops the run, keeps what was written, and the next message finds it", async () => {
  const { program, server } = await openScreen([
    [says("The first half of it"), waits(NEVER)],
    says("Going on."),
  ]);
  await program.typeUntil("tell me\r", "The first half of it");
  await program.typeUntil(KEYS.escape, "(interrupted)");
  await program.typeUntil("go on\r", "Going on.");
  expect(JSON.stringify(server.requests.at(-1)?.body)).toContain("The first half of it");
  expect(await leave(program)).toBe(0);
});

test("Enter steers the run at work, Alt+Enter queues for after it, Alt+Up takes that back", async () => {
  const gate = Promise.withResolvers<void>();
  const { program, server } = await openScreen([
    [waits(gate.promise), calls("read", { path: "." })],
    says("Seen both."),
    says("And the queued one."),
  ]);
  await program.typeUntil("first\r", "esc stops");
  await program.typeUntil("steer me\r", "next    steer me");
  await program.typeUntil(`queued one${KEYS.altEnter}`, "after 1 queued one");
  await program.typeUntil(`wrong one${KEYS.altEnter}`, "after 2 wrong one");
  program.type(KEYS.altUp);
  await program.hides("after 2 wrong one");
  program.type(KEYS.ctrl("c"));
  gate.resolve();
  await program.shows("Seen both.");
  await program.shows("And the queued one.");
  expect(JSON.stringify(server.requests[1]?.body)).toContain("steer me");
  expect(rowsOf(program).filter((row) => row.includes("❯ first"))).toHaveLength(1);
});

test("what is typed while an answer streams stands at the terminal's own cursor", async () => {
  const gate = Promise.withResolvers<void>();
  const { program } = await openScreen([[says("Some text."), waits(gate.promise), says(" More of it.")]]);
  await program.typeUntil("go\r", "Some text.");
  await program.typeUntil("中文 abc", "中文 abc");
  const { screen, cursor } = program.emulator;
  expect([screen[cursor.row]?.trimEnd(), cursor.column]).toEqual(["❯ 中文 abc", 10]);
  gate.resolve();
  await program.shows("More of it.");
  expect(program.emulator.screen[program.emulator.cursor.row]?.trimEnd()).toBe("❯ 中文 abc");
});

test("control characters of an answer, a call and a file name never reach the terminal as such", async () => {
  const evil = "\u001B]52;c;aGFja2Vk\u0007\u001B]2;owned\u0007\u001B[2J\u009B31m\u202Egnp.exe";
  const { program } = await openScreen([
    calls("bash", { command: `echo hi # ${evil}` }),
    says(`Answer ${evil} end.`),
  ]);
  await program.typeUntil("go\r", "characters that do not show");
  await takesKeys(program);
  await program.typeUntil("1", "Answer");
  expect(escapesThrough(program)).toEqual([]);
});

for (const [name, code] of [
  ["SIGINT", 130],
  ["SIGTERM", 143],
  ["SIGHUP", 129],
] as const)
  test(`${name} from outside ends with ${code} and puts the terminal back`, async () => {
    const { program } = await openScreen([[says("Half"), waits(NEVER)]]);
    await program.typeUntil("go\r", "Half");
    program.signal(name);
    expect((await program.end).code).toBe(code);
    expect(program.emulator.modes).toEqual({ bracketedPaste: false, wraparound: true, synchronized: false });
    expect(program.emulator.written).toContain("\u001B[?2004l");
  });

test("the shell that started it has its terminal back: echo and line ends work, and no late reply is typed into it", async () => {
  const server = await modelServer([says("Hello.")]);
  const program = await openShell({ env: modelEnv(server) });
  // What is typed may break anywhere; only what is printed has a row of these two words.
  await program.typeUntil(
    `stty -a > before; ${COMMAND}; stty -a > after; cmp before after && echo same" "settings\r`,
    READY,
  );
  await program.typeUntil(KEYS.ctrl("d"), (screen) => /^same settings$/m.test(screen));
  await program.typeUntil("echo still here\r", (screen) => /^still here\nprompt>/m.test(screen));
  expect(
    rowsOf(program)
      .filter((row) => row.startsWith("prompt>"))
      .slice(1),
  ).toEqual(["prompt> echo still here", "prompt>"]);
});
