import { expect, test } from "vitest";
import { Agent, defineTool, type Journal, type JournalEntry, MemoryJournal } from "../../src/index.ts";
import { calls, says } from "../../src/testing/script.ts";
import { ScriptedModel } from "../../src/testing/scripted-model.ts";

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
