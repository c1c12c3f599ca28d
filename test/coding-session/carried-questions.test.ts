import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { CodingSession, CodingSessionOptions } from "../../src/coding/session/coding-session.ts";
import type { ApprovalRequestEntry } from "../../src/core/agent/entries.ts";
import { readSession } from "../../src/session/read-session.ts";
import { encodeRecord } from "../../src/session/record.ts";
import { calls, says } from "../../src/testing/script.ts";
import type { Question } from "../../src/view/question.ts";
import { type Place, place } from "./open.ts";

/** Asks a question in a session and ends there as a process that is killed does. */
async function leftAt(
  { open }: Place,
  steps: Parameters<Place["open"]>[0],
  options: CodingSessionOptions = {},
): Promise<string> {
  const session = await open(steps, options);
  session.onQuestion(() => undefined);
  const run = session.send("Go");
  await expect.poll(() => session.questions.length).toBe(1);
  session.killNow();
  await run;
  return session.id;
}

/** Answers every question of a session with yes, and resolves to the questions when its run has ended. */
async function allowAll(session: CodingSession): Promise<readonly Question[]> {
  const asked = [...session.questions];
  session.onQuestion((question) => {
    asked.push(question);
    session.answer(question.id, { choice: "once" });
  });
  for (const { id } of session.questions) session.answer(id, { choice: "once" });
  await expect.poll(() => session.lastOutcome).toBeDefined();
  return asked;
}

const states = ({ view }: CodingSession): readonly string[] =>
  view.items.flatMap((item) => (item.type === "tool" ? [item.state] : []));

/** Adds a question to the record of a session: its newest one, with other fields. */
async function addQuestion({ open }: Place, id: string, fields: Readonly<Record<string, unknown>>) {
  const session = await open([], { resume: { id } });
  const { path = "" } = session.info;
  await session.close();
  const { entries } = readSession(path);
  const asked = entries.findLast(({ type }) => type === "approval_request") as ApprovalRequestEntry;
  const other = { ...asked, id: `${asked.id}b`, parent: entries.at(-1)?.id ?? null, ...fields };
  appendFileSync(path, encodeRecord(other).bytes);
}

const EDIT = calls("edit", { path: "a.txt", edits: [{ old_string: "old", new_string: "new" }] });

test("a change that an earlier process asked about is shown again, and made by a yes", async () => {
  const room = place({ "a.txt": "old\n" });
  const id = await leftAt(room, [calls("read", { path: "a.txt" }), EDIT]);
  await using session = await room.open([says("Done.")], { resume: { id } });
  const [question] = await allowAll(session);
  expect([question?.diff?.hunks[0]?.lines, readFileSync(join(room.cwd, "a.txt"), "utf8")]).toEqual([
    ["-old", "+new"],
    "new\n",
  ]);
});

test("a file that has changed since the question is left alone, and the question says so", async () => {
  const room = place({ "a.txt": "old\n" });
  const id = await leftAt(room, [calls("read", { path: "a.txt" }), EDIT]);
  writeFileSync(join(room.cwd, "a.txt"), "old, and more\n");
  await using session = await room.open([says("I see.")], { resume: { id } });
  const [question] = await allowAll(session);
  expect([question?.diff, question?.reason, states(session)]).toEqual([
    undefined,
    expect.stringContaining("The file has changed since"),
    ["ok", "error"],
  ]);
  expect(readFileSync(join(room.cwd, "a.txt"), "utf8")).toBe("old, and more\n");
});

test("a link that was swapped since the question brings the question back, about where it leads now", async () => {
  const room = place({ "one/x": "", "two/x": "" });
  symlinkSync(join(room.cwd, "one"), join(room.cwd, "to"));
  const id = await leftAt(room, [calls("write", { path: "to/new", content: "n" })]);
  rmSync(join(room.cwd, "to"));
  symlinkSync(join(room.cwd, "two"), join(room.cwd, "to"));
  await using session = await room.open([says("Done.")], { resume: { id } });
  const asked: Question[] = [...session.questions];
  session.onQuestion((question) => {
    asked.push(question);
    session.answer(question.id, { choice: "no" });
  });
  session.answer(session.questions[0]?.id ?? "", { choice: "once" });
  await expect.poll(() => session.lastOutcome).toBeDefined();
  expect([
    asked.length,
    existsSync(join(room.cwd, "one/new")),
    existsSync(join(room.cwd, "two/new")),
  ]).toEqual([2, false, false]);
});

