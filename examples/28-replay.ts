// A session that is run again without its model, gone back in, and found by what was said in it.
//   node examples/28-replay.ts
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, defineTool } from "nano-agent";
import {
  findSessions,
  readSession,
  recordBeforeStep,
  replaySession,
  SessionStore,
  sessionSteps,
} from "nano-agent/session";
import { calls, ScriptedModel, says } from "nano-agent/testing";

const price = defineTool({
  name: "price",
  description: "Price of a fruit.",
  parameters: { type: "object", properties: { fruit: { type: "string" } }, required: ["fruit"] },
  execute: ({ fruit }) => `${fruit}: 2 euros`,
});

const store = new SessionStore(mkdtempSync(join(tmpdir(), "sessions-")));
const journal = await store.start(process.cwd());
const model = new ScriptedModel([calls("price", { fruit: "apple" }), says("Two euros.")]);
await new Agent({ model, tools: [price], journal }).run("What is an apple?");
await journal.close();

const session = store.newest(process.cwd());
const { entries } = readSession(session.path);
const again = await replaySession(entries, { tools: [price] });
console.log(`${again.requests} requests made again, the same: ${again.same}`);

// The tools run again, here with another price; the loop goes on with what was recorded.
const now = await replaySession(entries, {
  runTool: async ({ input }) => ({ content: `${String(input["fruit"])}: 3 euros` }),
});
for (const { step, call, recorded, replayed } of now.differences)
  console.log(`step ${step}, ${call?.name}: ${recorded} became ${replayed}`);

// Back to before the last step, and on from there with another model. Nothing is taken out of the file.
const rewound = await store.resume(session);
await rewound.rewind(recordBeforeStep(session.path, 2));
const other = new Agent({ model: new ScriptedModel([says("An apple is 2 euros.")]), journal: rewound });
console.log((await other.run()).text);
await rewound.close();
console.log(`${sessionSteps(readSession(session.path).entries).length} steps`);

const found = await findSessions(store, "apple");
console.log(found.sessions.map(({ step, excerpt }) => `step ${step}: ${excerpt}`).join("\n"));
