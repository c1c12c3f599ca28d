import {
  type Agent,
  type Gate,
  type JournalEntry,
  type MemoryJournal,
  PlanAndSolveAgent,
  userMessage,
} from "../../src/index.ts";
import { createHandoffTool } from "../../src/patterns/index.ts";
import { calls, finishes, type ScriptStep, says, thinks, waits } from "../../src/testing/index.ts";
import {
  aborting,
  afterEachKill,
  batch,
  external,
  gate,
  leaves,
  MIXED,
  PATH,
  PRICED,
  plan,
  read,
  reads,
  remove,
  SCHEMA,
  type Scenario,
  works,
} from "./scenario-parts.ts";
import { inOrder, tool } from "./world.ts";

/** Runs in which calls, questions and cuts are what counts. */
export const CALL_SCENARIOS: { readonly [name: string]: Scenario } = {
  "an answer in text": async (w) => {
    const agent = w.agent(
      [
        [
          thinks("Hm.", "sig"),
          says("Hello there, Ann."),
          finishes("stop", { inputTokens: 9, outputTokens: 4, cacheReadTokens: 2 }),
        ],
      ],
      {
        systemPrompt: "Be brief.",
        effort: "low",
        temperature: 0.5,
        stopSequences: ["END"],
        maxOutputTokens: 100,
      },
    );
    await w.run(agent, "Hi");
    w.note("state", agent.getState());
  },
  "calls and their answer": async (w) => {
    const odd = tool("odd", {
      *execute() {
        yield { text: "half", metadata: { at: 1 } } as never;
        yield "and half";
        return { content: "a \ud83d b", title: "Odd", metadata: { n: 1 }, essence: "same" };
      },
    });
    const agent = w.agent([[says("Let me."), reads("a")], [calls("odd"), reads("b")], says("Done.")], {
      tools: [read, odd],
    });
    await w.run(agent, "go");
    await w.run(agent, [{ type: "text", text: "again" }]);
  },
  "calls that cannot be made": async (w) => {
    const fail = tool("fail", { execute: () => Promise.reject(new Error("no luck")) });
    const steps = [
      [
        calls("reed", { path: "a" }),
        calls("read", {}),
        calls("read", "{bad"),
        calls("fail"),
        calls("read", { path: 1 }),
      ],
      [calls("read", '{"path":'), finishes("length")],
      says("Done."),
    ];
    await w.play(steps, { tools: [read, fail] });
    await w.play([[calls("read", "{bad")], [calls("read", "[1]")], [calls("read", '"x"')]], {
      tools: [read],
    });
  },
  "calls side by side": async (w) => {
    const order = ["c3", "c2", "c4", "c1"];
    const step = [
      calls("step", { n: 1 }, "c1"),
      calls("step", { n: 2 }, "c2"),
      calls("step", { n: 3 }, "c3"),
      calls("step", { n: 4 }, "c4"),
    ];
    await w.play([step, says("Done.")], { tools: [inOrder("step", order)] });
    const written = inOrder("step", ["c1", "c2", "c3", "c4"], {
      access: (input) => ({ write: [`f${Number((input as { n?: number }).n) % 2}`] }),
    });
    await w.play([step, says("Done.")], { tools: [written] });
    await w.play([step, says("Done.")], {
      tools: [inOrder("step", ["c1", "c2", "c3", "c4"])],
      parallelToolCalls: false,
    });
    await w.play([step, says("Done.")], {
      tools: [tool("step")],
      maxCallsPerAnswer: 2,
      maxToolResultChars: 12,
    });
  },
  "calls inside calls": async (w) => {
    const inner = [
      { tool: "read", input: { path: "a" } },
      { tool: "remove", input: { path: "b" } },
      { tool: "nope", input: {} },
      { tool: "deploy", input: {} },
    ];
    const options = {
      tools: [read, remove, external, batch],
      permission: gate,
      onAsk: "pause",
    } as const;
    await w.play([[calls("batch", { calls: inner })], says("Done.")], options);
    await w.play([[calls("batch", { calls: inner })], says("Done.")], { ...options, approve: () => true });
  },
  "a call that takes too long": async (w) => {
    const ready = Promise.withResolvers<void>();
    const slow = tool("slow", {
      timeoutMs: 50,
      abortGraceMs: 0,
      execute: (_, { signal, update }) => (
        update("begun"),
        ready.resolve(),
        new Promise((end) => signal.addEventListener("abort", () => end("late")))
      ),
    });
    const ran = w.play([calls("slow"), says("Done.")], { tools: [slow] });
    await ready.promise;
    await w.clock.advance(60);
    await ran;
  },
  "structured output": async (w) => {
    const steps = [says("It is 4."), calls("finish", { n: "x" }), calls("finish", { n: 4 })];
    await w.run(w.agent(steps, { tools: [read] }), "How many?", { schema: SCHEMA });
    await w.run(w.agent([says("1"), says("2"), says("3"), says("4")]), "How many?", { schema: SCHEMA });
  },
  "a tool that ends the run": async (w) => {
    const to = createHandoffTool({ to: { sales: "Sells." } });
    const agent = w.agent([[reads("a"), calls("leaves"), reads("b")], calls("transfer", { to: "sales" })], {
      tools: [read, leaves, to],
    });
    await w.run(agent, "go");
    await w.run(agent, "and now?");
  },
  "all requests are used up": async (w) => {
    const steps = () => [reads("a"), [says("Seen."), reads("b")], says("In short.")];
    for (const onMaxIterations of [
      "summarize",
      "last",
      "throw",
      ({ lastText }: { lastText: string }) => `${lastText}!`,
      () => 1 as never,
    ] as const)
      await w.play(steps(), { tools: [read], maxIterations: 2, onMaxIterations });
  },
  "tool choice and stopWhen": async (w) => {
    const options = { tools: [read], stopWhen: () => w.clock.now() < 0 };
    await w.play([reads("a"), says("Done.")], { ...options, toolChoice: "required" });
    await w.run(w.agent([reads("a")], options), "go", {
      toolChoice: { type: "tool", name: "read" },
      stopWhen: () => true,
    });
    await w.run(w.agent([says("Done.")], options), "go", { toolChoice: { type: "tool", name: "reed" } });
  },
  "steering and observing": async (w) => {
    const agent: Agent = w.agent(
      [reads("a"), () => (agent.steer("Also b."), says("Done with a.")), says("Done with b."), says("Yes.")],
      { tools: [read] },
    );
    agent.steer("Be quick.");
    await agent.observe("Ann: hello");
    await w.run(agent, "go", {
      onEvent: ({ type }) => type === "tool_intent" && void agent.observe("Bob: hi"),
    });
    await w.run(agent, "sure?");
  },
  "question and answer are kept alone": async (w) => {
    const agent = w.agent([reads("a"), says("A."), says("B."), [calls("deploy")], says("C.")], {
      tools: [read, external],
      memory: "final-only",
    });
    for (const question of ["a?", "b?", "c?"]) await w.run(agent, question);
  },
  "an answer is cut": async (w) => {
    const agent = w.agent(
      [
        [thinks("Hm."), says("The answer is long and longer"), waits(new AbortController().signal)],
        says("Again."),
      ],
      {
        tools: [read],
        model: w.model([[says("The answer is long and longer"), reads("a")], says("Again.")], {
          info: PRICED,
        }),
      },
    );
    await aborting(w, agent, "text_delta");
    await w.run(agent, "and?");
    const released = w.agent([[says("Half")], says("Whole.")]);
    await aborting(w, released, "text_delta", "release");
    await w.run(released);
  },
  "a call is cut": async (w) => {
    for (const way of ["abort", "release"] as const)
      for (const openCalls of ["close", "run"] as const) {
        const hangs = tool("hangs", {
          idempotent: true,
          abortGraceMs: 0,
          execute: (_, { signal }) =>
            signal.aborted || (w.clock.now() > 0 && way === "abort") ? new Promise(() => undefined) : "ran",
        });
        const agent = w.agent(
          [
            [
              calls("read", { path: "a" }, "c1"),
              calls("hangs", {}, "c2"),
              calls("remove", { path: "b" }, "c3"),
            ],
            says("Done."),
          ],
          { tools: [read, hangs, remove], openCalls, parallelToolCalls: false },
        );
        await aborting(w, agent, "tool_result", way);
        await w.run(agent);
      }
  },
  "killed at every record": async (w) => {
    const steps = [
      [
        calls("read", { path: "a" }, "c1"),
        calls("remove", { path: "b" }, "c2"),
        calls("deploy", { path: "c" }, "c3"),
        calls("batch", { calls: [{ tool: "read", input: { path: "d" } }] }, "c4"),
      ],
    ];
    const options = {
      tools: [read, remove, external, batch],
      permission: gate,
      onAsk: "pause",
    } as const;
    const whole = w.journal();
    const agent = w.agent(works(...steps), { ...options, journal: whole });
    await w.run(agent, "go");
    await w.run(agent, undefined, { approvals: { c2: { approved: true, input: { path: "bb" } }, c3: true } });
    await w.run(agent, [{ type: "tool_result", tool_use_id: "c3", content: "deployed" }]);
    for (const openCalls of ["close", "run"] as const)
      await afterEachKill(w, whole, (journal) =>
        w.agent(works(...steps), { ...options, journal, openCalls }),
      );
    await afterEachKill(
      w,
      whole,
      (journal) => w.agent(works(...steps), { ...options, journal, openCalls: "run" }),
      { approvals: { c2: false } },
    );
  },
  "a pattern killed at every record": async (w) => {
    const steps: ScriptStep = ({ tools = [], messages }) => {
      if (tools.some(({ name }) => name === "generate_plan")) return plan("Look", "Tell");
      return messages.at(-1)?.content[0]?.type === "text" && messages.length < 4 && tools.length > 0
        ? reads("a")
        : says(`Said after ${messages.length}.`);
    };
    const whole = w.journal();
    const open = (journal: MemoryJournal) =>
      new PlanAndSolveAgent({ ...w.options(steps, { tools: [read], journal }), synthesize: true });
    await w.run(open(whole), "What is it?");
    await afterEachKill(w, whole, open);
  },
  "questions answered at once": async (w) => {
    const answers = [
      true,
      false,
      { approved: false, reason: "keep it" },
      { approved: true, input: { path: "z" } },
      { approved: true, input: {} },
      { approved: false, stop: true },
      "later",
      "odd" as never,
    ] as const;
    for (const answer of answers)
      await w.play([MIXED, says("Done.")], {
        tools: [read, remove],
        permission: gate,
        approve: () => answer,
      });
    await w.play([MIXED, says("Done.")], {
      tools: [read, remove],
      permission: gate,
      approve: () => Promise.reject(new Error("gone")),
    });
    await w.play([MIXED, says("Done.")], { tools: [read, remove], permission: gate });
  },
  "questions answered later": async (w) => {
    for (const answer of [
      true,
      false,
      { approved: false, reason: "no", stop: true },
      { approved: true, input: { path: "z" } },
      { approved: true, question: "entry_0" },
    ] as const) {
      const agent = w.agent([MIXED, says("Done.")], {
        tools: [read, remove],
        permission: gate,
        onAsk: "pause",
      });
      const first = await w.run(agent, "go");
      const [one, two] = first?.pending ?? [];
      await w.run(agent);
      await w.run(agent, undefined, { approvals: { [String(one?.callId)]: answer } });
      await w.run(agent, undefined, { approvals: { [String(two?.callId)]: answer } });
    }
  },
  "a message instead of an answer": async (w) => {
    const agent = w.agent([MIXED, says("Then not."), says("Yes.")], {
      tools: [read, remove],
      permission: gate,
      onAsk: "pause",
    });
    await w.run(agent, "go");
    await agent.observe("Ann: wait");
    await w.run(agent, "Leave them.");
    await w.run(agent, "ok?");
  },
  "questions of tools and broken gates": async (w) => {
    const wary = tool("wary", { needsApproval: (input) => (input as { n?: number }).n !== 1 });
    const broken = tool("broken", { needsApproval: () => Promise.reject(new Error("odd")) });
    const step = [calls("wary", { n: 1 }), calls("wary", { n: 2 }), calls("broken")];
    await w.play([step, says("Done.")], { tools: [wary, broken], approve: ({ name }) => name === "wary" });
    const odd: readonly Gate[] = [
      { check: () => Promise.reject(new Error("no rules")) },
      { check: () => undefined as never },
      { check: () => ({ action: "maybe" as never }) },
    ];
    for (const permission of odd) await w.play([step, says("Done.")], { tools: [wary, broken], permission });
  },
  "calls that the caller answers": async (w) => {
    const agent = w.agent(
      [
        [
          calls("deploy", { path: "a" }, "c1"),
          calls("read", { path: "b" }, "c2"),
          calls("deploy", { path: "c" }, "c3"),
        ],
        says("Done."),
      ],
      { tools: [read, external] },
    );
    await w.run(agent, "go");
    await w.run(agent);
    await w.run(agent, [{ type: "tool_result", tool_use_id: "c1", content: "one" }]);
    await w.run(agent, [
      { type: "tool_result", tool_use_id: "c3", content: "two", is_error: true },
      { type: "text", text: "and?" },
    ]);
    await w.run(agent, [{ type: "tool_result", tool_use_id: "c9", content: "two" }]);
  },
  "records of an older version": async (w) => {
    const base = { sessionId: "session", parent: null, time: 1 };
    const message = {
      role: "assistant",
      content: [{ type: "tool_use", id: "c1", name: "remove", input: { path: "a" } }],
    };
    const old = [
      { ...base, id: "e1", type: "run_start", model: "scripted/scripted", tools: ["remove"] },
      { ...base, id: "e2", type: "user_message", message: userMessage("go"), source: "input" },
      {
        ...base,
        id: "e3",
        type: "assistant_message",
        message,
        model: "scripted/scripted",
        finishReason: { unified: "tool_use", raw: "tool_use" },
        usage: { inputTokens: 1, outputTokens: 1 },
        durationMs: 1,
      },
      {
        ...base,
        id: "e4",
        type: "permission_decision",
        callId: "c1",
        name: "remove",
        input: { path: "b" },
        action: "allow",
        by: "rule",
        reason: "it needs approval",
      },
      {
        ...base,
        id: "e5",
        type: "tool_intent",
        callId: "c1",
        name: "remove",
        input: { path: "b" },
        judged: true,
      },
    ] as unknown as readonly JournalEntry[];
    for (const idempotent of [true, false]) {
      const tools = [tool("remove", { parameters: PATH, idempotent })];
      await w.run(w.agent([says("Done.")], { tools, journal: w.journal(old), openCalls: "run" }));
    }
  },
};
