import { expect, test } from "vitest";
import { Agent } from "../../src/agent/agent.ts";
import { MemoryJournal } from "../../src/core/agent/journal.ts";
import { runNested } from "../../src/core/agent/loop.ts";
import { endRun } from "../../src/core/agent/perform.ts";
import type { RunResult } from "../../src/core/agent/result.ts";
import type { Run } from "../../src/core/agent/run.ts";
import { NanoAgentError } from "../../src/core/base/errors.ts";
import { assistantMessage, messageText, userMessage } from "../../src/core/message/message.ts";
import { transcriptViolations } from "../../src/core/message/transcript.ts";
import type { ModelInfo } from "../../src/core/model/model.ts";
import { firstAndLast } from "../../src/memory/context/first-and-last.ts";
import { summaryCompaction } from "../../src/memory/context/summary-compaction.ts";
import { PlanAndSolveAgent } from "../../src/patterns/plan-and-solve-agent.ts";
import { calls, fails, finishes, type ScriptAnswer, says } from "../../src/testing/script.ts";
import { ScriptedModel } from "../../src/testing/scripted-model.ts";
import { countedUsage } from "../recall/counted-usage.ts";
import { asksForSummary } from "../recall/scripted-summariser.ts";
import { all, tool } from "./conversation.ts";

const PAGE = "a line of a page that is read by the model\n".repeat(120);
const read = tool("read", { execute: () => PAGE });
const TOO_LONG = fails(new NanoAgentError("context_overflow", "too long"));
const INFO = { contextWindow: 8_000 };

interface Reading {
  /** What a request for a summary is answered with. Default: a summary. */
  readonly summary?: ScriptAnswer;
  readonly info?: ModelInfo;
}

/** A model that reads pages, says how large each request was, and ends with "end". */
function readingModel(
  pages: number,
  { summary = says("## Done: some pages"), info = INFO }: Reading = {},
): ScriptedModel {
  let left = pages;
  return new ScriptedModel(
    async (request) => {
      if (asksForSummary(request)) return summary;
      const usage = await countedUsage(request);
      left -= 1;
      if (left < 0) return [says("end"), finishes("stop", usage)];
      return [calls("read", { path: `p${left}.md` }), finishes("tool_use", usage)];
    },
    { info },
  );
}

test("a nested run that outgrows the window is compacted by itself; the conversation around it stays", async () => {
  class Nesting extends Agent {
    override async conduct(run: Run): Promise<RunResult> {
      const inner = await runNested(run, {
        scope: "inner",
        history: run.state.transcript.messages,
        tools: run.tools,
      });
      return endRun(run, { stopReason: inner.stopReason, text: inner.text, addsText: true });
    }
  }
  const model = readingModel(6);
  const journal = new MemoryJournal();
  const agent = new Nesting({ model, tools: [read], journal, compaction: summaryCompaction({ at: 0.6 }) });
  const result = await agent.run("go");
  expect(
    [...journal.entries()].filter(({ type }) => type === "compaction" || type === "model_usage"),
  ).toMatchObject([
    { type: "model_usage", scope: "inner" },
    { type: "compaction", scope: "inner" },
  ]);
  expect(agent.getState().messages.map((message) => messageText(message))).toEqual(["go", "end"]);
  expect(result.usage.outputTokens).toBe(50 * 7 + 20);
  await expect(agent.undoCompaction()).rejects.toThrow("no compaction to undo");
});

test("a pattern makes room in the conversation once, not in each of its phases", async () => {
  const model = new ScriptedModel(
    (request) => {
      if (asksForSummary(request)) return says("## Done: much");
      const { toolChoice } = request;
      return typeof toolChoice === "object"
        ? calls("generate_plan", { steps: ["look", "tell"] })
        : says("done");
    },
    { info: INFO },
  );
  const talk = Array.from({ length: 12 }, (_, at) => [
    userMessage(`question ${at}`),
    assistantMessage(PAGE),
  ]).flat();
  const agent = new PlanAndSolveAgent({ model, messages: talk, compaction: summaryCompaction() });
  expect(await agent.run("What now?")).toMatchObject({ text: "done" });
  const rounds = model.requests.map((request) => asksForSummary(request));
  expect(rounds.lastIndexOf(true)).toBeLessThan(rounds.indexOf(false));
  expect(messageText(agent.getState().messages[0] ?? userMessage(""))).toBe("question 0");
});

