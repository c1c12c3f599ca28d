import { execFileSync } from "node:child_process";
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { userPaths } from "../../src/coding/settings/paths.ts";
import { sessionStore } from "../../src/coding/setup/open-session.ts";
import { StoredSessions } from "../../src/faces/http/stored-sessions.ts";
import type { ServerProblem } from "../../src/server/create-reader.ts";
import { FakeClock } from "../../src/testing/fake-clock.ts";
import { calls, says } from "../../src/testing/script.ts";
import type { Notice } from "../../src/view/notice.ts";
import { tempFolder } from "../temp-folder.ts";
import { filesRoom, followUntil, isRunEnd, otherWriter, passes, type Steps } from "./server-room.ts";

const entriesIn = (items: Awaited<ReturnType<typeof followUntil>>) =>
  items.flatMap((item) => (item.type === "entry" ? [item.entry] : []));

test("a session that another writer has is followed live, read and copied, and nothing else", async () => {
  const room = await filesRoom([]);
  const { reader } = room;
  await using other = await otherWriter(room, [says("First."), says("Second.")]);
  await other.send("one");
  const live = followUntil(reader, other.id, (_, items) => items.filter(isRunEnd).length === 2);
  await followUntil(reader, other.id, passes("ready"));
  await other.send("two");
  const texts = entriesIn(await live).flatMap((entry) =>
    entry.type === "user_message" ? [JSON.stringify(entry.message.content)] : [],
  );
  expect(texts).toEqual(['[{"type":"text","text":"one"}]', '[{"type":"text","text":"two"}]']);
  const { readOnly, messages } = await reader.session(other.id);
  expect([readOnly, messages.length]).toEqual([true, 4]);
  const refused = await Promise.allSettled([
    reader.send(other.id, { text: "mine", when: "now" }),
    reader.stop(other.id),
    reader.undo(other.id),
    reader.redo(other.id),
  ]);
  expect(refused.map((each) => each.status === "rejected" && each.reason.status)).toEqual([
    409, 409, 409, 409,
  ]);
  expect((await reader.fork(other.id)).id).not.toBe(other.id);
});

test("a rewind begins the stream anew", async () => {
  const room = await filesRoom([]);
  await using other = await otherWriter(room, [says("One."), says("Two."), says("Other.")]);
  await other.send("one");
  await other.send("two");
  const point = other.rewindPoints()[1];
  const seen = followUntil(room.reader, other.id, (_, items) => items.filter(isRunEnd).length === 4);
  await followUntil(room.reader, other.id, passes("ready"));
  await other.rewind(point?.entryId ?? "");
  await other.send("else");
  const items = await seen;
  const reset = items.findIndex(passes("reset"));
  const after = entriesIn(items.slice(reset)).filter(({ type }) => type === "assistant_message");
  expect(JSON.stringify(after.map((entry) => "message" in entry && entry.message))).toBe(
    JSON.stringify([
      { role: "assistant", content: [{ type: "text", text: "One." }] },
      { role: "assistant", content: [{ type: "text", text: "Other." }] },
    ]),
  );
});

const EDITS: Steps = [
  calls("write", { path: "new.txt", content: "one\ntwo\n" }),
  calls("bash", { command: "rm old.txt" }),
  says("Done."),
];

test("files that calls changed are told with their changes, put back, and forth again", async () => {
  const room = await filesRoom(EDITS, {
    files: { "old.txt": "was here\n" },
    session: { permissionMode: "bypassPermissions" },
  });
  const { reader, cwd } = room;
  const { id } = await reader.start({ prompt: "Change files", cwd });
  const items = await followUntil(reader, id, isRunEnd);
  const changes = await reader.changes(id);
  expect(
    changes.map(({ path, kind, run, turn, added, removed }) => ({ path, kind, run, turn, added, removed })),
  ).toEqual([
    { path: "new.txt", kind: "created", run: 1, turn: 1, added: 2, removed: 0 },
    { path: "old.txt", kind: "deleted", run: 1, turn: 2, added: 0, removed: 1 },
  ]);
  expect(changes[0]?.diff?.hunks[0]?.lines).toEqual(["+one", "+two"]);
  const first = entriesIn(items).find(({ type }) => type === "checkpoint")?.id ?? "";
  expect([await reader.files(id, first), await reader.files(id)]).toMatchObject([
    [{ path: "new.txt", kind: "created", added: 2, removed: 0 }],
    [
      { path: "new.txt", kind: "created" },
      { path: "old.txt", kind: "deleted", added: 0, removed: 1 },
    ],
  ]);
  expect(await reader.fileText(id, "new.txt", first)).toBe("one\ntwo\n");
  await expect(reader.fileText(id, "old.txt")).rejects.toMatchObject({ status: 404 });
  await expect(reader.fileText(id, "../../etc/passwd")).rejects.toMatchObject({ status: 404 });
  await expect(reader.files(id, "no-such-entry")).rejects.toMatchObject({ status: 404 });
  expect((await reader.session(id)).files).toEqual(["new.txt", "old.txt"]);

  expect((await reader.undo(id)).changes.length).toBe(2);
  expect([existsSync(join(cwd, "new.txt")), readFileSync(join(cwd, "old.txt"), "utf8")]).toEqual([
    false,
    "was here\n",
  ]);
  await expect(reader.undo(id)).rejects.toMatchObject({ status: 409, code: "nothing_to_undo" });
  expect((await reader.redo(id)).status).toBe("done");
  expect(readFileSync(join(cwd, "new.txt"), "utf8")).toBe("one\ntwo\n");
  writeFileSync(join(cwd, "new.txt"), "by somebody else\n");
  await expect(reader.undo(id)).rejects.toMatchObject({ status: 409, code: "changed_since" });
  expect((await reader.undo(id, { force: true })).status).toBe("done");
});

