import { expect, test } from "vitest";
import { Agent } from "../../src/agent/agent.ts";
import type { AgentOptions } from "../../src/agent/options.ts";
import type { JournalEntry } from "../../src/core/agent/entries.ts";
import { MemoryJournal } from "../../src/core/agent/journal.ts";
import { runNested } from "../../src/core/agent/loop.ts";
import { endRun } from "../../src/core/agent/perform.ts";
import type { RunResult } from "../../src/core/agent/result.ts";
import type { Run } from "../../src/core/agent/run.ts";
import { userMessage } from "../../src/core/message/message.ts";
import { calls, says, waits } from "../../src/testing/script.ts";
import { ScriptedModel } from "../../src/testing/scripted-model.ts";
import { lines, tool } from "./conversation.ts";

/** Two nested runs, the second one with a third inside; the answer is what the last one said. */
class TwoPhases extends Agent {
  readonly inner: RunResult[] = [];

  override async conduct(run: Run): Promise<RunResult> {
    for (const scope of ["first", "second"]) {
      this.inner.push(
        await runNested(run, {
          scope,
          history: run.state.transcript.messages,
          message: userMessage(`Do the ${scope} part.`),
          tools: this.tools,
        }),
      );
    }
    const { text = "", stopReason = "error" } = this.inner.at(-1) ?? {};
    return endRun(run, { stopReason, text, addsText: true, iterations: 7 });
  }
}

const twoPhases = (options: Partial<AgentOptions> & Pick<AgentOptions, "model">): TwoPhases =>
  new TwoPhases({ tools: [tool("read")], ...options });

const tags = (entries: Iterable<JournalEntry>): readonly string[] =>
  [...entries].map(({ type, scope }) => (scope === undefined ? type : `${type} in ${scope}`));

test("nested runs have transcripts of their own; the conversation gets the question and the answer", async () => {
  const model = new ScriptedModel([calls("read", { path: "a" }), says("half"), says("whole")]);
  const agent = twoPhases({ model });
  const result = await agent.run("go");
  expect(lines(result.messages)).toEqual(["user: go", "assistant: whole"]);
  expect(result).toMatchObject({ text: "whole", stopReason: "completed", iterations: 7 });
  expect(agent.inner.map(({ messages }) => lines(messages))).toEqual([
    [
      "user: go",
      "user: Do the first part.",
      'calls read {"path":"a"}',
      'result call_1: read {"path":"a"}',
      "assistant: half",
    ],
    ["user: go", "user: Do the second part.", "assistant: whole"],
  ]);
});

test("everything stands in one journal, tagged, and a journal read again gives the same conversation and spending", async () => {
  const journal = new MemoryJournal();
  const model = new ScriptedModel([calls("read"), says("half"), says("whole"), says("again")]);
  const agent = twoPhases({ model, journal });
  const result = await agent.run("go");
  expect(tags(journal.entries())).toEqual([
    "run_start",
    "user_message",
    "user_message in first",
    "assistant_message in first",
    "tool_intent in first",
    "tool_result in first",
    "assistant_message in first",
    "user_message in second",
    "assistant_message in second",
    "history",
    "run_end",
  ]);
  expect([...journal.entries()].at(-1)).toMatchObject({ type: "run_end", iterations: 7 });
  const reopened = new Agent({ model, journal });
  expect(reopened.getState()).toEqual(agent.getState());
  expect(result.usage).toEqual({ inputTokens: 300, outputTokens: 60 });
  expect(agent.inner.map(({ usage }) => usage.inputTokens)).toEqual([200, 100]);
  expect(lines((await reopened.run("and?")).messages)).toEqual([
    "user: go",
    "assistant: whole",
    "user: and?",
    "assistant: again",
  ]);
});

test("a budget is one for the run and everything nested in it", async () => {
  const model = new ScriptedModel(() => calls("read"));
  const agent = twoPhases({ model, budget: { tokens: 450 } });
  expect(await agent.run("go")).toMatchObject({ stopReason: "budget", usage: { inputTokens: 300 } });
  expect(agent.inner.map(({ stopReason, iterations }) => [stopReason, iterations])).toEqual([
    ["budget", 3],
    ["budget", 0],
  ]);
});

