// An agent with one tool. Without a model name the answers are scripted, so it runs without a key:
//   node examples/01-minimal.ts [anthropic/claude-sonnet-4-5]
import { Agent, defineTool } from "nano-agent";
import { calls, ScriptedModel, says } from "nano-agent/testing";

const weather = defineTool({
  name: "weather",
  description: "The weather in a city now.",
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  execute: ({ city }) => `${city}: 9 °C, light rain`,
});

const script = [calls("weather", { city: "Oslo" }), says("Yes, take one: 9 °C and light rain.")];
const model = process.argv[2] ?? new ScriptedModel(script);

const agent = new Agent({ model, tools: [weather] });
const result = await agent.run("Do I need an umbrella in Oslo?");

console.log(result.error?.message ?? result.text);
console.log(`${result.stopReason} after ${result.iterations} model requests`);
