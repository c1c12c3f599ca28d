import { expect, test } from "vitest";
import { toAgUiEvents } from "../../src/adapters/ag-ui.ts";
import type { AgUiEvent } from "../../src/adapters/ag-ui-encoder.ts";
import { toJsonLines, toServerSentEvents } from "../../src/adapters/frames.ts";
import { type StepEvent, toStepEvents } from "../../src/adapters/step-events.ts";
import { Agent } from "../../src/agent/agent.ts";
import type { AgentEvent } from "../../src/core/agent/entries.ts";
import { PlanAndSolveAgent } from "../../src/patterns/plan-and-solve-agent.ts";
import { ReActAgent } from "../../src/patterns/react-agent.ts";
import { ReflectionAgent } from "../../src/patterns/reflection-agent.ts";
import { SimpleAgent } from "../../src/patterns/simple-agent.ts";
import { calls, fails, type ScriptStep, says, thinks, waits } from "../../src/testing/script.ts";
import { ScriptedModel } from "../../src/testing/scripted-model.ts";
import { createBatchTool } from "../../src/tools/batch-tool.ts";
import { all, tool } from "./conversation.ts";
import { judged } from "./judged-events.ts";

const echo = tool("echo", { execute: () => "echoed" });

function streamOf(steps: readonly ScriptStep[], Kind: typeof Agent = Agent): AsyncIterable<AgentEvent> {
  return new Kind({ model: new ScriptedModel(steps), tools: [echo] }).stream("go");
}

/** Step events without what is the same in all of them. */
function brief({ type, data }: StepEvent): readonly [string, unknown] {
  return [type, data];
}

test("a run as nine kinds of events, each with time and name", async () => {
  const events = await all(
    toStepEvents(streamOf([[thinks("hm"), says("I look."), calls("echo", { n: 1 })], says("done")]), {
      agentName: "ann",
      now: () => 7,
    }),
  );
  expect(events[0]).toEqual({
    type: "agent_start",
    timestamp: 7,
    agent_name: "ann",
    data: { input_text: "go" },
  });
  expect(events.map(brief)).toEqual([
    ["agent_start", { input_text: "go" }],
    ["step_start", { step: 1 }],
    ["thinking", { chunk: "hm" }],
    ["llm_chunk", { chunk: "I look." }],
    ["tool_call_start", { tool_call_id: "call_1", tool_name: "echo", args: { n: 1 } }],
    ["tool_call_finish", { tool_call_id: "call_1", tool_name: "echo", result: "echoed", status: "ok" }],
    ["step_finish", { step: 1 }],
    ["step_start", { step: 2 }],
    ["llm_chunk", { chunk: "done" }],
    ["step_finish", { step: 2 }],
    ["agent_finish", { result: "done", stop_reason: "completed" }],
  ]);
});

test("a run that fails is told as an error and then throws it; types can be chosen", async () => {
  const events: StepEvent[] = [];
  const read = async (): Promise<void> => {
    for await (const event of toStepEvents(streamOf([[says("half"), fails("gone")]]), {
      include: ["step_finish", "error", "agent_finish"],
    }))
      events.push(event);
  };
  await expect(read()).rejects.toThrow("gone");
  expect(events.map(brief)).toEqual([
    ["step_finish", { step: 1 }],
    ["error", { error: "gone", error_type: "provider_error" }],
  ]);
});

test("leaving an adapter early ends the run", async () => {
  const never = Promise.withResolvers<void>();
  const agent = new Agent({ model: new ScriptedModel([[says("half"), waits(never.promise)]]) });
  for await (const event of toStepEvents(agent.stream("go"))) if (event.type === "llm_chunk") break;
  expect(agent.isRunning).toBe(false);
});

test("frames of server-sent events and JSON lines hold one event each, whatever is in it", async () => {
  const hard = { type: "x", text: "a\nb\r\n\u2028data: c", error: new RangeError("bad"), n: 10n };
  const source = async function* () {
    yield hard;
  };
  const [frame] = await all(toServerSentEvents(source()));
  const [plain] = await all(toServerSentEvents(source(), { names: false }));
  const [line] = await all(toJsonLines(source()));
  const json = JSON.stringify({ ...hard, error: { message: "bad" }, n: "10" });
  expect([frame, plain, line]).toEqual([`event: x\ndata: ${json}\n\n`, `data: ${json}\n\n`, `${json}\n`]);
});

test("whole runs can be sent as frames, failed ones too", async () => {
  const lines = await all(toJsonLines(streamOf([fails("gone")])));
  const last = JSON.parse(lines.at(-1) ?? "") as { readonly result: { readonly error: unknown } };
  expect(last.result.error).toEqual({ code: "provider_error", message: "gone" });
});