test("undo needs no model, and no session that is open", async () => {
  const room = await filesRoom(EDITS, {
    files: { "old.txt": "was here\n" },
    session: { permissionMode: "bypassPermissions" },
  });
  const { id } = await room.reader.start({ prompt: "Change files", cwd: room.cwd });
  await followUntil(room.reader, id, isRunEnd);
  await room.close();
  const { reader } = await filesRoom([], { home: room.home, cwd: room.cwd });
  expect((await reader.undo(id, { paths: ["old.txt"] })).changes).toEqual([
    { path: "old.txt", kind: "created" },
  ]);
});

test("keys in old journals are not shown, and direction marks in questions are", async () => {
  const key = `sk-ant-api03-${"Ab1".repeat(31)}AA`;
  const command = "touch a # \u202Etxt.exe";
  const room = await filesRoom([calls("bash", { command }), says(`The key is ${key}.`)]);
  const { reader, ask, cwd } = room;
  const { id } = await reader.start({ prompt: `Mind the key ${key}`, cwd });
  await followUntil(reader, id, passes("question"));
  const [question] = await reader.approvals();
  expect(JSON.stringify(question)).not.toContain("\u202E");
  expect(question?.input).toEqual({ command: "touch a # ‹U+202E›txt.exe" });
  await reader.answer(question?.id ?? "", { choice: "no", reason: "Not like this" });
  await followUntil(reader, id, isRunEnd);
  const paths = ["", `/${id}`, `/${id}/changes`];
  const shown = await Promise.all(paths.map(async (path) => (await ask(`/api/sessions${path}`)).text()));
  const stream = JSON.stringify(await followUntil(reader, id, passes("ready")));
  expect([...shown, stream].filter((text) => text.includes(key))).toEqual([]);
  expect(stream).toContain("«redacted:");
});

test("the rule that was shown is the rule that is added", async () => {
  const room = await filesRoom([
    calls("bash", { command: "touch a" }),
    calls("bash", { command: "touch a" }),
    says("Done."),
  ]);
  const { reader, cwd } = room;
  const { id } = await reader.start({ prompt: "Do it", cwd });
  await followUntil(reader, id, passes("question"));
  const [question] = await reader.approvals();
  const offered = question?.choices.find(({ choice }) => choice === "always");
  await expect(
    reader.answer(question?.id ?? "", { choice: "always", rule: "bash(*)" }),
  ).rejects.toMatchObject({ status: 400 });
  await reader.answer(question?.id ?? "", { choice: "always", rule: offered?.rule ?? "" });
  const items = await followUntil(reader, id, isRunEnd);
  expect(items.filter(passes("question")).length).toBe(0);
});

test("a session is given back when nothing happens in it, so that others can go on", async () => {
  const room = await filesRoom([says("One.")]);
  const { reader, home, cwd } = room;
  const { id } = await reader.start({ prompt: "1", cwd });
  await followUntil(reader, id, isRunEnd);
  const lock = sessionStore(userPaths({ HOME: home }))
    .find(id)
    .path.replace(/jsonl$/, "lock");
  await expect.poll(() => existsSync(lock)).toBe(false);
});

