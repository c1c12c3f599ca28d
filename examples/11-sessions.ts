// A conversation that survives the program: the journal is a file, and the next program goes on from it.
//   node examples/11-sessions.ts [anthropic/claude-sonnet-4-5]
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent } from "nano-agent";
import { SessionStore } from "nano-agent/session";
import { ScriptedModel, says } from "nano-agent/testing";

const folder = mkdtempSync(join(tmpdir(), "sessions-"));
const model =
  process.argv[2] ?? new ScriptedModel([says("Noted: the key is under the mat."), says("Under the mat.")]);

const store = new SessionStore(folder);
const journal = await store.start(process.cwd());
const agent = new Agent({ model, journal });
await agent.runOrThrow("Remember that the key is under the mat.");
await journal.close();

const again = await store.resume(store.newest(process.cwd()));
const later = new Agent({ model, journal: again });
const result = await later.runOrThrow("Where is the key?");
await again.close();

console.log(result.text);
console.log(`${result.messages.length} messages, repairs: ${JSON.stringify(again.repairs)}`);
