import { expect, test } from "vitest";
import { type ScriptStep, says } from "../../src/testing/script.ts";
import {
  followUntil,
  isRunEnd,
  passes,
  type RoomOptions,
  type ServedRoom,
  type Steps,
} from "./server-room.ts";

/** What a server does, whatever its sessions are. */
export function describeServer(
  name: string,
  {
    open,
    asking,
  }: {
    readonly open: (steps: Steps, options?: RoomOptions) => Promise<ServedRoom>;
    /** A call that is asked about. */
    readonly asking: ScriptStep;
  },
): void {
  test(`${name}: a session is begun, followed to its end, listed and read`, async () => {
    const { reader, cwd } = await open([says("Hello there.")]);
    const { id } = await reader.start({ prompt: "Say hello", cwd });
    const items = await followUntil(reader, id, isRunEnd);
    const types = items.flatMap((item) => (item.type === "entry" ? [item.entry.type] : []));
    const { sessions } = await reader.sessions();
    const { messages, ...detail } = await reader.session(id);
    expect(types).toEqual(["run_start", "user_message", "assistant_message", "run_end"]);
    expect(sessions.map((session) => session.id)).toEqual([id]);
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
    expect(detail).toEqual(
      expect.objectContaining({ id, cwd, title: "Say hello", messageCount: 2, queue: [], questions: [] }),
    );
  });

  test(`${name}: whoever comes back gets what followed the entry, and everything for an unknown one`, async () => {
    const { reader, cwd } = await open([says("One."), says("Two.")]);
    const { id } = await reader.start({ prompt: "1", cwd });
    const first = await followUntil(reader, id, isRunEnd);
    const ids = first.flatMap((item) => (item.type === "entry" ? [item.entry.id] : []));
    const rest = await followUntil(reader, id, passes("ready"), ids[1]);
    const again = await followUntil(reader, id, passes("ready"), "no-such-entry");
    expect(rest.flatMap((item) => (item.type === "entry" ? [item.entry.id] : []))).toEqual(ids.slice(2));
    expect(again[0]).toEqual({ type: "passing", passing: { type: "reset" } });
    expect(again.flatMap((item) => (item.type === "entry" ? [item.entry.id] : []))).toEqual(ids);
  });

  test(`${name}: a question waits for its answer; a second answer is refused`, async () => {
    const { reader, cwd } = await open([asking, says("Done.")]);
    const { id } = await reader.start({ prompt: "Do it", cwd });
    await followUntil(reader, id, passes("question"));
    const [question] = await reader.approvals();
    const state = (await reader.session(id)).state;
    expect([question?.sessionId, state]).toEqual([id, "waiting"]);
    await reader.answer(question?.id ?? "", { choice: "once" });
    await followUntil(reader, id, isRunEnd);
    await expect(reader.answer(question?.id ?? "", { choice: "once" })).rejects.toMatchObject({
      status: 409,
    });
    await expect(reader.answer("no-such-question", { choice: "no" })).rejects.toMatchObject({ status: 404 });
    const result = (await reader.session(id)).messages[2];
    expect(JSON.stringify(result)).not.toContain("is_error");
  });

  test(`${name}: stop ends the run and holds the queue; stopping what does not run is refused`, async () => {
    const { reader, cwd } = await open([asking, says("Both.")]);
    const { id } = await reader.start({ prompt: "Do it", cwd });
    await followUntil(reader, id, passes("question"));
    await reader.send(id, { text: "later", when: "after" });
    await reader.stop(id);
    await followUntil(reader, id, isRunEnd);
    await followUntil(reader, id, passes("ready"));
    const { queue, queueHeld } = await reader.session(id);
    expect([queue.map(({ text }) => text), queueHeld]).toEqual([["later"], true]);
    await expect(reader.stop(id)).rejects.toMatchObject({ status: 409 });
    expect(await reader.approvals()).toEqual([]);
    await reader.send(id, { text: "and this", when: "after" });
    const items = await followUntil(reader, id, (_, all) => all.filter(isRunEnd).length === 2);
    expect(JSON.stringify(items)).toContain("later\\n\\nand this");
    expect((await reader.session(id)).queue).toEqual([]);
  });

  test(`${name}: a message now goes to a session that rests, one for after goes out by itself`, async () => {
    const { reader, cwd, model } = await open([says("One."), says("Two."), says("Three.")]);
    const { id } = await reader.start({ prompt: "1", cwd });
    await followUntil(reader, id, isRunEnd);
    await reader.send(id, { text: "2", when: "now" });
    await followUntil(reader, id, (_, items) => items.filter(isRunEnd).length === 2);
    await reader.send(id, { text: "3", when: "after" });
    await followUntil(reader, id, (_, items) => items.filter(isRunEnd).length === 3);
    expect(model.requests.length).toBe(3);
  });

  test(`${name}: a copy ends with the entry that was named, and lives its own life`, async () => {
    const { reader, cwd } = await open([says("One."), says("Two.")]);
    const { id } = await reader.start({ prompt: "1", cwd });
    const items = await followUntil(reader, id, isRunEnd);
    const from = items.find((item) => item.type === "entry" && item.entry.type === "user_message");
    const copy = await reader.fork(id, from?.type === "entry" ? from.entry.id : "");
    const copied = await followUntil(reader, copy.id, passes("ready"));
    expect(copied.flatMap((item) => (item.type === "entry" ? [item.entry.type] : []))).toEqual([
      "run_start",
      "user_message",
    ]);
    await expect(reader.fork(id, "no-such-entry")).rejects.toMatchObject({ status: 404 });
    expect((await reader.fork(id)).id).not.toBe(id);
  });

  test(`${name}: a list has pages that end, and statistics add up`, async () => {
    const { reader, cwd } = await open([says("a"), says("b"), says("c")]);
    for (const prompt of ["1", "2", "3"]) {
      const { id } = await reader.start({ prompt, cwd });
      await followUntil(reader, id, isRunEnd);
    }
    const titles: (string | undefined)[] = [];
    const [newest] = (await reader.sessions()).sessions;
    expect(newest).toMatchObject({
      end: { reason: "completed" },
      lines: { added: 0, removed: 0 },
      trace: "l1",
    });
    let before: string | undefined;
    do {
      const page = await reader.sessions({ limit: 2, ...(before === undefined ? {} : { before }) });
      titles.push(...page.sessions.map(({ title }) => title));
      before = page.next;
    } while (before !== undefined);
    const stats = await reader.stats("model");
    expect(new Set(titles)).toEqual(new Set(["1", "2", "3"]));
    expect(titles.length).toBe(3);
    expect(stats.total).toEqual(
      expect.objectContaining({ sessions: 3, runs: 3, turns: 3, failures: 0, cost: null, unpriced: 3 }),
    );
    expect(stats.rows.length).toBe(1);
  });

  test(`${name}: a search finds what was said`, async () => {
    const { reader, cwd } = await open([says("The moon is a stone."), says("Nothing of note.")]);
    const ids: string[] = [];
    for (const prompt of ["first", "second"]) {
      const { id } = await reader.start({ prompt, cwd });
      await followUntil(reader, id, isRunEnd);
      ids.push(id);
    }
    const { sessions } = await reader.sessions({ q: "moon" });
    expect(sessions.map(({ id }) => id)).toEqual([ids[0]]);
    expect(sessions[0]?.passages?.join()).toContain("moon");
  });

  test(`${name}: a search for nothing lists everything`, async () => {
    const { reader, cwd } = await open([says("One.")]);
    const { id } = await reader.start({ prompt: "1", cwd });
    await followUntil(reader, id, isRunEnd);
    const all = (await reader.sessions()).sessions;
    expect([
      (await reader.sessions({ q: "" })).sessions,
      (await reader.sessions({ q: "  " })).sessions,
    ]).toEqual([all, all]);
    expect(all.length).toBe(1);
  });

  test(`${name}: what a copy took over counts once in statistics, what it adds counts`, async () => {
    const { reader, cwd } = await open([says("One."), says("Two.")]);
    const { id } = await reader.start({ prompt: "one", cwd });
    await followUntil(reader, id, isRunEnd);
    const copy = await reader.fork(id);
    const before = (await reader.stats("model")).total;
    await reader.send(copy.id, { text: "two", when: "now" });
    await followUntil(reader, copy.id, (_, items) => items.filter(isRunEnd).length === 2);
    const after = (await reader.stats("model")).total;
    expect([before, after].map(({ sessions, runs, turns }) => [sessions, runs, turns])).toEqual([
      [1, 1, 1],
      [2, 2, 2],
    ]);
  });

  test(`${name}: the window of the model is told with a session`, async () => {
    const { reader, cwd } = await open([says("One.")]);
    const { id } = await reader.start({ prompt: "1", cwd });
    await followUntil(reader, id, isRunEnd);
    expect((await reader.session(id)).windowTokens).toBe(100_000);
  });

  test(`${name}: what there is not is 404, also where an id looks like a path`, async () => {
    const { ask } = await open([]);
    const paths = ["nope", "..%2f..%2fetc%2fpasswd", "%2e%2e", "a%00b", "%ff", "x".repeat(5_000)];
    const answers = await Promise.all(paths.map((id) => ask(`/api/sessions/${id}`)));
    expect(answers.map(({ status }) => status)).toEqual(paths.map(() => 404));
    expect(await answers[0]?.json()).toEqual(expect.objectContaining({ status: 404, code: "not_found" }));
  });

  test(`${name}: a server that only reads takes nothing`, async () => {
    const { reader, ask, cwd } = await open([], { readOnly: true });
    await expect(reader.start({ prompt: "x", cwd })).rejects.toMatchObject({ status: 403 });
    const paths = ["sessions", "sessions/x/messages", "sessions/x/stop", "sessions/x/fork", "approvals/x"];
    const answers = await Promise.all(paths.map((path) => ask(`/api/${path}`, { method: "POST" })));
    expect(answers.map(({ status }) => status)).toEqual(paths.map(() => 403));
    await reader.signIn("a-token-of-more-than-20-characters");
  });
}
