import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { AgentEvent } from "../../src/core/agent/entries.ts";
import { calls, says, waits } from "../../src/testing/script.ts";
import { place } from "./open.ts";

test("a message is answered, and the outcome says how it went", async () => {
  const { open } = place();
  await using session = await open([says("Hello.")]);
  const { stopReason, code, text, exitCode, denials, turns } = await session.send("Hi");
  expect({ stopReason, code, text, exitCode, denials, turns }).toEqual({
    stopReason: "completed",
    code: "success",
    text: "Hello.",
    exitCode: 0,
    denials: [],
    turns: 1,
  });
});

test("the events of a run can be iterated over, and its outcome awaited after them", async () => {
  const { open } = place();
  await using session = await open([says("Hello.")]);
  const run = session.send("Hi");
  const types: string[] = [];
  for await (const { type } of run) types.push(type);
  expect([types[0], types.at(-1), (await run).text]).toEqual(["run_start", "done", "Hello."]);
});

test("who is told that a run is over finds its outcome", async () => {
  const { open } = place();
  await using session = await open([says("Hello.")]);
  const seen: (string | undefined)[] = [];
  session.onChange(() => {
    if (session.view.state === "idle") seen.push(session.lastOutcome?.text);
  });
  await session.send("Hi");
  expect(seen.at(-1)).toBe("Hello.");
});

test("a session that was never used can be looked at after it was closed", async () => {
  const { open } = place();
  const session = await open([]);
  await session.close();
  expect([session.view.state, session.view.items]).toEqual(["closed", []]);
});

test("leaving the iteration stops the run", async () => {
  const { open } = place();
  await using session = await open([[says("one two three four five"), waits(new Promise(() => undefined))]]);
  const run = session.send("Hi");
  for await (const { type } of run) if (type === "text_delta") break;
  const { stopReason } = await run;
  expect([stopReason, session.view.state]).toEqual(["aborted", "idle"]);
});

test("without a listener a question is a no, as in a headless run", async () => {
  const { open, cwd } = place();
  await using session = await open([calls("write", { path: "a.txt", content: "a" }), says("No.")]);
  const { exitCode, denials } = await session.send("Write");
  expect([exitCode, denials.map(({ name }) => name), existsSync(join(cwd, "a.txt"))]).toEqual([
    3,
    ["write"],
    false,
  ]);
});

test("a question is data, with what the call would change, and waits for its answer", async () => {
  const { open, cwd } = place({ "a.txt": "one\ntwo\n" });
  await using session = await open([
    calls("read", { path: "a.txt" }),
    calls("edit", { path: "a.txt", edits: [{ old_string: "two", new_string: "2" }] }),
    says("Done."),
  ]);
  const asked: unknown[] = [];
  session.onQuestion((question) => {
    asked.push([question.type, question.tool, question.diff, session.view.state]);
    expect(session.questions).toEqual([question]);
    queueMicrotask(() => session.answer(question.id, { choice: "once" }));
  });
  const { exitCode } = await session.send("Change it");
  expect([exitCode, asked, readFileSync(join(cwd, "a.txt"), "utf8")]).toEqual([
    0,
    [
      [
        "permission",
        "edit",
        {
          path: "a.txt",
          hunks: [{ oldStart: 1, newStart: 1, lines: [" one", "-two", "+2"] }],
          added: 1,
          removed: 1,
          isNew: false,
        },
        "waiting",
      ],
    ],
    "one\n2\n",
  ]);
});

test("an answer that a question does not offer, and one to no question, are refused", async () => {
  const { open } = place();
  await using session = await open([calls("bash", { command: "make; rm -r x" }), says("No.")]);
  const faults: string[] = [];
  session.onQuestion(({ id }) => {
    for (const [to, choice] of [
      [id, "perhaps"],
      ["question_0", "once"],
    ])
      try {
        session.answer(to as string, { choice: choice as "once" });
      } catch (error) {
        faults.push((error as Error).message);
      }
    session.answer(id, { choice: "stop" });
  });
  const { stopReason } = await session.send("Make");
  expect([stopReason, faults.length, faults[0]]).toEqual([
    "denied",
    2,
    expect.stringContaining('"perhaps" is not offered'),
  ]);
});

