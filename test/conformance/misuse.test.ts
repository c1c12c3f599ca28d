import { expect, test } from "vitest";
import { createTaskTool } from "../../src/extensions/index.ts";
import {
  Agent,
  agentLoop,
  defineTool,
  isNanoAgentError,
  PlanAndSolveAgent,
  ReActAgent,
  ReflectionAgent,
  type RunOptions,
  SimpleAgent,
} from "../../src/index.ts";
import { InMemoryLongTermMemory, SqliteLongTermMemory } from "../../src/memory/index.ts";
import { SessionStore } from "../../src/session/session-store.ts";
import { says } from "../../src/testing/script.ts";
import { ScriptedModel } from "../../src/testing/scripted-model.ts";

const model = new ScriptedModel([]);

/** What is thrown, which has to be misuse. */
function refusal(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    return isNanoAgentError(error, "invalid_argument") ? error.message : String(error);
  }
  return "nothing was thrown";
}

test.each([
  [Agent, { maxIteration: 5 }, 'Unknown option "maxIteration". Did you mean maxIterations?'],
  [Agent, { memory: "short" }, 'memory is "short"; it must be "full" or "final-only".'],
  [
    Agent,
    { onMaxIterations: "stop" },
    'onMaxIterations is "stop"; it must be "summarize", "last", "throw" or a function.',
  ],
  [Agent, { onAsk: "wait" }, 'onAsk is "wait"; it must be "deny" or "pause".'],
  [
    Agent,
    { maxParallelToolCalls: 0 },
    "maxParallelToolCalls is 0; it must be a whole number from 1, or Infinity.",
  ],
  [Agent, { approve: true }, "approve is true; it must be a function."],
  [Agent, { permission: {} }, "permission is an object; it must be a Gate: an object with check(request)."],
  [
    Agent,
    { budget: { dollars: 5 } },
    'Unknown field "dollars" in budget. Known: usd, tokens, wallTimeMs, shared.',
  ],
  [Agent, { messages: [{ role: "system", content: "x" }] }, 'messages[0] has the role "system"'],
  [Agent, { instructions: "x" }, 'Unknown option "instructions". Did you mean systemPrompt?'],
  [Agent, { tools: { look: {} } }, "tools is an object; it must be a list: [defineTool({ … }), …]."],
  [Agent, { tools: [() => "x"] }, "A tool is a function: pass defineTool({ … })."],
  [Agent, { journal: {} }, "journal is an object; it must be a journal: await new SessionStore("],
  [
    Agent,
    { toolChoice: "any" },
    'toolChoice is "any"; it must be "auto", "none", "required" or { type: "tool", name }.',
  ],
  [Agent, { model: { doStream: () => null } }, "model is one of the AI SDK: pass fromAiSdk(model)"],
  [Agent, { hooks: null }, "hooks is null; it must be an object."],
  [
    Agent,
    { hooks: { pre_reply: 5 } },
    "hooks.pre_reply is neither a function nor an object with functions by name",
  ],
  [Agent, { longTermMemory: null }, "longTermMemory is null; it must be an object."],
  [Agent, { loopGuard: true }, "loopGuard is true; it must be an object, or false."],
  [Agent, { loopGuard: { stopat: 9 } }, 'Unknown field "stopat" in loopGuard. Did you mean stopAt?'],
  [Agent, { parallelToolCalls: "no" }, 'parallelToolCalls is "no"; it must be true or false.'],
  [Agent, { toolTimeoutMs: -1 }, "toolTimeoutMs is -1; it must be a number from 0."],
  [Agent, { cwd: 5 }, "cwd is 5; it must be a string."],
  [Agent, { redact: {} }, "redact is an object; it must be what createRedaction()"],
  [Agent, { checkpointer: {} }, "checkpointer is an object; it must be SessionCheckpoints"],
  [Agent, { messages: "hi" }, 'messages is "hi"; it must be a list.'],
  [Agent, { sessionId: "" }, 'sessionId is ""; it must be a non-empty string.'],
  [Agent, { temperature: Number.POSITIVE_INFINITY }, "temperature is Infinity; it must be a number from 0"],
  [Agent, { topP: 0 }, "topP is 0; it must be a number above 0 up to 1."],
  [Agent, { stopSequences: ["a", ""] }, 'stopSequences[1] is ""; it must be a non-empty string.'],
  [Agent, { providerOptions: { openai_chat: 5 } }, "providerOptions.openai_chat is 5; it must be an object."],
  [SimpleAgent, { enableToolCalling: "no" }, 'enableToolCalling is "no"; it must be true or false.'],
  [ReActAgent, { finish: "call" }, 'finish is "call"; it must be "text" or "tool".'],
  [ReActAgent, { finishToolName: "the end" }, 'Tool name "the end" is not usable'],
  [PlanAndSolveAgent, { maxsteps: 3 }, 'Unknown option "maxsteps". Did you mean maxSteps?'],
  [PlanAndSolveAgent, { plannerPrompt: "Plan!" }, 'plannerPrompt is "Plan!"; it must be a function.'],
  [ReflectionAgent, { verdict: "tool" }, 'verdict is "tool"; it must be "text" or "structured".'],
  [
    ReflectionAgent,
    { prompts: { refin: () => "" } },
    'Unknown field "refin" in prompts. Did you mean refine?',
  ],
] as const)("%o is not made with %o", (Class, options, message) => {
  expect(refusal(() => new Class({ model, ...options } as never))).toContain(message);
});

