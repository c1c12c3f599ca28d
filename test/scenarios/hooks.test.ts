import { expect, test } from "vitest";
import { Agent } from "../../src/agent/agent.ts";
import type { AgentOptions } from "../../src/agent/options.ts";
import type { AgentEvent } from "../../src/core/agent/entries.ts";
import { assistantMessage, userMessage } from "../../src/core/message/message.ts";
import { transcriptViolations } from "../../src/core/message/transcript.ts";
import { finishPrintHook } from "../../src/hooks/finish-tool.ts";
import { HOOK_POINTS, type HookOptions, type HookPoint } from "../../src/hooks/hook.ts";
import { ReActAgent } from "../../src/patterns/react-agent.ts";
import { calls, type ScriptStep, says, waits } from "../../src/testing/script.ts";
import { ScriptedModel } from "../../src/testing/scripted-model.ts";
import { createBatchTool } from "../../src/tools/batch-tool.ts";
import { all, lines, tool } from "./conversation.ts";

const echo = tool("echo", { execute: (input) => JSON.stringify(input) });

function agentWith(steps: readonly ScriptStep[], options: Omit<AgentOptions, "model"> = {}) {
  const model = new ScriptedModel(steps);
  return { model, agent: new Agent({ model, tools: [echo], ...options }) };
}

test("every point is reached, in the order of a run", async () => {
  const log: HookPoint[] = [];
  const hooks = Object.fromEntries(
    HOOK_POINTS.filter((point) => !point.endsWith("print")).map((point) => [
      point,
      () => void log.push(point),
    ]),
  ) as HookOptions;
  const { agent } = agentWith([calls("echo"), says("done")], { hooks });
  await agent.observe("by the way");
  await agent.run("go");
  expect(log).toEqual([
    "pre_observe",
    "post_observe",
    "pre_reply",
    "pre_reasoning",
    "post_reasoning",
    "pre_acting",
    "post_acting",
    "pre_reasoning",
    "post_reasoning",
    "post_reply",
  ]);
});

test("a pre hook replaces what goes in and a post hook what comes out, each seeing what the one before it made", async () => {
  const { agent, model } = agentWith([calls("echo", { n: 1 }), says("done")], {
    hooks: {
      pre_reply: (_, { messages }) => ({ messages: [...messages, userMessage("and be quick")] }),
      pre_reasoning: (_, { request }) => ({ request: { ...request, system: "a hook's prompt" } }),
      post_reasoning: (_, __, output) =>
        output.finishReason.unified === "stop" ? { ...output, message: assistantMessage("DONE") } : null,
      pre_acting: {
        first: (_, args) => ({ ...args, input: { n: 2 } }),
        second: (_, args) => ({ ...args, input: { ...args.input, m: 3 } }),
      },
      post_acting: (_, { input }, output) => ({
        ...output,
        content: `${JSON.stringify(input)} gave ${String(output.content)}`,
      }),
      post_reply: (_, __, result) => ({ ...result, text: `${result.text}!` }),
    },
  });
  const { text, messages } = await agent.run("go");
  expect({ text, lines: lines(messages), systems: model.requests.map(({ system }) => system) }).toEqual({
    text: "DONE!",
    lines: [
      "user: go",
      "user: and be quick",
      'calls echo {"n":1}',
      'result call_1: {"n":2,"m":3} gave {"n":2,"m":3}',
      "assistant: DONE",
    ],
    systems: ["a hook's prompt", "a hook's prompt"],
  });
});

test("hooks of a class run first, the base before what extends it, then those of the agent, in the order they came", async () => {
  class Special extends Agent {}
  class Other extends Agent {}
  const log: string[] = [];
  const model = new ScriptedModel([says("one"), says("two")]);
  const agent = new Special({ model, hooks: { pre_reply: { own1: () => void log.push("own1") } } });
  agent.hooks.register("pre_reply", "own2", () => void log.push("own2"));
  Special.classHooks.register("pre_reply", "special", () => void log.push("special"));
  Other.classHooks.register("pre_reply", "other", () => void log.push("other"));
  Agent.classHooks.register("pre_reply", "base", () => void log.push("base"));
  try {
    await agent.run("go");
    agent.hooks.register("pre_reply", "own1", () => void log.push("own1 again"));
    agent.hooks.remove("pre_reply", "own2");
    Agent.classHooks.clear();
    await agent.run("go");
  } finally {
    Agent.classHooks.clear();
  }
  expect(log).toEqual(["base", "special", "own1", "own2", "special", "own1 again"]);
});

