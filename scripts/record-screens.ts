import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { DEMO_PROJECT } from "../src/faces/cli/commands/demo-script.ts";
import { calls, says, thinks, waits } from "../src/testing/script.ts";
import { startScreen, takesKeys } from "../test/screen/screen-program.ts";
import type { ProgramInTerminal } from "../test/screen/terminal-program.ts";
import { type RecordedFrame, screenPicture, screenRecording, snapshotOf } from "./screen-picture.ts";

/**
 * Makes the pictures and texts of docs/screen.md from real runs of the built command in a terminal, with a
 * scripted model: `node scripts/record-screens.ts`. Writes docs/assets/screen-*.svg and the texts between the
 * marks of docs/screen.md.
 */

const root = join(import.meta.dirname, "..");

/** One picture: what the model does, what the person does, and when to look. */
interface Scene {
  readonly name: string;
  readonly columns?: number;
  readonly rows?: number;
  readonly env?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  readonly light?: boolean;
  /** Whether the text of the screen goes into the page, in place of a picture. */
  readonly asText?: boolean;
  readonly steps: Parameters<typeof startScreen>[0];
  /** `film` adds what is shown now to a recording, for so many seconds; a scene that calls it becomes one. */
  readonly play: (program: ProgramInTerminal, film: (seconds: number) => void) => Promise<void>;
}

const never = new Promise<never>(() => undefined);
const steered = Promise.withResolvers<void>();

const ANSWER = `## What was wrong

The pattern tries \`m\` before \`ms\`, so **250ms** was read as 250 minutes. The longer unit comes first now:

\`\`\`js
// the longer units first
const part = /(\\d+(?:\\.\\d+)?)\\s*(ms|d|h|m|s)/g;
\`\`\`

| input | before | after |
|-------|-------:|------:|
| 250ms | 15000000 | 250 |
| 1h 30m | 5400000 | 5400000 |

- all four tests pass
- the test itself is as it was, see [the runner](https://nodejs.org/api/test.html)`;

const EDIT = calls("edit", {
  path: "src/parse-duration.js",
  edits: [{ old_string: "(d|h|m|s|ms)/g;", new_string: "(ms|d|h|m|s)/g;" }],
});

const WORK: Scene["steps"] = [
  [
    thinks("The test says 250ms is read as minutes. Let me look at the parser."),
    calls("read", { path: "src/parse-duration.js" }),
    calls("bash", { command: "node --test" }),
  ],
  EDIT,
  says(ANSWER),
];

