import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { lines, tool } from "../../../test/scenarios/conversation.ts";
import { Agent } from "../../agent/agent.ts";
import { toolCallsOf } from "../../core/message/message.ts";
import { collect } from "../../core/model/answer.ts";
import type { ToolSpec } from "../../core/model/model.ts";
import { calls, finishes, type ScriptAnswer, says } from "../../testing/script.ts";
import { ScriptedModel } from "../../testing/scripted-model.ts";
import { callsAsText } from "./calls-as-text.ts";

const READ: ToolSpec = {
  name: "read",
  description: "Reads a file.",
  parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
};

/** An answer as its text and its calls, in pieces of a size. */
async function read(answer: ScriptAnswer, chunkSize = 5, tools: readonly ToolSpec[] = [READ]) {
  const model = callsAsText(new ScriptedModel([answer], { chunkSize }));
  const { message, finish } = await collect(model.stream({ messages: [], tools }));
  const text = message.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("");
  const called = toolCallsOf(message).map(({ name, input, invalid_input }) => ({
    name,
    input,
    ...(invalid_input === undefined ? {} : { raw: invalid_input.raw }),
  }));
  return { text, called, reason: finish.finishReason.unified };
}

describe("a call in a text", () => {
  test.each([
    ["as it is asked for", 'Action: read\nAction Input: {"path": "a"}'],
    ["with an observation made up", 'Action: read\nAction Input: {"path": "a"}\nObservation: it is empty'],
    ["in bold", '**Action:** read\n**Action Input:** {"path": "a"}'],
    ["in a fence", 'Action: `read`\nAction Input:\n```json\n{"path": "a"}\n```'],
    ["over several lines", 'Action: Read\nAction Input: {\n  "path": "a"\n}\n'],
    ["with brackets", 'Action: read[{"path": "a"}]'],
    ["as a function", 'Action: read({"path": "a"})'],
    ["with the one text alone", 'Action: read["a"]'],
    ["with a plain input", "Action: read\nAction Input: a"],
    ["as one object", 'Action: {"name": "read", "arguments": {"path": "a"}}'],
    [
      "as one object in other words",
      'Action:\n```json\n{"action": "read", "action_input": {"path": "a"}}\n```',
    ],
  ])("%s", async (_name, written) => {
    for (const size of [1, 3, 1_000]) {
      expect(await read(says(`Thought: I must look.\n${written}`), size)).toEqual({
        text: "Thought: I must look.\n",
        called: [{ name: "read", input: { path: "a" } }],
        reason: "tool_use",
      });
    }
  });

  test("that cannot be read is a call whose result says so", async () => {
    expect((await read(says('Action: read\nAction Input: {"path": '))).called).toEqual([
      { name: "read", input: { path: '{"path":' } },
    ]);
    const two = { ...READ, parameters: { type: "object", properties: { a: {}, b: {} } } } as const;
    expect((await read(says("Action: read\nAction Input: a, b"), 5, [two])).called).toEqual([
      { name: "read", input: {}, raw: "a, b" },
    ]);
    expect((await read(says("Action: fly\nAction Input: {}"))).called).toEqual([{ name: "fly", input: {} }]);
  });

  test("that was cut by the output limit stays cut", async () => {
    const cut = await read([says('Action: read\nAction Input: {"path": "lo'), finishes("length")]);
    expect(cut).toEqual({
      text: "",
      called: [{ name: "read", input: {}, raw: '{"path": "lo' }],
      reason: "length",
    });
  });

  test.each([
    "The Action: button is red.",
    "Actions speak louder.",
    "Act",
    "My action\nis done.\n",
    "1. Action Input is nothing",
  ])("%j is none", async (text) => {
    for (const size of [1, 4, 100])
      expect(await read(says(text), size)).toEqual({ text, called: [], reason: "stop" });
  });

  test("text without a call arrives as it is, however it is cut", async () => {
    const line = fc.oneof(fc.string(), fc.constantFrom("Thought: a", "Act", "Action", " action"));
    await fc.assert(
      fc.asyncProperty(fc.array(line), fc.integer({ min: 1, max: 9 }), async (parts, size) => {
        const text = parts.join("\n").toWellFormed();
        if (/^[ \t]*[*_]*action[*_]*[ \t]*:/im.test(text) || text === "") return;
        expect((await read(says(text), size)).text).toBe(text);
      }),
      { numRuns: 200 },
    );
  });
});

test("an agent works with it as with any model", async () => {
  const model = new ScriptedModel([
    says('Thought: look.\nAction: read\nAction Input: {"path":"a"}'),
    says("Action: nope\nAction Input: {}"),
    says("It says hello."),
  ]);
  const agent = new Agent({ model: callsAsText(model), tools: [tool("read")], systemPrompt: "Be brief." });
  const { messages, stopReason } = await agent.run("What is in a?");
  expect([stopReason, model.requests.map(({ tools }) => tools)]).toEqual([
    "completed",
    [undefined, undefined, undefined],
  ]);
  expect(lines(messages).filter((line) => /^(?:calls|result|error)/.test(line))).toEqual([
    'calls read {"path":"a"}',
    expect.stringMatching(/^result call_\w+: read \{"path":"a"\}$/),
    "calls nope {}",
    expect.stringMatching(/^error call_\w+: Error: Unknown tool: nope/),
  ]);
  const last = model.requests[2];
  expect(lines(last?.messages ?? [])).toEqual([
    "user: What is in a?",
    'assistant: Thought: look.\n\nAction: read\nAction Input: {"path":"a"}',
    'user: Observation: read {"path":"a"}',
    "assistant: Action: nope\nAction Input: {}",
    expect.stringMatching(/^user: Observation: Error: Unknown tool: nope/),
  ]);
  expect(last?.system).toMatch(/^Be brief\.\n\nYou have tools\.[\s\S]*- read: Does read\./);
  expect(last?.stopSequences).toEqual(["\nObservation:"]);
  expect(last?.messages.slice(0, 3)).toEqual(model.requests[1]?.messages);
});

test("a call that the model makes in its own way passes through", async () => {
  expect(await read([says("Hm."), calls("read", { path: "a" })])).toMatchObject({
    called: [{ name: "read", input: { path: "a" } }],
    reason: "tool_use",
  });
});
