import { describe, expect, test } from "vitest";
import { Agent, defineTool, type Journal, type JournalEntry, MemoryJournal } from "../../src/index.ts";
import { calls, says } from "../../src/testing/script.ts";
import { ScriptedModel } from "../../src/testing/scripted-model.ts";
import { describeJournal } from "../contracts/describe-journal.ts";

test("a tool waits for a journal that promises with something else than a Promise", async () => {
  const stored = new MemoryJournal();
  const seen: string[] = [];
  const journal: Journal = {
    sessionId: stored.sessionId,
    entries: () => stored.entries(),
    append: (entry) => {
      const later = new Promise<JournalEntry>((resolve) => {
        setTimeout(() => {
          seen.push(entry.type);
          resolve(stored.append(entry));
        }, 2);
      });
      return foreign(later);
    },
  };
  const look = defineTool({
    name: "look",
    description: "Looks.",
    execute: () => {
      seen.push("the tool");
      return "blue";
    },
  });
  const model = new ScriptedModel([calls("look"), says("Blue.")]);
  const { stopReason } = await new Agent({ model, tools: [look], journal }).run("Colour?");
  expect(stopReason).toBe("completed");
  expect(seen).toEqual([
    "run_start",
    "user_message",
    "assistant_message",
    "tool_intent",
    "the tool",
    "tool_result",
    "assistant_message",
    "run_end",
  ]);
});

/** A promise of another library: it can be awaited, and what its `then` gives is another such promise. */
function foreign<T>(promise: Promise<T>): Promise<T> {
  const then: Promise<T>["then"] = (done, failed) => foreign(promise.then(done, failed));
  return Object.defineProperty({} as Promise<T>, "then", { value: then });
}

/** A journal as a database keeps it: reading and writing both take time, and reading may fail. */
class RemoteJournal implements Journal {
  readonly #stored: MemoryJournal;
  /** Reads that fail before one succeeds. */
  faults = 0;
  reads = 0;

  constructor(options: ConstructorParameters<typeof MemoryJournal>[0] = {}) {
    this.#stored = new MemoryJournal(options);
  }

  get sessionId(): string {
    return this.#stored.sessionId;
  }

  async *entries(): AsyncIterable<JournalEntry> {
    this.reads += 1;
    for (const entry of this.#stored.entries()) {
      await Promise.resolve();
      yield entry;
      if (this.faults > 0) {
        this.faults -= 1;
        throw new Error("connection lost");
      }
    }
  }

  async append(entry: Parameters<Journal["append"]>[0]): Promise<JournalEntry> {
    await Promise.resolve();
    return this.#stored.append(entry);
  }
}

describeJournal("A journal that takes time to read", async (options) => new RemoteJournal(options));

describe("an agent over a journal that takes time to read", () => {
  async function remembered(): Promise<RemoteJournal> {
    const journal = new RemoteJournal();
    await new Agent({ model: new ScriptedModel([says("Hello.")]), journal }).run("Hi");
    journal.reads = 0;
    return journal;
  }

  test("goes on with the conversation, which it reads once", async () => {
    const journal = await remembered();
    const model = new ScriptedModel([says("Blue."), says("Red.")]);
    const agent = new Agent({ model, journal });
    await agent.run("Colour?");
    await agent.run("Another?");
    expect([journal.reads, model.requests.map(({ messages }) => messages.length)]).toEqual([1, [3, 5]]);
  });

  test("streams, takes notes and edits of the conversation before anybody has waited for it", async () => {
    const journal = await remembered();
    const agent = new Agent({ model: new ScriptedModel([says("Blue.")]), journal });
    await Promise.all([agent.note("kept", 1), agent.setMode("plan"), agent.conversation.clear()]);
    for await (const event of agent.stream("Colour?")) void event;
    expect([agent.mode, agent.getState().messages.length, journal.reads]).toEqual(["plan", 2, 1]);
  });

  test("does not show a conversation that it has not read", async () => {
    const agent = new Agent({ model: new ScriptedModel([]), journal: await remembered() });
    const unread = { code: "invalid_argument", message: expect.stringContaining("await agent.ready()") };
    expect(() => agent.getState()).toThrow(expect.objectContaining(unread));
    expect(() => agent.conversation.size).toThrow(expect.objectContaining(unread));
    expect(() => agent.mode).toThrow(expect.objectContaining(unread));
    await agent.ready();
    expect([agent.getState().messages.length, agent.conversation.size]).toEqual([2, 2]);
  });

  test("says that it cannot be read, and reads it from the start when it is tried again", async () => {
    const journal = await remembered();
    journal.faults = 1;
    const model = new ScriptedModel([says("Blue.")]);
    const agent = new Agent({ model, journal });
    await expect(agent.run("Colour?")).rejects.toMatchObject({
      code: "journal",
      message: "The journal could not be read: connection lost",
    });
    await agent.run("Colour?");
    expect(model.requests[0]?.messages.length).toBe(3);
  });

  test("takes one run at a time, also while it reads", async () => {
    const agent = new Agent({ model: new ScriptedModel([says("Blue.")]), journal: await remembered() });
    const [first, second] = await Promise.allSettled([agent.run("Colour?"), agent.run("Another?")]);
    expect([first.status, second]).toMatchObject([
      "fulfilled",
      { status: "rejected", reason: { code: "invalid_argument" } },
    ]);
  });
});

test("a journal that cannot be read at once, or gives back no entry, is said to be what failed", async () => {
  const model = new ScriptedModel([says("Hello.")]);
  const unreadable = {
    sessionId: "s",
    append: () => undefined as unknown as JournalEntry,
    entries: (): Iterable<JournalEntry> => {
      throw new Error("no such table");
    },
  };
  const journalError = (message: string) => expect.objectContaining({ code: "journal", message });
  expect(() => new Agent({ model, journal: unreadable })).toThrow(
    journalError("The journal could not be read: no such table"),
  );
  const forgetful = new Agent({ model, journal: { ...unreadable, entries: () => [] } });
  await expect(forgetful.run("Hi")).rejects.toEqual(
    journalError("The journal could not store the run_start record: append() gave back no entry."),
  );
});
