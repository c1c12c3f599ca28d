// Nobody is there to ask: the run pauses, and another program brings the answers when they have come.
//   node examples/15-approve-later.ts [provider/model]
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, defineTool, type Gate, type Journal } from "nano-agent";
import { SessionStore } from "nano-agent/session";
import { calls, ScriptedModel, says } from "nano-agent/testing";

const refund = defineTool({
  name: "refund",
  description: "Pays an order back.",
  parameters: { type: "object", properties: { order: { type: "string" } }, required: ["order"] },
  execute: ({ order }) => `paid ${order} back`,
});
const gate: Gate = { check: () => ({ action: "ask", reason: "it moves money" }) };

const model =
  process.argv[2] ??
  new ScriptedModel([
    [calls("refund", { order: "A1" }), calls("refund", { order: "B2" })],
    says("A1 is paid back; B2 was refused."),
  ]);
const agentOn = (journal: Journal): Agent =>
  new Agent({ model, tools: [refund], permission: gate, journal, onAsk: "pause" });

const store = new SessionStore(mkdtempSync(join(tmpdir(), "sessions-")));
const journal = await store.start(process.cwd());
const paused = await agentOn(journal).run("Refund the orders A1 and B2.");
await journal.close();

console.log(paused.error?.message ?? paused.stopReason);
const pending = paused.pending ?? [];
for (const { name, input, reason } of pending) console.log(`? ${name} ${JSON.stringify(input)}: ${reason}`);

// Hours later, perhaps in another process: the session knows what waits.
const later = await store.resume(store.newest(process.cwd()));
const [first, ...others] = pending.map(({ callId }) => callId);
const result = await agentOn(later).runOrThrow(undefined, {
  approvals: {
    ...(first === undefined ? {} : { [first]: true }),
    ...Object.fromEntries(
      others.map((callId) => [callId, { approved: false, reason: "ask the customer first" }]),
    ),
  },
});
await later.close();

console.log(result.text);
