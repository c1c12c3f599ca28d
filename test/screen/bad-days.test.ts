import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { calls, fails, says, waits } from "../../src/testing/script.ts";
import { modelServer } from "../e2e/command.ts";
import { tempFolder } from "../temp-folder.ts";
import { leave, NEVER, openScreen, openTerminal, READY, rowsOf } from "./screen-kit.ts";
import { modelEnv, nextSecond, takesKeys } from "./screen-program.ts";
import { KEYS } from "./terminal-program.ts";

test("a paste of 5,000 lines with escapes stands as a mark and is sent whole, without them", async () => {
  const { program, server } = await openScreen([says("Read it.")]);
  const lines = Array.from({ length: 5_000 }, (_, index) => `line ${index} \u001B[31mred\u0000`);
  await program.typeUntil(KEYS.paste(lines.join("\r")), "[pasted 5000 lines]");
  await program.typeUntil("\r", "Read it.");
  const sent = JSON.stringify(server.requests[0]?.body);
  expect([sent.includes("line 4999 red"), sent.includes("\\u001b"), sent.includes("\\u0000")]).toEqual([
    true,
    false,
    false,
  ]);
});

test("text and Enter in one read are sent together, and Shift+Enter makes a line", async () => {
  const { program, server } = await openScreen([says("One."), says("Two.")]);
  await program.typeUntil("all at once\r", "One.");
  await program.typeUntil("first\u001B[13;2usecond\\\rthird\r", "Two.");
  const sent = JSON.stringify(server.requests[1]?.body);
  expect([sent.includes("all at once"), sent.includes("first\\nsecond\\nthird")]).toEqual([true, true]);
});

test.each([
  [1, 1],
  [3, 10],
  [4, 20],
])("with %i rows of %i columns it runs, and shows all after the window has grown", async (rows, columns) => {
  const gate = Promise.withResolvers<void>();
  const { program } = await openScreen([
    [says("A first part. "), waits(gate.promise), says("A second part.")],
  ]);
  await program.resize({ rows, columns });
  program.type("go\r");
  gate.resolve();
  program.type("still typing");
  await program.resize({ rows: 24, columns: 80 });
  await program.shows("still typing");
  await program.shows("second part.");
  const text = program.emulator.rows.join("").replaceAll(/\s/g, "");
  expect([
    text.includes("Afirstpart.Asecondpart."),
    await leave({ ...program, type: () => program.type("\u0003\u0004") }),
  ]).toEqual([true, 0]);
});

test("a resize during a question keeps it whole, and the answer counts", async () => {
  const { program } = await openScreen([calls("bash", { command: "rm -rf build" }), says("Left it.")]);
  await program.typeUntil("go\r", "No, and say why");
  await program.resize({ columns: 50, rows: 20 });
  await program.shows((screen) => screen.includes("rm -rf build") && screen.includes("3  No, and say why"));
  await program.resize({ columns: 100, rows: 30 });
  await program.shows((screen) => screen.includes("rm -rf build") && screen.includes("3  No, and say why"));
  await takesKeys(program);
  await program.typeUntil("3", "enter say no");
  await program.typeUntil("\r", "Left it.");
  expect(rowsOf(program).filter((row) => row.includes("❯ go"))).toHaveLength(1);
});

test("the end of a long command is always shown, and v shows all of it", async () => {
  const command = `${Array.from({ length: 80 }, (_, index) => `echo step-${index}`).join("\n")}\nrm -rf important`;
  const { program } = await openScreen([calls("bash", { command }), says("No.")]);
  program.type("go\r");
  await program.shows(
    (screen) =>
      screen.includes("rm -rf important") &&
      screen.includes("more lines · v") &&
      screen.includes("1  Run once"),
  );
  await takesKeys(program);
  await program.typeUntil("v", "What is asked");
  await program.shows("echo step-0");
  await program.typeUntil(
    "G",
    (screen) => screen.includes("rm -rf important") && !screen.includes("step-0\n"),
  );
  await program.typeUntil("q", "No, and say why");
  expect(program.emulator.screen.join("\n")).toContain("rm -rf important");
});

