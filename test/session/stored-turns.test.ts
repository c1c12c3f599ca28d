import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { Agent } from "../../src/agent/agent.ts";
import { defineTool } from "../../src/core/tool/tool.ts";
import { JsonlJournal } from "../../src/session/jsonl-journal.ts";
import { calls, finishes, type ScriptStep, says } from "../../src/testing/script.ts";
import { ScriptedModel } from "../../src/testing/scripted-model.ts";
import { tempFolder } from "../temp-folder.ts";

/** A journal that counts its syncs and knows which types of records the disk has. */
async function watchedJournal(): Promise<{
  readonly journal: JsonlJournal;
  readonly syncs: () => number;
  readonly stored: () => readonly string[];
}> {
  let syncs = 0;
  let written = "";
  let synced = "";
  const journal = await JsonlJournal.create(join(tempFolder(), "s.jsonl"), {
    sessionId: "s",
    cwd: "/somewhere",
    calls: {
      write: (_descriptor, bytes) => {
        written += Buffer.from(bytes).toString();
        return bytes.length;
      },
      sync: async () => {
        syncs++;
        synced = written;
      },
    },
  });
  onTestFinished(() => journal.close());
  const stored = (): readonly string[] =>
    [...synced.matchAll(/"type":"(\w+)","/g)].map(([, type = ""]) => type);
  return { journal, syncs: () => syncs, stored: () => stored().filter((type) => !IN_MESSAGES.has(type)) };
}

const IN_MESSAGES = new Set(["text", "tool_use"]);

function echo(run: (text: string) => string): ReturnType<typeof defineTool> {
  return defineTool({
    name: "echo",
    description: "Says it again.",
    parameters: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
    execute: ({ text }: { readonly text: string }) => run(text),
  });
}

describe("what a turn waits for the disk", () => {
  it("is one sync for an answer with the intents of its calls, and one for their results", async () => {
    const { journal, syncs } = await watchedJournal();
    const seen: number[] = [];
    const turn = (text: string): ScriptStep => [calls("echo", { text }), calls("echo", { text: `${text}2` })];
    const agent = new Agent({
      model: new ScriptedModel([turn("a"), turn("b"), turn("c"), says("done")]),
      tools: [echo((text) => text)],
      journal,
    });
    await agent.run("go", {
      onEvent: ({ type }) => {
        if (type === "turn_start" || type === "done") seen.push(syncs());
      },
    });
    // The input; two in each turn with calls; the last answer with the end of the run.
    expect(seen).toEqual([1, 3, 5, 7, 8]);
  });

  it.each(["the tool", "an approver", "a hook"])(
    "has the answer on the disk before %s is told of it",
    async (who) => {
      const { journal, stored } = await watchedJournal();
      const seen: (readonly string[])[] = [];
      const look = (): void => {
        seen.push(stored());
      };
      const agent = new Agent({
        ...(who === "an approver" ? { permission: { check: () => ({ action: "ask" }) } } : {}),
        ...(who === "a hook" ? { hooks: { pre_acting: look } } : {}),
        model: new ScriptedModel([calls("echo", { text: "a" }), says("done")]),
        tools: [
          echo((text) => {
            if (who === "the tool") look();
            return text;
          }),
        ],
        journal,
      });
      await agent.run("go", {
        approve: () => {
          if (who === "an approver") look();
          return true;
        },
      });
      const begun = ["session", "run_start", "user_message", "assistant_message"];
      expect(seen).toEqual([who === "the tool" ? [...begun, "tool_intent"] : begun]);
    },
  );

  it("is over before an answer is published, and nothing is published before the answer it is about", async () => {
    const { journal, stored } = await watchedJournal();
    const published: string[] = [];
    const unstored: string[] = [];
    const agent = new Agent({
      model: new ScriptedModel([calls("echo", { text: "a" }), calls("echo", { text: "b" }), says("done")]),
      tools: [echo((text) => text)],
      permission: { check: ({ input }) => ({ action: input["text"] === "a" ? "deny" : "allow" }) },
      journal,
    });
    await agent.run("go", {
      onEvent: (event) => {
        if (!("id" in event && "parent" in event)) return;
        published.push(event.type);
        const isStored =
          stored().filter((type) => type === event.type).length >= countOf(published, event.type);
        if (!isStored && !["run_start", "permission_decision"].includes(event.type))
          unstored.push(event.type);
      },
    });
    expect({ published, unstored }).toEqual({
      published: [
        "run_start",
        "user_message",
        "assistant_message",
        "permission_decision",
        "tool_result",
        "assistant_message",
        "tool_intent",
        "tool_result",
        "assistant_message",
        "run_end",
      ],
      unstored: [],
    });
  });

  it("is over before the request that follows an answer without calls", async () => {
    const { journal, stored } = await watchedJournal();
    const seen: (readonly string[])[] = [];
    const model = new ScriptedModel([
      [says("one"), finishes("pause")],
      () => {
        seen.push(stored());
        return says("two");
      },
    ]);
    await new Agent({ model, journal }).run("go");
    expect(seen).toEqual([["session", "run_start", "user_message", "assistant_message"]]);
  });
});

function countOf(types: readonly string[], wanted: string): number {
  return types.filter((type) => type === wanted).length;
}
