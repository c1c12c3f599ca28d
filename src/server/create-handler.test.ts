import { expect, onTestFinished, test } from "vitest";
import { Agent } from "../agent/agent.ts";
import { type Journal, MemoryJournal } from "../core/agent/journal.ts";
import { errorMessage, invalidArgument } from "../core/base/errors.ts";
import { defineTool } from "../core/tool/tool.ts";
import { createRedaction } from "../permission/secrets/create-redaction.ts";
import { calls, says } from "../testing/script.ts";
import { ScriptedModel } from "../testing/scripted-model.ts";
import { createHandler, type HandlerOptions } from "./create-handler.ts";
import { createReader, type Reader } from "./create-reader.ts";

const token = "a-token-of-more-than-20-characters";

function readerOf(options: Omit<HandlerOptions, "token" | "signal">): Reader {
  const ending = new AbortController();
  onTestFinished(() => ending.abort());
  const handler = createHandler({ ...options, token, signal: ending.signal });
  const own = (input: ConstructorParameters<typeof Request>[0], init?: RequestInit): Promise<Response> =>
    handler(new Request(input, init));
  return createReader({ baseUrl: "http://localhost", token, fetch: own });
}

test("an agent that cannot be made is told, and costs lists and statistics its own session alone", async () => {
  const errors: string[] = [];
  const journals = new Map(["gone", "here"].map((id) => [id, new MemoryJournal({ sessionId: id })]));
  const reader = readerOf({
    agent: ({ id, options }) => {
      if (id === "gone") throw invalidArgument("There is no such tenant.");
      return new Agent({ ...options, model: new ScriptedModel([]) });
    },
    store: {
      list: () => [...journals.keys()],
      open: (id) => journals.get(id),
      create: (id) => new MemoryJournal({ sessionId: id }),
    },
    onError: (error) => errors.push(errorMessage(error)),
  });
  const listed = (await reader.sessions()).sessions.map(({ id }) => id);
  const { total } = await reader.stats("day");
  const { runs, cost } = total;
  expect({ listed, runs, cost, open: await reader.approvals(), errors }).toEqual({
    listed: ["here"],
    runs: 0,
    cost: 0,
    open: [],
    errors: ["There is no such tenant.", "There is no such tenant."],
  });
});

test("a session that is refused is not there afterwards, and one that begins is kept", async () => {
  const kept: string[] = [];
  const reader = readerOf({
    agent: ({ options }) => {
      if (options.model !== undefined) throw invalidArgument("There is no such model.");
      return new Agent({ ...options, model: new ScriptedModel([says("Hi.")]) });
    },
    store: {
      list: () => kept,
      open: () => undefined,
      create: async (id) => {
        kept.push(id);
        return new MemoryJournal({ sessionId: id });
      },
    },
  });
  const limits = { maxWallTime: "soon" };
  const refused = [
    { prompt: "x", limits },
    { prompt: "x", model: "bad/model" },
  ].map((session) => reader.start(session).catch((error: unknown) => errorMessage(error)));
  expect(await Promise.all(refused)).toEqual([
    'limits.maxWallTime "soon": write a time such as "90s" or "10m".',
    "There is no such model.",
  ]);
  expect(kept).toEqual([]);
  const { id } = await reader.start({ prompt: "x" });
  expect(kept).toEqual([id]);
  await expect.poll(async () => (await reader.session(id)).messages.length).toBe(2);
});

test("an answer with a rule or a value that was not asked for is refused, and the question stays", async () => {
  const touch = defineTool({
    name: "touch",
    description: "Does something that needs a yes.",
    parameters: { type: "object", properties: {} },
    execute: () => "touched",
  });
  const reader = readerOf({
    agent: ({ options }) =>
      new Agent({
        ...options,
        tools: [touch],
        permission: { check: () => ({ action: "ask" }) },
        model: new ScriptedModel([calls("touch"), says("Done.")]),
      }),
  });
  await reader.start({ prompt: "x" });
  await expect.poll(async () => (await reader.approvals()).length).toBe(1);
  const [{ id } = { id: "" }] = await reader.approvals();
  const answers = [{ choice: "once", rule: "x" } as const, { choice: "once", value: 1 } as const];
  for (const answer of answers)
    await expect(reader.answer(id, answer)).rejects.toMatchObject({ status: 400 });
  await reader.answer(id, { choice: "once" });
  expect(await reader.approvals()).toEqual([]);
});