const SCENES: readonly Scene[] = [
  {
    name: "start",
    steps: [says("Hello.")],
    play: async (program) => {
      await program.shows("What should nano-agent do?");
    },
  },
  {
    name: "evidence",
    args: ["--permission-mode", "acceptEdits", "--until", "node --test"],
    steps: [
      calls("read", { path: "src/parse-duration.js" }),
      says("The order of the units looks right to me."),
      EDIT,
      says("The longer unit comes first now."),
    ],
    play: async (program) => {
      program.type("Fix the failing test.\r");
      await program.shows("passed after the last change");
      await program.hides("esc stops");
    },
  },
  {
    name: "network",
    args: ["--permission-mode", "auto"],
    steps: [
      calls("bash", {
        command: "npm install --save-dev fast-check",
        access: "network",
        reason: "The property test needs fast-check from the npm registry.",
      }),
      says("Done."),
    ],
    play: async (program) => {
      program.type("add a property test for the parser\r");
      await program.shows("No, and say why");
    },
  },
  {
    name: "resume",
    args: ["--permission-mode", "acceptEdits", "--allowed-tools", "bash(node --test)"],
    steps: [...WORK, says("Durations are sums of numbers with units.")],
    play: async (program) => {
      program.type("A test fails. Find out why and fix it.\r");
      await program.shows("the runner");
      await program.hides("esc stops");
      program.type("/clear\r");
      await program.shows("What should nano-agent do?");
      program.type("What does this project do?\r");
      await program.shows("sums of numbers");
      await program.hides("esc stops");
      program.type("/resume\r");
      await program.shows("── Resume");
    },
  },
  {
    name: "answer",
    rows: 40,
    args: ["--permission-mode", "acceptEdits", "--allowed-tools", "bash(node --test)"],
    steps: WORK,
    play: async (program) => {
      program.type("A test fails. Find out why and fix it.\r");
      await program.shows("the runner");
      await program.shows((screen) => !screen.includes("esc stops"));
    },
  },
  {
    name: "edit-question",
    light: true,
    steps: [calls("read", { path: "src/parse-duration.js" }), EDIT, says("Done.")],
    play: async (program) => {
      program.type("fix it\r");
      await program.shows("No, and say why");
    },
  },
  {
    name: "ask",
    steps: [
      calls("ask_user", {
        questions: [
          {
            question: "How should 250ms be told from 250m?",
            options: [
              { label: "By order", description: "The longer units are tried first. One line changes." },
              { label: "By a table", description: "Units in a map; an unknown one is an error." },
            ],
          },
          { question: "Which tests?", options: [{ label: "unit" }, { label: "property" }], multiple: true },
        ],
      }),
      says("Done."),
    ],
    play: async (program) => {
      program.type("fix the parser, ask me what is mine to decide\r");
      await program.shows("esc no answer");
    },
  },
  {
    name: "plan",
    light: true,
    args: ["--permission-mode", "plan"],
    steps: [
      calls("read", { path: "src/parse-duration.js" }),
      calls("present_plan", {
        plan: "## Plan\n\n1. Put `ms` before `m` in the pattern of `src/parse-duration.js`.\n2. Add a test for `1m 250ms`.\n3. Run `node --test`.",
      }),
      says("Done."),
    ],
    play: async (program) => {
      program.type("fix the parser\r");
      await program.shows("esc keep planning");
    },
  },
  {
    name: "work",
    rows: 30,
    args: ["--extra-tools", "todo", "--allowed-tools", "bash(sleep *)"],
    steps: [
      calls("todo", {
        todos: [
          { content: "Find the fault", status: "completed" },
          { content: "Put the longer unit first", status: "in_progress" },
          { content: "Run the tests", status: "pending" },
        ],
      }),
      [
        thinks("The order of the units decides."),
        says("The units are tried in the order of the pattern, so "),
        waits(never),
      ],
    ],
    play: async (program) => {
      program.type("fix the parser\r");
      await program.shows("so");
      program.type("keep the order of the table as it is\r");
      await program.shows("next ");
      program.type("then update the README\u001B\r");
      await program.shows("after 1 then update");
      program.type("and write a changelog entry\u001B\r");
      await program.shows("after 2 and write");
      program.type("what I type while it works 中文");
      await program.shows("中文");
    },
  },
  {
    name: "completion",
    steps: [says("Hello.")],
    play: async (program) => {
      program.type("look at @dur");
      await program.shows("duration.test.js");
    },
  },
  {
    name: "chinese",
    asText: true,
    columns: 40,
    rows: 26,
    args: ["--permission-mode", "acceptEdits"],
    steps: [
      calls("read", { path: "src/parse-duration.js" }),
      says(
        "## 原因\n\n正则表达式先匹配 `m`，所以“250ms”被读成 **250 分钟**。把较长的单位放在前面即可。\n\n1. 修改 `src/parse-duration.js`\n2. 运行测试，确认全部通过\n\n| 单位 | 毫秒 |\n|------|-----:|\n| 分钟 | 60000 |\n| 毫秒 | 1 |",
      ),
    ],
    play: async (program) => {
      program.type("测试失败了，请找出原因\r");
      await program.shows("毫秒 │");
      await program.shows((screen) => !screen.includes("esc"));
    },
  },
  {
    name: "phone",
    asText: true,
    columns: 40,
    rows: 24,
    steps: [calls("bash", { command: "npm test && git push origin main" }), says("Done.")],
    play: async (program) => {
      program.type("test and push\r");
      await program.shows("No, and say why");
    },
  },
  {
    name: "plain",
    asText: true,
    args: ["--plain"],
    steps: [calls("bash", { command: "rm -rf build" }), says("I leave it there.")],
    play: async (program) => {
      await program.shows(">");
      program.type("clean up\r");
      await program.shows("Number");
      // A question takes no line that was begun for something else.
      await setTimeout(500);
      program.type("3 it is still needed\r");
      await program.shows("I leave it there.");
      program.type("/quit\r");
      await program.end;
    },
  },
  {
    name: "recording",
    rows: 30,
    steps: [
      [
        thinks("250ms is read as minutes. Let me look at the parser and run the tests."),
        calls("read", { path: "src/parse-duration.js" }),
        calls("bash", { command: "node --test" }),
      ],
      EDIT,
      [
        says("The longer unit comes first now. "),
        waits(steered.promise),
        calls("bash", { command: "node --test" }),
      ],
      says(ANSWER),
    ],
    play: async (program, film) => {
      film(1);
      await typed(program, "a test fails: find out why and fix it", () => film(0.12));
      program.type("\r");
      await asked(program);
      film(3);
      program.type("2");
      await program.shows("◆ Edit");
      await asked(program);
      film(4);
      program.type("1");
      await program.shows("The longer unit comes first");
      film(1);
      await typed(program, "leave the test as it is", () => film(0.12));
      program.type("\r");
      await program.shows("next ");
      film(2);
      steered.resolve();
      await program.shows("the runner");
      await program.hides("esc stops");
      film(5);
      program.type("/diff\r");
      await program.shows("Changes");
      film(4);
    },
  },
];

