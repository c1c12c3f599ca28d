// Hooks: functions around each run, model request, tool call, shown event and observed message.
//   node examples/16-hooks.ts [provider/model]
import { Agent, defineTool, finishPrintHook, ReActAgent, userMessage } from "nano-agent";
import { calls, ScriptedModel, says } from "nano-agent/testing";

const search = defineTool({
  name: "search",
  description: "Searches the address book.",
  parameters: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
  execute: ({ name }) => `${name}: card 4111 1111 1111 1111, Lima`,
});

const model = new ScriptedModel([
  [calls("search", { name: "ann" }), calls("search", { name: "bob" })],
  says("Ann and Bob live in Lima."),
]);

const agent = new Agent({
  model: process.argv[2] ?? model,
  tools: [search],
  hooks: {
    // Before: the new arguments, or nothing to leave them as they are.
    pre_reply: (_agent, { messages }) => ({
      messages: [...messages, userMessage("(Answer in one sentence.)")],
    }),
    pre_acting: {
      capitals: (_agent, args) => ({ ...args, input: { name: String(args.input["name"]).toUpperCase() } }),
      nobody: (_agent, args) => (args.input["name"] === "BOB" ? { ...args, refuse: "Bob is private" } : null),
    },
    // After: the new output, or nothing.
    post_acting: (_agent, _args, output) => ({
      ...output,
      content: String(output.content).replace(/\d{4}( \d{4}){3}/, "(card number)"),
    }),
  },
});

// An observer only looks: what it throws or how long it takes stops nothing.
Agent.classHooks.register(
  "post_acting",
  "audit",
  (_agent, { name, input }) => {
    console.log(`audit: ${name} ${JSON.stringify(input)}`);
    return null;
  },
  { observer: true },
);

const { text, messages } = await agent.runOrThrow("Where do Ann and Bob live?");
for (const { content } of messages) {
  for (const block of content)
    if (block.type === "tool_result") console.log(`the model sees: ${String(block.content)}`);
}
console.log(text);
Agent.classHooks.remove("post_acting", "audit");

// The hook that shows the call of a finish tool as what it says.
const react = new ReActAgent({
  model: new ScriptedModel([calls("Finish", { answer: "Forty-two." })]),
  finish: "tool",
  hooks: { pre_print: finishPrintHook() },
});
for await (const event of react.stream("What is the answer?")) {
  if (event.type !== "assistant_message") continue;
  for (const block of event.message.content) console.log(`shown: ${JSON.stringify(block)}`);
}
