import { expect, test } from "vitest";
import { Agent } from "../../src/agent/agent.ts";
import type { AgentOptions } from "../../src/agent/options.ts";
import { perform } from "../../src/core/agent/perform.ts";
import type { Fold } from "../../src/core/agent/ports.ts";
import type { RunResult } from "../../src/core/agent/result.ts";
import type { Run, RunPlugin } from "../../src/core/agent/run.ts";
import { SessionState } from "../../src/core/agent/state.ts";
import { NanoAgentError } from "../../src/core/base/errors.ts";
import { userMessage } from "../../src/core/message/message.ts";
import { defineTool } from "../../src/core/tool/tool.ts";
import { calls, fails, says } from "../../src/testing/script.ts";
import { ScriptedModel } from "../../src/testing/scripted-model.ts";

const echo = defineTool({
  name: "echo",
  description: "Repeats.",
  parameters: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  execute: ({ text }) => text,
});

/** An agent whose runs have more plugins. */
class Plugged extends Agent {
  readonly #plugins: readonly RunPlugin[];

  constructor(options: AgentOptions, ...plugins: readonly RunPlugin[]) {
    super(options);
    this.#plugins = plugins;
  }

  override conduct(run: Run): Promise<RunResult> {
    const plugins = [...run.shared.plugins, ...this.#plugins];
    return super.conduct({ ...run, shared: { ...run.shared, plugins } });
  }
}

/** A plugin that writes down where it was asked, and changes nothing. */
function noting(name: string, log: string[]): RunPlugin {
  const note = (moment: string) => async (): Promise<undefined> => void log.push(`${name} ${moment}`);
  return {
    beforeTurn: note("beforeTurn"),
    beforeRequest: note("beforeRequest"),
    afterRequest: note("afterRequest"),
    beforeCall: note("beforeCall"),
    afterCall: note("afterCall"),
    afterTurn: note("afterTurn"),
  };
}

test("plugins are asked in order, before and after alike, at every step of a turn", async () => {
  const log: string[] = [];
  const model = new ScriptedModel([calls("echo", { text: "x" }), says("done")]);

  await new Plugged({ model, tools: [echo] }, noting("a", log), noting("b", log)).run("go");

  const turn = ["beforeTurn", "beforeRequest", "afterRequest"];
  const moments = [...turn, "beforeCall", "afterCall", "afterTurn", ...turn];
  expect(log).toEqual(moments.flatMap((moment) => [`a ${moment}`, `b ${moment}`]));
});

test("what one plugin makes is what the next one sees; what gives nothing leaves it", async () => {
  const add = (more: string): RunPlugin => ({
    beforeCall: async (_run, { input }) => ({ input: { text: `${String(input["text"])}${more}` } }),
    afterCall: async (_run, result) => ({ ...result, content: `${String(result.content)}${more}` }),
  });
  const model = new ScriptedModel([calls("echo", { text: "x" }), says("done")]);

  const { messages } = await new Plugged({ model, tools: [echo] }, add("1"), {}, add("2")).run("go");

  expect(messages[2]?.content).toMatchObject([{ type: "tool_result", content: "x1212" }]);
});

test("a refused call does not run, and a plugin that throws before it keeps it from running and ends the run", async () => {
  let ran = 0;
  const count = defineTool({
    name: "count",
    description: "Counts.",
    parameters: { type: "object", properties: {} },
    execute: () => String(++ran),
  });
  const refusing: RunPlugin = { beforeCall: async () => ({ refuse: "not today", rule: "calendar" }) };
  const model = new ScriptedModel([calls("count", {}), says("done")]);
  const refused = await new Plugged({ model, tools: [count] }, refusing).run("go");
  expect(refused.messages[2]?.content).toMatchObject([
    { content: "Error: Tool call was not approved: not today", is_error: true },
  ]);

  const throwing: RunPlugin = { beforeCall: () => Promise.reject(new Error("broken")) };
  const second = new ScriptedModel([calls("count", {})]);
  const failed = await new Plugged({ model: second, tools: [count] }, throwing).run("go");
  expect(failed).toMatchObject({ stopReason: "error", error: { message: "broken" } });
  expect(ran).toBe(0);
});

test("the result of a call is withheld where a plugin after it throws", async () => {
  const throwing: RunPlugin = { afterCall: () => Promise.reject(new Error("broken")) };
  const model = new ScriptedModel([calls("echo", { text: "secret" })]);

  const { messages, stopReason } = await new Plugged({ model, tools: [echo] }, throwing).run("go");

  expect(stopReason).toBe("error");
  expect(JSON.stringify(messages[2])).not.toContain("secret");
});

test("a plugin may end the run after a turn, and ask for a request that failed once more", async () => {
  const ending: RunPlugin = { afterTurn: async () => ({ stopReason: "completed", text: "enough" }) };
  const model = new ScriptedModel([calls("echo", { text: "x" })]);
  expect(await new Plugged({ model, tools: [echo] }, ending).run("go")).toMatchObject({
    stopReason: "completed",
    text: "enough",
  });

  const overflow = new NanoAgentError("context_overflow", "too long");
  const outcomes = async (done: "again" | "in_vain" | undefined): Promise<unknown> => {
    const failing = new ScriptedModel([fails(overflow), says("fine")]);
    const recovering: RunPlugin = { afterFailure: async () => done };
    const { stopReason, text, error } = await new Plugged({ model: failing }, recovering).run("go");
    return error?.code ?? `${stopReason} ${text}`;
  };
  expect([await outcomes("again"), await outcomes("in_vain"), await outcomes(undefined)]).toEqual([
    "completed fine",
    "context_overflow",
    "context_overflow",
  ]);
});

test("a fold of a plugin sees the entries of its own transcript alone", () => {
  class Count implements Fold {
    entries = 0;
    apply(): void {
      this.entries += 1;
    }
  }
  const outer = new SessionState([Count]);
  const inner = new SessionState([Count], { scope: "inner", parent: outer });
  const base = { id: "e", parent: null, time: 0, type: "mode_change", mode: "x" } as const;

  outer.apply(base);
  inner.apply({ ...base, scope: "inner" });
  inner.apply({ ...base, scope: "inner" });

  expect([outer.fold(Count)?.entries, inner.fold(Count)?.entries]).toEqual([1, 2]);
  expect(new SessionState().fold(Count)).toBeUndefined();
});

test("plugins around the whole run replace its input and its result; one that throws after it is its error", async () => {
  const model = new ScriptedModel([says("one"), says("two"), says("three")]);
  const around: RunPlugin = {
    beforeRun: async (_run, { messages, before }) => ({
      messages: [...messages, userMessage("also")],
      before,
    }),
    afterRun: async (_run, result) => ({ ...result, text: `${result.text}!` }),
  };
  const performed = async (...plugins: readonly RunPlugin[]): Promise<RunResult> => {
    let result: RunResult | undefined;
    class Inner extends Agent {
      override async conduct(run: Run): Promise<RunResult> {
        const input = { messages: [userMessage("inner")], history: [] };
        const inner: Run = { ...run, shared: { ...run.shared, plugins } };
        result = await perform(inner, input, (each) => super.conduct(each));
        return result;
      }
    }
    await new Inner({ model }).run("go");
    return result as RunResult;
  };

  expect((await performed(around)).text).toBe("one!");
  expect(JSON.stringify(model.requests[0]?.messages)).toContain("also");
  expect(await performed({ afterRun: () => Promise.reject(new Error("late")) })).toMatchObject({
    stopReason: "error",
    text: "two",
    error: { message: "late" },
  });
  expect(await performed({ beforeRun: () => Promise.reject(new Error("early")) })).toMatchObject({
    stopReason: "error",
    error: { message: "early" },
  });
  expect(model.requests).toHaveLength(2);
});
