import { SharedBudget } from "../../src/agent/index.ts";
import {
  type AgentOptions,
  NanoAgentError,
  PlanAndSolveAgent,
  ReActAgent,
  ReflectionAgent,
  SimpleAgent,
  type StreamPart,
  UserAgent,
  userMessage,
} from "../../src/index.ts";
import { InMemoryLongTermMemory } from "../../src/memory/index.ts";
import { fanoutPipeline, MessageHub, sequentialPipeline } from "../../src/patterns/index.ts";
import { createRedaction } from "../../src/permission/index.ts";
import { calls, fails, finishes, type ScriptStep, says, waits } from "../../src/testing/index.ts";
import {
  delegate,
  gate,
  onWire,
  PRICED,
  plan,
  read,
  reads,
  remove,
  removes,
  SCHEMA,
  type Scenario,
  summaries,
  WIRES,
} from "./scenario-parts.ts";
import { tool } from "./world.ts";

/** Runs with budgets, plugins, subagents, patterns, and on every wire. */
export const AGENT_SCENARIOS: { readonly [name: string]: Scenario } = {
  budgets: async (w) => {
    const endless: ScriptStep = () => [
      reads("a"),
      finishes("tool_use", { inputTokens: 40, outputTokens: 30 }),
    ];
    const priced = () => w.model(endless, { info: PRICED });
    for (const budget of [{ usd: 0.3 }, { tokens: 300 }, { usd: 0.01 }, { usd: 9, tokens: 1_200 }])
      await w.play([], { model: priced(), tools: [read], budget, loopGuard: false });
    const shared = new SharedBudget(1, { spentUsd: 0.2 });
    for (const usd of [0.5, 5])
      await w.play([], { model: priced(), tools: [read], budget: { shared, usd }, loopGuard: false });
    w.note("shared", [shared.spentUsd, shared.leftUsd]);
    await w.play([says("x")], { budget: { usd: 1 } });
    const long = w.model([[says("Long"), finishes("length")]], { info: PRICED });
    await w.play([], { model: long, budget: { tokens: 200 } });
  },
  "wall time": async (w) => {
    const ready = Promise.withResolvers<void>();
    const model = w.model([
      () => (ready.resolve(), [says("Half"), waits(new Promise(() => undefined))]),
      says("Later."),
    ]);
    const agent = w.agent([], { model, budget: { wallTimeMs: 100 } });
    const ran = w.run(agent, "go");
    await ready.promise;
    await w.clock.advance(101);
    await ran;
    await w.run(agent, "more?");
  },
  "usage that nobody reported": async (w) => {
    const none = { inputTokens: 0, outputTokens: 0 };
    const model = w.model(
      [
        [says("Some words."), finishes("stop", none)],
        [says("Begun"), fails("broke off")],
      ],
      { info: PRICED },
    );
    const agent = w.agent([], { model, budget: { usd: 100 } });
    await w.run(agent, "one");
    await w.run(agent, "two");
    await w.play([
      [says(""), finishes({ unified: "other", raw: "odd" })],
      [says("No."), finishes({ unified: "refusal", raw: "safety", detail: "unsafe" })],
    ]);
    await w.play([[says("No."), finishes({ unified: "refusal", raw: "safety", detail: "unsafe" })]]);
    await w.play([[says("Part"), finishes("length")]]);
    await w.play([[says("Part"), finishes("pause")], says("and rest.")]);
  },
  retries: async (w) => {
    const error = new NanoAgentError("rate_limit", "busy", { retryable: true });
    async function* stream(): AsyncGenerator<StreamPart> {
      yield { type: "text_delta", index: 0, text: "Half an" };
      yield { type: "retry", attempt: 2, delayMs: 10, error };
      yield { type: "text_delta", index: 0, text: "Whole." };
      yield {
        type: "finish",
        finishReason: { unified: "stop", raw: "stop" },
        usage: { inputTokens: 4, outputTokens: 2 },
        responseId: "r1",
        model: "other",
      };
    }
    await w.play([], {
      model: w.watched({ provider: "own", id: "m", info: PRICED, stream }),
      redact: createRedaction({ secrets: [{ name: "B", value: "busybusybusy" }] }),
    });
    await w.play([fails(error)]);
    const unreadable = new NanoAgentError("provider_error", "odd", {
      details: { reason: "unreadable_output" },
    });
    await w.play([fails(unreadable), says("Better.")]);
    await w.play([fails(unreadable), fails(unreadable), fails(unreadable)]);
  },
  hooks: async (w) => {
    const hooks: AgentOptions["hooks"] = {
      pre_reply: (_, { messages }) => ({ messages: [...messages, userMessage("and be quick")] }),
      pre_reasoning: (_, { request }) => ({ request: { ...request, system: "of a hook" } }),
      post_reasoning: (_, __, output) =>
        output.finishReason.unified === "stop"
          ? { ...output, message: { role: "assistant", content: [{ type: "text", text: "DONE" }] } }
          : null,
      pre_acting: (_, { name, input, ...call }) =>
        name === "remove"
          ? { ...call, name, input, refuse: "not now" }
          : { ...call, name, input: { ...input, more: 1 } },
      post_acting: (_, __, output) => ({ ...output, content: `${String(output.content)}!` }),
      post_reply: (_, __, result) => ({ ...result, text: `${result.text}!` }),
      pre_print: (_, { event }) => ({ event: event?.type === "text_delta" ? undefined : event }),
    };
    const step = [reads("a"), removes("b"), calls("read", "{bad")];
    await w.play([step, says("Done.")], { tools: [read, remove], hooks });
    const breaks = () => Promise.reject(new Error("a hook broke"));
    for (const point of [
      "pre_reply",
      "pre_reasoning",
      "post_reasoning",
      "pre_acting",
      "post_acting",
      "post_reply",
    ] as const)
      await w.play([step, says("Done.")], { tools: [read, remove], hooks: { [point]: breaks } });
  },
  loops: async (w) => {
    await w.play(() => reads("a"), { tools: [read] });
    await w.play(({ messages }) => calls(messages.length % 4 === 1 ? "read" : "remove", { path: "a" }), {
      tools: [read, remove],
    });
    await w.play(() => says("It goes on and on. ".repeat(2_000)));
  },
  compactions: async (w) => {
    const steps = [
      reads("a"),
      reads("b"),
      says("a summary"),
      says("End."),
      says("More."),
      says("summary two"),
    ];
    const agent = w.agent(steps, { tools: [read], compaction: summaries(4) });
    await w.run(agent, "go");
    await agent.undoCompaction();
    await w.run(agent, "and?");
    w.note("compacted", await agent.compact());
    const tooLong = fails(new NanoAgentError("context_overflow", "too long"));
    await w.play([reads("a"), tooLong, says("a summary"), says("End.")], {
      tools: [read],
      compaction: summaries(99),
    });
    await w.play([tooLong]);
  },
  "long-term memory": async (w) => {
    const store = new InMemoryLongTermMemory({ clock: w.clock, newId: w.newId } as never);
    await store.record(["Ann drinks tea."]);
    const shown = {
      record: (...args: Parameters<typeof store.record>) => store.record(...args),
      retrieve: async (query: string) =>
        (await store.retrieve(query)).map((found) => ({ ...found, id: "m", score: 1 })),
    };
    await w.run(
      w.agent([calls("retrieve_from_memory", { keywords: ["Ann"] }), says("Tea.")], {
        longTermMemory: { store: shown, mode: "both" },
      }),
      "What does Ann drink?",
    );
  },
  subagents: async (w) => {
    const steps = [
      [calls("delegate", { prompts: ["one", "two"], systemPrompt: "Help.", effort: "low" }), reads("x")],
      reads("a"),
      says("One."),
      calls("delegate", {}),
      says("Deep."),
      says("Two."),
      says("Done."),
    ];
    await w.play(steps, { tools: [read, delegate], systemPrompt: "Main.", parallelToolCalls: false });
    const asks = [calls("delegate", { maxIterations: 1 }), removes("a"), says("In short."), says("Done.")];
    await w.play(asks, {
      tools: [remove, delegate],
      permission: gate,
      approve: () => ({ approved: false, stop: true }),
    });
    await w.play(asks, { tools: [remove, delegate], permission: gate, onAsk: "pause" });
    await w.play([calls("delegate", { prompts: [" "] }), says("Done.")], { tools: [delegate] });
  },
  "subagents side by side": async (w) => {
    const both = tool("both", {
      execute: async (_, { runAgent }) =>
        JSON.stringify(
          await Promise.all(
            ["a", "b"].map(async (prompt) => (await runAgent({ agent: prompt, prompt })).text),
          ),
        ),
    });
    const steps: ScriptStep = ({ messages }) =>
      messages.length > 1
        ? says("Done.")
        : messages[0]?.content[0]?.type === "text" && messages[0].content[0].text === "go"
          ? calls("both")
          : says("Sub.");
    await w.play(steps, { tools: [both] });
  },
  "ReAct and the simple agent": async (w) => {
    const steps = [
      calls("Thought", { reasoning: "I should look." }),
      says("Hm."),
      reads("a"),
      calls("Finish", { answer: "It is 42." }),
    ];
    await w.run(
      new ReActAgent({ ...w.options(steps, { tools: [read] }), thoughtTool: true, finish: "tool" }),
      "What?",
    );
    await w.run(
      new ReActAgent({
        ...w.options([calls("Finish", { answer: "Four.", n: 4 })], { tools: [read] }),
        finish: "tool",
      }),
      "What?",
      { schema: SCHEMA },
    );
    await w.run(new SimpleAgent(w.options([[says(" ")]])), "Hi");
    await w.run(
      new SimpleAgent(w.options([reads("a"), [says("")]], { tools: [read], memory: "final-only" })),
      "Hi",
    );
  },
  plans: async (w) => {
    const steps = [
      says("Here is my plan:\n1. Look"),
      calls("step_failed", { reason: "too dark" }),
      plan("Feel", "Tell"),
      reads("a"),
      says("Felt."),
      says("Told."),
      says("All in all."),
    ];
    await w.run(
      new PlanAndSolveAgent({ ...w.options(steps, { tools: [read] }), synthesize: true, maxReplans: 1 }),
      "What is it?",
    );
    await w.run(
      new PlanAndSolveAgent(
        w.options([plan("Remove"), removes("a"), says("Not done.")], {
          tools: [remove],
          permission: gate,
          onAsk: "pause",
        }),
      ),
      "go",
    );
    await w.run(new PlanAndSolveAgent(w.options([plan("Count"), calls("finish", { n: 4 })])), "How many?", {
      schema: SCHEMA,
    });
    await w.run(new PlanAndSolveAgent(w.options([says("no"), says("no plan")])), "go");
  },
  reflection: async (w) => {
    const steps = [
      says("Draft."),
      says("Too short."),
      says("A longer text."),
      says("No need for improvement."),
    ];
    await w.run(new ReflectionAgent(w.options(steps)), "Write.");
    await w.run(
      new ReflectionAgent(
        w.options([reads("a"), says("Draft."), says("Too short."), fails("gone")], {
          tools: [read],
        }),
      ),
      "Write.",
    );
  },
  "people and several agents": async (w) => {
    const own = { clock: w.clock };
    const person = new UserAgent({
      input: () => "Blue.",
      journal: w.journal(),
      // The person's time is not shown.
      ...own,
    });
    await w.run(person, "Which colour?");
    const named = (name: string, ...said: readonly string[]) =>
      w.agent(said.map(says), { journal: w.journal([], name) });
    const onEvent = (agent: string, event: { readonly type: string }) => w.note(agent, event.type);
    w.note(
      "in a row",
      await sequentialPipeline([named("one", "A."), named("two", "B.")], "go", { onEvent } as never),
    );
    w.note("at once", await fanoutPipeline([named("three", "A."), named("four", "B.")], "go"));
    const hub = new MessageHub({ ann: named("ann", "Hi Bob."), bob: named("bob", "Hi Ann.") });
    w.note("hub", await Promise.resolve(hub.discuss("Say hello.")).catch(String));
  },
  checkpoints: async (w) => {
    const entry = (callId: string) =>
      ({
        type: "checkpoint",
        callId,
        name: "write",
        root: "/w",
        changes: [{ path: "a", before: null, after: { type: "folder", mode: 0o755 } }],
      }) as const;
    const before = async ({ name }: { readonly name: string }) => {
      if (name === "remove") throw new Error("no room");
    };
    const checkpointer = {
      before,
      after: async ({ callId, name }: { readonly callId: string; readonly name: string }) =>
        name === "odd" ? Promise.reject(new Error("gone")) : [entry(callId)],
    };
    const step = [reads("a"), removes("b"), calls("odd")];
    await w.play([step, says("Done.")], {
      tools: [read, remove, tool("odd")],
      checkpointer,
      parallelToolCalls: false,
    });
  },
  secrets: async (w) => {
    const SECRET = "k9-Very+Secret/Value_0123456789";
    const leak = tool("leak", {
      *execute() {
        yield SECRET.slice(0, 9);
        yield `${SECRET.slice(9)} and more`;
        return {
          content: `a ${SECRET} b`,
          title: SECRET,
          metadata: { list: [SECRET] },
          finish: { text: SECRET },
        };
      },
    });
    const fail = tool("fail", { execute: () => Promise.reject(new Error(`bad ${SECRET}`)) });
    const hooks: AgentOptions["hooks"] = { post_acting: (_, __, output) => ({ ...output, title: SECRET }) };
    const redact = createRedaction({ secrets: [{ name: "MY_KEY", value: SECRET }] });
    await w.play([[calls("leak"), calls("fail")], says("End.")], { tools: [leak, fail], redact, hooks });
    await w.play([fails(`odd ${SECRET}`)], { redact });
  },
  "edits, modes and other models": async (w) => {
    const agent = w.agent([says("One."), says("Two.")]);
    await agent.setMode("plan");
    await w.run(agent, "a");
    await agent.setModel(w.model([says("Three.")], { id: "other" }), { effort: "high" });
    await agent.note("question", { n: 1 });
    await agent.conversation.mark(
      agent.conversation.items().map(({ id }) => id),
      "hint",
    );
    await agent.conversation.clear();
    await w.run(agent, "b");
    w.note("state", [agent.mode, agent.getState()]);
  },
  "calls without a model": async (w) => {
    const agent = w.agent([says("Done.")], {
      tools: [read, remove],
      permission: gate,
      messages: [userMessage("before"), { role: "assistant", content: [{ type: "text", text: "yes" }] }],
    });
    const made = { call: agent.callTool("remove", { path: "a" }, { approve: () => true }) };
    w.note("allowed", [
      await made.call,
      await agent.callTool("remove", { path: "b" }),
      await agent.callTool("nope", {}),
    ]);
    await w.run(agent, "go");
  },
  "a conversation from elsewhere": async (w) => {
    const agent = w.agent([says("Done."), says("Again.")], { tools: [read] });
    const open = { type: "tool_use", id: "x", name: "read", input: { path: "a" } } as const;
    await w.run(agent, [userMessage("a"), { role: "assistant", content: [open] }, userMessage("b")]);
    await w.run(agent, [
      userMessage("c"),
      { role: "assistant", content: [{ type: "text", text: "d" }] },
      userMessage("e"),
    ]);
    await w.run(agent, "");
  },
  ...Object.fromEntries(WIRES.map((wire) => [`the wire of ${wire[0]}`, onWire(wire)])),
};
