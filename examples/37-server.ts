// An API over your agents: sessions that are begun, followed and answered over HTTP. The handler takes a
// Request and gives a Response, so it runs wherever these are; the reader is for the browser.
//   node examples/37-server.ts
import { Agent, defineTool } from "nano-agent";
import { createHandler, createReader } from "nano-agent/server";
import { calls, ScriptedModel, says } from "nano-agent/testing";

const refund = defineTool({
  name: "refund",
  description: "Pays an order back.",
  parameters: { type: "object", properties: { order: { type: "string" } }, required: ["order"] },
  execute: ({ order }) => `${order} is paid back`,
});

const token = crypto.randomUUID();
const handler = createHandler({
  token,
  hosts: ["agents.example.com"],
  agent: ({ options }) =>
    new Agent({
      model: new ScriptedModel([calls("refund", { order: "A-17" }), says("Order A-17 is paid back.")]),
      tools: [refund],
      permission: { check: () => ({ action: "ask", reason: "Money leaves the house." }) },
      // Behind everything else: the journal of the session, and the model and limits that a request asks for.
      ...options,
    }),
});

// In a browser createReader() is enough: it asks the server that the page is from, with the page's cookie.
const reader = createReader({
  baseUrl: "https://agents.example.com",
  token,
  fetch: (input, init) => handler(new Request(input, init)),
});
const { id } = await reader.start({ prompt: "Pay order A-17 back." });
for await (const item of reader.follow(id)) {
  if (item.type === "passing" && item.passing.type === "question") {
    const { question } = item.passing;
    console.log(`? ${question.tool}: ${question.reason}`);
    await reader.answer(question.id, { choice: "once" });
  }
  if (item.type === "entry") console.log(item.entry.type);
  if (item.type === "entry" && item.entry.type === "run_end") break;
}
const { title, state, messages } = await reader.session(id);
console.log(`${title} ${state}, ${messages.length} messages`);
