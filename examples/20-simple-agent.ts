// A chat that learns a tool on the way. Without a model name the answers are scripted, so it runs without a
// key:
//   node examples/20-simple-agent.ts [anthropic/claude-sonnet-4-5]
import { defineTool, SimpleAgent } from "nano-agent";
import { calls, ScriptedModel, says } from "nano-agent/testing";

const script = [says("Hello Ann."), calls("clock"), says("It is 14:05, Ann."), says("")];
const model = process.argv[2] ?? new ScriptedModel(script);
const agent = new SimpleAgent({ model, fallbackAnswer: "I have nothing to say to that." });

console.log((await agent.runOrThrow("I am Ann.")).text);

agent.addTool(defineTool({ name: "clock", description: "The time now.", execute: () => "14:05" }));
console.log((await agent.runOrThrow("What time is it?")).text);
console.log("tools:", agent.listTools().join(", "));

console.log((await agent.runOrThrow("…")).text);