test("a small window keeps the end of a command and the answers; one that has no room for them takes no yes", async () => {
  const command = `${"echo step\n".repeat(40)}rm -rf important`;
  const { program } = await openScreen([calls("bash", { command }), says("No.")], { columns: 30, rows: 10 });
  await program.typeUntil("go\r", "2  No, and say why");
  expect(program.emulator.screen.join("\n")).toMatch(
    /… \d+ more lines · v[^]*rm -rf important[^]*1 {2}Run once/,
  );
  await takesKeys(program);
  await program.resize({ columns: 30, rows: 6 });
  await program.shows("Window too small");
  program.type("1");
  await program.resize({ columns: 80, rows: 24 });
  await program.shows("2  No, and say why");
});

test("what is printed in the middle of an answer shows at once, fits the window, and stands behind the answer", async () => {
  const gate = Promise.withResolvers<void>();
  const { program } = await openScreen([[says("One. "), waits(gate.promise), says("Two.")]], { columns: 36 });
  await program.typeUntil("go\r", "One.");
  await program.typeUntil("/undo\r", "esc stops it");
  await program.typeUntil("/context\r", "your messages");
  gate.resolve();
  await program.shows("One. Two.");
  expect(await leave(program)).toBe(0);
  const rows = rowsOf(program);
  expect(rows.slice(rows.indexOf("❯ go"), -1)).toEqual([
    "❯ go",
    "One. Two.",
    expect.stringMatching(/^Context {2}.* of 400k tokens, 0%$/),
    expect.stringMatching(/^█+░+$/),
    expect.stringMatching(/^█ instructions and tools +[\d.]+k$/),
    expect.stringMatching(/^█ tool results +0$/),
    expect.stringMatching(/^█ your messages +\d+$/),
    expect.stringMatching(/^█ answers +\d+$/),
    "/compact frees space; it runs by",
    "itself near the end.",
  ]);
});

