// Thoughts the model writes down, a finish tool, and a typed value as the answer.
//   npm install zod && node examples/21-react-agent.ts [provider/model]
import { defineTool, ReActAgent } from "nano-agent";
import { calls, ScriptedModel } from "nano-agent/testing";
import { z } from "zod";

const population = defineTool({
  name: "population",
  description: "The population of a city.",
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  execute: ({ city }) => (city === "Oslo" ? "717,710" : "unknown"),
});

const script = [
  [calls("Thought", { reasoning: "I need the population first." }), calls("population", { city: "Oslo" })],
  calls("Finish", { city: "Oslo", population: "many" }),
  calls("Finish", { answer: "Oslo has 717,710 people.", city: "Oslo", population: 717_710 }),
];
const model = process.argv[2] ?? new ScriptedModel(script);
const agent = new ReActAgent({ model, tools: [population], thoughtTool: true, finish: "tool" });

const result = await agent.runOrThrow("How many people live in Oslo?", {
  schema: z.object({ city: z.string(), population: z.number().int() }),
  onEvent: (event) => {
    if (event.type === "thinking_delta") console.log(`(${event.text})`);
    if (event.type === "tool_result") console.log(`${event.name}: ${event.status}`);
  },
});

console.log(result.text);
// Typed by the schema.
console.log(result.output.population.toFixed(0), result.stopReason);