test("undo puts back what a run has changed, redo forth again, and the model is told", async () => {
  const { open, cwd } = place({ "a.txt": "before\n" });
  const settings = { permissionMode: "acceptEdits" } as const;
  await using session = await open(
    [
      calls("read", { path: "a.txt" }),
      calls("write", { path: "a.txt", content: "after\n" }),
      says("Done."),
      says("Ok."),
    ],
    { settings },
  );
  await session.send("Change it");
  const text = (): string => readFileSync(join(cwd, "a.txt"), "utf8");
  const { status } = await session.undo();
  const undone = text();
  await session.redo();
  const redone = text();
  await session.undo();
  await session.send("Go on");
  const sent = JSON.stringify(session.model.requests.at(-1)?.messages);
  expect([status, undone, redone, text(), sent.includes("put")]).toEqual([
    "done",
    "before\n",
    "after\n",
    "before\n",
    true,
  ]);
});

test("a rewind goes back to before a message, files too, and gives its text back", async () => {
  const { open, cwd } = place();
  await using session = await open(
    [says("One."), calls("write", { path: "a.txt", content: "a" }), says("Two."), says("Three.")],
    { settings: { permissionMode: "acceptEdits" } },
  );
  await session.send("first");
  await session.send("second");
  const points = session.rewindPoints();
  const report = await session.rewind(points[1]?.entryId ?? "", { files: true });
  await session.send("third");
  const texts = session.model.requests.at(-1)?.messages.map(({ content }) => JSON.stringify(content));
  expect([
    points.map(({ text, run, files }) => [text, run, files]),
    report.status,
    report.text,
    existsSync(join(cwd, "a.txt")),
    texts?.some((text) => text.includes("second")),
    texts?.some((text) => text.includes("first")),
    session.view.items.filter(({ type }) => type === "user").length,
  ]).toEqual([
    [
      ["first", 1, ["a.txt"]],
      ["second", 2, ["a.txt"]],
    ],
    "done",
    "second",
    false,
    false,
    true,
    2,
  ]);
});

test.each([true, false])("a fork goes on by itself (kept on the disk: %s)", async (keep) => {
  const { open } = place();
  await using session = await open([says("One."), says("Two.")], { keep });
  await session.send("first");
  await using copy = await session.fork();
  await copy.send("second");
  const texts = (items: readonly { readonly type: string }[]): readonly string[] =>
    items.flatMap((item) => (item.type === "user" && "text" in item ? [String(item.text)] : []));
  expect([texts(session.view.items), texts(copy.view.items), copy.id === session.id]).toEqual([
    ["first"],
    ["first", "second"],
    false,
  ]);
});

test("messages that wait go out together when the run has ended, and can be taken back before", async () => {
  const { open } = place();
  const gate = Promise.withResolvers<void>();
  await using session = await open([[says("One."), waits(gate.promise)], says("Two.")]);
  const run = session.send("first");
  const ids = ["a", "b", "c"].map((text) => session.queue.add(text));
  session.queue.remove(ids[1] ?? "");
  session.queue.edit(ids[2] ?? "", "d");
  session.queue.move(ids[2] ?? "", 0);
  const waiting = session.view.queue.map(({ text }) => text);
  const second = Promise.withResolvers<void>();
  let ends = 0;
  session.onEvent(({ type }) => {
    if (type === "done" && ++ends === 2) second.resolve();
  });
  gate.resolve();
  await run;
  await second.promise;
  const users = session.view.items.flatMap((item) => (item.type === "user" ? [item.text] : []));
  expect([waiting, users, session.queue.items]).toEqual([["d", "a"], ["first", "d\n\na"], []]);
});

test("stopping keeps the answer as far as it has come and holds the queue", async () => {
  const { open } = place();
  const begun = Promise.withResolvers<void>();
  await using session = await open([[says("As far as this."), waits(new Promise(() => undefined))]]);
  const off = session.onEvent((event) => {
    if (event.type === "text_delta") begun.resolve();
  });
  const run = session.send("first");
  session.queue.add("later");
  await begun.promise;
  await session.stop();
  off();
  const { stopReason } = await run;
  const answer = session.view.items.find((item) => item.type === "answer");
  expect([stopReason, session.queue.held, session.queue.items.length, answer]).toMatchObject([
    "aborted",
    true,
    1,
    { state: "interrupted", text: "As far as this." },
  ]);
});