test("a run as AG-UI events, which the protocol's own checks accept", async () => {
  const events = await judged(
    await all(
      toAgUiEvents(streamOf([[thinks("hm"), says("I look."), calls("echo", { n: 1 })], says("done")]), {
        threadId: "t",
        runId: "r",
      }),
    ),
  );
  expect(events).toEqual([
    { type: "RUN_STARTED", threadId: "t", runId: "r" },
    { type: "REASONING_START", messageId: "r_1" },
    { type: "REASONING_MESSAGE_START", messageId: "r_1", role: "reasoning" },
    { type: "REASONING_MESSAGE_CONTENT", messageId: "r_1", delta: "hm" },
    { type: "REASONING_MESSAGE_END", messageId: "r_1" },
    { type: "REASONING_END", messageId: "r_1" },
    { type: "TEXT_MESSAGE_START", messageId: "r_2", role: "assistant" },
    { type: "TEXT_MESSAGE_CONTENT", messageId: "r_2", delta: "I look." },
    { type: "TEXT_MESSAGE_END", messageId: "r_2" },
    { type: "TOOL_CALL_START", toolCallId: "call_1", toolCallName: "echo" },
    { type: "TOOL_CALL_ARGS", toolCallId: "call_1", delta: '{"n":1}' },
    { type: "TOOL_CALL_END", toolCallId: "call_1" },
    { type: "TOOL_CALL_RESULT", messageId: "r_3", toolCallId: "call_1", content: "echoed", role: "tool" },
    { type: "TEXT_MESSAGE_START", messageId: "r_4", role: "assistant" },
    { type: "TEXT_MESSAGE_CONTENT", messageId: "r_4", delta: "done" },
    { type: "TEXT_MESSAGE_END", messageId: "r_4" },
    {
      type: "RUN_FINISHED",
      threadId: "t",
      runId: "r",
      result: { text: "done", stopReason: "completed" },
      outcome: { type: "success" },
    },
  ]);
});

test("every ending is one the protocol knows", async () => {
  const endings = [];
  const external = tool("ask_user");
  const { execute: _none, ...waiting } = external;
  const never = Promise.withResolvers<void>();
  const agents: readonly (readonly [Agent, boolean])[] = [
    [new Agent({ model: new ScriptedModel([fails("gone")]) }), false],
    [new Agent({ model: new ScriptedModel([calls("ask_user")]), tools: [waiting] }), false],
    [new Agent({ model: new ScriptedModel([[says("half"), waits(never.promise)]]) }), true],
    [
      new Agent({
        model: new ScriptedModel([calls("batch", { calls: [{ tool: "echo", input: {} }] }), says("done")]),
        tools: [echo, createBatchTool()],
      }),
      false,
    ],
  ];
  for (const [agent, stops] of agents) {
    const events: AgUiEvent[] = [];
    for await (const event of toAgUiEvents(agent.stream("go"))) {
      events.push(event);
      if (stops && event.type === "TEXT_MESSAGE_CONTENT") agent.stop();
    }
    const last = (await judged(events)).at(-1);
    endings.push(last?.type === "RUN_FINISHED" ? last.outcome : last);
  }
  expect(endings).toEqual([
    { type: "RUN_ERROR", message: "gone", code: "provider_error" },
    { type: "success", pendingToolCallIds: ["call_1"] },
    { type: "cancelled" },
    { type: "success" },
  ]);
});

test("the same conversation through every pattern is one the protocol accepts", async () => {
  const kinds = [
    new SimpleAgent({ model: new ScriptedModel([calls("echo"), says("done")]), tools: [echo] }),
    new ReActAgent({
      model: new ScriptedModel([calls("echo"), calls("Finish", { answer: "done" })]),
      tools: [echo],
      finish: "tool",
      thoughtTool: true,
    }),
    new PlanAndSolveAgent({
      model: new ScriptedModel([
        calls("generate_plan", { steps: ["one", "two"] }),
        calls("echo"),
        says("first"),
        says("done"),
      ]),
      tools: [echo],
    }),
    new ReflectionAgent({
      model: new ScriptedModel([
        calls("echo"),
        says("draft"),
        says("shorter"),
        says("done"),
        says("no need for improvement"),
      ]),
      tools: [echo],
    }),
  ];
  const seen = [];
  for (const agent of kinds) {
    const events = await judged(await all(toAgUiEvents(agent.stream("go"))));
    seen.push([
      events.flatMap((event) => (event.type === "STEP_STARTED" ? [event.stepName] : [])).join(", "),
      events.filter(({ type }) => type === "TOOL_CALL_RESULT").length,
      (events.at(-1) as Extract<AgUiEvent, { type: "RUN_FINISHED" }>).result,
    ]);
  }
  expect(seen).toEqual([
    ["", 1, { text: "done", stopReason: "completed" }],
    ["", 2, { text: "done", stopReason: "finish_tool" }],
    ["planning 1, execution 1, execution 2", 2, { text: "done", stopReason: "completed" }],
    [
      "initial_execution, reflection 1, refinement 1, reflection 2",
      1,
      { text: "done", stopReason: "completed" },
    ],
  ]);
});
