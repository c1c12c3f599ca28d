// First a plan, then one step after the other; a step that fails leads to a new plan for the rest.
//   node examples/22-plan-and-solve-agent.ts [provider/model]
import { defineTool, PlanAndSolveAgent } from "nano-agent";
import { calls, ScriptedModel, says } from "nano-agent/testing";

const pages = new Map([
  ["flights", "The site is closed today."],
  ["trains", "Night train, 89 euros, leaves at 20:10."],
]);
const look = defineTool({
  name: "look",
  description: "Reads a page about travelling from Oslo to Rome.",
  parameters: {
    type: "object",
    properties: { page: { type: "string", enum: ["flights", "trains"] } },
    required: ["page"],
  },
  execute: ({ page }) => pages.get(page),
});

const script = [
  calls("generate_plan", { steps: ["Find a flight", "Name the price"] }),
  calls("look", { page: "flights" }),
  calls("step_failed", { reason: "The site with the flights is closed." }),
  calls("generate_plan", { steps: ["Find a train", "Name the price"] }),
  calls("look", { page: "trains" }),
  says("There is a night train at 20:10."),
  says("89 euros."),
  says("Take the night train at 20:10 for 89 euros."),
];
const model = process.argv[2] ?? new ScriptedModel(script);
const agent = new PlanAndSolveAgent({ model, tools: [look], maxReplans: 1, synthesize: true });

for await (const event of agent.stream("How do I get from Oslo to Rome today, and for how much?")) {
  if (event.type === "phase" && event.phase === "execution")
    console.log(`step ${event.step} of ${event.plan?.length}: ${event.plan?.[(event.step ?? 1) - 1]}`);
  else if (event.type === "phase") console.log(`${event.phase}:`);
  if (event.type === "tool_intent") console.log(`  > ${event.name} ${JSON.stringify(event.input)}`);
  if (event.type === "done") console.log(event.result.error?.message ?? event.result.text);
}
console.log(`the conversation has ${agent.getState().messages.length} messages`);
