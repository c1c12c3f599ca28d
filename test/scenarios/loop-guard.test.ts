import { expect, test } from "vitest";
import { Agent } from "../../src/agent/agent.ts";
import type { AgentOptions } from "../../src/agent/options.ts";
import { MemoryJournal } from "../../src/core/agent/journal.ts";
import { runNested } from "../../src/core/agent/loop.ts";
import type { RunResult } from "../../src/core/agent/result.ts";
import type { Run } from "../../src/core/agent/run.ts";
import { userMessage } from "../../src/core/message/message.ts";
import { calls, says } from "../../src/testing/script.ts";
import { ScriptedModel } from "../../src/testing/scripted-model.ts";
import { createBatchTool } from "../../src/tools/batch-tool.ts";
import { all, lines, tool } from "./conversation.ts";

const tools = [tool("read"), tool("grep")];
const circling = (options: Partial<AgentOptions> = {}): Agent =>
  new Agent({ model: new ScriptedModel(() => calls("read", { path: "a" })), tools, ...options });

test("a model that repeats a call is told so once, and stopped when it goes on", async () => {
  const agent = circling();
  const result = await agent.run("go");
  expect(result).toMatchObject({
    stopReason: "loop_detected",
    iterations: 5,
    detail:
      "The last 5 calls of read had the same arguments and the same result. The model was warned and continued.",
  });
  const call = 'calls read {"path":"a"}';
  const said = (n: number): string => `result call_${n}: read {"path":"a"}`;
  expect(lines(result.messages)).toEqual([
    "user: go",
    ...[1, 2, 3].flatMap((n) => [call, said(n)]),
    "user: The last 3 calls of read had the same arguments and the same result. Going on like this will not change anything: work with what you know, try something else, or say what is in the way.",
    ...[4, 5].flatMap((n) => [call, said(n)]),
  ]);
});

test("a model that listens goes on", async () => {
  const model = new ScriptedModel((request) => {
    const last = lines(request.messages).at(-1) ?? "";
    return last.includes("Going on like this") ? says("I see.") : calls("read");
  });
  expect(await new Agent({ model, tools }).run("go")).toMatchObject({ text: "I see.", iterations: 4 });
});

test("calls by turns are stopped within twelve", async () => {
  for (const [names, count] of [
    [["read", "grep"], 10],
    [["read", "grep", "missing"], 12],
    [["read", "grep", "read", "missing"], 12],
  ] as const) {
    const model = new ScriptedModel((_request, index) => calls(names[index % names.length] ?? ""));
    const result = await new Agent({ model, tools, maxIterations: 50 }).run("go");
    expect([result.stopReason, result.iterations]).toEqual(["loop_detected", count]);
  }
});

test("polling goes on for as long as the answer changes", async () => {
  let left = 15;
  const poll = tool("poll", { execute: () => `${left--} left` });
  const model = new ScriptedModel(() => (left > 0 ? calls("poll") : says("done")));
  expect(await new Agent({ model, tools: [poll] }).run("go")).toMatchObject({
    stopReason: "completed",
    iterations: 16,
  });
});

test("arguments that are never JSON end the run after three answers, with what was sent", async () => {
  let count = 0;
  const model = new ScriptedModel(() => calls("read", `{"path": "file ${++count}`));
  expect(await circling({ model, loopGuard: false }).run("go")).toMatchObject({
    stopReason: "error",
    iterations: 3,
    error: {
      code: "invalid_response",
      message: expect.stringContaining('of read: {"path": "file 3 Try a model that follows tool calls'),
      details: { tool: "read", sent: '{"path": "file 3' },
    },
  });
});

test("one call that can be read is enough to go on", async () => {
  const broken = calls("read", "{broken");
  const script = [broken, broken, [broken, calls("read")], broken, broken, says("done")];
  const result = await circling({ model: new ScriptedModel(script), loopGuard: false }).run("go");
  expect(result).toMatchObject({ stopReason: "completed", iterations: 6 });
});

test("calls that are unknown, invalid or refused go in circles too", async () => {
  const strict = tool("strict", { parameters: { type: "object", required: ["path"] } });
  const permission = { check: () => ({ action: "deny", reason: "not here" }) as const };
  for (const [options, call] of [
    [{}, calls("nope")],
    [{ tools: [strict] }, calls("strict")],
    [{ permission }, calls("read")],
  ] as const) {
    const agent = circling({ ...options, model: new ScriptedModel(() => call) });
    expect(await agent.run("go")).toMatchObject({ stopReason: "loop_detected", iterations: 5 });
  }
});

test("a batch of the same calls counts as the same, whatever time it took", async () => {
  const input = { calls: [{ tool: "read", input: {} }] };
  const model = new ScriptedModel(() => calls("batch", input));
  const result = await new Agent({ model, tools: [...tools, createBatchTool()] }).run("go");
  expect(result).toMatchObject({ stopReason: "loop_detected", iterations: 5 });
});

test("the streak goes over from run to run, also in a journal read again; each run is warned first", async () => {
  const journal = new MemoryJournal();
  const first = await circling({ journal, maxIterations: 2, onMaxIterations: "last" }).run("go");
  const second = await circling({ journal }).run("go on");
  const third = await circling({ journal }).run("once more");
  expect([first, second, third].map(({ stopReason, iterations }) => [stopReason, iterations])).toEqual([
    ["max_iterations", 2],
    ["loop_detected", 3],
    ["loop_detected", 2],
  ]);
});

test("a task that is asked for again and again, once in each run, is warned of and never stopped", async () => {
  const model = new ScriptedModel((_request, index) => (index % 2 === 0 ? calls("read") : says("green")));
  const agent = new Agent({ model, tools });
  for (let n = 0; n < 8; n++) expect((await agent.run("check")).stopReason).toBe("completed");
});

test("false looks for nothing, other figures hold", async () => {
  expect(await circling({ loopGuard: false }).run("go")).toMatchObject({ stopReason: "max_iterations" });
  expect(await circling({ loopGuard: { stopAt: 8 } }).run("go")).toMatchObject({ iterations: 8 });
  expect(() => circling({ loopGuard: { warnAt: 9 } })).toThrow("loopGuard.warnAt is 9");
});

/** A run whose tool works in a nested run. */
class Delegating extends Agent {
  readonly inner: RunResult[] = [];

  override async conduct(run: Run): Promise<RunResult> {
    const task = tool("task", {
      execute: async () => {
        const message = userMessage("Do it.");
        const result = await runNested(run, {
          scope: `task/${this.inner.length}`,
          message,
          tools: this.tools,
        });
        this.inner.push(result);
        return { content: `The task ended: ${result.stopReason}.`, isError: true };
      },
    });
    this.tools.add(task);
    return super.conduct(run);
  }
}

test("a nested run counts its own calls, and who sends it again and again is stopped by its equal result", async () => {
  const model = new ScriptedModel(({ messages }) =>
    lines(messages)[0] === "user: Do it." ? calls("read") : calls("task"),
  );
  const agent = new Delegating({ model, tools });
  const result = await agent.run("go");
  expect([result.stopReason, agent.inner.map((each) => [each.stopReason, each.iterations])]).toEqual([
    "loop_detected",
    Array.from({ length: 5 }, () => ["loop_detected", 5]),
  ]);
});

test("the warning is an event like every other message of the loop", async () => {
  const events = await all(circling().stream("go"));
  const said = events.filter((event) => event.type === "user_message" && event.source === "system");
  expect(said).toHaveLength(1);
  expect(events.findLast(({ type }) => type === "run_end")).toMatchObject({ stopReason: "loop_detected" });
});
