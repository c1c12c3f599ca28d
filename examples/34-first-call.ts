// A first call of a real model. It needs a key: export ANTHROPIC_API_KEY=…
//   node examples/34-first-call.ts
import { Agent, defineTool } from "nano-agent";

const weather = defineTool({
  name: "weather",
  description: "The weather in a city now.",
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  execute: ({ city }) => `${city}: 9 °C, light rain`,
});

const agent = new Agent({ model: "anthropic/claude-sonnet-4-5", tools: [weather] });
const result = await agent.run("Do I need an umbrella in Oslo?");

if (result.error === undefined) console.log(result.text);
else console.log(`The run failed (${result.error.code}): ${result.error.message}`);