test("without UTF-8 everything of ours is ASCII, NO_COLOR leaves colours out, and without TERM it runs all the same", async () => {
  const { program } = await openScreen(
    [says("- one\n\n`code`"), calls("bash", { command: "npm test && rm -rf build && touch it" })],
    { env: { LANG: "C", NO_COLOR: "1", TERM: "" }, columns: 60 },
  );
  await program.typeUntil("go\r", "* one");
  for (const [typed, shown] of [
    ["/help\r", "Help"],
    ["q/context\r", "instructions and tools"],
    ["test\r", "No, and say why"],
  ] as const) {
    await program.typeUntil(typed, shown);
  }
  const { written } = program.emulator;
  expect([
    rowsOf(program).includes("> go"),
    /\u001B\[[\d;]*3[0-9][;m]|38;5/.test(written),
    written.match(/[^\u0000-\u007F]/gu)?.join("") ?? "",
  ]).toEqual([true, false, ""]);
});

test("a provider that is down is said with what to do, what is typed meanwhile stays, and the code tells it", async () => {
  const { program } = await openScreen([fails("the provider is down")]);
  await program.typeUntil("go\rnext thing", "✗");
  await program.shows("next thing");
  program.type(KEYS.ctrl("c"));
  await program.hides("next thing");
  expect(await leave(program)).toBe(1);
});

test("an answer that breaks off is shown as far as it came, and the next attempt shows all of it", async () => {
  const gate = Promise.withResolvers<void>();
  const { program } = await openScreen(
    [
      [says("## Parts\n\nThe first part. "), waits(gate.promise), fails("overloaded")],
      says("## Parts\n\nBoth parts, whole."),
    ],
    { env: { NANO_AGENT_MAX_RETRIES: "1" } },
  );
  await program.typeUntil("go\r", "The first part.");
  gate.resolve();
  await program.shows("Both parts, whole.");
  expect(await leave(program)).toBe(0);
  const rows = rowsOf(program);
  expect(rows.slice(rows.indexOf("❯ go"), -1)).toEqual([
    "❯ go",
    "Parts",
    "The first part.",
    "(broken off)",
    "Parts",
    "Both parts, whole.",
  ]);
});

test("kill -INT in raw mode, twice, ends at once and leaves a usable terminal", async () => {
  const { program } = await openScreen([[says("Half"), waits(NEVER)]]);
  await program.typeUntil("go\r", "Half");
  program.signal("SIGINT");
  program.signal("SIGINT");
  expect((await program.end).code).toBe(130);
  expect(program.emulator.modes).toEqual({ bracketedPaste: false, wraparound: true, synchronized: false });
});

test("a terminal that answers no question is not a reason to wait", async () => {
  const { program } = await openScreen([says("Hello.")], { answers: false });
  await program.typeUntil("go\r", "Hello.");
  expect(await leave(program)).toBe(0);
});

test("a table taller than the screen and 400 nested quotes are printed whole, once", async () => {
  const table = [
    "| n | square |",
    "|---|---:|",
    ...Array.from({ length: 60 }, (_, index) => `| ${index} | ${index * index} |`),
  ].join("\n");
  const { program } = await openScreen([says(`${table}\n\n${">".repeat(400)} deep\n\nend`)]);
  await program.typeUntil("go\r", "end");
  const rows = rowsOf(program);
  const cells = rows.flatMap((row) => /^(\d+)\s*│/.exec(row)?.[1] ?? []);
  expect([cells, rows.filter((row) => row.includes("deep"))]).toEqual([
    Array.from({ length: 60 }, (_, index) => String(index)),
    ["│ │ │ │ │ │ deep"],
  ]);
});

test("two screens on one session: the second one says who has it and how to go on", async () => {
  const home = tempFolder();
  const cwd = tempFolder();
  const { program, server } = await openScreen([says("Hello.")], { home, cwd });
  await program.typeUntil("go\r", "Hello.");
  const env = modelEnv(server);
  const second = openTerminal({ home, cwd, env, args: ["-c"] });
  const { code } = await second.end;
  expect([code, second.emulator.rows.join("").replaceAll(" ", "").includes("--fork-session")]).toEqual([
    60,
    true,
  ]);
});

test("a session that another screen has is not taken up by /resume: what stood on the screen stays, and so does what waits", async () => {
  const [home, cwd] = [tempFolder(), tempFolder()];
  const { program, server } = await openScreen([says("Hello."), says("Still here.")], { home, cwd });
  await program.typeUntil("go\r", "Hello.");
  const env = modelEnv(server);
  const second = openTerminal({ home, cwd, env });
  await second.shows(READY);
  await second.typeUntil("/resume\r", "── Resume");
  await second.typeUntil("\r", "--fork-session");
  await second.typeUntil("another\r", "Still here.");
  expect(await leave(second)).toBe(0);
  // Without a session to stay in, the list stands there again.
  const third = openTerminal({ home, cwd, env, args: ["-r"] });
  await third.shows("── Resume");
  third.type(`${KEYS.down}\r`);
  await third.shows(
    (screen) =>
      screen.indexOf("── Resume") > screen.indexOf("--fork-session") && screen.includes("--fork-session"),
  );
  await third.typeUntil("\r", "Still here.");
  expect(await leave(third)).toBe(0);
});

const STREAMED = Array.from(
  { length: 30 },
  (_, index) =>
    `Line ${index} with **bold**, \`code\` and 中文 text that is long enough to be broken somewhere in a narrow window.`,
);

test("for random windows and chunkings, scrollback and screen hold every line of an answer once and in order", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 40 }),
      fc.array(
        fc.record({ columns: fc.integer({ min: 30, max: 120 }), rows: fc.integer({ min: 12, max: 40 }) }),
        { maxLength: 4 },
      ),
      async (chunkSize, sizes) => {
        const gates = sizes.map(() => Promise.withResolvers<void>());
        const part = Math.ceil(STREAMED.length / (sizes.length + 1));
        const pieces = Array.from({ length: sizes.length + 1 }, (_, index) => [
          says(
            `${STREAMED.slice(index * part, (index + 1) * part).join("\n\n")}\n\npart ${index} is over\n\n`,
          ),
          ...(gates[index] === undefined ? [] : [waits(gates[index].promise)]),
        ]);
        const { program } = await openScreen([[...pieces.flat(), says("The end.")]], { chunkSize });
        program.type("go\r");
        for (const [index, size] of sizes.entries()) {
          await program.shows(`part ${index} is over`);
          // Of a frame that reaches a window of another size parts of what is drawn in place may stay behind:
          // the next one is a second away.
          await nextSecond(program);
          await program.resize(size);
          gates[index]?.resolve();
        }
        await program.shows("The end.");
        const text = program.emulator.rows.join(" ").replaceAll(/part \d is over/g, "");
        const numbers = [...text.matchAll(/Line (\d+) with/g)].map(([, number]) => Number(number));
        expect(numbers).toEqual(STREAMED.map((_, index) => index));
        const shown = text.replaceAll(/\s/g, "");
        expect(STREAMED.filter((line) => !shown.includes(line.replaceAll(/[*`\s]/g, "")))).toEqual([]);
        program.close();
      },
    ),
    { numRuns: 5, endOnFailure: true },
  );
});

test("what a project brings is a list to decide on, and nothing of it acts before", async () => {
  const cwd = tempFolder({
    "nano-agent.json": JSON.stringify({ permissions: { allow: ["bash(touch *)"] } }),
  });
  mkdirSync(join(cwd, ".git"));
  const server = await modelServer([says("Hi.")]);
  const program = openTerminal({ cwd, env: modelEnv(server) });
  await program.shows("can act");
  await program.shows("Leave them out");
  await program.typeUntil(KEYS.escape, READY);
  expect(await leave(program)).toBe(0);
});

test("a yes to what a project brings leaves the conversation that goes on meanwhile", async () => {
  const cwd = tempFolder({
    "nano-agent.json": JSON.stringify({ permissions: { allow: ["bash(touch *)"] } }),
  });
  mkdirSync(join(cwd, ".git"));
  const server = await modelServer([says("The answer.")]);
  const program = openTerminal({ cwd, env: modelEnv(server), args: ["do it"] });
  await program.shows("The answer.");
  await program.typeUntil(KEYS.down, "▸ Trust them");
  await program.typeUntil("\r", "trusted: it counts from the next start");
  expect(program.emulator.screen.join("\n")).toContain("The answer.");
  expect(await leave(program)).toBe(0);
});

test("what a person trusts is what was shown, not what the project has become", async () => {
  const rulesFor = (program: string): string =>
    JSON.stringify({ permissions: { allow: [`bash(${program} *)`] } });
  const cwd = tempFolder({ "nano-agent.json": rulesFor("touch") });
  mkdirSync(join(cwd, ".git"));
  const program = openTerminal({ cwd, env: modelEnv(await modelServer([])) });
  await program.shows("Leave them out");
  writeFileSync(join(cwd, "nano-agent.json"), rulesFor("evil"));
  await program.typeUntil(KEYS.down, "▸ Trust them");
  const isOver = (screen: string): boolean => /▸ Leave them out|trusted: it counts/.test(screen);
  await program.typeUntil("\r", isOver);
  expect(program.emulator.screen.join("\n")).toContain("▸ Leave them out");
  await program.typeUntil(KEYS.escape, READY);
  expect(await leave(program)).toBe(0);
});