test("a message that was accepted waits, held, where the journal takes nothing, and goes out later", async () => {
  const journal = new MemoryJournal({ sessionId: "one" });
  const errors: string[] = [];
  let isFull = true;
  const full: Journal = {
    sessionId: "one",
    entries: () => journal.entries(),
    append: (entry) => {
      if (isFull) throw new Error("The disk is full.");
      return journal.append(entry);
    },
  };
  const model = new ScriptedModel(() => says("Done."));
  const reader = readerOf({
    agent: ({ options }) => new Agent({ ...options, model }),
    store: { list: () => ["one"], open: () => full, create: () => full },
    onError: (error) => errors.push(errorMessage(error)),
  });
  const waiting = async (): Promise<unknown> => {
    const { queue, queueHeld, state } = await reader.session("one");
    return { queue: queue.map(({ text }) => text), queueHeld, state };
  };
  await reader.send("one", { text: "first", when: "now" });
  await expect.poll(waiting).toEqual({ queue: ["first"], queueHeld: true, state: "idle" });
  await reader.send("one", { text: "second", when: "after" });
  await expect.poll(waiting).toEqual({ queue: ["first\n\nsecond"], queueHeld: true, state: "idle" });
  expect(errors).toEqual([
    expect.stringContaining("The disk is full."),
    expect.stringContaining("The disk is full."),
  ]);
  isFull = false;
  await reader.send("one", { text: "third", when: "after" });
  await expect.poll(waiting).toEqual({ queue: [], queueHeld: false, state: "idle" });
  const { messages } = await reader.session("one");
  expect(messages[0]).toMatchObject({ role: "user", content: [{ text: "first\n\nsecond\n\nthird" }] });
});

test("a message to a run at work waits too, where the journal does not take it", async () => {
  const journal = new MemoryJournal({ sessionId: "one" });
  const full: Journal = {
    sessionId: "one",
    entries: () => journal.entries(),
    append: (entry) => {
      if (entry.type === "user_message" && entry.source === "steering") throw new Error("The disk is full.");
      return journal.append(entry);
    },
  };
  const begun = Promise.withResolvers<undefined>();
  const ended = Promise.withResolvers<string>();
  const look = defineTool({
    name: "look",
    description: "Looks for long.",
    parameters: { type: "object", properties: {} },
    execute: () => {
      begun.resolve(undefined);
      return ended.promise;
    },
  });
  const reader = readerOf({
    agent: ({ options }) =>
      new Agent({ ...options, tools: [look], model: new ScriptedModel([calls("look"), says("Done.")]) }),
    store: { list: () => ["one"], open: () => full, create: () => full },
  });
  await reader.send("one", { text: "Look", when: "now" });
  await begun.promise;
  await reader.send("one", { text: "and there", when: "now" });
  await reader.send("one", { text: "then this", when: "after" });
  ended.resolve("Nothing.");
  await expect
    .poll(async () => (await reader.session("one")).queue.map(({ text }) => text))
    .toEqual(["and there", "then this"]);
  expect((await reader.session("one")).queueHeld).toBe(true);
});

test("no part of a key is in what a search of agents shows", async () => {
  const key = `sk-ant-api03-${"aB3dE6gH9jK2".repeat(7)}xyzAA`;
  const reader = readerOf({
    agent: ({ options }) => new Agent({ ...options, model: new ScriptedModel([says("Done.")]) }),
    redaction: createRedaction(),
  });
  const { id } = await reader.start({ prompt: `${"word ".repeat(35)}${key} needle ${key} haystack` });
  await expect.poll(async () => (await reader.session(id)).state).toBe("idle");
  const found = await Promise.all(
    ["needle", "haystack", "word", key.slice(30, 50)].map((q) => reader.sessions({ q })),
  );
  expect(found.map(({ sessions }) => sessions[0]?.passages?.length)).toEqual([1, 1, 1, undefined]);
  expect(JSON.stringify(found)).not.toMatch(/aB3|dE6|gH9|jK2/);
});

test.each([
  [{ hosts: "x" }, "hosts"],
  [{ agent: 5 }, "agent is 5"],
  [{ foo: 1 }, 'Unknown option "foo"'],
  [{ readOnly: "no" }, 'readOnly is "no"'],
  [{ store: {} }, "store is an object; it must be an object with list()"],
  [{ sessions: {} }, "sessions is an object; it must be a SessionHost"],
  [{ token: "short" }, "token is not usable; it must be at least 20 characters"],
  [{ agent: undefined }, "createHandler() needs agent"],
])("options that cannot work are refused: %j", (wrong, message) => {
  const agent: HandlerOptions["agent"] = ({ options }) =>
    new Agent({ ...options, model: new ScriptedModel([]) });
  expect(() => createHandler({ token, agent, ...wrong } as HandlerOptions)).toThrow(message);
});

test("of a sign-in, which everybody may send, no more is read than a token takes", async () => {
  const handler = createHandler({
    agent: ({ options }) => new Agent({ ...options, model: new ScriptedModel([]) }),
    store: { list: () => [], open: () => undefined, create: (id) => new MemoryJournal({ sessionId: id }) },
    token,
  });
  let pieces = 0;
  const endless = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      pieces += 1;
      controller.enqueue(new Uint8Array(1_000));
    },
  });
  const signIn = async (body: string | ReadableStream<Uint8Array>): Promise<readonly unknown[]> => {
    const headers = { "content-type": "application/json" };
    const init = { method: "POST", headers, body, duplex: "half" } as const;
    const response = await handler(new Request("http://localhost/api/session", init));
    return [response.status, ((await response.json()) as { readonly detail?: string }).detail];
  };
  const tooLong = [413, "The body has more than 4 kB."];
  expect([
    await signIn(endless),
    await signIn(JSON.stringify({ token: "x".repeat(4_000) })),
    await signIn(JSON.stringify({ token })),
    pieces < 10,
  ]).toEqual([tooLong, tooLong, [200, undefined], true]);
});
