import { describe, expect, test } from "vitest";
import { z } from "zod";
import {
  Agent,
  type AgentEvent,
  type AgentOptions,
  defineTool,
  type Gate,
  MaxIterationsError,
  MemoryJournal,
  PlanAndSolveAgent,
  ReActAgent,
  ReflectionAgent,
  type RunResult,
  SimpleAgent,
  transcriptViolations,
} from "../../src/index.ts";
import { calls, fails, type ScriptStep, says, waits } from "../../src/testing/script.ts";
import { ScriptedModel } from "../../src/testing/scripted-model.ts";
import { all, tool } from "../scenarios/conversation.ts";

interface Kind {
  readonly make: (options: AgentOptions) => Agent;
  /** One answer to one question, with a call of `look` on the way. */
  readonly script: (answer: string) => readonly ScriptStep[];
  /** Name of the tool that delivers a value. */
  readonly finish: string;
  /** What stands around the answers that deliver one. */
  readonly before: readonly ScriptStep[];
  readonly after: readonly ScriptStep[];
}

const looks = calls("look", { at: "sky" });
const plan = calls("generate_plan", { steps: ["look", "say"] });
const kinds: { readonly [name: string]: Kind } = {
  Agent: {
    make: (options) => new Agent(options),
    script: (answer) => [looks, says(answer)],
    finish: "finish",
    before: [],
    after: [],
  },
  SimpleAgent: {
    make: (options) => new SimpleAgent(options),
    script: (answer) => [looks, says(answer)],
    finish: "finish",
    before: [],
    after: [],
  },
  ReActAgent: {
    make: (options) => new ReActAgent({ ...options, thoughtTool: true, finish: "tool" }),
    script: (answer) => [calls("Thought", { reasoning: "First look." }), looks, calls("Finish", { answer })],
    finish: "Finish",
    before: [],
    after: [],
  },
  PlanAndSolveAgent: {
    make: (options) => new PlanAndSolveAgent(options),
    script: (answer) => [plan, looks, says("Blue."), says(answer)],
    finish: "finish",
    before: [calls("generate_plan", { steps: ["say"] })],
    after: [],
  },
  ReflectionAgent: {
    make: (options) => new ReflectionAgent(options),
    script: (answer) => [looks, says("Draft."), says("Be short."), says(answer), says("无需改进")],
    finish: "finish",
    before: [],
    after: [says("no need for improvement")],
  },
};

const look = tool("look", { readOnly: true });
const never = new Promise<void>(() => undefined);

/** A result without what differs between two conversations. */
function plain({ sessionId: _, ...result }: RunResult): object {
  return result;
}

