import { expect, test } from "vitest";
import { z } from "zod";
import {
  Agent,
  agentLoop,
  assistantMessage,
  defineTool,
  InMemoryMemory,
  messageText,
  ReActAgent,
  SimpleAgent,
  UserAgent,
  userMessage,
} from "../../src/index.ts";
import { SimpleLongTermMemory } from "../../src/memory/index.ts";
import { calls, says } from "../../src/testing/script.ts";
import { ScriptedModel } from "../../src/testing/scripted-model.ts";
import { lines, tool } from "../scenarios/conversation.ts";

test("a conversation by sendMessage is counted by getState and gone after reset", async () => {
  const agent = new Agent({
    model: new ScriptedModel([says("Hello."), says("Ann."), says("Who?")], {
      info: { price: { input: 1, output: 1 } },
    }),
  });
  await agent.sendMessage("I am Ann.");
  await agent.sendMessage("Who am I?");
  const { messages, totalTokens, totalCost } = agent.getState();
  expect(lines(messages)).toEqual([
    "user: I am Ann.",
    "assistant: Hello.",
    "user: Who am I?",
    "assistant: Ann.",
  ]);
  expect([totalTokens, totalCost]).toEqual([{ input: 200, output: 40 }, 0.00024]);
  agent.reset();
  await agent.sendMessage("Who am I?");
  expect(lines(agent.getState().messages)).toEqual(["user: Who am I?", "assistant: Who?"]);
});

test("the loop in one call returns the conversation, at its cap too, and takes tools and a prompt", async () => {
  const model = new ScriptedModel([[says("I look."), calls("look", { at: "sky" })]]);
  const messages = await agentLoop("What colour?", 1, {
    model,
    tools: [tool("look")],
    systemPrompt: "Short.",
  });
  expect(lines(messages)).toEqual([
    "user: What colour?",
    "assistant: I look.",
    'calls look {"at":"sky"}',
    'result call_1: look {"at":"sky"}',
  ]);
  expect(model.requests[0]?.system).toBe("Short.");
});

test("tools of a SimpleAgent are added, listed and removed by name, and a wrong name says so", async () => {
  const agent = new SimpleAgent({ model: new ScriptedModel([]) });
  expect(agent.hasTools()).toBe(false);
  agent.addTool(tool("look"));
  expect([agent.hasTools(), agent.listTools()]).toEqual([true, ["look"]]);
  expect(() => agent.addTool(tool("look"))).toThrow("look");
  expect([agent.removeTool("look"), agent.removeTool("look"), agent.listTools()]).toEqual([true, false, []]);
});

test("a tool written with zod gets its typed arguments whole, with folder, session and signal beside them", async () => {
  const seen: unknown[] = [];
  const move = defineTool({
    name: "move",
    description: "Moves a thing.",
    parameters: z.object({ from: z.string(), to: z.string().default("here") }),
    execute: ({ from, to }, { cwd, sessionId, signal }) => {
      seen.push([from, to, cwd, sessionId, signal.aborted]);
      return { title: "moved", metadata: { from }, content: `${from} is at ${to}` };
    },
  });
  const model = new ScriptedModel([calls("move", { from: "a" }), calls("move", { to: 1 }), says("Done.")]);
  const agent = new Agent({ model, tools: [move], cwd: "/work", sessionId: "s" });
  const { messages } = await agent.run("go");
  expect(seen).toEqual([["a", "here", "/work", "s", false]]);
  expect(lines(messages)[2]).toBe("result call_1: a is at here");
  expect(lines(messages)[4]).toMatch(/^error call_2: Error: .*from/s);
});

test("thoughts, business tools and a finish call make one run, and its value has the type of the schema", async () => {
  const agent = new ReActAgent({
    model: new ScriptedModel([
      [calls("Thought", { reasoning: "I look first." }), calls("look")],
      calls("Finish", { answer: "Blue.", colour: "blue" }),
    ]),
    tools: [tool("look")],
    thoughtTool: true,
    finish: "tool",
  });
  const result = await agent.run("What colour?", { schema: z.object({ colour: z.enum(["blue", "grey"]) }) });
  const colour: "blue" | "grey" | undefined = result.output?.colour;
  expect([colour, result.text, result.stopReason]).toEqual(["blue", "Blue.", "structured_output"]);
});

test("a person and an agent talk in turns, as two agents do", async () => {
  const user = new UserAgent({ input: async (question) => (question.includes("Ann") ? "bye" : "I am Ann.") });
  const agent = new ReActAgent({ model: new ScriptedModel([says("Hello Ann.")]) });
  const first = await user.run();
  const answer = await agent.run(first.text);
  const second = await user.run(answer.text);
  expect([first.text, answer.text, second.text]).toEqual(["I am Ann.", "Hello Ann.", "bye"]);
});

test("a memory takes nothing, one message or many, and an agent begins with what it holds", async () => {
  const memory = new InMemoryMemory();
  await memory.add(null);
  await memory.add(userMessage("I am Ann."));
  await memory.add([assistantMessage("Hello."), userMessage("I like tea.")]);
  expect(memory.getMemory().map((message) => messageText(message))).toEqual([
    "I am Ann.",
    "Hello.",
    "I like tea.",
  ]);
  const model = new ScriptedModel([says("Tea.")]);
  const agent = new Agent({ model, messages: memory.getMemory() });
  await agent.run("What do I like?");
  expect(lines(model.requests[0]?.messages ?? []).slice(0, 2)).toEqual([
    "user: I am Ann.",
    "assistant: Hello.",
  ]);
});

test("what was said in one conversation stands before the question of another, as a message of the user", async () => {
  const store = new SimpleLongTermMemory();
  const longTermMemory = { store, mode: "static" as const };
  await new ReActAgent({ model: new ScriptedModel([says("Noted.")]), longTermMemory }).run(
    "My cat is called Miso.",
  );
  const model = new ScriptedModel([says("Miso.")]);
  await new ReActAgent({ model, longTermMemory }).run("What is my cat called?");
  const [remembered] = model.requests[0]?.messages ?? [];
  expect([remembered?.role, remembered?.name]).toEqual(["user", "long_term_memory"]);
  expect(messageText(remembered ?? userMessage(""))).toMatch(
    /^<long_term_memory>\n.*My cat is called Miso.*\n<\/long_term_memory>$/s,
  );
});

test("a hook registered on one agent runs for it alone, is replaced by its name, and is removed once", async () => {
  const seen: string[] = [];
  const agent = new ReActAgent({ model: new ScriptedModel([says("a"), says("b")]) });
  const other = new ReActAgent({ model: new ScriptedModel([says("c")]) });
  agent.hooks.register("pre_reply", "log", () => void seen.push("old"));
  agent.hooks.register("pre_reply", "log", () => void seen.push("new"));
  await agent.run("go");
  await other.run("go");
  agent.hooks.remove("pre_reply", "log");
  await agent.run("go");
  expect(seen).toEqual(["new"]);
  expect(() => agent.hooks.remove("pre_reply", "log")).toThrow('There is no hook "log" at pre_reply');
});