test("a command that was asked about in one folder is asked about again in another", async () => {
  const room = place();
  const id = await leftAt(room, [calls("bash", { command: "touch made" })]);
  const other = join(room.cwd, "other");
  mkdirSync(other);
  await using session = await room.open([says("Done.")], { resume: { id }, cwd: other });
  const asked = await allowAll(session);
  expect([asked.length, existsSync(join(room.cwd, "made")), existsSync(join(other, "made"))]).toEqual([
    2,
    false,
    true,
  ]);
});

test("the question of a hook is about a place too", async () => {
  const room = place({ "one/x": "", "two/x": "" });
  const command = `echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask"}}'`;
  const settings = { hooks: { PreToolUse: [{ hooks: [{ type: "command", command }] }] } };
  const options = { settings, permissionMode: "acceptEdits" } as const;
  symlinkSync(join(room.cwd, "one"), join(room.cwd, "to"));
  const id = await leftAt(room, [calls("write", { path: "to/new", content: "n" })], options);
  rmSync(join(room.cwd, "to"));
  symlinkSync(join(room.cwd, "two"), join(room.cwd, "to"));
  await using session = await room.open([says("Done.")], { ...options, resume: { id } });
  const asked = await allowAll(session);
  expect(asked).toHaveLength(2);
});

test("a no that a person said before the process was killed holds, and a yes is asked for again", async () => {
  const room = place();
  const both = [calls("bash", { command: "touch a" }, "a"), calls("bash", { command: "touch b" }, "b")];
  for (const [choice, made, again] of [
    ["no", false, ["b"]],
    ["once", true, ["a", "b"]],
  ] as const) {
    rmSync(join(room.cwd, "a"), { force: true });
    const before = await room.open([both]);
    before.onQuestion(({ id, callId }) => {
      if (callId === "a") before.answer(id, { choice });
    });
    const run = before.send("Go");
    await expect.poll(() => before.questions[0]?.callId).toBe("b");
    before.killNow();
    await run;
    await using session = await room.open([says("Done.")], { resume: { id: before.id } });
    const asked = await allowAll(session);
    expect([asked.map(({ callId }) => callId), existsSync(join(room.cwd, "a"))]).toEqual([again, made]);
    expect(existsSync(join(room.cwd, "b"))).toBe(true);
  }
});

test("hooks after a call hear of one that a later yes let run", async () => {
  const room = place();
  const settings = { hooks: { PostToolUse: [{ hooks: [{ type: "command", command: "touch told" }] }] } };
  const id = await leftAt(room, [calls("bash", { command: "touch made" })], { settings });
  await using session = await room.open([says("Done.")], { settings, resume: { id } });
  await allowAll(session);
  expect(["made", "told"].map((name) => existsSync(join(room.cwd, name)))).toEqual([true, true]);
});

test("an answer that comes while something else is at work counts when that has ended", async () => {
  const room = place();
  const id = await leftAt(room, [calls("bash", { command: "touch made" })]);
  await using session = await room.open([says("Done.")], { resume: { id } });
  const undoing = session.undo().catch(() => undefined);
  session.answer(session.questions[0]?.id ?? "", { choice: "once" });
  await undoing;
  await expect.poll(() => session.lastOutcome?.stopReason).toBe("completed");
  expect(existsSync(join(room.cwd, "made"))).toBe(true);
});