test("a mode that is changed counts from the next call on, and is recorded", async () => {
  const { open, cwd } = place();
  await using session = await open([
    calls("write", { path: "a.txt", content: "a" }),
    says("No."),
    calls("write", { path: "a.txt", content: "a" }),
    says("Yes."),
  ]);
  const events: AgentEvent["type"][] = [];
  session.onEvent(({ type }) => events.push(type));
  const first = await session.send("Write");
  await session.setMode("acceptEdits");
  const second = await session.send("Write");
  const stored = readFileSync(session.info.path ?? "", "utf8");
  expect([
    first.exitCode,
    second.exitCode,
    existsSync(join(cwd, "a.txt")),
    session.view.mode,
    stored.includes('"type":"mode_change","mode":"acceptEdits"'),
  ]).toEqual([3, 0, true, "acceptEdits", true]);
});

test("a tool is called without a model, through permission and undo", async () => {
  const { open, cwd } = place({ "a.txt": "one\n" });
  await using session = await open([], { settings: { permissionMode: "acceptEdits" } });
  const found = await session.callTool("grep", { pattern: "one" });
  const refused = await session.callTool("bash", { command: "make" });
  await session.callTool("write", { path: "b.txt", content: "b" });
  const isThere = existsSync(join(cwd, "b.txt"));
  await session.undo();
  expect([
    String(found.content).includes("a.txt"),
    refused.isError,
    isThere,
    existsSync(join(cwd, "b.txt")),
    session.view.items.map((item) => (item.type === "tool" ? [item.name, item.state] : item.type)),
  ]).toEqual([true, true, true, false, [["grep", "ok"], ["bash", "denied"], ["write", "ok"], "notice"]]);
});

test("a command of the user is recorded, and shown to the model where it is shared", async () => {
  const { open } = place({ "a.txt": "" });
  await using session = await open([says("I see.")]);
  const shared = await session.shell("echo shared; exit 3", { shared: true });
  await session.shell("echo private", { shared: false });
  await session.send("Look");
  const sent = JSON.stringify(session.model.requests[0]?.messages);
  expect([
    shared,
    sent.includes("shared"),
    sent.includes("private"),
    session.view.items.map((item) => (item.type === "shell" ? [item.command, item.exitCode] : item.type)),
  ]).toEqual([
    { output: "shared\n", exitCode: 3 },
    true,
    false,
    [["echo shared; exit 3", 3], ["echo private", 0], "user", "answer", "run_end"],
  ]);
});

test("a session is gone on with in another process, and one process alone writes it", async () => {
  const { open } = place();
  const first = await open([says("One.")]);
  await first.send("first");
  await expect(open([], { resume: "last" })).rejects.toMatchObject({ code: "journal" });
  await first.close();
  await using again = await open([says("Two.")], { resume: "last" });
  await again.send("second");
  expect([
    again.id === first.id,
    again.view.items.flatMap((item) => (item.type === "user" ? [item.text] : [])),
    again.stats().runs,
  ]).toEqual([true, ["first", "second"], 2]);
});

test.each(["call_1", "__proto__"])(
  "a question about the call %s is answered after the session was opened again",
  async (callId) => {
    const { open, cwd } = place();
    const first = await open([calls("write", { path: "a.txt", content: "a" }, callId)]);
    const asked = Promise.withResolvers<string>();
    first.onQuestion(({ id }) => asked.resolve(id));
    const run = first.send("Write");
    const id = await asked.promise;
    // The process is killed here.
    first.killNow();
    await run;
    await using again = await open([says("Done.")], { resume: "last" });
    const { questions } = again;
    const ended = Promise.withResolvers<void>();
    again.onEvent(({ type }) => {
      if (type === "done") ended.resolve();
    });
    again.answer(id, { choice: "once" });
    await ended.promise;
    expect([
      questions.map((question) => [question.id === id, question.tool]),
      readFileSync(join(cwd, "a.txt"), "utf8"),
      again.questions,
    ]).toEqual([[[true, "write"]], "a", []]);
  },
);

test("what opening finds are typed notices", async () => {
  const { open, cwd } = place();
  writeFileSync(
    join(cwd, "nano-agent.json"),
    JSON.stringify({ permissions: { allow: ["bash(make)"] }, undo: false }),
  );
  await using session = await open([]);
  expect(session.notices.map(({ level, code }) => [level, code])).toEqual([
    ["warning", "setting"],
    ["info", "model_chosen"],
    ["warning", "untrusted"],
  ]);
});
