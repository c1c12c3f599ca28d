import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { CodingSession } from "../../src/app/coding-session/coding-session.ts";
import type { Question } from "../../src/app/coding-session/question.ts";
import { calls, says } from "../../src/testing/script.ts";
import { type Place, place } from "./open.ts";

/** Asks questions in a session and ends there as a process that is killed does. */
async function leftAt({ open }: Place, steps: Parameters<Place["open"]>[0], count = 1): Promise<string> {
  const session = await open(steps);
  session.onQuestion(() => undefined);
  const run = session.send("Go");
  await expect.poll(() => session.questions.length).toBe(count);
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
