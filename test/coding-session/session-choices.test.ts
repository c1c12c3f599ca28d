import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { CodingSessionOptions } from "../../src/coding/session/coding-session.ts";
import { createCodingSession } from "../../src/coding/session/prepare-coding-session.ts";
import { readSession } from "../../src/session/read-session.ts";
import { replaySession } from "../../src/session/replay/replay-session.ts";
import { calls, says, waits } from "../../src/testing/script.ts";
import { fileTools } from "../../src/tools/file-tools.ts";
import { place } from "./open.ts";

test("a model that is changed is asked next, and again when the session is resumed", async () => {
  const { open } = place();
  const settings = {
    providers: { house: { wire: "openai_chat", baseUrl: "http://127.0.0.1:9/v1", apiKeyEnv: "HOUSE_KEY" } },
  } as const;
  const environment = { HOUSE_KEY: "k" };
  const first = await open([says("One.")], { settings });
  await first.send("first");
  const { model: _scripted, ...byName } = { model: undefined, settings };
  await expect(first.setModel("no name")).rejects.toMatchObject({ code: "invalid_argument" });
  await first.close();
  const second = await createCodingSession({
    ...byName,
    cwd: first.info.cwd,
    environment: { ...environment, HOME: first.info.path?.split("/.local")[0], PATH: process.env["PATH"] },
    model: "house/small",
    resume: "last",
  });
  await second.setModel("house/large:high");
  const changed = [second.view.model, second.view.effort, second.info.model.why];
  await second.setEffort("low");
  await second.close();
  await using third = await createCodingSession({
    ...byName,
    cwd: first.info.cwd,
    environment: {
      ...environment,
      HOME: first.info.path?.split("/.local")[0],
      PATH: process.env["PATH"],
      NANO_AGENT_MODEL: "house/small",
    },
    resume: "last",
  });
  expect([changed, third.info.model.name, third.info.effort, third.info.model.why]).toEqual([
    ["house/large", "high", "flag"],
    "house/large",
    "low",
    "resumed",
  ]);
});

test("a value is asked for and checked, a choice is one of those offered, and nobody's answer is none", async () => {
  const { open } = place();
  await using session = await open([]);
  const { signal } = new AbortController();
  const schema = { type: "object", properties: { age: { type: "integer" } }, required: ["age"] } as const;
  const unattended = await session.ask({ type: "elicitation", reason: "How old?", schema }, signal);
  const faults: string[] = [];
  const replies = [{ value: { age: "x" } }, { value: { age: "7" } }, { value: "c" }, { value: "a" }] as const;
  let at = 0;
  session.onQuestion(({ id }) => {
    while (session.questions.length > 0) {
      const reply = replies[at++];
      if (reply === undefined) return;
      try {
        session.answer(id, reply);
        return;
      } catch (error) {
        faults.push((error as Error).message);
      }
    }
  });
  const age = await session.ask({ type: "elicitation", reason: "How old?", schema }, signal);
  const options = [
    { value: "a", label: "A" },
    { value: "b", label: "B" },
  ];
  const choice = await session.ask({ type: "choice", reason: "Which?", options }, signal);
  expect([unattended, age, choice, faults]).toEqual([
    undefined,
    { age: 7 },
    "a",
    [
      "The value does not fit what was asked for: age: expected integer, got string.",
      '"c" is not one of a, b.',
    ],
  ]);
});

test("a listener that throws refuses the question and breaks nothing", async () => {
  const { open } = place();
  await using session = await open([calls("bash", { command: "make" }), says("No.")]);
  session.onQuestion(() => {
    throw new Error("the face is gone");
  });
  session.onEvent(() => {
    throw new Error("an observer is broken");
  });
  const { denials } = await session.send("Make");
  expect([denials.map(({ reason }) => reason), session.notices.at(-1)]).toEqual([
    ["asking failed: the face is gone"],
    { level: "error", code: "plugin", message: "A listener failed: an observer is broken" },
  ]);
});

test("sessions side by side know nothing of each other", async () => {
  const { open } = place();
  const gate = Promise.withResolvers<void>();
  await using one = await open([[says("One."), waits(gate.promise)]]);
  await using other = await open([calls("bash", { command: "make" }), says("Other.")]);
  one.onQuestion(({ id }) => one.answer(id, { choice: "once" }));
  const run = one.send("first");
  const { exitCode, denials } = await other.send("second");
  gate.resolve();
  expect([
    (await run).text,
    exitCode,
    denials.length,
    one.view.items.length,
    other.view.items.length,
  ]).toEqual(["One.", 3, 1, 3, 4]);
});

