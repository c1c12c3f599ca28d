// A conversation that changes hands, and an agent that asks another one.
//   node examples/31-handoff.ts [provider/model]
import { Agent, defineTool } from "nano-agent";
import { createHandoffTool } from "nano-agent/patterns";
import { calls, ScriptedModel, says } from "nano-agent/testing";

const named = process.argv[2];

// A tool that ends the run: its output says who goes on.
const transfer = createHandoffTool({
  to: { billing: "Invoices and payments.", tech: "Whatever does not work." },
});
const desk = new Agent({
  model: named ?? new ScriptedModel([calls("transfer", { to: "billing" })]),
  systemPrompt: "You are the front desk: transfer every question to who knows.",
  tools: [transfer],
});
const first = await desk.runOrThrow("Is invoice 5 paid?");
const next = transfer.targetOf(first);
console.log(`${first.stopReason}: ${next ?? "nobody"}`);

// The next one begins with the conversation so far, and it is its turn: there is no new input.
const KNOWS = { billing: "all about invoices", tech: "all about faults" };
if (next !== undefined) {
  const colleague = new Agent({
    model: named ?? new ScriptedModel([says("Yes, since Monday.")]),
    systemPrompt: `You know ${KNOWS[next]}. Answer the question.`,
    messages: first.messages,
  });
  console.log((await colleague.runOrThrow()).text);
}

// An agent as a tool: permission, budget, journal and abort of the run hold for what it does.
const translate = defineTool({
  name: "translate",
  description: "Translates a text to German.",
  parameters: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  execute: async ({ text }, { runAgent }) => {
    const report = await runAgent({
      agent: "translator",
      systemPrompt: "You translate to German and say nothing else.",
      prompt: text,
    });
    console.log(`translator (${report.stopReason}): ${report.text}`);
    return report.text;
  },
});
const script = new ScriptedModel(({ system, messages }) => {
  if (system?.includes("German") === true) return says("Fluss");
  return messages.length === 1 ? calls("translate", { text: "river" }) : says("A river is ein Fluss.");
});
const writer = new Agent({ model: named ?? script, tools: [translate] });
console.log((await writer.runOrThrow("What is a river in German?")).text);
