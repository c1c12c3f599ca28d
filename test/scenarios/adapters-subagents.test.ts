import { expect, test } from "vitest";
import { toAgUiEvents } from "../../src/adapters/ag-ui.ts";
import type { AgUiEvent } from "../../src/adapters/ag-ui-encoder.ts";
import { type StepEvent, toStepEvents } from "../../src/adapters/step-events.ts";
import { Agent } from "../../src/agent/agent.ts";
import type { AgentEvent } from "../../src/core/agent/entries.ts";
import { messageText, userMessage } from "../../src/core/message/message.ts";
import { firstAndLast } from "../../src/memory/context/first-and-last.ts";
import { calls, fails, type ScriptAnswer, says, thinks, waits } from "../../src/testing/script.ts";
import { ScriptedModel } from "../../src/testing/scripted-model.ts";
import { all, tool } from "./conversation.ts";
import { judged } from "./judged-events.ts";

const echo = tool("echo", { execute: () => "echoed" });

/** Step events without what is the same in all of them. */
function brief({ type, data }: StepEvent): readonly [string, unknown] {
  return [type, data];
}

/** A tool that hands a task to subagents: one for each prompt, all at once. */
const delegate = tool("delegate", {
  execute: async (input, context) => {
    const { prompts } = input as { readonly prompts: readonly string[] };
    const outcomes = await Promise.all(
      prompts.map((prompt) => context.runAgent({ agent: "helper", prompt, tools: [echo, delegate] })),
    );
    return outcomes.map(({ text, stopReason }) => `${stopReason}: ${text}`).join("; ");
  },
});

/** Answers each request by the first message of its transcript. */
function byTask(answers: { readonly [task: string]: readonly ScriptAnswer[] }): ScriptedModel {
  const taken = new Map<string, number>();
  return new ScriptedModel(({ messages }) => {
    const task = messageText(messages[0] ?? userMessage("none"));
    const at = taken.get(task) ?? 0;
    taken.set(task, at + 1);
    return answers[task]?.[at] ?? fails(`nothing left to say for ${task}`);
  });
}

const delegating = (): AsyncIterable<AgentEvent> =>
  new Agent({
    model: byTask({
      go: [calls("delegate", { prompts: ["look", "break"] }), says("done")],
      look: [calls("delegate", { prompts: ["deeper"] }), says("found")],
      deeper: [calls("echo"), [thinks("hm"), says("it is there")]],
      break: [[says("a longer text that comes in pieces"), fails("gone")]],
    }),
    tools: [delegate],
  }).stream("go");

test("what subagents say and do is told as theirs, nested and parallel ones too, and how each ended", async () => {
  const events = await judged(await all(toAgUiEvents(delegating())));
  const started = events.filter(({ type }) => type === "SUBAGENT_STARTED") as readonly Extract<
    AgUiEvent,
    { type: "SUBAGENT_STARTED" }
  >[];
  const [look, broken, deeper] = started.map(({ subagentRunId }) => subagentRunId);
  expect(started.map((each) => [each.name, each.parentSubagentRunId, each.parentToolCallId])).toEqual([
    ["helper", undefined, "call_1"],
    ["helper", undefined, "call_1"],
    ["helper", look, expect.stringMatching(/^call_/)],
  ]);
  const of = (id: string | undefined): readonly string[] =>
    events.flatMap((event) =>
      "subagentRunId" in event && event.subagentRunId === id
        ? ["delta" in event && event.type !== "TOOL_CALL_ARGS" ? event.delta : event.type]
        : [],
    );
  const call = ["TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_END"];
  const said = ["TEXT_MESSAGE_START", expect.any(String), "TEXT_MESSAGE_END"];
  const thought = [
    "REASONING_START",
    "REASONING_MESSAGE_START",
    "hm",
    "REASONING_MESSAGE_END",
    "REASONING_END",
  ];
  expect(of(look)).toEqual(["SUBAGENT_STARTED", ...call, "TOOL_CALL_RESULT", ...said, "SUBAGENT_FINISHED"]);
  expect(of(deeper)).toEqual([
    "SUBAGENT_STARTED",
    ...call,
    "TOOL_CALL_RESULT",
    ...thought,
    ...said,
    "SUBAGENT_FINISHED",
  ]);
  const [begins, , ends] = said;
  const pieces = ["a longer text th", "at comes in piec", "es"];
  expect(of(broken)).toEqual(["SUBAGENT_STARTED", begins, ...pieces, ends, "SUBAGENT_ERROR"]);
  expect(events.find(({ type }) => type === "SUBAGENT_ERROR")).toEqual({
    type: "SUBAGENT_ERROR",
    subagentRunId: broken,
    message: "gone",
    code: "provider_error",
  });
});

