import { expect, test } from "vitest";
import { SimpleAgent } from "../../src/patterns/simple-agent.ts";
import { calls, fails, says } from "../../src/testing/script.ts";
import { ScriptedModel } from "../../src/testing/scripted-model.ts";
import { all, lines, tool } from "./conversation.ts";

test("without tools a run is one request, and the next one sees the conversation", async () => {
  const model = new ScriptedModel([says("Hello Ann."), says("Ann.")]);
  const agent = new SimpleAgent({ model, systemPrompt: "Be kind." });
  expect((await agent.run("I am Ann.")).text).toBe("Hello Ann.");
  const result = await agent.run("Who am I?");
  expect(lines(result.messages)).toEqual([
    "user: I am Ann.",
    "assistant: Hello Ann.",
    "user: Who am I?",
    "assistant: Ann.",
  ]);
  expect(model.requests.map(({ system, tools }) => [system, tools])).toEqual([
    ["Be kind.", undefined],
    ["Be kind.", undefined],
  ]);
});

test("with tools it runs the loop and keeps the calls in the conversation", async () => {
  const model = new ScriptedModel([calls("weather", { city: "Oslo" }), says("Rain.")]);
  const agent = new SimpleAgent({ model, tools: [tool("weather")] });
  const { text, messages } = await agent.run("Oslo?");
  expect([text, messages.length]).toEqual(["Rain.", 4]);
});

test("with tool calling off no tool is offered, and they can be listed all the same", async () => {
  const model = new ScriptedModel([says("I can only talk.")]);
  const agent = new SimpleAgent({ model, tools: [tool("weather")], enableToolCalling: false });
  await agent.run("Oslo?");
  expect([model.requests[0]?.tools, agent.listTools(), agent.hasTools()]).toEqual([
    undefined,
    ["weather"],
    false,
  ]);
});

test("tools can be added, removed and listed, and count from the next request on", async () => {
  const model = new ScriptedModel([says("a"), says("b"), says("c")]);
  const agent = new SimpleAgent({ model });
  const offered = async () => {
    await agent.run("go");
    return model.requests.at(-1)?.tools?.map(({ name }) => name) ?? [];
  };
  expect([agent.hasTools(), await offered()]).toEqual([false, []]);
  agent.addTool(tool("read"));
  agent.addTool(tool("grep"));
  expect([agent.hasTools(), agent.listTools(), await offered()]).toEqual([
    true,
    ["read", "grep"],
    ["read", "grep"],
  ]);
  expect([agent.removeTool("read"), agent.removeTool("read"), await offered()]).toEqual([
    true,
    false,
    ["grep"],
  ]);
  expect(() => agent.addTool(tool("grep"))).toThrow('Tool "grep" is defined twice');
});

test.each([undefined, "抱歉，我无法回答这个问题。"])(
  "when the model says nothing there is a fallback answer, also in the conversation: %s",
  async (fallbackAnswer) => {
    const agent = new SimpleAgent({
      model: new ScriptedModel([says("")]),
      ...(fallbackAnswer === undefined ? {} : { fallbackAnswer }),
    });
    const text = fallbackAnswer ?? "Sorry, I have no answer to this.";
    const result = await agent.run("go");
    expect([result.text, result.stopReason, lines(result.messages)]).toEqual([
      text,
      "completed",
      ["user: go", `assistant: ${text}`],
    ]);
  },
);

test("at the cap one more request, in which tools are forbidden, gives the answer", async () => {
  const model = new ScriptedModel([calls("read"), calls("read"), says("That is all I found.")]);
  const agent = new SimpleAgent({ model, tools: [tool("read")], maxIterations: 2 });
  expect(await agent.run("go")).toMatchObject({ text: "That is all I found.", stopReason: "max_iterations" });
  expect(model.requests.at(-1)?.toolChoice).toBe("none");
  model.assertFinished();
});

test("a failed request stores no answer, neither an empty nor the fallback one, and the run can be taken up", async () => {
  const model = new ScriptedModel([fails("down"), says("back")]);
  const agent = new SimpleAgent({ model });
  const failed = await agent.run("go");
  expect([failed.stopReason, failed.text, lines(failed.messages)]).toEqual(["error", "", ["user: go"]]);
  expect(lines((await agent.run()).messages)).toEqual(["user: go", "assistant: back"]);
});

test("with final-only the conversation keeps questions and answers, the journal everything", async () => {
  const model = new ScriptedModel([calls("read", { path: "a" }), says("It is 42."), says("Yes.")]);
  const agent = new SimpleAgent({ model, tools: [tool("read")], memory: "final-only" });
  const types = (await all(agent.stream("What is it?")))
    .filter((event) => "scope" in event)
    .map(({ type }) => type);
  expect(types).toEqual(["assistant_message", "tool_intent", "tool_result", "assistant_message"]);
  const result = await agent.run("Sure?");
  expect(lines(result.messages)).toEqual([
    "user: What is it?",
    "assistant: It is 42.",
    "user: Sure?",
    "assistant: Yes.",
  ]);
  expect(model.requests.map(({ messages }) => messages.length)).toEqual([1, 3, 3]);
});
