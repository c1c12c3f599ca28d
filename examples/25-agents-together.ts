// Agents in a row, side by side, and in a hub where they hear each other.
//   node examples/25-agents-together.ts [provider/model]
import { Agent } from "nano-agent";
import { fanoutPipeline, MessageHub, sequentialPipeline } from "nano-agent/patterns";
import { ScriptedModel, says } from "nano-agent/testing";

const agent = (systemPrompt: string, ...answers: readonly string[]): Agent =>
  new Agent({ model: process.argv[2] ?? new ScriptedModel(answers.map(says)), systemPrompt });

const writer = agent("You write one sentence.", "Rivers remember the mountain.");
const translator = agent("You translate to German.", "Flüsse erinnern sich an den Berg.");
const row = await sequentialPipeline([writer, translator], "A sentence about rivers.");
console.log(row.results.map(({ text, error }) => error?.message ?? text).join(" → "));

const judges = [agent("You are strict.", "Too vague."), agent("You are kind.", "Lovely.")];
const opinions = await fanoutPipeline(judges, `Judge this sentence: ${row.text}`);
console.log(opinions.map(({ text }) => text).join(" | "));

// Two who would go on forever: the hub stops them and says so.
const hub = new MessageHub({
  sea: agent("You are the sea.", "Come to me.", "I have time."),
  river: agent("You are a river.", "I am on my way.", "So have I."),
});
const talk = await hub.discuss("Greet each other.", {
  next: (turns) => (turns.at(-1)?.name === "sea" ? "river" : "sea"),
  maxTurns: 4,
});
for (const { name, result } of talk.turns) console.log(`${name}: ${result.text}`);
console.log(talk.stopReason);