describe.each(Object.entries(kinds))("%s", (_name, { make, script, finish, before, after }) => {
  test("a stream makes the same requests, tells the same events and has the same result as a run", async () => {
    const [one, two] = [new ScriptedModel(script("Blue.")), new ScriptedModel(script("Blue."))];
    const seen: AgentEvent[] = [];
    const options = { tools: [look], sessionId: "s" };
    const run = await make({ ...options, model: one }).run("Colour?", {
      onEvent: (event) => seen.push(event),
    });
    const streamed = await all(make({ ...options, model: two }).stream("Colour?"));
    const last = streamed.at(-1);
    expect(two.requests).toEqual(one.requests);
    expect(streamed.map(({ type }) => type)).toEqual(seen.map(({ type }) => type));
    expect(last?.type === "done" && plain(last.result)).toEqual(plain(run));
  });

  test("every request of the second run holds what was said in the first, also after a restart", async () => {
    const journal = new MemoryJournal();
    await make({ model: new ScriptedModel(script("Blue.")), tools: [look], journal }).run("Colour?");
    const model = new ScriptedModel(script("Why not."));
    const { text } = await make({ model, tools: [look], journal }).run("Why?");
    expect(text).toBe("Why not.");
    for (const { messages } of model.requests) {
      const sent = JSON.stringify(messages);
      expect([sent.includes("Colour?"), sent.includes("Blue."), sent.includes("Why?")]).toEqual([
        true,
        true,
        true,
      ]);
    }
  });

  test.each(script("").map((_, at) => at))(
    "an abort in request %i leaves a conversation that goes on",
    async (at) => {
      const cut: readonly ScriptStep[] = [...script("x").slice(0, at), [says("half an"), waits(never)]];
      const model = new ScriptedModel([...cut, ...script("Blue.")]);
      const agent = make({ model, tools: [look] });
      const first = await agent.run("Colour?", {
        onToken: () => model.requests.length === cut.length && agent.stop(),
      });
      expect([first.stopReason, transcriptViolations(first.messages)]).toEqual(["aborted", []]);
      const second = await agent.run("Colour, please?");
      expect([second.text, transcriptViolations(second.messages)]).toEqual(["Blue.", []]);
    },
  );

  test.each(script("").map((_, at) => at))(
    "a failure of request %i is data, and no empty answer is kept",
    async (at) => {
      const steps = [...script("x").slice(0, at), fails("The line is down."), ...script("Blue.")];
      const agent = make({ model: new ScriptedModel(steps), tools: [look] });
      const { stopReason, error, messages } = await agent.run("Colour?");
      expect([stopReason, error?.message]).toEqual(["error", "The line is down."]);
      const empty = messages.filter(
        ({ content }) =>
          content.length === 0 || content.some((block) => "text" in block && block.text === ""),
      );
      expect([empty, transcriptViolations(messages)]).toEqual([[], []]);
      expect((await agent.run("Colour, please?")).text).toBe("Blue.");
    },
  );

  test("an abort reaches the tool at work, in whatever phase", async () => {
    const aborted: string[] = [];
    const slow = defineTool({
      name: "look",
      description: "Looks for a long time.",
      parameters: { type: "object" },
      execute: (_input, { signal }) => {
        signal.addEventListener("abort", () => aborted.push("look"));
        queueMicrotask(() => agent.stop());
        return never;
      },
    });
    const agent = make({ model: new ScriptedModel(script("x")), tools: [slow] });
    const { stopReason, messages } = await agent.run("Colour?");
    expect([stopReason, aborted, transcriptViolations(messages)]).toEqual(["aborted", ["look"], []]);
  });

  test("a budget of tokens and one of time end it with the limit named", async () => {
    const poor = make({
      model: new ScriptedModel(script("x")),
      tools: [look],
      maxOutputTokens: 20,
      budget: { tokens: 150 },
    });
    const late = make({ model: new ScriptedModel([[says("x"), waits(never)]]), budget: { wallTimeMs: 20 } });
    const ends = [await poor.run("Colour?"), await late.run("Colour?")];
    expect(ends.map(({ stopReason, limit }) => [stopReason, limit])).toEqual([
      ["budget", "tokens"],
      ["budget", "wall_time"],
    ]);
  });

  test("with final-only the conversation holds the question and the answer", async () => {
    const agent = make({ model: new ScriptedModel(script("Blue.")), tools: [look], memory: "final-only" });
    const { messages } = await agent.run("Colour?");
    expect(messages.map(({ role, content }) => [role, content])).toEqual([
      ["user", [{ type: "text", text: "Colour?" }]],
      ["assistant", [{ type: "text", text: "Blue." }]],
    ]);
  });

  test("a call that is asked about with nobody there is refused, told to the model, and the run goes on", async () => {
    const permission: Gate = { check: ({ name }) => ({ action: name === "look" ? "ask" : "allow" }) };
    const results: string[] = [];
    const agent = make({ model: new ScriptedModel(script("Blue.")), tools: [look], permission });
    const { text } = await agent.run("Colour?", {
      onEvent: (event) =>
        event.type === "tool_result" &&
        event.name === "look" &&
        results.push(`${event.status}: ${String(event.result.content)}`),
    });
    expect([text, results.length, results[0]]).toEqual([
      "Blue.",
      1,
      expect.stringContaining("denied: Error: Tool call was not approved"),
    ]);
  });

  test("a value that does not fit goes back to the model, and the next call is forced", async () => {
    const schema = z.object({ n: z.number() });
    const model = new ScriptedModel([
      ...before,
      calls(finish, { n: "many" }),
      calls(finish, { n: 3 }),
      ...after,
    ]);
    const { output, stopReason } = await make({ model }).run("How many?", { schema });
    const typed: { readonly n: number } | undefined = output;
    expect([stopReason, typed, model.requests[before.length + 1]?.toolChoice]).toEqual([
      "structured_output",
      { n: 3 },
      { type: "tool", name: finish },
    ]);
  });

  test("onMaxIterations throw throws with the result, wherever the cap is met", async () => {
    const steps = [...before, ...Array.from({ length: 9 }, (_, at) => calls("look", { at }))];
    const agent = make({
      model: new ScriptedModel(steps),
      tools: [look],
      maxIterations: 2,
      onMaxIterations: "throw",
    });
    const error: unknown = await agent.run("Colour?").catch((caught: unknown) => caught);
    expect(error instanceof MaxIterationsError && error.result.stopReason).toBe("max_iterations");
  });
});
