import { expect, test } from "vitest";
import { Agent } from "../../src/agent/agent.ts";
import type { AgentOptions } from "../../src/agent/options.ts";
import type { JournalEntry } from "../../src/core/agent/entries.ts";
import { MemoryJournal } from "../../src/core/agent/journal.ts";
import { createIds } from "../../src/core/base/ids.ts";
import type { Model } from "../../src/core/model/model.ts";
import { FakeClock } from "../../src/testing/fake-clock.ts";
import { calls, says, waits } from "../../src/testing/script.ts";
import { ScriptedModel } from "../../src/testing/scripted-model.ts";
import { all, lines, tool } from "./conversation.ts";

function types(journal: MemoryJournal): readonly string[] {
  return [...journal.entries()].map(({ type }) => type);
}

/** A run that is let go of while its second tool is at work, and what it leaves. */
async function cutRun(options: Partial<AgentOptions> = {}): Promise<MemoryJournal> {
  const journal = new MemoryJournal();
  const agent: Agent = new Agent({
    model: new ScriptedModel([[calls("first", {}, "a"), calls("second", {}, "b"), calls("third", {}, "c")]]),
    parallelToolCalls: false,
    tools: [
      tool("first"),
      tool("second", {
        execute: () => {
          agent.release();
          return "never seen";
        },
      }),
      tool("third"),
    ],
    journal,
    ...options,
  });
  await expect(agent.run("go")).rejects.toMatchObject({ code: "aborted" });
  expect(agent.isRunning).toBe(false);
  return journal;
}

test("a run that is let go of has no end, and records nothing more", async () => {
  expect(types(await cutRun())).toEqual([
    "run_start",
    "user_message",
    "assistant_message",
    "tool_intent",
    "tool_result",
    "tool_intent",
  ]);
});

test("the reader of a run that is let go of meets the error, and leaving is not waited for", async () => {
  const agent: Agent = new Agent({
    model: new ScriptedModel([[says("hm"), waits(new Promise(() => undefined))]]),
  });
  const stream = agent.stream("go", { onToken: () => agent.release() });
  await expect(all(stream)).rejects.toMatchObject({ code: "aborted" });
  await expect(stream.result).rejects.toMatchObject({ code: "aborted" });
});

test("going on is not a new run: no second start, and requests count on", async () => {
  const journal = await cutRun();
  const model = new ScriptedModel([calls("third", {}, "d"), says("done")]);
  const agent = new Agent({ model, tools: [tool("first"), tool("second"), tool("third")], journal });

  const iterations: number[] = [];
  const result = await agent.run(undefined, {
    onEvent: (event) => event.type === "turn_start" && iterations.push(event.iteration),
  });

  expect(result).toMatchObject({ stopReason: "completed", iterations: 3, usage: { inputTokens: 300 } });
  expect(iterations).toEqual([2, 3]);
  expect(types(journal).filter((type) => type.startsWith("run_"))).toEqual([
    "run_start",
    "run_resume",
    "run_end",
  ]);
  expect(lines(result.messages)).toEqual([
    "user: go",
    "calls first {}",
    "calls second {}",
    "calls third {}",
    "result a: first {}",
    "error b: Error: interrupted, outcome unknown",
    "error c: Error: interrupted before it ran",
    "calls third {}",
    "result d: third {}",
    "assistant: done",
  ]);
});

test("the limit of requests holds for the run, however often it goes on", async () => {
  const journal = await cutRun();
  const model = new ScriptedModel([calls("third", {}), says("so far")]);
  const agent = new Agent({ model, tools: [tool("third")], journal, maxIterations: 2 });
  expect(await agent.run()).toMatchObject({ stopReason: "max_iterations", text: "so far", iterations: 2 });
});

test("a run that waited goes on with the answer, and its time and requests count on", async () => {
  const clock = new FakeClock();
  const journal = new MemoryJournal({ now: () => clock.now() });
  const options = {
    permission: { check: () => ({ action: "ask" as const, reason: "It writes." }) },
    onAsk: "pause" as const,
    budget: { wallTimeMs: 10_000 },
    clock,
    journal,
  };
  const slow = tool("write", { execute: () => clock.advance(6_000).then(() => "written") });
  const first = new Agent({ ...options, model: new ScriptedModel([calls("write", {}, "a")]), tools: [slow] });
  expect((await first.run("go")).stopReason).toBe("awaiting_approval");

  await clock.advance(3_600_000);
  const second = new Agent({
    ...options,
    model: new ScriptedModel([calls("write", {}, "b")]),
    tools: [slow],
  });
  expect(await second.run(undefined, { approvals: { a: true } })).toMatchObject({
    stopReason: "awaiting_approval",
    iterations: 2,
  });

  const third = new Agent({ ...options, model: new ScriptedModel([]), tools: [slow] });
  expect(await third.run(undefined, { approvals: { b: true } })).toMatchObject({
    stopReason: "budget",
    limit: "wall_time",
  });
  expect(types(journal).filter((type) => type.startsWith("run_"))).toEqual([
    "run_start",
    "run_end",
    "run_resume",
    "run_end",
    "run_resume",
    "run_end",
  ]);
});

