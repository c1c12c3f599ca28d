// An agent that remembers the user in the next conversation, and the next program. Without a model name the
// answers are scripted:
//   node examples/12-long-term-memory.ts [anthropic/claude-sonnet-4-5]
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent } from "nano-agent";
import { SqliteLongTermMemory } from "nano-agent/memory";
import { calls, ScriptedModel, says } from "nano-agent/testing";

const facts = {
  thinking: "A lasting preference.",
  content: ["用户叫安娜，喜欢深色模式", "Anna lives in Basel"],
};
const script = [
  calls("record_to_memory", facts),
  says("I will remember that, Anna."),
  says("Dark, as you like it."),
];
const model = process.argv[2] ?? new ScriptedModel(script);

const path = join(mkdtempSync(join(tmpdir(), "memory-")), "memory.db");
const store = new SqliteLongTermMemory({ path, onNotice: (notice) => console.error(notice) });

const first = new Agent({ model, longTermMemory: { store } });
console.log((await first.runOrThrow("I am Anna from Basel, and I like 深色模式. Remember that.")).text);
store.close();

const again = new SqliteLongTermMemory({ path });
const second = new Agent({ model, longTermMemory: { store: again, mode: "static", limit: 3 } });
for await (const event of second.stream("Which 模式 shall the new page have?")) {
  if (event.type === "user_message" && event.source === "memory") console.log("remembered something");
  if (event.type === "done") console.log(event.result.text);
}

const [found] = await again.retrieve("深色", { limit: 1 });
console.log(found?.text);
console.log(`${await again.count()} records`);
again.close();