test("a run that asks for approval ends with what it asks", async () => {
  const agent = new Agent({
    model: new ScriptedModel([[calls("echo", { n: 1 }), calls("ask_user")], says("done")]),
    tools: [echo, (({ execute: _none, ...waiting }) => waiting)(tool("ask_user"))],
    onAsk: "pause",
    permission: {
      check: ({ name }) =>
        name === "echo"
          ? { action: "ask", reason: "echoes are loud", rule: "ask echo" }
          : { action: "allow" },
    },
  });
  const events = await judged(await all(toAgUiEvents(agent.stream("go"))));
  expect(events.at(-1)).toMatchObject({
    type: "RUN_FINISHED",
    result: { text: "", stopReason: "awaiting_approval" },
    outcome: {
      type: "interrupt",
      interrupts: [
        {
          id: "call_1",
          reason: "tool_call",
          message: "echoes are loud",
          toolCallId: "call_1",
          responseSchema: { type: "object", required: ["approved"] },
          metadata: { waitsFor: "approval", name: "echo", input: { n: 1 }, rule: "ask echo" },
        },
        { id: "call_2", reason: "tool_call", toolCallId: "call_2", metadata: { waitsFor: "result" } },
      ],
    },
  });
  const answered = agent.stream([{ type: "tool_result", tool_use_id: "call_2", content: "yes" }], {
    approvals: { call_1: true },
  });
  const last = (await judged(await all(toAgUiEvents(answered)))).at(-1);
  expect(last).toMatchObject({ result: { text: "done" }, outcome: { type: "success" } });
});

test("a compaction is told by what it made of the size", async () => {
  const agent = new Agent({
    model: new ScriptedModel([says("one"), says("two"), says("three")]),
    compaction: firstAndLast(2),
  });
  await agent.run("a");
  await agent.run("b");
  const events = await judged(await all(toAgUiEvents(agent.stream("c"))));
  const custom = events.flatMap((event) => (event.type === "CUSTOM" ? [[event.name, event.value]] : []));
  expect(custom).toEqual([
    ["compaction_start", { reason: "threshold" }],
    [
      "compaction",
      {
        reason: "threshold",
        method: "truncation",
        tokensBefore: expect.any(Number) as number,
        tokensAfter: expect.any(Number) as number,
      },
    ],
  ]);
});

test("subagents have step events of their own names where they are asked for", async () => {
  const [without, told] = [
    await all(toStepEvents(delegating())),
    await all(toStepEvents(delegating(), { subagents: true })),
  ];
  expect(told.filter((event) => event.parent_call_id === undefined).map(brief)).toEqual(without.map(brief));
  const theirs = told.filter((event) => event.parent_call_id !== undefined);
  expect(new Set(theirs.map((event) => event.agent_name))).toEqual(new Set(["helper"]));
  expect(theirs.filter(({ type }) => type === "agent_start").map(({ data }) => data)).toEqual([
    { input_text: "look" },
    { input_text: "break" },
    { input_text: "deeper" },
  ]);
  expect(
    theirs.filter(({ type }) => type === "agent_finish" || type === "error").map(({ data }) => data),
  ).toEqual(
    expect.arrayContaining([
      { error: "gone", error_type: "provider_error" },
      { result: "it is there", stop_reason: "completed" },
      { result: "found", stop_reason: "completed" },
    ]),
  );
});

test("a subagent nobody waited for, and one that was stopped, are told to have ended before the run does", async () => {
  const never = Promise.withResolvers<void>();
  const forgetful = tool("forgetful", {
    execute: (_input, context) => {
      context.runAgent({ agent: "helper", prompt: "look", tools: [] }).catch(() => undefined);
      return "started";
    },
  });
  const model = (): ScriptedModel =>
    byTask({
      go: [calls("forgetful"), says("done")],
      stop: [calls("delegate", { prompts: ["look"] })],
      look: [[says("a longer text that"), waits(never.promise)]],
    });
  const endings: unknown[] = [];
  for (const question of ["go", "stop"]) {
    const agent = new Agent({ model: model(), tools: [forgetful, delegate] });
    const events: AgUiEvent[] = [];
    for await (const event of toAgUiEvents(agent.stream(question))) {
      events.push(event);
      if (question === "stop" && event.type === "TEXT_MESSAGE_CONTENT") agent.stop();
    }
    await judged(events);
    endings.push(
      events.filter(({ type }) => type === "SUBAGENT_ERROR").map((each) => ({ ...each, subagentRunId: "" })),
    );
  }
  expect(endings).toEqual([
    [
      {
        type: "SUBAGENT_ERROR",
        subagentRunId: "",
        message: "The subagent ended with aborted.",
        code: "aborted",
      },
    ],
    [
      {
        type: "SUBAGENT_ERROR",
        subagentRunId: "",
        message: "The subagent ended with aborted.",
        code: "aborted",
      },
    ],
  ]);
  never.resolve();
});
