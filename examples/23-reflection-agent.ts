// Work, look at it again, improve it; a value decides when it is good, not a word in a text.
//   node examples/23-reflection-agent.ts [provider/model]
import { ReflectionAgent } from "nano-agent";
import { calls, ScriptedModel, says } from "nano-agent/testing";

const script = [
  says("Tea is nice."),
  calls("give_verdict", { needs_improvement: true, feedback: "Say why, and in a way one remembers." }),
  says("Tea is a pause you can drink."),
  calls("give_verdict", { needs_improvement: false, feedback: "Short and memorable." }),
];
const model = process.argv[2] ?? new ScriptedModel(script);
const agent = new ReflectionAgent({ model, maxRounds: 2, verdict: "structured" });

const result = await agent.runOrThrow("One sentence in praise of tea.", {
  onEvent: (event) => {
    if (event.type === "phase") console.log(`${event.phase} ${event.round ?? ""}`.trim());
  },
});

for (const { type, content } of agent.memory) console.log(`[${type}] ${content}`);
console.log(result.text);
