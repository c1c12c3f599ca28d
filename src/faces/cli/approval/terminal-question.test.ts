import fc from "fast-check";
import { expect, test } from "vitest";
import type { Question, QuestionReply } from "../../../view/question.ts";
import { columnsOf } from "../../text/columns.ts";
import { styleFor } from "../style.ts";
import type { KeyListener, TerminalKeys } from "./terminal-keys.ts";
import { TerminalQuestion, type TerminalQuestionOptions } from "./terminal-question.ts";
import { keyLine, questionLines } from "./terminal-question-lines.ts";

const STYLE = styleFor(false, {});

interface QuestionParts extends Partial<Question> {
  readonly rule?: string | undefined;
}

function question({ rule = "bash(rm x*)", ...extra }: QuestionParts = {}): Question {
  return {
    id: "question_1",
    type: "permission",
    time: 0,
    callId: "call_1",
    tool: "bash",
    input: { command: "make && rm x" },
    reason: "",
    choices: [
      { choice: "once" },
      ...(rule === "" ? [] : [{ choice: "always" as const, rule }]),
      { choice: "no" },
      { choice: "stop" },
    ],
    ...extra,
  };
}

/** A terminal whose keys a test presses. */
function terminal(options: { readonly quietMs?: number } = {}) {
  const log: string[] = [];
  let listener: KeyListener | undefined;
  const keys: TerminalKeys = {
    open: (each) => {
      log.push("taken");
      return {
        start: () => {
          listener = each;
        },
        close: () => {
          log.push("given back");
          listener = undefined;
        },
      };
    },
  };
  let written = "";
  const output = {
    isTerminal: true,
    write: (text: string) => void (written += text),
    isFull: false,
    drain: async () => undefined,
    onBroken: () => undefined,
  };
  const settings: TerminalQuestionOptions = {
    keys,
    output,
    style: STYLE,
    width: () => 80,
    hold: () => {
      log.push("held");
      return () => void log.push("released");
    },
    onInterrupt: () => void log.push("interrupt"),
    quietMs: options.quietMs ?? 0,
  };
  const prompt = {
    ask: (asked: Question, signal = new AbortController().signal): Promise<QuestionReply> =>
      new TerminalQuestion(asked, signal, settings).ask(),
  };
  const press = (...texts: readonly string[]): void => {
    for (const text of texts) listener?.onKeys(text);
  };
  return { prompt, press, log, end: () => listener?.onEnd(), written: () => written };
}

test.each([
  ["1", { choice: "once" }],
  ["2", { choice: "always", rule: "bash(rm x*)" }],
  ["\u001B", { choice: "stop" }],
  ["\u0004", { choice: "no" }],
])("the key %j answers, and the terminal is given back", async (key, reply) => {
  const { prompt, press, log } = terminal();
  const asked = prompt.ask(question());
  press(key);
  expect(await asked).toEqual(reply);
  expect(log).toEqual(["held", "taken", "given back", "released"]);
});

test("a no may say why: that is typed, mended and sent, and may be left again", async () => {
  const { prompt, press } = terminal();
  const asked = prompt.ask(question());
  press("3", "never mind", "\u001B", "3", "use gitt", "\u007F", "\u001B[D", " in\u202E", "stead\r");
  expect(await asked).toEqual({ choice: "no", reason: "use git in stead" });
});

test("several keys at once, others, and those not offered are not an answer", async () => {
  const { prompt, press } = terminal();
  const asked = prompt.ask(question({ rule: "" }));
  press("11", "1\r", "\r", "x", "y", "3", "\u001B[A", "1\n");
  press("2", "\r");
  expect(await asked).toEqual({ choice: "no", reason: "" });
});

test("a key counts only after a moment without keys", async () => {
  const { prompt, press } = terminal({ quietMs: 30 });
  const asked = prompt.ask(question());
  press("1", "1", "1");
  const outcome = await Promise.race([asked, Promise.resolve("open")]);
  expect(outcome).toBe("open");
  const poll = setInterval(() => press("2"), 45);
  try {
    expect(await asked).toMatchObject({ choice: "always" });
  } finally {
    clearInterval(poll);
  }
});

test("Ctrl-C gives the terminal back and ends the run instead of answering", async () => {
  const controller = new AbortController();
  const { prompt, press, log } = terminal({ quietMs: 5_000 });
  const asked = prompt.ask(question(), controller.signal);
  press("\u0003");
  expect(log).toEqual(["held", "taken", "given back", "interrupt"]);
  controller.abort(new Error("ended"));
  await expect(asked).rejects.toThrow("ended");
  expect(log.at(-1)).toBe("released");
});

test("a terminal that goes away refuses, and one that cannot be had rejects", async () => {
  const gone = terminal();
  const asked = gone.prompt.ask(question());
  gone.end();
  expect(await asked).toEqual({ choice: "no", reason: "the terminal is gone" });
  const none: TerminalKeys = {
    open: () => {
      throw new Error("no terminal");
    },
  };
  const { log } = terminal();
  const asking = new TerminalQuestion(question(), new AbortController().signal, {
    keys: none,
    output: {
      isTerminal: true,
      write: () => undefined,
      isFull: false,
      drain: async () => undefined,
      onBroken: () => undefined,
    },
    style: STYLE,
    width: () => 80,
    hold: () => () => void log.push("released"),
    onInterrupt: () => undefined,
  });
  await expect(asking.ask()).rejects.toThrow("no terminal");
  expect(log).toEqual(["released"]);
});

