import { existsSync, readFileSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { CodingSession } from "../../src/coding/session/coding-session.ts";
import type { Line } from "../../src/faces/terminal/paint/line.ts";
import { marksOf } from "../../src/faces/terminal/paint/theme.ts";
import {
  questionLines as screenLines,
  wholeQuestion,
} from "../../src/faces/terminal/views/question-lines.ts";
import { calls, says } from "../../src/testing/script.ts";
import type { Question } from "../../src/view/question.ts";
import { place } from "./open.ts";

/** The questions of a run, each answered with `choice`, and how its calls ended. */
async function asked(session: CodingSession, choice: "once" | "edits" | "no") {
  const questions: Question[] = [];
  session.onQuestion((question) => {
    questions.push(question);
    session.answer(question.id, { choice });
  });
  const { denials } = await session.send("Go");
  const states = session.view.items.flatMap((item) => (item.type === "tool" ? [item.state] : []));
  return { questions, states, denials: denials.length };
}

test.each([
  ["of a file that was not read", [calls("write", { path: "a.js", content: "y" })]],
  [
    "of a file that is not there",
    [calls("edit", { path: "b.js", edits: [{ old_string: "x", new_string: "y" }] })],
  ],
  [
    "that finds nothing to replace",
    [
      calls("read", { path: "a.js" }),
      calls("edit", { path: "a.js", edits: [{ old_string: "gone", new_string: "y" }] }),
    ],
  ],
])("a change %s fails, and nobody is asked", async (_, steps) => {
  const { open, cwd } = place({ "a.js": "x\n" });
  await using session = await open([...steps, says("Done.")]);
  const { questions, states, denials } = await asked(session, "once");
  expect([questions, states.at(-1), denials]).toEqual([[], "error", 0]);
  expect(readFileSync(join(cwd, "a.js"), "utf8")).toBe("x\n");
});

test("a change that an earlier call of the same answer may make possible is asked about", async () => {
  const { open, cwd } = place({ "a.js": "x\n" });
  const edit = calls("edit", { path: "a.js", edits: [{ old_string: "x", new_string: "y" }] }, "b");
  await using session = await open([[calls("read", { path: "./a.js" }, "a"), edit], says("Done.")]);
  expect((await asked(session, "once")).states).toEqual(["ok", "ok"]);
  expect(readFileSync(join(cwd, "a.js"), "utf8")).toBe("y\n");
});

test("a yes to all edits is one question, and keys, protected places and commands ask on", async () => {
  const { open } = place({});
  const write = (path: string) => calls("write", { path, content: "x" });
  await using session = await open([
    write("a.js"),
    write("b/c.js"),
    write(".env"),
    write(".git/config"),
    calls("bash", { command: "touch d" }),
    says("Done."),
  ]);
  session.onQuestion(({ id, choices, input, tool }) => {
    seen.push([input?.["path"] ?? tool, choices.map(({ choice }) => choice)]);
    session.answer(id, { choice: choices.some(({ choice }) => choice === "edits") ? "edits" : "no" });
  });
  const seen: unknown[] = [];
  await session.send("Go");
  const plain = ["once", "no", "stop"];
  expect(seen).toEqual([
    ["a.js", ["once", "edits", "no", "stop"]],
    [".env", plain],
    [".git/config", plain],
    ["bash", ["once", "always", "no", "stop"]],
  ]);
});

test("a question goes away when the mode is changed to one that allows its call", async () => {
  const { open, cwd } = place({});
  await using session = await open([calls("write", { path: "a.js", content: "x" }), says("Done.")]);
  session.onQuestion(() => void session.setMode("acceptEdits"));
  const { stopReason } = await session.send("Go");
  expect([stopReason, session.questions, existsSync(join(cwd, "a.js"))]).toEqual(["completed", [], true]);
});

test("what is no function cannot listen", async () => {
  await using session = await place({}).open([]);
  const fault = "The listener is 5; it must be a function.";
  for (const listen of ["onQuestion", "onNotice", "onChange"] as const)
    expect(() => {
      // @ts-expect-error JavaScript may pass anything
      session[listen](5);
    }).toThrow(fault);
});

/** How the calls of a run end that is asked about and always allowed once. */
async function statesOnceAllowed(session: CodingSession): Promise<readonly string[]> {
  session.onQuestion(({ id }) => session.answer(id, { choice: "once" }));
  await session.send("Go");
  return session.view.items.flatMap((item) => (item.type === "tool" ? [item.state] : []));
}

const GUEST = { old_string: "'guest'", new_string: "'admin'", replace_all: true };

test.each([
  ["with a diff", [GUEST]],
  // What would make a diff that nobody can read.
  ["without one", [GUEST, { old_string: "// end", new_string: "// x\n".repeat(60_000) }]],
])("a yes %s is none for a file that another call has changed since", async (_name, edits) => {
  const { open, cwd } = place({ "role.js": "role('guest')\n// end\n" });
  await using session = await open([
    calls("read", { path: "role.js" }),
    [
      calls(
        "edit",
        { path: "role.js", edits: [{ old_string: "role(", new_string: "role('guest') || role(" }] },
        "a",
      ),
      calls("edit", { path: "role.js", edits }, "b"),
    ],
    says("Done."),
  ]);
  expect([await statesOnceAllowed(session), readFileSync(join(cwd, "role.js"), "utf8")]).toEqual([
    ["ok", "ok", "error"],
    "role('guest') || role('guest')\n// end\n",
  ]);
});

test("a file too large to be changed is refused without a question", async () => {
  const { open, cwd } = place({ "a.js": "x\n" });
  truncateSync(join(cwd, "a.js"), 65 * 1024 * 1024);
  await using session = await open([
    calls("read", { path: "a.js", limit: 1 }),
    calls("write", { path: "a.js", content: "y\n" }),
    says("Done."),
  ]);
  const asked: Question[] = [];
  session.onQuestion((question) => void asked.push(question));
  await session.send("Go");
  expect([
    asked,
    session.view.items.flatMap((item) => (item.type === "tool" ? [item.state] : [])),
    statSync(join(cwd, "a.js")).size,
  ]).toEqual([[], ["ok", "error"], 65 * 1024 * 1024]);
});

test("a question without a diff says on every terminal that a file would be replaced", async () => {
  const { open } = place({ "a.js": "x\n" });
  await using session = await open([
    calls("read", { path: "a.js", limit: 1 }),
    calls("write", { path: "a.js", content: "y\n".repeat(120_000) }),
    says("Done."),
  ]);
  const asked: Question[] = [];
  session.onQuestion((question) => {
    asked.push(question);
    session.answer(question.id, { choice: "no" });
  });
  await session.send("Go");
  const reason = "It replaces a file of 2 bytes.";
  const view = { width: 100, marks: marksOf({ unicode: true }), now: 0, details: false };
  const texts = asked.flatMap((question) => [
    question.reason,
    screenLines(question, { marked: undefined, maxRows: 40, more: 0 }, view)?.rows.map(textOf).join("\n"),
    wholeQuestion(question, view).map(textOf).join("\n"),
  ]);
  expect(texts).toEqual([reason, ...Array.from({ length: 2 }, () => expect.stringContaining(reason))]);
});

test("a yes to a change of a large file is none once another call has changed it", async () => {
  const { open, cwd } = place({ "big.txt": "x\n".repeat(1_000_000) });
  await using session = await open([
    [
      calls("bash", { command: "echo y >> big.txt" }, "a"),
      calls("read", { path: "big.txt", limit: 1 }, "b"),
      calls("write", { path: "big.txt", content: "z\n" }, "c"),
    ],
    says("Done."),
  ]);
  expect([await statesOnceAllowed(session), readFileSync(join(cwd, "big.txt"), "utf8").slice(-4)]).toEqual([
    ["ok", "ok", "error"],
    "x\ny\n",
  ]);
});

test("a yes to a change of a file is none once that is too large to compare", async () => {
  const { open, cwd } = place({ "a.js": "x\n" });
  await using session = await open([
    [
      calls("bash", { command: "dd if=/dev/zero of=a.js bs=1 count=0 seek=68157440" }, "a"),
      calls("read", { path: "a.js", limit: 1 }, "b"),
      calls("write", { path: "a.js", content: "y\n" }, "c"),
    ],
    says("Done."),
  ]);
  expect([await statesOnceAllowed(session), statSync(join(cwd, "a.js")).size]).toEqual([
    ["ok", "ok", "error"],
    65 * 1024 * 1024,
  ]);
});

test("an editor that never says what it has of a file keeps no question back", async () => {
  const { open } = place({ "a.js": "x\n" });
  const readText = (): Promise<undefined> => new Promise(() => undefined);
  await using session = await open([calls("write", { path: "a.js", content: "y\n" }), says("Done.")], {
    ports: { files: { readText, writeText: async () => undefined } },
  });
  const asked: unknown[] = [];
  session.onQuestion(({ id, diff, reason }) => {
    asked.push(diff, reason);
    session.answer(id, { choice: "no" });
  });
  await session.send("Go");
  const reason = "It replaces what is there, which could not be read.";
  expect(asked).toEqual([undefined, reason]);
});

test("a path with line feeds adds nothing to the diff of its change", async () => {
  const { open } = place({ x: "" });
  await using session = await open([
    calls("write", { path: "y\n@@ -1,1 +1,1 @@\n-harmless\n+blue\n/../z.js", content: "evil()\n" }),
    says("Done."),
  ]);
  expect(await diffsAsked(session)).toEqual([["+evil()"]]);
});

test("a diff shows a change as it is made: byte order mark and line ends stay", async () => {
  const { open } = place({ "a.txt": "\uFEFFone\r\nend\r\n" });
  await using session = await open([
    calls("read", { path: "a.txt" }),
    calls("write", { path: "a.txt", content: "two\nend\n" }),
    says("Done."),
  ]);
  expect(await diffsAsked(session)).toEqual([["-\uFEFFone\r", "+\uFEFFtwo\r", " end\r"]]);
});

/** The lines of the diffs that a run asks about; each is refused. */
async function diffsAsked(session: CodingSession): Promise<unknown> {
  const diffs: unknown[] = [];
  session.onQuestion(({ id, diff }) => {
    diffs.push(diff?.hunks.flatMap(({ lines }) => lines));
    session.answer(id, { choice: "no" });
  });
  await session.send("Go");
  return diffs;
}

test.each([
  ["an undo", (session: CodingSession) => session.undo()],
  ["a rewind", (session: CodingSession) => session.rewind(session.rewindPoints()[0]?.entryId ?? "")],
])(
  "%s that takes the question of a call away ends the call, and later questions come up",
  async (_, change) => {
    const { open, cwd } = place({});
    await using session = await open([
      says("Hello."),
      calls("bash", { command: "touch later" }),
      says("Done."),
    ]);
    await session.send("Hello");
    const asked: string[] = [];
    session.onQuestion(({ id }) => {
      asked.push(id);
      if (asked.length > 1) session.answer(id, { choice: "once" });
    });
    const calling = session.callTool("bash", { command: "touch called" });
    await expect.poll(() => session.questions.length).toBe(1);
    await change(session);
    const { isError } = await calling;
    const { stopReason } = await session.send("Go");
    const made = ["called", "later"].map((name) => existsSync(join(cwd, name)));
    expect([isError, stopReason, made, session.questions]).toEqual([true, "completed", [false, true], []]);
  },
);

test("a call that waits for its question ends with its session", async () => {
  const { open, cwd } = place({});
  const session = await open([]);
  session.onQuestion(() => undefined);
  const calling = session.callTool("bash", { command: "touch called" });
  await expect.poll(() => session.questions.length).toBe(1);
  await session.close();
  const { isError } = await calling;
  expect([isError, session.questions, existsSync(join(cwd, "called"))]).toEqual([true, [], false]);
});

const textOf = (row: Line): string => row.map(({ text }) => text).join("");