test("they run for every one of many parallel calls, and for the calls inside a batch", async () => {
  const seen: string[] = [];
  const batch = createBatchTool();
  const { agent } = agentWith(
    [
      [
        ...Array.from({ length: 20 }, (_, n) => calls("echo", { n })),
        calls("batch", { calls: [{ tool: "echo", input: { n: "inner" } }] }),
      ],
      says("done"),
    ],
    {
      tools: [echo, batch],
      hooks: {
        post_acting: async (_, { name, input, parentCallId }) => {
          await Promise.resolve();
          seen.push(
            `${name} ${String(input["n"] ?? "")}${parentCallId === undefined ? "" : ` of ${parentCallId}`}`,
          );
        },
      },
    },
  );
  await agent.run("go");
  expect(seen.toSorted()).toEqual(
    [...Array.from({ length: 20 }, (_, n) => `echo ${n}`), "echo inner of call_21", "batch "].toSorted(),
  );
});

test("permission judges, and the journal keeps, what a hook made of the arguments", async () => {
  const judged: unknown[] = [];
  const { agent } = agentWith([calls("echo", { path: "a" }), says("done")], {
    hooks: { pre_acting: (_, args) => ({ ...args, input: { path: "b" } }) },
    permission: { check: ({ input }) => (judged.push(input), { action: "allow" }) },
  });
  const events = await all(agent.stream("go"));
  const intent = events.find((event) => event.type === "tool_intent");
  expect([judged, intent?.input]).toEqual([[{ path: "b" }], { path: "b" }]);
});

test("a hook refuses a call and the model is told why", async () => {
  const { agent } = agentWith([calls("echo"), says("done")], {
    hooks: { pre_acting: (_, args) => ({ ...args, refuse: "not on Sundays" }) },
  });
  const { messages, stopReason } = await agent.run("go");
  expect([stopReason, ...lines(messages)]).toEqual([
    "completed",
    "user: go",
    "calls echo {}",
    "error call_1: Error: Tool call was not approved: not on Sundays",
    "assistant: done",
  ]);
});

test.for<[HookPoint, readonly string[]]>([
  ["pre_reply", ["user: go"]],
  ["pre_reasoning", ["user: go"]],
  ["post_reasoning", ["user: go", "calls echo {}", "error call_1: interrupted before it ran"]],
  [
    "pre_acting",
    [
      "user: go",
      "calls echo {}",
      'error call_1: Error: The call was not run. The hook "bad" of pre_acting failed: boom',
    ],
  ],
  [
    "post_acting",
    [
      "user: go",
      "calls echo {}",
      'error call_1: Error: The result of the call is withheld. The hook "bad" of post_acting failed: boom',
    ],
  ],
  ["pre_print", ["user: go"]],
  ["post_print", ["user: go"]],
  ["post_reply", ["user: go", "calls echo {}", "result call_1: {}", "assistant: done"]],
])(
  "a %s hook that throws ends the run with an error and leaves a conversation that can be sent",
  async ([point, said]) => {
    const { agent } = agentWith([calls("echo"), says("done")], {
      hooks: {
        [point]: {
          bad: () => {
            throw new Error("boom");
          },
        },
      },
    });
    const { stopReason, error, messages } = await agent.run("go");
    expect([stopReason, error?.code, error?.message, ...lines(messages)]).toEqual([
      "error",
      "internal",
      `The hook "bad" of ${point} failed: boom`,
      ...said,
    ]);
    expect(transcriptViolations(messages)).toEqual([]);
  },
);

test("observers only look: what they return, throw or never finish changes nothing but a warning", async () => {
  const { agent } = agentWith([calls("echo"), says("done")]);
  agent.hooks.register("post_acting", "returns", () => ({ content: "changed" }), { observer: true });
  agent.hooks.register(
    "post_acting",
    "throws",
    () => {
      throw new Error("boom");
    },
    { observer: true },
  );
  agent.hooks.register("post_acting", "hangs", () => new Promise(() => undefined), {
    observer: true,
    timeoutMs: 1,
  });
  agent.hooks.register("pre_print", "lies", () => ({ event: undefined }), { observer: true });
  const events = await all(agent.stream("go"));
  expect(events.flatMap((event) => (event.type === "warning" ? [event.message] : []))).toEqual([
    'The hook "throws" of post_acting failed: boom',
    'The hook "hangs" of post_acting failed: it took longer than 1 ms',
  ]);
  const done = events.at(-1) as Extract<AgentEvent, { type: "done" }>;
  expect([done.result.stopReason, ...lines(done.result.messages)]).toEqual([
    "completed",
    "user: go",
    "calls echo {}",
    "result call_1: {}",
    "assistant: done",
  ]);
});

test("an observer that fails between runs is told of at the next one", async () => {
  const { agent } = agentWith([says("done")]);
  const fail = () => Promise.reject(new Error("boom"));
  agent.hooks.register("pre_observe", "bad", fail, { observer: true });
  await agent.observe("hm");
  const events = await all(agent.stream("go"));
  expect(events[0]).toEqual({ type: "warning", message: 'The hook "bad" of pre_observe failed: boom' });
});