test("an editor's texts are what is read and written, and permission judges as ever", async () => {
  const { open, cwd } = place({ "a.txt": "saved\n" });
  const path = join(cwd, "a.txt");
  const buffers = new Map([[path, "typed\n"]]);
  const files = {
    readText: async (file: string) => buffers.get(file),
    writeText: async (file: string, text: string) => {
      buffers.set(file, text);
      writeFileSync(file, text);
    },
  };
  const asked: string[] = [];
  const shell = {
    run: async ({ command }: { readonly command: string }) => {
      asked.push(command);
      return { output: "ran there\n", exitCode: 0 };
    },
  };
  await using session = await open(
    [
      calls("read", { path: "a.txt" }),
      calls("edit", { path: "a.txt", edits: [{ old_string: "typed", new_string: "edited" }] }),
      [calls("bash", { command: "ls" }), calls("bash", { command: "make" })],
      says("Done."),
    ],
    { ports: { files, shell }, permissionMode: "acceptEdits" },
  );
  const { denials } = await session.send("Edit");
  expect([buffers.get(path), asked, denials.map(({ input }) => input)]).toEqual([
    "edited\n",
    ["ls"],
    [{ command: "make" }],
  ]);
});

test.each([
  [{ cwdd: "/" }, 'Unknown option "cwdd". Did you mean cwd?'],
  [{ cwd: "" }, 'cwd is ""; it must be a non-empty string.'],
  [{ addDirs: "src" }, 'addDirs is "src"; it must be a list of non-empty strings'],
  [{ model: 5 }, "model is 5; it must be the name of a model, or a Model"],
  [{ permissionMode: "free" }, 'settings: permissionMode is "free"; it must be "plan"'],
  [{ settings: { maxTurn: 3 } }, 'settings: Unknown field "maxTurn"'],
  [{ settings: { maxTurns: "3" } }, 'settings: maxTurns is "3"; it must be a whole number'],
  [{ resume: "newest" }, 'resume is "newest"; it must be "last", or { id } with the id of a session.'],
  [{ tools: [5] }, "A tool is a number: pass defineTool({ … })."],
  [{ keep: "no" }, 'keep is "no"; it must be true or false.'],
])("a session is not opened with %o", async (options, message) => {
  await expect(place().open([], options as CodingSessionOptions)).rejects.toThrow(message);
});

test("a question takes one answer", async () => {
  await using session = await place().open([calls("bash", { command: "make" }), says("No.")]);
  const faults: string[] = [];
  session.onQuestion(({ id }) => {
    for (const reply of [null, { choice: "no" }, { choice: "once" }])
      try {
        session.answer(id, reply as { choice: "no" });
      } catch (error) {
        faults.push((error as Error).message);
      }
  });
  const { denials } = await session.send("Make");
  expect([denials.length, faults]).toEqual([
    1,
    ["An answer is { choice } or { value }.", expect.stringContaining("it was answered")],
  ]);
});

test("misuse is refused with what to do instead", async () => {
  const { open } = place();
  const session = await open([[says("One."), waits(new Promise(() => undefined))]]);
  const run = session.send("first");
  expect(() => session.send("second")).toThrow(expect.objectContaining({ code: "invalid_argument" }));
  await expect(session.undo()).rejects.toMatchObject({
    message: expect.stringContaining("while a run is in progress"),
  });
  await expect(session.setMode("free" as "plan")).rejects.toMatchObject({ code: "invalid_argument" });
  await session.close();
  expect([(await run).stopReason, session.view.state]).toEqual(["aborted", "closed"]);
  expect(() => session.send("third")).toThrow("The session is closed");
});

test("a run with answered questions is replayed the same, though each question is an entry", async () => {
  const { open } = place();
  const session = await open([
    calls("bash", { command: "touch made" }),
    calls("write", { path: "a.txt", content: "a" }),
    says("Done."),
  ]);
  session.onQuestion(({ id, tool }) => session.answer(id, { choice: tool === "bash" ? "once" : "no" }));
  await session.send("Work");
  const { path = "" } = session.info;
  await session.close();
  const { entries } = readSession(path);
  const report = await replaySession(entries, { tools: fileTools() });
  expect([
    entries.filter(({ type }) => type === "approval_request").length,
    report.same,
    report.differences,
  ]).toEqual([2, true, []]);
});

test("an answer is read on only as fast as its parts are passed on, and a stop does not wait for that", async () => {
  const { open } = place();
  let isHeld = true;
  const released = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  const pace = (): Promise<void> | undefined => {
    asked.resolve();
    return isHeld ? released.promise : undefined;
  };
  await using session = await open([says("one two three"), says("four five six")], { pace });
  const deltas: string[] = [];
  session.onEvent((event) => {
    if (event.type === "text_delta") deltas.push(event.text);
  });
  const stopped = session.send("Hi");
  await asked.promise;
  await session.stop();
  const { stopReason } = await stopped;
  const before = deltas.splice(0).length;
  isHeld = false;
  released.resolve();
  const { text } = await session.send("Again");
  expect([stopReason, before, text, deltas.join("")]).toEqual([
    "aborted",
    1,
    "four five six",
    "four five six",
  ]);
});