test("a no holds although another question is open, also when the session is closed", async () => {
  const room = place();
  const both = [calls("bash", { command: "touch a" }, "a"), calls("bash", { command: "touch b" }, "b")];
  const asking = await room.open([both]);
  asking.onQuestion(() => undefined);
  const run = asking.send("Go");
  await expect.poll(() => asking.questions.length).toBe(1);
  const { path = "" } = asking.info;
  asking.killNow();
  await run;
  // As a run leaves it that asks about both.
  const asked = readSession(path).entries.at(-1) as ApprovalRequestEntry;
  const other = {
    ...asked,
    id: `${asked.id}b`,
    parent: asked.id,
    callId: "b",
    input: { command: "touch b" },
  };
  appendFileSync(path, encodeRecord(other).bytes);
  const before = await room.open([], { resume: { id: asking.id } });
  before.answer(before.questions[0]?.id ?? "", { choice: "no", reason: "not this" });
  await expect.poll(() => before.lastOutcome?.stopReason).toBe("awaiting_approval");
  const left = before.questions.map(({ callId }) => callId);
  await before.close();
  expect(() => {
    before.answer(asked.id, { choice: "once" });
  }).toThrow("The session is closed");
  await using session = await room.open([says("Done.")], { resume: { id: asking.id } });
  expect([left, session.questions.map(({ callId }) => callId)]).toEqual([["b"], ["b"]]);
});

test("undo leaves the questions of an earlier process where they are", async () => {
  const room = place();
  const id = await leftAt(room, [calls("bash", { command: "touch made" })]);
  await using session = await room.open([says("Done.")], { resume: { id } });
  await session.undo().catch(() => undefined);
  expect(session.questions.map(({ tool }) => tool)).toEqual(["bash"]);
});

test("a question that came anew stands in the session, whether somebody listens or not", async () => {
  const room = place();
  const id = await leftAt(room, [calls("bash", { command: "touch made" })]);
  const other = join(room.cwd, "other");
  mkdirSync(other);
  await using session = await room.open([says("Done.")], { resume: { id }, cwd: other });
  const first = session.questions[0]?.id ?? "";
  session.answer(first, { choice: "once" });
  await expect.poll(() => session.lastOutcome?.stopReason).toBe("awaiting_approval");
  expect([session.questions.length, session.questions[0]?.id === first]).toEqual([1, false]);
  session.answer(session.questions[0]?.id ?? "", { choice: "once" });
  await expect.poll(() => session.lastOutcome?.stopReason).toBe("completed");
  expect(existsSync(join(other, "made"))).toBe(true);
});

test("a message instead of an answer takes the questions of an earlier process back", async () => {
  const room = place();
  const both = [calls("bash", { command: "touch a" }, "a"), calls("bash", { command: "touch b" }, "b")];
  const id = await leftAt(room, [both]);
  await using session = await room.open([says("As you like.")], { resume: { id } });
  session.onQuestion(() => undefined);
  const before = session.questions.map(({ input }) => input);
  await session.send("Never mind");
  expect([before, session.questions, states(session)]).toEqual([
    [{ command: "touch a" }],
    [],
    ["denied", "aborted"],
  ]);
});

test("a command of the person whose output the model sees leaves the questions of an earlier process open", async () => {
  const room = place();
  const id = await leftAt(room, [calls("bash", { command: "touch made" })]);
  await using session = await room.open([says("Done."), says("I see.")], { resume: { id } });
  await session.shell("echo from-the-person", { shared: true });
  const asked = await allowAll(session);
  expect([asked.length, states(session)[0], existsSync(join(room.cwd, "made"))]).toEqual([1, "ok", true]);
  await session.send("And now?");
  expect(JSON.stringify(session.model.requests.at(-1)?.messages)).toContain("from-the-person");
});

test("a pattern makes the call of an earlier process that got its yes", async () => {
  const room = place();
  const id = await leftAt(room, [calls("bash", { command: "touch made" })]);
  const settings = { pattern: "reflection" } as const;
  await using session = await room.open([says("Done.")], { settings, resume: { id } });
  await allowAll(session);
  expect([session.lastOutcome?.stopReason, states(session), existsSync(join(room.cwd, "made"))]).toEqual([
    "completed",
    ["ok"],
    true,
  ]);
});

test.each([
  ["no", undefined],
  ["null for its", null],
])(
  "a record of a question with %s arguments, which nobody here has written, is left out",
  async (_, input) => {
    const room = place();
    const id = await leftAt(room, [calls("bash", { command: "touch made" })]);
    await addQuestion(room, id, { input });
    await using session = await room.open([says("Done.")], { resume: { id } });
    const asked = await allowAll(session);
    expect([
      asked.map((question) => question.input),
      states(session),
      existsSync(join(room.cwd, "made")),
    ]).toEqual([[{ command: "touch made" }], ["ok"], true]);
  },
);