test("a conversation that is resumed beyond the window is made to fit before its first request", async () => {
  const history = [
    userMessage("Read them all."),
    ...Array.from({ length: 40 }, (_, at) => [
      assistantMessage([{ type: "tool_use", id: `c${at}`, name: "read", input: { path: `p${at}` } }]),
      userMessage([{ type: "tool_result", tool_use_id: `c${at}`, content: PAGE }]),
    ]).flat(),
    assistantMessage("I have read them."),
  ];
  const model = new ScriptedModel((request) => says(asksForSummary(request) ? "## Done: all read" : "end"), {
    info: INFO,
  });
  const agent = new Agent({ model, tools: [read], messages: history, compaction: summaryCompaction() });
  const result = await agent.run("What now?");
  expect(result.text).toBe("end");
  expect(model.requests.length).toBeLessThanOrEqual(5);
  const sent = model.requests.at(-1)?.messages ?? [];
  expect([transcriptViolations(sent), messageText(sent[0] ?? userMessage(""))]).toEqual([
    [],
    "Read them all.",
  ]);
  expect(messageText(sent.at(-1) ?? userMessage(""))).toBe("What now?");
});

test("the summary counts for a budget of money, and a budget that is used up stops the run", async () => {
  const dear = [says("## Done: some"), finishes("stop", { inputTokens: 6_000, outputTokens: 900_000 })];
  const model = readingModel(9, { summary: dear, info: { ...INFO, price: { input: 1, output: 1 } } });
  const agent = new Agent({
    model,
    tools: [read],
    compaction: summaryCompaction({ at: 0.6 }),
    budget: { usd: 0.5 },
  });
  const events = await all(agent.stream("go"));
  expect(events.slice(-4).map(({ type }) => type)).toEqual(["model_usage", "compaction", "run_end", "done"]);
  expect(events.at(-1)).toMatchObject({ result: { stopReason: "budget", limit: "usd" } });
});

test("when a summary fails below the window the run goes on with the whole conversation", async () => {
  const model = readingModel(4, { summary: fails("down") });
  const agent = new Agent({ model, tools: [read], compaction: summaryCompaction({ at: 0.6 }) });
  const events = await all(agent.stream("go"));
  expect(events.filter(({ type }) => type === "warning")).toMatchObject([
    { message: expect.stringContaining("there is no summary to put in its place (down)") },
  ]);
  expect(agent.getState().messages).toHaveLength(1 + 4 * 2 + 1);
});

test("a refused request with an unknown window brings one compaction about, and the run goes on", async () => {
  let refusals = 0;
  const model = new ScriptedModel((request) => {
    if (asksForSummary(request)) return says("## Pending: the rest");
    if (request.messages.length > 8) return refusals++ === 0 ? TOO_LONG : says("unseen");
    return refusals === 0 ? calls("read", { at: request.messages.length }) : says("end");
  });
  const agent = new Agent({ model, tools: [read], compaction: summaryCompaction() });
  expect(await agent.run("go")).toMatchObject({ stopReason: "completed", text: "end" });
  expect(messageText(agent.getState().messages[1] ?? userMessage(""))).toContain("## Pending: the rest");
});

test("with the first and the last messages no model is asked for a summary", async () => {
  const model = new ScriptedModel([
    ...Array.from({ length: 6 }, (_, at) => calls("read", { at })),
    says("end"),
  ]);
  const agent = new Agent({ model, tools: [read], compaction: firstAndLast(5) });
  await agent.run("go");
  expect(agent.getState().messages).toHaveLength(6);
  expect(model.requests.map(({ messages }) => messages.length)).toEqual([1, 3, 5, 5, 5, 5, 5]);
});

test("a conversation is compacted again and again, with the words of the user in front", async () => {
  const model = readingModel(40);
  const agent = new Agent({
    model,
    tools: [read],
    maxIterations: 3,
    onMaxIterations: "last",
    compaction: summaryCompaction(),
  });
  for (let at = 0; at < 12; at += 1) await agent.run(`question ${at}`);
  const texts = agent.getState().messages.map((message) => messageText(message));
  expect(texts.filter((text) => text.startsWith("question "))).toEqual(
    Array.from({ length: 12 }, (_, at) => `question ${at}`),
  );
  expect(texts.filter((text) => text.includes("## Done: some pages"))).toHaveLength(1);
  expect(model.requests.filter((request) => asksForSummary(request)).length).toBeGreaterThan(4);
  expect(transcriptViolations(agent.getState().messages)).toEqual([]);
});
