// An agent that hands parts of its work to subagents: one that is built in, one of your own.
//   node examples/26-subagents.ts [provider/model]
import { Agent, type AgentEvent, defineTool } from "nano-agent";
import { BUILT_IN_SUBAGENTS, createTaskTool, type Subagent } from "nano-agent/extensions";
import { calls, ScriptedModel, says } from "nano-agent/testing";

const files: { readonly [path: string]: string } = {
  "src/price.ts": "export const VAT = 0.19;",
  "src/cart.ts": 'import { VAT } from "./price.ts";',
};
const grep = defineTool({
  name: "grep",
  description: "Finds files by a word in them.",
  parameters: { type: "object", properties: { word: { type: "string" } }, required: ["word"] },
  readOnly: true,
  execute: ({ word }) => Object.keys(files).filter((path) => files[path]?.includes(word)),
});

// Data, no class: what it is for, how it is told to work, and what it may use.
const counter: Subagent = {
  name: "counter",
  description: "counts things",
  systemPrompt: "You count what you are asked to count.",
  tools: ["grep"],
  readOnly: true,
  maxIterations: 5,
};

const scripted = new ScriptedModel((request) => {
  const question = request.messages[0]?.content[0];
  const asked = question?.type === "text" ? question.text : "";
  if (request.messages.length > 1) {
    if (asked.startsWith("Where")) return says("VAT stands in src/price.ts:1 and is used in src/cart.ts:1.");
    return says(asked.startsWith("How many") ? "Two files." : "VAT is set in one place and used in one.");
  }
  if (asked.startsWith("Where") || asked.startsWith("How many")) return calls("grep", { word: "VAT" });
  return [
    calls("task", { agent: "explore", prompt: "Where is VAT set, and where is it used?" }),
    calls("task", { agent: "counter", prompt: "How many files hold VAT?" }),
  ];
});

const agent = new Agent({
  model: process.argv[2] ?? scripted,
  tools: [grep, createTaskTool({ agents: [...BUILT_IN_SUBAGENTS, counter] })],
});

const show = (event: AgentEvent, who = "agent"): void => {
  // What happens in a subagent comes wrapped, with its name and the call that started it.
  if (event.type === "subagent") show(event.event, event.agent);
  if (event.type === "tool_intent") console.log(`${who} calls ${event.name}`);
  if (event.type === "tool_result" && event.name === "task") console.log(`report of ${event.title}`);
};

const stream = agent.stream("Tell me about VAT in this project.");
for await (const event of stream) show(event);
const { text, usage, error } = await stream.result;
console.log(error?.message ?? text);
console.log(`${usage.inputTokens} tokens in, those of the subagents included`);