test("an abort ends a run whose hook hangs", async () => {
  for (const point of [
    "pre_reply",
    "pre_reasoning",
    "post_reasoning",
    "pre_acting",
    "post_acting",
  ] as const) {
    const controller = new AbortController();
    const { agent } = agentWith([calls("echo"), says("done")], {
      hooks: {
        [point]: () => {
          queueMicrotask(() => controller.abort());
          return new Promise<never>(() => undefined);
        },
      },
    });
    const { stopReason, messages } = await agent.run("go", { signal: controller.signal });
    expect([point, stopReason, transcriptViolations(messages)]).toEqual([point, "aborted", []]);
  }
});

test("a print hook that promises is refused: the stream waits for nobody", async () => {
  const { agent } = agentWith([says("done")]);
  const promises = (async () => null) as unknown as () => null;
  agent.hooks.register("pre_print", "slow", promises);
  const { error } = await agent.run("go");
  expect(error?.message).toBe(
    'The hook "slow" of pre_print failed: it returned a promise, which a stream does not await',
  );
});

test("print hooks change what is shown and nothing that is kept", async () => {
  const { agent } = agentWith([says("secret")], {
    hooks: {
      pre_print: (_, { event }) =>
        event?.type === "text_delta" ? { event: { ...event, text: event.text.toUpperCase() } } : null,
    },
  });
  const tokens: string[] = [];
  const { text } = await agent.run("go", { onToken: (token) => tokens.push(token) });
  expect([tokens.join(""), text]).toEqual(["SECRET", "secret"]);
});

test("what a print hook hides reaches no hook behind it", async () => {
  const seen: string[] = [];
  const { agent } = agentWith([says("done")], {
    hooks: {
      pre_print: {
        hides: (_, { event }) => (event?.type === "turn_start" ? { event: undefined } : null),
        sees: (_, { event }) => void seen.push(`before ${event?.type}`),
      },
      post_print: (_, { event }) => void seen.push(`after ${event?.type}`),
    },
  });
  const shown = (await all(agent.stream("go"))).map(({ type }) => type);
  const printed = shown.filter((type) => type !== "done");
  expect(shown).not.toContain("turn_start");
  expect(seen).toEqual(printed.flatMap((type) => [`before ${type}`, `after ${type}`]));
});

test("a finish call is shown as the text it delivers", async () => {
  const model = new ScriptedModel([calls("Finish", {}), [says("So: "), calls("Finish", { answer: "42" })]]);
  const agent = new ReActAgent({ model, finish: "tool", hooks: { pre_print: finishPrintHook() } });
  const shown = (await all(agent.stream("go"))).flatMap((event) => {
    if (event.type === "assistant_message") return lines([event.message]);
    if (event.type === "tool_result") return [`result ${event.status}`];
    return event.type.startsWith("tool") ? [event.type] : [];
  });
  expect(shown).toEqual(["assistant: {}", "result error", "assistant: So: ", "assistant: 42"]);
});

test("an answer whose calls a hook gave ids in use is refused", async () => {
  const { agent } = agentWith([[calls("echo"), calls("echo")]], {
    hooks: {
      post_reasoning: (_, __, output) => ({
        ...output,
        message: {
          ...output.message,
          content: output.message.content.map((block) => ({ ...block, id: "same" }) as typeof block),
        },
      }),
    },
  });
  const { stopReason, error, messages } = await agent.run("go");
  expect([stopReason, error?.message, transcriptViolations(messages)]).toEqual([
    "error",
    'A hook of post_reasoning gave the call of echo the id "same", which is empty or in use: give it a unique one.',
    [],
  ]);
});

test("a wrong point, a hook that is not a function and a name nobody knows are misuse", () => {
  const { agent } = agentWith([]);
  const thrown = (act: () => unknown): unknown => {
    try {
      return act();
    } catch (error) {
      return (error as Error).message;
    }
  };
  expect([
    thrown(() => agent.hooks.register("pre_reason" as "pre_reasoning", "x", () => null)),
    thrown(() => agent.hooks.register("pre_reply", "x", 1 as never)),
    thrown(() => agent.hooks.remove("pre_reply", "x")),
    thrown(() => agentWith([], { hooks: { before: () => null } as HookOptions })),
  ]).toEqual([
    `There is no hook point "pre_reason". Did you mean pre_reasoning? Points: ${HOOK_POINTS.join(", ")}.`,
    'The hook "x" of pre_reply is number, not a function.',
    'There is no hook "x" at pre_reply. Hooks there: none.',
    `There is no hook point "before". Points: ${HOOK_POINTS.join(", ")}.`,
  ]);
});

test("hooks stand around a run that is stopped while the model speaks", async () => {
  const never = Promise.withResolvers<void>();
  const { agent } = agentWith([[says("half "), waits(never.promise)]], {
    hooks: { post_reply: (_, __, result) => ({ ...result, text: `${result.text}…` }) },
  });
  const { text, stopReason } = await agent.run("go", { onToken: () => agent.stop() });
  expect([text, stopReason]).toEqual(["half …", "aborted"]);
});
