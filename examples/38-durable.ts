// Runs that outlive the program: the database has them, and whoever opens it goes on. Here it is a folder;
// with databaseUrl: "postgres://…" any number of workers on any number of machines share them.
//   npm install pg-boss @electric-sql/pglite && node examples/38-durable.ts
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, defineTool } from "nano-agent";
import { createFleet, type Fleet } from "nano-agent/durable";
import { calls, ScriptedModel, says } from "nano-agent/testing";

const refund = defineTool({
  name: "refund",
  description: "Pays an order back.",
  parameters: { type: "object", properties: { order: { type: "string" } }, required: ["order"] },
  needsApproval: true,
  // May run again after a crash: the bank pays once for each key.
  idempotent: true,
  execute: ({ order }, { idempotencyKey }) =>
    `${order} is paid back (${idempotencyKey === "" ? "no" : "one"} key)`,
});

const dataDir = mkdtempSync(join(tmpdir(), "durable-"));
const open = (): Promise<Fleet> =>
  createFleet({
    dataDir,
    agents: {
      // Made anew each time somebody takes a run up; what the fleet brings stands last.
      clerk: (host) =>
        new Agent({
          model: new ScriptedModel(({ messages }) =>
            messages.length === 1 ? calls("refund", { order: "A-17" }) : says("Order A-17 is paid back."),
          ),
          tools: [refund],
          ...host,
        }),
    },
  });

const first = await open();
const run = await first.start("clerk", "Pay order A-17 back.", {
  id: "ticket-4711",
  budget: { tokens: 50_000 },
});
for await (const entry of run.events()) {
  console.log(entry.type);
  if (entry.type === "run_end") break;
}
await first.close();

// Hours later, in another process: nothing was held meanwhile.
await using later = await open();
const same = await later.start("clerk", "Pay order A-17 back.", { id: "ticket-4711" });
const { state, pending } = await same.status();
console.log(`${same.id} is ${state}`);
for (const { callId, name, input } of pending) {
  console.log(`? ${name} ${JSON.stringify(input)}`);
  await same.approve(callId, true);
}
const result = await same.result();
console.log(`${result.stopReason}: ${result.text} (${result.iterations} requests)`);
