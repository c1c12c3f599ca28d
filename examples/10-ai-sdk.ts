// Any model of the Vercel AI SDK, through its provider package. Without a model name, a server on this
// machine plays the provider; with one, the package reads ANTHROPIC_API_KEY.
//   npm install @ai-sdk/anthropic && node examples/10-ai-sdk.ts [claude-sonnet-4-5]
import { createAnthropic } from "@ai-sdk/anthropic";
import { Agent, defineTool } from "nano-agent";
import { fromAiSdk } from "nano-agent/providers";
import { calls, says, startScriptedServer } from "nano-agent/testing";

const area = defineTool({
  name: "area",
  description: "The area of a rectangle.",
  parameters: {
    type: "object",
    properties: { width: { type: "number" }, height: { type: "number" } },
    required: ["width", "height"],
  },
  execute: ({ width, height }) => width * height,
});

const [, , id] = process.argv;
const server = await startScriptedServer([calls("area", { width: 6, height: 7 }), says("It is 42.")]);
const anthropic =
  id === undefined ? createAnthropic({ baseURL: server.url, apiKey: "none" }) : createAnthropic();

const agent = new Agent({ model: fromAiSdk(anthropic(id ?? "claude-sonnet-4-5")), tools: [area] });
const result = await agent.run("What is the area of 6 by 7?");
console.log(result.error?.message ?? result.text);
console.log(`${result.iterations} requests, ${result.usage.inputTokens} tokens in`);
await server.close();