test("a model that uses the same call id in every nested run still gets ids of its own for each call", async () => {
  const ids: string[] = [];
  const model = new ScriptedModel([calls("read", {}, "x"), says("a"), calls("read", {}, "x"), says("b")]);
  await twoPhases({ model }).run("go", {
    onEvent: (event) => {
      if (event.type === "tool_intent") ids.push(event.callId);
    },
  });
  expect(new Set(ids).size).toBe(2);
});

test("permission sees the calls of nested runs, and nobody to ask means no", async () => {
  const asked: string[] = [];
  const model = new ScriptedModel([calls("read"), says("a"), says("b")]);
  const agent = twoPhases({
    model,
    permission: { check: ({ name }) => (asked.push(name), { action: "ask", reason: "it reads" }) },
  });
  await agent.run("go");
  expect(asked).toEqual(["read"]);
  expect(lines(agent.inner[0]?.messages ?? []).at(-2)).toMatch(
    /^error call_1: Error: Tool call was not approved/,
  );
});

test("a tool that waits for the caller cannot be nested: its call is answered with an error", async () => {
  const model = new ScriptedModel([calls("ask"), says("a"), says("b")]);
  const { execute: _none, ...ask } = tool("ask");
  const agent = twoPhases({ model, tools: [ask] });
  expect((await agent.run("go")).stopReason).toBe("completed");
  expect(lines(agent.inner[0]?.messages ?? [])).toContain(
    "error call_1: Error: ask is answered by the caller and cannot be nested.",
  );
});

test("an abort reaches the nested run at work, and nothing is begun after it", async () => {
  const stop = new AbortController();
  const model = new ScriptedModel([[says("partial text"), waits(new Promise(() => undefined))]]);
  const agent = twoPhases({ model });
  expect(await agent.run("go", { signal: stop.signal, onToken: () => stop.abort() })).toMatchObject({
    stopReason: "aborted",
  });
  expect(agent.inner.map(({ stopReason }) => stopReason)).toEqual(["aborted", "aborted"]);
});

test("a function at the cap gives the answer of the conversation too", async () => {
  const model = new ScriptedModel([calls("read"), says("more")]);
  const agent = new Agent({
    model,
    tools: [tool("read")],
    maxIterations: 1,
    onMaxIterations: () => "Sorry, too many steps.",
  });
  await agent.run("go");
  expect(lines((await agent.run("why?")).messages)).toEqual([
    "user: go",
    "calls read {}",
    "result call_1: read {}",
    "assistant: Sorry, too many steps.",
    "user: why?",
    "assistant: more",
  ]);
});

test("after a value that does not fit, the next answer is forced to be the corrected one", async () => {
  const schema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] } as const;
  const model = new ScriptedModel([calls("read"), calls("finish", { n: "many" }), calls("finish", { n: 3 })]);
  const result = await new Agent({ model, tools: [tool("read")] }).run("How many?", { schema });
  expect(result.output).toEqual({ n: 3 });
  expect(model.requests.map(({ toolChoice }) => toolChoice)).toEqual([
    undefined,
    undefined,
    { type: "tool", name: "finish" },
  ]);
});

test("what is observed stands in the conversation without a request, during a run after its end", async () => {
  const model = new ScriptedModel([says("hello"), says("noted")]);
  const agent = new Agent({ model });
  await agent.observe({ role: "user", name: "ann", content: [{ type: "text", text: "ann: hi all" }] });
  expect(model.requests).toEqual([]);
  const result = await agent.run(undefined, {
    onEvent: (event) => {
      if (event.type === "assistant_message") void agent.observe("bob: hi ann");
    },
  });
  expect(lines(result.messages)).toEqual(["user: ann: hi all", "assistant: hello"]);
  expect(lines(agent.getState().messages)).toEqual([
    "user: ann: hi all",
    "assistant: hello",
    "user: bob: hi ann",
  ]);
  expect(lines((await agent.run()).messages).at(-1)).toBe("assistant: noted");
  await expect(agent.observe({ role: "assistant", content: [{ type: "text", text: "x" }] })).rejects.toThrow(
    "takes messages of users",
  );
});