test("a message that cannot be sent is refused and says why", async () => {
  const { reader, cwd } = await filesRoom([says("One.")]);
  const { id } = await reader.start({ prompt: "1", cwd });
  await followUntil(reader, id, isRunEnd);
  await expect(reader.send(id, { text: "/nosuchcommand", when: "now" })).rejects.toMatchObject({
    status: 409,
    message: expect.stringContaining("nosuchcommand"),
  });
});

test("a session whose first message is refused is not there afterwards", async () => {
  const { reader, cwd } = await filesRoom([]);
  await expect(reader.start({ prompt: "/nosuchcommand", cwd })).rejects.toMatchObject({ status: 409 });
  expect((await reader.sessions()).sessions).toEqual([]);
});

test("what is no file of a session is refused as such, and one without its beginning can be copied", async () => {
  const home = tempFolder();
  const cwd = tempFolder();
  const first = await otherWriter({ home, cwd }, [says("One.")]);
  await first.send("1");
  await first.close();
  const { path } = sessionStore(userPaths({ HOME: home })).find(first.id);
  const beside = (name: string): string => join(dirname(path), `${name}.jsonl`);
  execFileSync("mkfifo", [beside("pipe")]);
  symlinkSync(path, beside("link"));
  writeFileSync(beside("empty"), "");
  const { reader, ask } = await filesRoom([], { home, cwd });
  const send = (id: string): Promise<unknown> =>
    reader
      .send(id, { text: "x", when: "now" })
      .catch(({ status, message }: ServerProblem) => [status, message]);
  const read = await Promise.all(["pipe", "link"].map((id) => ask(`/api/sessions/${id}`)));
  expect({
    read: read.map(({ status }) => status),
    sent: await Promise.all(["pipe", "link", "empty"].map(send)),
  }).toEqual({
    read: [409, 409],
    sent: [
      [409, expect.stringContaining("is not a regular file")],
      [409, expect.stringContaining("it is a symbolic link")],
      [409, expect.stringContaining("Go on with a copy of it.")],
    ],
  });
  const copy = await reader.fork("empty");
  expect((await reader.session(copy.id)).cwd).toBe(cwd);
});

test("a damaged line is told by the answer and to whoever serves, once, and a link is in no list", async () => {
  const home = tempFolder();
  const cwd = tempFolder();
  const first = await otherWriter({ home, cwd }, [says("One.")]);
  await first.send("1");
  await first.close();
  const { path } = sessionStore(userPaths({ HOME: home })).find(first.id);
  const lines = readFileSync(path, "utf8").split("\n");
  writeFileSync(path, lines.with(2, `${lines[2]?.slice(0, 40)}`).join("\n"));
  symlinkSync(path, join(dirname(path), "link.jsonl"));
  const notices: Notice[] = [];
  const { reader } = await filesRoom([], {
    home,
    cwd,
    session: { onNotice: (notice) => notices.push(notice) },
  });
  const { damaged } = await reader.session(first.id);
  await reader.session(first.id);
  const listed = (await reader.sessions()).sessions.map(({ id }) => id);
  expect([damaged, listed, notices]).toEqual([
    [{ line: 3, reason: expect.any(String) }],
    [first.id],
    [
      {
        level: "warning",
        code: "other",
        message: expect.stringContaining(`1 damaged line of ${path} left out`),
      },
    ],
  ]);
});

test("where the folder of sessions became a file, a session that was found before tells the reason too", async () => {
  const store = sessionStore(userPaths({ HOME: tempFolder() }));
  const journal = await store.start("/work", { sessionId: "s" });
  const kept = new StoredSessions(store, new FakeClock());
  expect(kept.file("s")?.path).toBe(journal.path);
  await journal.close();
  rmSync(store.root, { recursive: true });
  writeFileSync(store.root, "");
  expect(() => kept.file("s")).toThrow("is not a folder");
});

test("limits of the request hold for the run", async () => {
  const { reader, cwd } = await filesRoom([calls("read", { path: "a" }), says("Never.")]);
  const { id } = await reader.start({ prompt: "1", cwd, limits: { maxTurns: 1 } });
  const end = (await followUntil(reader, id, isRunEnd)).find(isRunEnd);
  expect(end?.type === "entry" && end.entry.type === "run_end" && end.entry.stopReason).toBe(
    "max_iterations",
  );
});

test("a file that is removed while it is followed ends its streams, and nothing else", async () => {
  const room = await filesRoom([says("One.")]);
  const { reader, ask } = room;
  const { id } = await reader.start({ prompt: "go", cwd: room.cwd });
  await followUntil(reader, id, isRunEnd);
  const { body } = await ask(`/api/sessions/${id}/events`);
  const file = sessionStore(userPaths({ HOME: room.home }))
    .list()
    .find(({ sessionId }) => sessionId === id);
  rmSync(file?.path ?? "");
  await expect(new Response(body).text()).rejects.toThrow(/terminated|aborted|closed/i);
  expect((await ask("/api/sessions")).status).toBe(200);
});

