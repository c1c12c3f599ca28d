import { expect, test } from "vitest";
import { patternConductor } from "../../src/coding/replay/live-tools.ts";
import type { PatternName } from "../../src/coding/settings/config-schema.ts";
import { createPatternAgent } from "../../src/coding/setup/pattern-agent.ts";
import type { JournalEntry } from "../../src/core/agent/entries.ts";
import { MemoryJournal } from "../../src/core/agent/journal.ts";
import { replaySession } from "../../src/session/replay/replay-session.ts";
import { calls, type ScriptStep, says } from "../../src/testing/script.ts";
import { ScriptedModel } from "../../src/testing/scripted-model.ts";
import { tool } from "./conversation.ts";

const WORK: { readonly [pattern in PatternName]: readonly ScriptStep[] } = {
  simple: [calls("work", { n: 1 }), says("done")],
  react: [calls("Thought", { reasoning: "hm" }), says("no tool"), calls("Finish", { answer: "done" })],
  plan: [
    calls("generate_plan", { steps: ["one", "two"] }),
    [calls("work", { n: 1 }), calls("work", { n: 2 })],
    says("one is done"),
    calls("step_failed", { reason: "no way" }),
    calls("generate_plan", { steps: ["three"] }),
    says("three is done"),
    says("all is done"),
  ],
  reflection: [
    calls("work", {}),
    says("first try"),
    calls("give_verdict", { needs_improvement: true, feedback: "shorter" }),
    says("second"),
    calls("give_verdict", { needs_improvement: false, feedback: "good" }),
  ],
};

async function worked(pattern: PatternName): Promise<readonly JournalEntry[]> {
  const journal = new MemoryJournal();
  const model = new ScriptedModel(WORK[pattern]);
  const agent = createPatternAgent(pattern, { model, tools: [tool("work")], journal });
  const result = await agent.run("Do it");
  expect([pattern, result.error]).toEqual([pattern, undefined]);
  model.assertFinished();
  return JSON.parse(JSON.stringify([...journal.entries()])) as JournalEntry[];
}

test.each(["simple", "react", "plan", "reflection"] as const)(
  "a run of the pattern %s is replayed phase by phase",
  async (pattern) => {
    const entries = await worked(pattern);
    const report = await replaySession(entries, { conductor: patternConductor });
    const answers = entries.filter(({ type }) => type === "assistant_message").length;
    expect([report.differences, report.notReplayed, report.requests]).toEqual([[], {}, answers]);
  },
);

test("a phase that was asked something else is found", async () => {
  const entries = await worked("plan");
  const changed = entries.map((entry) => {
    if (entry.type !== "assistant_message" || entry.scope !== "execution/1") return entry;
    const content = entry.message.content.map((block) =>
      block.type === "text" ? { ...block, text: "one failed" } : block,
    );
    return { ...entry, message: { ...entry.message, content } };
  });
  const { differences } = await replaySession(changed, { conductor: patternConductor });
  expect(differences.map(({ aspect, path }) => [aspect, path])).toEqual([
    ["request", "messages[0].content[0].text"],
    ["request", "messages[0].content[0].text"],
    ["request", "messages[0].content[0].text"],
    ["request", "messages[0].content[0].text"],
  ]);
});

test("a result that was lost in a phase is what a run that goes on would make of it", async () => {
  const entries = await worked("plan");
  const lost = entries.filter((entry) => !(entry.type === "tool_result" && entry.scope === "execution/1"));
  expect(await replaySession(lost, { conductor: patternConductor })).toMatchObject({
    differences: [],
    notReplayed: { "interrupted calls": 2 },
  });
});

test("phases that nobody here knows are named and taken from the record", async () => {
  const entries = (await worked("plan")).map((entry) =>
    entry.scope === undefined ? entry : { ...entry, scope: `my/${entry.scope}` },
  );
  expect(await replaySession(entries, { conductor: patternConductor })).toMatchObject({
    same: true,
    runs: 0,
    notReplayed: { "runs in phases that are not known here (my/planning/1)": 1 },
  });
});
