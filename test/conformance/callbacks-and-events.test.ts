import fc from "fast-check";
import { expect, test } from "vitest";
import { toStepEvents } from "../../src/adapters/step-events.ts";
import { Agent, type AgentEvent, defineTool, messageText } from "../../src/index.ts";
import { calls, fails, says } from "../../src/testing/script.ts";
import { ScriptedModel } from "../../src/testing/scripted-model.ts";
import { all, lines, tool } from "../scenarios/conversation.ts";

test("onToolCall is asked about the calls that need a yes and no others, and its answer decides", async () => {
  const asked: unknown[] = [];
  const agent = new Agent({
    model: new ScriptedModel([
      [calls("read"), calls("write", { path: "a" }), calls("write", { path: "b" })],
      says("Done."),
    ]),
    tools: [tool("read"), tool("write")],
    permission: { check: ({ name }) => ({ action: name === "write" ? "ask" : "allow" }) },
  });
  const statuses = new Set<string>();
  const text = await agent.sendMessage("go", {
    onToolCall: async (name, input) => {
      asked.push([name, input]);
      return input["path"] === "a";
    },
    onEvent: (event) => {
      if (event.type === "tool_result") statuses.add(`${event.toolName} ${event.status}`);
    },
  });
  expect(text).toBe("Done.");
  expect(asked).toEqual([
    ["write", { path: "a" }],
    ["write", { path: "b" }],
  ]);
  expect(statuses).toEqual(new Set(["read ok", "write ok", "write denied"]));
});

test("results are told in call order, in whatever order the calls end and whichever of them wait", async () => {
  const kinds = fc.constantFrom("ok", "throws", "waits");
  const answers = fc.array(fc.record({ turns: fc.nat({ max: 4 }), kind: kinds }), {
    minLength: 1,
    maxLength: 6,
  });
  await fc.assert(
    fc.asyncProperty(answers, async (made) => {
      const work = async ({ turns, kind }: { turns: number; kind: string }): Promise<string> => {
        for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate);
        if (kind === "throws") throw new Error("broken");
        return "done";
      };
      const tools = made.map(({ kind, turns }, index) =>
        kind === "waits"
          ? defineTool({ name: `t${index}`, description: "Waits for the caller." })
          : tool(`t${index}`, { execute: () => work({ turns, kind }) }),
      );
      const model = new ScriptedModel([made.map((_, index) => calls(`t${index}`)), says("End.")]);
      const told: string[] = [];
      const agent = new Agent({ model, tools });
      await agent
        .sendMessage("go", {
          onEvent: (event) => {
            if (event.type === "tool_result") told.push(event.toolName);
          },
        })
        .catch(() => undefined);
      expect(told).toEqual(made.flatMap(({ kind }, index) => (kind === "waits" ? [] : [`t${index}`])));
    }),
  );
});

test("a run that fails tells error and then done, and the answers before it stay", async () => {
  const agent = new Agent({
    model: new ScriptedModel([[says("Looking."), calls("look")], fails("gone")]),
    tools: [tool("look")],
  });
  const seen: string[] = [];
  await expect(agent.sendMessage("go", { onEvent: ({ type }) => seen.push(type) })).rejects.toThrow("gone");
  expect(seen).toEqual(["text", "tool_use", "tool_result", "error", "done"]);
  expect(lines(agent.getState().messages)).toEqual([
    "user: go",
    "assistant: Looking.",
    "calls look {}",
    "result call_1: look {}",
  ]);
});

test("question and whole answer stand in the conversation when a stream has ended, and no answer after one that failed", async () => {
  const agent = new Agent({ model: new ScriptedModel([says("Four, as always."), fails("gone")]) });
  await all(toStepEvents(agent.stream("2 + 2?")));
  await expect(all(toStepEvents(agent.stream("And 3 + 3?")))).rejects.toThrow("gone");
  expect(lines(agent.getState().messages)).toEqual([
    "user: 2 + 2?",
    "assistant: Four, as always.",
    "user: And 3 + 3?",
  ]);
});

test("a display that shows only what is new of each piece shows exactly the message that is kept", async () => {
  const agent = new Agent({
    model: new ScriptedModel([says("一二三四五六七八九十 👩‍👩‍👧 and the rest of a longer answer.")], {
      chunkSize: 3,
    }),
  });
  let shown = "";
  const whole: string[] = [];
  for await (const event of agent.stream("go")) {
    if (event.type === "text_delta") shown += event.text;
    if (event.type === "assistant_message") whole.push(messageText(event.message), shown);
  }
  expect(whole).toEqual([shown, shown]);
});

test("every event but the last comes before it, and nothing is told after done", async () => {
  const agent = new Agent({
    model: new ScriptedModel([calls("look"), says("Done.")]),
    tools: [tool("look")],
  });
  const seen: AgentEvent[] = [];
  const { text } = await agent.run("go", { onEvent: (event) => seen.push(event) });
  expect([text, seen.at(-1)?.type, seen.filter(({ type }) => type === "done").length]).toEqual([
    "Done.",
    "done",
    1,
  ]);
});