test("a question shows the whole call, what it reaches, why, and the answers with their numbers", () => {
  const asked = question({
    runs: "network",
    input: { command: "npm install msw && npm test", access: "network", reason: "msw is not installed" },
    reason: "The rule bash(npm*) asks before it.",
    rule: "bash(npm install*)",
  });
  expect(questionLines(asked, { style: STYLE, width: 80, whole: false })).toEqual([
    "? Run with network",
    "│ npm install msw && npm test",
    "  Reaches the network. Its files stay in the sandbox.",
    "  Reason given: msw is not installed",
    "  The rule bash(npm*) asks before it.",
    "  1  Run once",
    "  2  Always run npm install* here",
    "  3  No, and say why",
  ]);
});

test("edits are shown as what goes and what comes", () => {
  const asked = question({
    tool: "edit",
    input: { path: "a.ts", edits: [{ old_string: "one\ntwo", new_string: "three", replace_all: true }] },
    choices: [{ choice: "once" }, { choice: "edits" }, { choice: "no" }, { choice: "stop" }],
  });
  expect(questionLines(asked, { style: STYLE, width: 80, whole: false })).toEqual([
    "? Edit a.ts",
    "│ a.ts",
    "│ - one",
    "│ - two",
    "│ + three",
    "│ (everywhere in the file)",
    "  1  Allow once",
    "  2  Allow all edits in this session",
    "  3  No, and say why",
  ]);
});

test("a path with a line feed in it begins no row that looks like a part of the change", () => {
  const edits = [{ old_string: "one", new_string: "two" }];
  const asked = question({ tool: "edit", input: { path: "a.ts\n+ three", edits } });
  expect(questionLines(asked, { style: STYLE, width: 80, whole: false }).slice(1, 4)).toEqual([
    "│ a.ts‹U+000A›+ three",
    "│ - one",
    "│ + two",
  ]);
});

test("a question of a subagent says whose it is", () => {
  const asked = question({ agent: "general" });
  expect(questionLines(asked, { style: STYLE, width: 80, whole: true })[0]).toBe("? general: Run");
});

test("the key that shows more stands only where there is more", () => {
  const look = { style: STYLE, width: 80 };
  expect([false, true].map((whole) => keyLine(question(), { ...look, whole }))).toEqual([
    "  1-3 answer, esc stops the run, v shows all of it",
    "  1-3 answer, esc stops the run",
  ]);
});

test("of a long command the middle is left out until it is asked for, and its end is shown", () => {
  const command = `${"echo padding && ".repeat(400)}rm -rf /`;
  const asked = question({ input: { command } });
  const short = questionLines(asked, { style: STYLE, width: 80, whole: false });
  const whole = questionLines(asked, { style: STYLE, width: 80, whole: true });
  expect({
    short: short.length < 35,
    said: short.some((line) => line.includes("more rows, shown with v")),
    end: short.some((line) => line.startsWith("│") && line.endsWith("rm -rf /")),
    whole: whole
      .filter((line) => line.startsWith("│ "))
      .map((line) => line.slice(2))
      .join(""),
  }).toEqual({ short: true, said: true, end: true, whole: command });
});

test("no text of a call leaves its bar, moves the cursor, or hides a character", () => {
  const nasty = fc.string({
    unit: fc.constantFrom(..."ab \n\r\t\u001B[2J\u202E\u200B\u0007漢👩字\uD800\u00A0".split("")),
    maxLength: 300,
  });
  fc.assert(
    fc.property(nasty, nasty, fc.integer({ min: 20, max: 120 }), (command, reason, width) => {
      const lines = questionLines(question({ input: { command }, reason, rule: `bash(${command})` }), {
        style: STYLE,
        width,
        whole: true,
      });
      for (const line of lines) {
        expect(/[\p{Cc}\p{Cs}\u202E\u200B\u00A0]/u.test(line)).toBe(false);
        expect(/^(?:│ | {2}|\? )/.test(line)).toBe(true);
        // A sentence of our own is longer than a narrow window.
        if (!/^ {2}It has|^\? /.test(line)) expect(columnsOf(line)).toBeLessThanOrEqual(width);
      }
    }),
  );
});

test("a yes to a call that was not shown whole shows it first", async () => {
  const { prompt, press, written } = terminal();
  const rows = Array.from({ length: 40 }, (_, index) => `echo row-${index}`);
  const asked = prompt.ask(question({ input: { command: rows.join("\n") } }));
  const first = written();
  press("1");
  expect([first.includes("row-20"), written().includes("row-20")]).toEqual([false, true]);
  press("1");
  expect(await asked).toEqual({ choice: "once" });
});

test("a key that is held shows all of a question and does not answer it", async () => {
  const { prompt, press } = terminal({ quietMs: 1 });
  const asked = prompt.ask(question({ input: { command: "x\n".repeat(100) } }));
  const answered = (): Promise<unknown> =>
    Promise.race([asked, new Promise((done) => setImmediate(done, "open"))]);
  await new Promise((done) => setTimeout(done, 10));
  press("1", "1");
  expect(await answered()).toBe("open");
  const poll = setInterval(() => press("2"), 20);
  try {
    expect(await asked).toMatchObject({ choice: "always" });
  } finally {
    clearInterval(poll);
  }
});

test("a question about a file says whether it is a new one", () => {
  const look = { style: STYLE, width: 80, whole: true };
  const asked = (diff: NonNullable<Question["diff"]>): string =>
    questionLines(question({ tool: "write", input: { path: "a", content: "x" }, diff }), look).join("\n");
  const hunks = [{ oldStart: 1, newStart: 1, lines: ["-a", "-b", "+x"] }];
  expect([
    asked({ path: "a", hunks, added: 1, removed: 2, isNew: false }).includes("1 line more, 2 lines less."),
    asked({ path: "a", hunks, added: 1, removed: 0, isNew: true }).includes("A new file."),
  ]).toEqual([true, true]);
});
