import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { calls, fails, says, waits } from "../../src/testing/script.ts";
import { tempFolder } from "../temp-folder.ts";
import { leave, NEVER, openScreen, READY, rowsOf } from "./screen-kit.ts";
import { KEYS } from "./terminal-program.ts";

/** One pixel. */
const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

const EDITS = { args: ["--permission-mode", "acceptEdits"] };

test("/diff shows what was changed, page by page; /undo takes it back, /redo brings it again, and neither says that the talk went back", async () => {
  const long = Array.from({ length: 60 }, (_, index) => `line ${index}`).join("\n");
  const { program } = await openScreen(
    [calls("write", { path: "long.txt", content: long }), says("Wrote it.")],
    EDITS,
  );
  const path = join(program.cwd, "long.txt");
  await program.typeUntil("write\r", "Wrote it.");
  await program.hides("esc stops");
  await program.typeUntil("/diff\r", (screen) => /── Changes ─+ 1-/.test(screen));
  await program.typeUntil("G", (screen) => screen.includes("line 59") && !screen.includes("line 2\n"));
  // What is typed behind the letter that closes it is typed.
  await program.typeUntil("q/undo\r", "/redo reverts this.");
  expect(existsSync(path)).toBe(false);
  await program.typeUntil("/redo\r", "Redone:");
  expect([readFileSync(path, "utf8"), rowsOf(program).some((row) => row.includes("Rewound"))]).toEqual([
    long,
    false,
  ]);
  expect(await leave(program)).toBe(0);
});

test("an export that fails is explained to the end, however long that is", async () => {
  const { program } = await openScreen([says("Hello.")], { columns: 60 });
  program.type("hi\r");
  await program.shows("Hello.");
  program.type("/export missing/folder/talk.md\r");
  await program.shows((screen) => /missing\/folder.*cannot\s+be\s+written.*\.$/ms.test(screen));
  expect(await leave(program)).toBe(0);
});

test("/export writes the conversation, /clear begins another one, which the model sees nothing of, and /resume brings it back", async () => {
  const { program, server } = await openScreen([says("First answer."), says("Second answer.")]);
  await program.typeUntil("/diff\r", "No call of this session has changed a file.");
  await program.typeUntil("first question\r", "First answer.");
  await program.hides("esc stops");
  await program.typeUntil("/export talk.md\r", (screen) => /written to \S*talk\.md/s.test(screen));
  await program.typeUntil("/clear\r", READY);
  await program.typeUntil("second question\r", "Second answer.");
  await program.typeUntil("/resume\r", "── Resume");
  await program.typeUntil(
    "\r",
    (screen) => screen.lastIndexOf("First answer.") > screen.indexOf("Second answer."),
  );
  // The title of the window follows the session that is shown.
  const runsInTitle = program.emulator.written.split("* nano-agent").length - 1;
  expect([
    readFileSync(join(program.cwd, "talk.md"), "utf8").includes("First answer."),
    JSON.stringify(server.requests[1]?.body).includes("first question"),
    runsInTitle,
  ]).toEqual([true, false, 2]);
});

test("/fork goes on in a copy, which has the conversation and leaves the session as it was", async () => {
  const { program, server } = await openScreen([says("First answer."), says("In the copy.")]);
  await program.typeUntil("first question\r", "First answer.");
  await program.hides("esc stops");
  await program.typeUntil("/fork\r", "This is a copy now.");
  await program.typeUntil("second question\r", "In the copy.");
  await program.hides("esc stops");
  await program.typeUntil("/resume\r", "── Resume");
  await program.typeUntil(
    "\r",
    (screen) => screen.lastIndexOf("First answer.") > screen.indexOf("In the copy."),
  );
  expect([
    JSON.stringify(server.requests[1]?.body).includes("first question"),
    rowsOf(program).join("\n").split("In the copy.").length,
  ]).toEqual([true, 2]);
});

test("Alt+Enter queues messages alone: a command of the screen, a shell line and a note are done at once", async () => {
  const gate = Promise.withResolvers<void>();
  const { program, server } = await openScreen([[says("Half"), waits(gate.promise)], says("Whole.")]);
  const queued = (text: string): void => program.type(`${text}${KEYS.altEnter}`);
  await program.typeUntil("go\r", "Half");
  queued("/nothing");
  await program.shows("There is no /nothing");
  program.type(KEYS.ctrl("u"));
  queued("/compact");
  await program.shows("esc stops it, then /compact");
  queued("! echo from-the-$((40 + 2))");
  await program.shows("from-the-42");
  queued("#mind the gap");
  await program.shows("remembered in AGENTS.md");
  queued("a message");
  await program.shows("after 1 a message");
  gate.resolve();
  await program.shows("Whole.");
  const sent = JSON.stringify(server.requests[1]?.body);
  expect([sent.includes("/compact"), sent.includes("#mind"), sent.includes("a message")]).toEqual([
    false,
    false,
    true,
  ]);
});

