// The callback style: `sendMessage` with five plain events, tokens, and a question per call that a gate asks
// about.
//   node examples/09-callbacks.ts [provider/model]
import { Agent, defineTool, type Gate } from "nano-agent";
import { calls, ScriptedModel, says } from "nano-agent/testing";

const read = defineTool({
  name: "read",
  description: "Reads a file of the project.",
  parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
  execute: ({ path }) =>
    path === "package.json" ? '{ "dependencies": { "zod": "4.6.7" } }' : `there is no ${path}`,
});
const askAlways: Gate = { check: () => ({ action: "ask" }) };

const script = [
  [says("I look at the manifest."), calls("read", { path: "package.json" })],
  says("The project depends on zod 4.6.7."),
];
const model = process.argv[2] ?? new ScriptedModel(script);
const agent = new Agent({ model, tools: [read], permission: askAlways });

const response = await agent.sendMessage("What does the project depend on?", {
  onEvent: (event) => {
    switch (event.type) {
      case "text":
        console.log(event.content);
        break;
      case "tool_use":
        console.log(`[Using tool: ${event.toolName}]`);
        break;
      case "tool_result":
        console.log(`[Tool result: ${event.toolResult.length} characters]`);
        break;
      case "error":
        console.log(`[Error: ${event.error}]`);
        break;
      case "done":
        console.log("[Done]");
    }
  },
  onToolCall: async (name, input) => {
    console.log(`Confirm tool call: ${name} ${JSON.stringify(input)}`);
    return true;
  },
});

const state = agent.getState();
console.log(`${response.length} characters, ${state.messages.length} messages`);
console.log(`Tokens: ${state.totalTokens.input} in / ${state.totalTokens.output} out`);
agent.reset();
console.log(`${agent.getState().messages.length} messages after reset`);
