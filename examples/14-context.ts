// A conversation that outgrows its model: near the end of the window the model summarises the older part;
// what the user said stays.
//   node examples/14-context.ts [anthropic/claude-sonnet-4-5]
import { Agent, defineTool } from "nano-agent";
import { firstAndLast, summaryCompaction } from "nano-agent/memory";
import { calls, finishes, type ScriptAnswer, ScriptedModel, says } from "nano-agent/testing";

const turnsPage = (page: number, inputTokens: number): ScriptAnswer => [
  calls("read_page", { page }),
  finishes("tool_use", { inputTokens, outputTokens: 20 }),
];
const model =
  process.argv[2] ??
  new ScriptedModel([
    turnsPage(1, 300),
    turnsPage(2, 2_200),
    turnsPage(3, 4_100),
    says("## Pending: the answer for Ana\n## Findings: pages 1 and 2 are about lamps"),
    says("All three pages are about lamps."),
    says("## Done: pages 1 to 3 read, all about lamps"),
  ]);

const readPage = defineTool({
  name: "read_page",
  description: "Reads a page of the book.",
  parameters: { type: "object", properties: { page: { type: "integer" } }, required: ["page"] },
  execute: ({ page }) => `Page ${page} speaks of lamps, and of little else.\n`.repeat(150),
});

const agent = new Agent({
  model,
  tools: [readPage],
  // The window is known of most models; here it is small, so that something happens.
  compaction: summaryCompaction({ at: 0.6, window: 9_000 }),
});
const result = await agent.runOrThrow("Read pages 1 to 3 and tell Ana what they are about.", {
  onEvent: (event) => {
    if (event.type === "compaction")
      console.log(`${event.reason}: ${event.method}, kept ${event.kept} messages`);
    if (event.type === "model_usage") console.log(`the summary cost ${event.usage.outputTokens} tokens`);
  },
});
console.log(result.text);

const preview = await agent.previewCompaction();
console.log(`${preview.replaced.length} messages would go, ${preview.kept.length} would stay`);
const entry = await agent.compact({ instructions: "Keep every page number." });
console.log(`compacted: ${entry?.method}, ${agent.getState().messages.length} messages`);
await agent.undoCompaction();
console.log(`taken back: ${agent.getState().messages.length} messages`);

const forgetful = new Agent({
  model: new ScriptedModel(() => says("Yes.")),
  compaction: firstAndLast(4),
});
for (const question of ["My name is Ana.", "Is it raining?", "And now?", "Still?"])
  await forgetful.runOrThrow(question);
console.log(`without a model: ${forgetful.getState().messages.length} messages are left`);