/** Resolves when a question takes an answer. */
async function asked(program: ProgramInTerminal): Promise<void> {
  await program.shows("No, and say why");
  await takesKeys(program);
}

/** Types a text word by word. */
async function typed(program: ProgramInTerminal, text: string, onWord: () => void): Promise<void> {
  let so = "";
  for (const word of text.split(/(?<= )/)) {
    so += word;
    program.type(word);
    await program.shows(`❯ ${so.trimEnd()}`);
    onWord();
  }
}

const only = process.argv.slice(2);
for (const scene of SCENES) if (only.length === 0 || only.includes(scene.name)) await record(scene);

async function record(scene: Scene): Promise<void> {
  const { name, columns = 80, rows = 24, steps, args = [], light = false, env = {} } = scene;
  const folder = mkdtempSync(join(tmpdir(), "duration-"));
  const project = join(folder, "duration");
  for (const [path, text] of Object.entries(DEMO_PROJECT)) {
    mkdirSync(dirname(join(project, path)), { recursive: true });
    writeFileSync(join(project, path), text);
  }
  const { program, close } = await startScreen(steps, {
    chunkSize: 8,
    columns,
    rows,
    args,
    env,
    cwd: project,
    home: folder,
    background: light ? "#ffffff" : "#0d1521",
  });
  const frames: RecordedFrame[] = [];
  const film = (seconds: number): void => void frames.push({ ...snapshotOf(program.emulator), seconds });
  try {
    if (!args.includes("--plain")) await program.shows("What should nano-agent do?");
    await scene.play(program, film);
    if (scene.asText === true) insert(name, program.emulator.rows.join("\n"));
    else
      writeFileSync(
        join(root, `docs/assets/screen-${name}.svg`),
        frames.length > 0
          ? screenRecording(frames, { columns, light })
          : screenPicture(snapshotOf(program.emulator), { columns, light }),
      );
    console.log(name);
  } finally {
    await close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Puts a text between its marks in the page. */
function insert(name: string, text: string): void {
  const path = join(root, "docs/screen.md");
  const page = readFileSync(path, "utf8");
  const begin = `<!-- screen:${name} -->`;
  const end = `<!-- /screen:${name} -->`;
  const [before, rest] = page.split(begin);
  const after = rest?.split(end)[1];
  if (before === undefined || after === undefined)
    throw new Error(`docs/screen.md has no place for ${name}: ${begin} … ${end}`);
  const rows = text.split("\n").map((row) => row.trimEnd());
  writeFileSync(path, `${before}${begin}\n\`\`\`text\n${rows.join("\n").trim()}\n\`\`\`\n${end}${after}`);
}