test("a message instead of an answer begins a new run", async () => {
  const journal = await cutRun();
  const agent = new Agent({ model: new ScriptedModel([says("hi")]), journal });
  expect(await agent.run("something else")).toMatchObject({ iterations: 1, usage: { inputTokens: 100 } });
  expect(types(journal).filter((type) => type.startsWith("run_"))).toEqual([
    "run_start",
    "run_start",
    "run_end",
  ]);
});

test("open calls run where the host says so: those that never began, and those that began if their tool is idempotent", async () => {
  const keys: string[] = [];
  for (const idempotent of [false, true]) {
    const journal = await cutRun();
    const second = tool("second", {
      idempotent,
      execute: (_input, { idempotencyKey }) => {
        keys.push(idempotencyKey);
        return "again";
      },
    });
    const agent = new Agent({
      model: new ScriptedModel([says("done")]),
      tools: [tool("first"), second, tool("third")],
      journal,
      openCalls: "run",
    });
    expect(lines((await agent.run()).messages).slice(4, 7)).toEqual([
      "result a: first {}",
      idempotent ? "result b: again" : "error b: Error: interrupted, outcome unknown",
      "result c: third {}",
    ]);
    expect(keys).toEqual(idempotent ? [`${journal.sessionId}/b`] : []);
  }
});

test("open calls that run again pass the gate again", async () => {
  const journal = await cutRun();
  const agent = new Agent({
    model: new ScriptedModel([says("done")]),
    tools: [tool("first"), tool("second"), tool("third")],
    journal,
    openCalls: "run",
    permission: { check: () => ({ action: "deny", reason: "not any more", code: "deny_rule" }) },
  });
  expect(lines((await agent.run()).messages)[6]).toBe(
    "error c: Error: Tool call was not approved: not any more",
  );
});

test("what the next request is forced to follows from the entries: a run for a value goes on to its value", async () => {
  const schema = { type: "object", properties: { n: { type: "number" } }, required: ["n"] } as const;
  const journal = new MemoryJournal();
  const first: Agent = new Agent({ model: new ScriptedModel([says("It is 4."), says("Four.")]), journal });
  const seen: JournalEntry[] = [];
  await expect(
    first.run("How many?", {
      schema,
      onEvent: (event) => {
        if (event.type === "user_message" && event.code === "nudge") first.release();
        if (event.type === "run_start") seen.push(event);
      },
    }),
  ).rejects.toMatchObject({ code: "aborted" });

  const model = new ScriptedModel([calls("finish", { n: 4 })]);
  const result = await new Agent({ model, journal }).run(undefined, { schema });
  expect(result.output).toEqual({ n: 4 });
  expect(model.requests[0]?.toolChoice).toEqual({ type: "tool", name: "finish" });
});

test("a host's clock measures and its ids name, and its wrapper stands around every model", async () => {
  const clock = new FakeClock();
  const ids = createIds(0);
  const wrapped: string[] = [];
  const wrapModel = (model: Model): Model => {
    wrapped.push(model.id);
    return { ...model, provider: "wrapped", id: model.id, stream: (...args) => model.stream(...args) };
  };
  const own = new ScriptedModel([says("sub")], { id: "own" });
  const next = new ScriptedModel([says("done")], { id: "next" });
  const agent: Agent = new Agent({
    model: new ScriptedModel([calls("delegate", {})], { id: "first" }),
    clock,
    newId: (prefix) => `host_${ids(prefix)}`,
    wrapModel,
    tools: [
      tool("delegate", {
        execute: async (_input, { runAgent }) => {
          await clock.advance(1_234);
          await agent.setModel(next);
          return (await runAgent({ agent: "sub", prompt: "p", model: own })).text;
        },
      }),
    ],
  });
  const events = await all(agent.stream("go"));

  expect(wrapped).toEqual(["first", "next", "own"]);
  expect(events.find(({ type }) => type === "tool_result")).toMatchObject({ durationMs: 1_234 });
  expect(agent.sessionId).toMatch(/^host_session_/);
  expect(agent.steer("later")).toMatch(/^host_steering_/);
});