test("a note goes into the file of instructions that counts", async () => {
  const cwd = tempFolder({ "CLAUDE.md": "Be brief.\n" });
  const { program } = await openScreen([], { cwd });
  await program.typeUntil("#mind the gap\r", "remembered in CLAUDE.md");
  const read = readFileSync(join(cwd, "CLAUDE.md"), "utf8");
  expect([read, existsSync(join(cwd, "AGENTS.md"))]).toEqual(["Be brief.\n- mind the gap\n", false]);
});

test("/compact makes room, and says from how much to how much", async () => {
  const { program, server } = await openScreen([
    says("A long answer. ".repeat(200)),
    says("A short one."),
    says("They talked."),
  ]);
  await program.typeUntil("talk\r", "A long answer.");
  await program.hides("esc stops");
  await program.typeUntil("talk again\r", "A short one.");
  await program.hides("esc stops");
  await program.typeUntil("/compact keep the names\r", "Compacted from");
  await program.hides("making room");
  expect(JSON.stringify(server.requests[2]?.body)).toContain("keep the names");
});

test("/init asks the model for an AGENTS.md, /permissions lists mode and rules, /skills, /doctor, /context and /cost show theirs", async () => {
  const cwd = tempFolder({
    ".nano-agent/skills/release/SKILL.md": "---\nname: release\ndescription: how to release\n---\nDo it.\n",
  });
  const home = tempFolder({
    ".config/nano-agent/config.json": JSON.stringify({
      permissions: { allow: ["bash(npm test *)"], deny: ["read(.env)"] },
    }),
  });
  const { program, server } = await openScreen([says("Written.")], { cwd, home, rows: 40 });
  for (const [command, texts] of [
    [
      "/permissions",
      ["── Permissions ", "ask: Asks before every change", "bash(npm test *)", "read(.env)", "Built in"],
    ],
    ["/doctor", ["── Doctor ", "Node", "Model"]],
    ["/skills", ["── Skills ", "release", "how to release"]],
  ] as const) {
    await program.typeUntil(`${command}\r`, (screen) => texts.every((text) => screen.includes(text)));
    await program.typeUntil(KEYS.escape, READY);
  }
  await program.typeUntil("/init\r", "Written.");
  await program.hides("esc stops");
  await program.typeUntil(
    "/context\r",
    (screen) => screen.includes("instructions and tools") && screen.includes("your messages"),
  );
  await program.typeUntil("/cost\r", "1 run · 1 request · 0 calls");
  expect(JSON.stringify(server.requests[0]?.body)).toContain("AGENTS.md at its root");
});

test("Ctrl+V takes the image of the clipboard; with one a message waits in the queue, comes back whole and reaches the model", async () => {
  const gate = Promise.withResolvers<void>();
  const bin = tempFolder({ "wl-paste": `#!/bin/sh\nprintf %s '${PNG.toString("base64")}' | base64 -d\n` });
  chmodSync(join(bin, "wl-paste"), 0o755);
  const { program, server } = await openScreen([[says("Working."), waits(gate.promise)], says("A dot.")], {
    env: { PATH: `${bin}:${process.env["PATH"] ?? ""}` },
  });
  await program.typeUntil("go\r", "Working.");
  await program.typeUntil(KEYS.ctrl("v"), "[image]");
  await program.typeUntil(`what is it?${KEYS.altEnter}`, "after 1 [image] what is it?");
  await program.typeUntil(KEYS.altUp, "❯ [image] what is it?");
  await program.typeUntil(KEYS.altEnter, "after 1 [image] what is it?");
  gate.resolve();
  await program.shows("A dot.");
  const sent = JSON.stringify(server.requests[1]?.body);
  expect([sent.includes("what is it?"), sent.includes(PNG.toString("base64"))]).toEqual([true, true]);
  expect(await leave(program)).toBe(0);
});

test("the path of an image that is pasted becomes the image", async () => {
  const cwd = tempFolder({ "a b.png": "" });
  execFileSync("sh", [
    "-c",
    'printf %s "$1" | base64 -d > "$2"',
    "sh",
    PNG.toString("base64"),
    join(cwd, "a b.png"),
  ]);
  const { program, server } = await openScreen([says("A dot.")], { cwd });
  await program.typeUntil(KEYS.paste(join(cwd, "a\\ b.png")), "[image]");
  await program.typeUntil(" this\r", "A dot.");
  expect(JSON.stringify(server.requests[0]?.body)).toContain(PNG.toString("base64"));
});