test("keys are not shown while an answer is written either", async () => {
  const key = `ghp_${"aB3dE6gH9jK2".repeat(3)}`;
  const room = await filesRoom([says(`The key is ${key} and no other.\n`)]);
  const { reader } = room;
  const { id } = await reader.start({ prompt: "go", cwd: room.cwd });
  const items = await followUntil(reader, id, isRunEnd);
  const pieces = items.flatMap((item) =>
    item.type === "passing" && item.passing.type === "event" && item.passing.event.type === "text_delta"
      ? [item.passing.event.text]
      : [],
  );
  expect(pieces.join("")).not.toContain(key);
  expect(JSON.stringify(items)).not.toContain(key);
});

test("a run whose session file was removed can be stopped, and takes no message it would lose", async () => {
  const room = await filesRoom([calls("bash", { command: "touch made" }), says("Never.")]);
  const { reader, home, cwd } = room;
  const { id } = await reader.start({ prompt: "Do it", cwd });
  await followUntil(reader, id, passes("question"));
  rmSync(sessionStore(userPaths({ HOME: home })).find(id).path);
  await expect(reader.send(id, { text: "later", when: "after" })).rejects.toMatchObject({
    status: 507,
    code: "journal",
  });
  await reader.stop(id);
  await expect.poll(() => reader.approvals()).toEqual([]);
  expect(existsSync(join(cwd, "made"))).toBe(false);
});

test("a session that cannot be read hides the questions of no other", async () => {
  const home = tempFolder();
  const cwd = tempFolder();
  const ids: string[] = [];
  for (let count = 0; count < 2; count++) {
    const asking = await otherWriter({ home, cwd }, [calls("bash", { command: "touch made" })]);
    asking.onQuestion(() => undefined);
    const run = asking.send("Do it");
    await expect.poll(() => asking.questions.length).toBe(1);
    asking.killNow();
    await run;
    ids.push(asking.id);
  }
  const { reader } = await filesRoom([], { home, cwd });
  expect((await reader.approvals()).length).toBe(2);
  const [first = "", second] = ids;
  const { path } = sessionStore(userPaths({ HOME: home })).find(first);
  // A second name, by which it could change unseen.
  linkSync(path, join(cwd, "copy"));
  expect((await reader.approvals()).map(({ sessionId }) => sessionId)).toEqual([second]);
  const lock = path.replace(first, second ?? "").replace(/jsonl$/, "lock");
  rmSync(lock, { force: true });
  mkdirSync(lock);
  expect([await reader.approvals(), (await reader.sessions()).sessions.length]).toEqual([[], 2]);
});

test("a session that cannot be read is refused to whoever follows it, with the reason", async () => {
  const home = tempFolder();
  const store = sessionStore(userPaths({ HOME: home }));
  const journal = await store.start("/work", { sessionId: "newer" });
  const message = { role: "user", content: [{ type: "text", text: "Hello" }] } as const;
  await journal.append({ type: "user_message", source: "input", message });
  await journal.close();
  const { path } = store.find("newer");
  writeFileSync(path, readFileSync(path, "utf8").replaceAll('"v":1', '"v":99'));
  const { reader } = await filesRoom([], { home });
  await expect(followUntil(reader, "newer", () => false)).rejects.toMatchObject({
    status: 409,
    message: expect.stringContaining("is of version 99"),
  });
});

test("a search says when not all sessions were read for it yet, and finds the rest later", async () => {
  const store = sessionStore(userPaths({ HOME: tempFolder() }));
  for (let count = 0; count < 60; count++) {
    const journal = await store.start("/work", { sessionId: `s${count}` });
    const message = { role: "user", content: [{ type: "text", text: "a zebra" }] } as const;
    await journal.append({ type: "user_message", source: "input", message });
    await journal.close();
  }
  const clock = new FakeClock();
  const kept = new StoredSessions(store, clock);
  const early = kept.page({ q: "zebra", limit: 100 });
  await clock.untilSleeping();
  await clock.advance(1_000);
  const { searched, files } = await early;
  await kept.index();
  const whole = await kept.page({ q: "zebra", limit: 100 });
  expect([searched, whole.searched, whole.files.length]).toEqual([
    { sessions: files.length, of: 60 },
    undefined,
    60,
  ]);
  await kept.close();
});
