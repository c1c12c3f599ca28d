// The same loop, event by event: text and reasoning as they arrive, calls, results, and at last the result.
//   node examples/02-stream.ts [provider/model]
import { Agent, defineTool } from "nano-agent";
import { calls, ScriptedModel, says, thinks } from "nano-agent/testing";

const clock = defineTool({
  name: "time",
  description: "The time in a place now.",
  parameters: { type: "object", properties: { place: { type: "string" } }, required: ["place"] },
  // A generator reports progress; what it returns is the result the model sees.
  async *execute({ place }) {
    yield `looking up ${place}\n`;
    return "14:05";
  },
});

const script = [
  [thinks("Two places, two calls."), calls("time", { place: "Lima" }), calls("time", { place: "Rome" })],
  says("Five past two in both. (The clock of this example stands still.)"),
];
const model = process.argv[2] ?? new ScriptedModel(script);
const agent = new Agent({ model, tools: [clock] });

for await (const event of agent.stream("What time is it in Lima and in Rome?")) {
  if (event.type === "turn_start") console.log(`--- request ${event.iteration}`);
  if (event.type === "thinking_delta" || event.type === "text_delta") process.stdout.write(event.text);
  if (event.type === "assistant_message") console.log();
  if (event.type === "tool_intent") console.log(`> ${event.name} ${JSON.stringify(event.input)}`);
  if (event.type === "tool_update") process.stdout.write(`  … ${event.text ?? ""}`);
  if (event.type === "tool_result") console.log(`< ${event.name} (${event.status})`);
  if (event.type === "done") {
    const { usage, cost, error } = event.result;
    if (error !== undefined) console.log(error.message);
    console.log(`${usage.inputTokens} tokens in, ${usage.outputTokens} out, cost ${cost ?? "unknown"}`);
  }
}