test("a run that the queue began decides the exit code as any other", async () => {
  const gate = Promise.withResolvers<void>();
  const { program } = await openScreen([[says("Good."), waits(gate.promise)], fails("out of order")]);
  await program.typeUntil("go\r", "Good.");
  await program.typeUntil(`and then${KEYS.altEnter}`, "after 1 and then");
  gate.resolve();
  await program.shows("out of order");
  expect(await leave(program)).toBe(1);
});

test("a failure decides the exit code also after /clear, and no longer once another run went well", async () => {
  const { program } = await openScreen([fails("out of order"), says("Good now.")]);
  await program.typeUntil("go\r", "out of order");
  await program.typeUntil("/clear\r", READY);
  const other = await openScreen([fails("out of order"), says("Good now.")]);
  await other.program.typeUntil("go\r", "out of order");
  await other.program.typeUntil("again\r", "Good now.");
  expect([await leave(program), await leave(other.program)]).toEqual([1, 0]);
});

test.each([
  ["/quit", "/quit\r"],
  ["Ctrl+D", "\u0004"],
])("who stops a run and leaves by %s has failed at nothing", async (_name, keys) => {
  const { program } = await openScreen([[says("Half"), waits(NEVER)]]);
  await program.typeUntil("go\r", "Half");
  await program.typeUntil(KEYS.escape, "Stopped.");
  program.type(keys);
  expect((await program.end).code).toBe(0);
});

test("a steered message that came too late stands in the queue before what was queued", async () => {
  const { program } = await openScreen([[says("Half"), waits(NEVER)]]);
  await program.typeUntil("go\r", "Half");
  await program.typeUntil(`for later${KEYS.altEnter}`, "after 1 for later");
  await program.typeUntil("for now\r", "next    for now");
  await program.typeUntil(KEYS.escape, "after 2 for later");
  expect(rowsOf(program).flatMap((row) => /^\s+after \d (.*)/.exec(row)?.[1] ?? [])).toEqual([
    "for now",
    "for later",
  ]);
});

test("a background command of an earlier process is not shown as running", async () => {
  const home = tempFolder();
  const cwd = tempFolder();
  const first = await openScreen(
    [calls("bash", { command: "sleep 60", background: true }), says("It runs.")],
    { home, cwd, args: ["--yolo"] },
  );
  await first.program.typeUntil("start it\r", "background job_1");
  await first.program.shows("It runs.");
  expect(await leave(first.program)).toBe(0);
  const second = await openScreen([says("Yes.")], { home, cwd, args: ["-c"], ready: "It runs." });
  await second.program.typeUntil("again\r", "Yes.");
  expect(rowsOf(second.program).some((row) => row.includes("background job_1"))).toBe(false);
});

test("/until holds runs to a command, and the screen says after each round how it stands", async () => {
  const steps = [
    calls("write", { path: "a.txt", content: "bad" }),
    says("Done."),
    calls("write", { path: "a.txt", content: "good" }),
    says("Now it is good."),
  ];
  const { program } = await openScreen(steps, EDITS);
  await program.typeUntil("/until\r", "No command is to pass before a run ends.");
  await program.typeUntil("/until grep good a.txt\r", "A run ends when this passes: grep good a.txt");
  await program.typeUntil("go\r", "1 file changed · grep good a.txt passed after the last change");
  const screen = rowsOf(program).join("\n");
  expect(screen).toContain("grep good a.txt does not pass yet: exit code 1 · round 1 of 10");
  expect(screen).not.toContain("nothing was run");
  expect(await leave(program)).toBe(0);
});

test("Esc stops a run that /until keeps checking, and its words to the model are no place to go back to", async () => {
  const { program } = await openScreen([says("First."), says("Second.")], { columns: 100 });
  const command = "test -e told && sleep 60 || { touch told; false; }";
  await program.typeUntil(`/until ${command}\r`, "A run ends when this passes");
  program.type("go\r");
  await program.shows((screen) => screen.includes("Second.") && screen.includes("esc stops"));
  await program.typeUntil("\u001b", "Stopped");
  program.type("\u001b\u001b");
  await program.shows((screen) => screen.includes("go") && screen.includes("Rewind to before"));
  expect(rowsOf(program).join("\n")).not.toContain("This run is done when");
});