test("a run takes no option it does not know", async () => {
  const options = { abortSignal: new AbortController().signal } as RunOptions;
  await expect(new Agent({ model }).run("go", options)).rejects.toThrow(
    'Unknown option "abortSignal". Did you mean signal?',
  );
  const signal = new AbortController() as never;
  await expect(new Agent({ model }).run("go", { signal })).rejects.toThrow(
    "it must be an AbortSignal: the signal of an AbortController",
  );
  await expect(new Agent({ model }).run([{ role: "assistant", content: "x" }])).rejects.toThrow(
    "The input ends with a message of the assistant",
  );
});

test("what is said beside an input is said by users and answers no call", async () => {
  const agent = new Agent({ model });
  const result = [{ type: "tool_result", tool_use_id: "call_1", content: "x" }] as const;
  const answer = [{ role: "assistant", content: "I agree." }] as const;
  expect([refusal(() => agent.steer(result)), refusal(() => agent.steer(answer as never))]).toEqual([
    "steer() takes no tool_result: results of calls are the input of run().",
    "steer() takes messages of users: set role to user.",
  ]);
  await expect(agent.observe(result)).rejects.toThrow("observe() takes no tool_result");
  await expect(agent.observe(answer)).rejects.toThrow("observe() takes messages of users");
  expect([agent.pendingSteering, agent.getState().messages]).toEqual([[], []]);
});

test("the loop in one call takes no option it does not know, and approvals are an object", async () => {
  await expect(agentLoop("go", 3, { model, maxTurns: 3 } as never)).rejects.toThrow(
    'Unknown option "maxTurns".',
  );
  await expect(new Agent({ model }).run("go", { approvals: 5 as never })).rejects.toThrow(
    "approvals is 5; it must be an object.",
  );
});

test("a subagent tool without depth, and a memory without time or with half an embedder, are refused", async () => {
  const embedder = { model: "m" } as never;
  expect([
    refusal(() => createTaskTool({ maxDepth: 0 })),
    refusal(() => createTaskTool({ agents: [new Agent({ model })] as never })),
    refusal(() => defineTool({ name: "a", description: "b", inputSchema: {} } as never)),
    refusal(() => defineTool({ name: "a", description: "b", handler: () => "c" } as never)),
    refusal(() => new SqliteLongTermMemory({ path: "m.db", busyTimeoutMs: Number.NaN })),
    refusal(() => new InMemoryLongTermMemory({ embedder })),
  ]).toEqual([
    "maxDepth is 0; it must be a whole number from 1.",
    "A subagent is { name, description, systemPrompt, … }, and one lacks some of that. An Agent is none: its tool is context.runAgent().",
    'Tool "a" has inputSchema, which is parameters here: rename it.',
    'Tool "a" has handler, which is execute here: rename it.',
    "busyTimeoutMs is NaN; it must be a number from 0.",
    "embedder is an object; it must be { model, embed }: the name of a model and the function that asks it.",
  ]);
  const store = new InMemoryLongTermMemory();
  await expect(store.record("a text" as never)).rejects.toThrow("pass a list of texts or of messages");
  await expect(store.retrieve(5 as never)).rejects.toThrow("query is 5; it must be a string.");
});

test("a conversation as other programs keep it is taken as it is, seen at once, and gone after reset", async () => {
  const asked = new ScriptedModel([says("Ann."), says("Who?")]);
  const kept = [
    { role: "user", content: "I am Ann.", id: "m1" },
    { role: "assistant", content: "" },
    { role: "assistant", content: "Hello.", createdAt: 5 },
  ] as const;
  const agent = new Agent({ model: asked, messages: kept });
  const begun = [
    { role: "user", content: [{ type: "text", text: "I am Ann." }] },
    { role: "assistant", content: [{ type: "text", text: "Hello." }] },
  ];
  expect(agent.getState().messages).toEqual(begun);
  await agent.run("Who am I?");
  const question = { role: "user", content: [{ type: "text", text: "Who am I?" }] };
  expect(asked.requests[0]?.messages).toEqual([...begun, question]);
  agent.reset();
  expect(agent.getState().messages).toEqual([]);
  await agent.run("Who am I?");
  expect(asked.requests[1]?.messages).toEqual([question]);
});

test("a choice of a tool that is not there is refused before any request", async () => {
  const read = defineTool({
    name: "read",
    description: "Reads.",
    parameters: { type: "object" },
    execute: () => "text",
  });
  const scripted = new ScriptedModel([says("done")]);
  const agent = new Agent({ model: scripted, tools: [read] });
  await expect(agent.run("go", { toolChoice: { type: "tool", name: "raed" } })).rejects.toMatchObject({
    code: "invalid_argument",
    message:
      'toolChoice names the tool "raed", which the agent does not have. Did you mean read? Tools: read.',
  });
  expect(scripted.requests).toEqual([]);
});

test("a call without a model refuses an input that is no object", async () => {
  const agent = new Agent({ model });
  // @ts-expect-error JavaScript may pass anything
  await expect(agent.callTool("read", null)).rejects.toMatchObject({
    code: "invalid_argument",
    message: "The input of read is null; it must be an object.",
  });
});

test("a store of sessions says what it needs", async () => {
  // @ts-expect-error JavaScript may pass anything
  expect(refusal(() => new SessionStore())).toBe(
    "The folder of the sessions is undefined; it must be a string.",
  );
  const store = new SessionStore("/nowhere");
  // @ts-expect-error JavaScript may pass anything
  await expect(store.start({ cwd: "/" })).rejects.toThrow(
    "The working folder of a session is an object; it must be a string.",
  );
});
