import { describe, expect, it } from "vitest";
import { Agent } from "../../src/agent/agent.ts";
import type { JournalEntry, NewEntry } from "../../src/core/agent/entries.ts";
import type { Journal } from "../../src/core/agent/journal.ts";
import { defineTool } from "../../src/core/tool/tool.ts";
import { calls, says } from "../../src/testing/script.ts";
import { ScriptedModel } from "../../src/testing/scripted-model.ts";

/** What every journal keeps to; `open` makes an empty one whose clock says what `now` says. */
export function describeJournal(
  name: string,
  open: (options: { readonly sessionId: string; readonly now: () => number }) => Promise<Journal>,
): void {
  describe(`${name} as a journal`, () => {
    describeHostEntries(open);

    it("has the name it was given and begins empty", async () => {
      const journal = await open({ sessionId: "s1", now: () => 0 });
      expect([journal.sessionId, await entriesOf(journal)]).toEqual(["s1", []]);
    });

    it("gives each entry an id of its own, the time, and the entry before it as parent", async () => {
      let time = 0;
      const journal = await open({ sessionId: "s1", now: () => time });
      const stored: JournalEntry[] = [];
      for (time of [5, 4, 3]) stored.push(await journal.append(said("hello")));
      const [first, second, third] = stored;
      expect(new Set(stored.map(({ id }) => id)).size).toBe(3);
      expect(stored.map((entry) => entry.time)).toEqual([5, 4, 3]);
      expect([second?.parent, third?.parent]).toEqual([first?.id, second?.id]);
      expect(await entriesOf(journal)).toEqual(stored);
    });

    it("keeps the order of entries that are appended together", async () => {
      const journal = await open({ sessionId: "s1", now: () => 0 });
      const texts = Array.from({ length: 40 }, (_, at) => `message ${at}`);
      const stored = await Promise.all(texts.map(async (text) => journal.append(said(text))));
      expect(await entriesOf(journal)).toEqual(stored);
      expect(stored.map(textOf)).toEqual(texts);
    });

    it("holds a run of an agent, and another agent goes on from it", async () => {
      const journal = await open({ sessionId: "s1", now: () => 0 });
      const echo = defineTool({
        name: "echo",
        description: "Says it again.",
        parameters: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
        execute: ({ text }: { readonly text: string }) => text,
      });
      const first = new Agent({
        model: new ScriptedModel([calls("echo", { text: "one" }), says("done")]),
        tools: [echo],
        journal,
      });
      const result = await first.run("go");
      expect((await entriesOf(journal)).map(({ type }) => type)).toEqual([
        "run_start",
        "user_message",
        "assistant_message",
        "tool_intent",
        "tool_result",
        "assistant_message",
        "run_end",
      ]);
      const second = new Agent({ model: new ScriptedModel([says("more")]), tools: [echo], journal });
      await second.ready();
      expect(second.getState().messages).toEqual(result.messages);
    });
  });
}

function describeHostEntries(open: Parameters<typeof describeJournal>[1]): void {
  it("keeps what is beside the conversation: another model, another mode, notes of a host, retries", async () => {
    const journal = await open({ sessionId: "s1", now: () => 0 });
    const given: readonly NewEntry[] = [
      { type: "model_change", model: "a/b", effort: "high" },
      { type: "mode_change", mode: "plan" },
      { type: "note", kind: "question", data: { choices: ["once", null, 3] } },
      {
        type: "retry",
        attempt: 2,
        delayMs: 5,
        error: { code: "network", message: "gone", retryable: true, details: { status: 503 } },
      },
    ];
    for (const entry of given) await journal.append(entry);
    expect(await entriesOf(journal)).toMatchObject(given);
  });
}

async function entriesOf(journal: Journal): Promise<readonly JournalEntry[]> {
  const entries: JournalEntry[] = [];
  for await (const entry of journal.entries()) entries.push(entry);
  return entries;
}

function said(text: string): NewEntry {
  return {
    type: "user_message",
    message: { role: "user", content: [{ type: "text", text }] },
    source: "input",
  };
}

function textOf(entry: JournalEntry): unknown {
  if (entry.type !== "user_message") return undefined;
  const [block] = entry.message.content;
  return block?.type === "text" ? block.text : undefined;
}
