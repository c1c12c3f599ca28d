import fc from "fast-check";
import { expect, test } from "vitest";
import type { Question, QuestionReply } from "../../../app/coding-session/question.ts";
import { columnsOf } from "../../terminal/columns.ts";
import { styleFor } from "../style.ts";
import type { KeyListener, TerminalKeys } from "./terminal-keys.ts";
import { TerminalQuestion, type TerminalQuestionOptions } from "./terminal-question.ts";
import { keyLine, questionLines } from "./terminal-question-lines.ts";

const STYLE = styleFor(false, {});

interface QuestionParts extends Partial<Omit<Question, "parts">> {
  readonly parts?: readonly string[];
  readonly rules?: readonly string[];
  readonly canAlways?: boolean;
}

function question({
  parts = ["rm x"],
  rules = ["bash(rm x)"],
  canAlways = true,
  ...extra
}: QuestionParts = {}): Question {
  return {
    id: "question_1",
    type: "permission",
    time: 0,
    callId: "call_1",
    tool: "bash",
    input: { command: "make && rm x" },
    reason: "No rule allows it.",
    parts: parts.map((text) => ({ text })),
    choices: [
      { choice: "once" },
      ...rules.map((rule) => ({ choice: "session" as const, rule })),
      ...(canAlways ? rules.map((rule) => ({ choice: "always" as const, rule, savedTo: "/c.json" })) : []),
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
  ["y", { choice: "once" }],
  ["S", { choice: "session", rule: "bash(rm x)" }],
  ["a", { choice: "always", rule: "bash(rm x)" }],
  ["n", { choice: "no" }],
  ["\u001B", { choice: "no" }],
  ["\u0004", { choice: "no" }],
])("the key %j answers, and the terminal is given back", async (key, reply) => {
  const { prompt, press, log } = terminal();
  const asked = prompt.ask(question());
  press(key);
  expect(await asked).toEqual(reply);
  expect(log).toEqual(["held", "taken", "given back", "released"]);
});

test.each([
  ["w", { choice: "session", rule: "bash(rm *)" }],
  ["W", { choice: "always", rule: "bash(rm *)" }],
])("the key %j answers with the wider rule, where one is offered", async (key, reply) => {
  const { prompt, press, written } = terminal();
  const asked = prompt.ask(question({ rules: ["bash(rm x)", "bash(rm *)"] }));
  press(key);
  expect(await asked).toEqual(reply);
  expect(written()).toContain("bash(rm *)");
  const without = terminal();
  const refused = without.prompt.ask(question());
  without.press(key, "n");
  expect(await refused).toEqual({ choice: "no" });
});

test("a reason is typed, mended and sent, and may be left again", async () => {
  const { prompt, press } = terminal();
  const asked = prompt.ask(question());
  press("r", "never mind", "\u001B", "r", "use gitt", "\u007F", "\u001B[D", " in\u202E", "stead\r");
  expect(await asked).toEqual({ choice: "no", reason: "use git in stead" });
});

test("several keys at once, others, and those not offered are not an answer", async () => {
  const { prompt, press } = terminal();
  const asked = prompt.ask(question({ rules: [] }));
  press("yy", "y\r", "\r", "x", "a", "\u001B[A", "yes\n");
  press("n");
  expect(await asked).toEqual({ choice: "no" });
});

test("a key counts only after a moment without keys", async () => {
  const { prompt, press } = terminal({ quietMs: 30 });
  const asked = prompt.ask(question());
  press("y", "y", "y");
  const outcome = await Promise.race([asked, Promise.resolve("open")]);
  expect(outcome).toBe("open");
  const poll = setInterval(() => press("n"), 45);
  try {
    expect(await asked).toEqual({ choice: "no" });
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

test("a question shows the call, the part, why and the rule", () => {
  expect(questionLines(question(), { style: STYLE, width: 80, whole: false })).toEqual([
    "? bash wants to run:",
    "│ make && rm x",
    "  part: rm x",
    "  why:  No rule allows it.",
    "  rule: bash(rm x)",
  ]);
});

test("a question shows every part that needs a yes, in the order it is given them", () => {
  const asked = question({
    input: { command: "cd src && touch ../../p1; rm -f ../../p2" },
    parts: ["rm -f ../../p2", "touch ../../p1"],
  });
  const many = question({ parts: Array.from({ length: 14 }, (_, index) => `rm x${index}`) });
  const shown = (each: Question, whole: boolean): readonly string[] =>
    questionLines(each, { style: STYLE, width: 80, whole }).slice(2, -2);
  expect([shown(asked, false), shown(many, false).slice(-2), shown(many, true).at(-1)]).toEqual([
    ["  asks: rm -f ../../p2", "        touch ../../p1"],
    ["        rm x11", "        … 2 more, shown with v …"],
    "        rm x13",
  ]);
});

test("edits are shown as what goes and what comes, and a star in a rule is explained", () => {
  const asked = question({
    tool: "edit",
    input: { path: "a.ts", edits: [{ old_string: "one\ntwo", new_string: "three", replace_all: true }] },
    parts: ["a.ts"],
    rules: ["edit(*.ts)"],
  });
  expect(questionLines(asked, { style: STYLE, width: 80, whole: false })).toEqual([
    "? edit wants to run:",
    "│ a.ts",
    "│ - one",
    "│ - two",
    "│ + three",
    "│ (everywhere in the file)",
    "  why:  No rule allows it.",
    "  rule: edit(*.ts)",
    "        (each * stands for any text)",
  ]);
});

test("a path with a line feed in it begins no row that looks like a part of the change", () => {
  const edits = [{ old_string: "one", new_string: "two" }];
  const asked = question({ tool: "edit", input: { path: "a.ts\n+ three", edits }, parts: ["a.ts"] });
  expect(questionLines(asked, { style: STYLE, width: 80, whole: false }).slice(1, 4)).toEqual([
    "│ a.ts‹U+000A›+ three",
    "│ - one",
    "│ + two",
  ]);
});

test("a question of a subagent says whose it is", () => {
  const asked = question({ agent: "general" });
  expect(questionLines(asked, { style: STYLE, width: 80, whole: true })[0]).toBe(
    "? general · bash wants to run:",
  );
});

test("keys stand in rows that fit, and the one that shows more only where there is more", () => {
  expect(keyLine(question(), { style: STYLE, width: 40, whole: false })).toBe(
    "[y] once  [s] this session\n[a] always here  [n] no\n[r] no, with a reason  [v] all of it",
  );
  expect(keyLine(question(), { style: STYLE, width: 120, whole: true })).toBe(
    "[y] once  [s] this session  [a] always here  [n] no  [r] no, with a reason",
  );
});

test("of a long command the middle is left out until it is asked for, and the part is shown all the same", () => {
  const command = `${"echo padding && ".repeat(400)}rm -rf /`;
  const asked = question({ input: { command }, parts: ["rm -rf /"] });
  const short = questionLines(asked, { style: STYLE, width: 80, whole: false });
  const whole = questionLines(asked, { style: STYLE, width: 80, whole: true });
  expect({
    short: short.length < 35,
    said: short.some((line) => line.includes("more rows, shown with v")),
    part: short.includes("  part: rm -rf /"),
    whole: whole
      .filter((line) => line.startsWith("│ "))
      .map((line) => line.slice(2))
      .join(""),
  }).toEqual({ short: true, said: true, part: true, whole: command });
});

test("no text of a call leaves its bar, moves the cursor, or hides a character", () => {
  const nasty = fc.string({
    unit: fc.constantFrom(..."ab \n\r\t\u001B[2J\u202E\u200B\u0007漢👩字\uD800\u00A0".split("")),
    maxLength: 300,
  });
  fc.assert(
    fc.property(nasty, nasty, fc.integer({ min: 20, max: 120 }), (command, reason, width) => {
      const lines = questionLines(
        question({ input: { command }, parts: [command], reason, rules: [command] }),
        {
          style: STYLE,
          width,
          whole: true,
        },
      );
      for (const line of lines) {
        expect(/[\p{Cc}\p{Cs}\u202E\u200B\u00A0]/u.test(line)).toBe(false);
        expect(/^(?:│ | {2}|\? )/.test(line)).toBe(true);
        // The two sentences of our own are longer than a narrow window.
        if (!/^ {2}It has|^ +\(each|^\? /.test(line)) expect(columnsOf(line)).toBeLessThanOrEqual(width);
      }
    }),
  );
});

test("thirteen parts are too many to be shown at once: a yes comes after all of them", async () => {
  const { prompt, press, written } = terminal();
  const parts = Array.from({ length: 13 }, (_, index) => `rm part-${index}`);
  const asked = prompt.ask(question({ parts }));
  const first = written();
  press("y");
  expect([first.includes("[v]"), first.includes("part-12"), written().includes("part-12")]).toEqual([
    true,
    false,
    true,
  ]);
  press("y");
  expect(await asked).toEqual({ choice: "once" });
});

test("a key that is held shows all of a question and does not answer it", async () => {
  const { prompt, press } = terminal({ quietMs: 1 });
  const asked = prompt.ask(question({ input: { command: "x\n".repeat(100) } }));
  const answered = (): Promise<unknown> =>
    Promise.race([asked, new Promise((done) => setImmediate(done, "open"))]);
  await new Promise((done) => setTimeout(done, 10));
  press("y", "y");
  expect(await answered()).toBe("open");
  const poll = setInterval(() => press("n"), 20);
  try {
    expect(await asked).toEqual({ choice: "no" });
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
    asked({ path: "a", hunks, added: 1, removed: 2, isNew: false }).includes(
      "file: 1 line more, 2 lines less",
    ),
    asked({ path: "a", hunks, added: 1, removed: 0, isNew: true }).includes("file: a new one"),
  ]).toEqual([true, true]);
});
