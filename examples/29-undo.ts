// What tools and commands change is kept, and put back when somebody says so.
//   node examples/29-undo.ts
import { mkdtempSync, readdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent } from "nano-agent";
import { rollbackPlace, SessionCheckpoints, SessionStore, undo } from "nano-agent/session";
import { calls, ScriptedModel, says } from "nano-agent/testing";
import { createBashTools } from "nano-agent/tools";

const cwd = realpathSync(mkdtempSync(join(tmpdir(), "undo-")));
const state = mkdtempSync(join(tmpdir(), "undo-state-"));
writeFileSync(join(cwd, "notes.txt"), "keep me\n");
const model = new ScriptedModel([
  calls("bash", { command: "rm notes.txt; touch a b c" }),
  says("Tidied up."),
]);

const shell = createBashTools();
const journal = await new SessionStore(join(state, "sessions")).start(cwd);
const folder = join(state, "checkpoints");
const { sessionId, path: journalPath } = journal;
const checkpointer = new SessionCheckpoints({ folder, roots: [cwd], sessionId, journalPath });
const agent = new Agent({ model, tools: [shell.bash], cwd, journal, checkpointer });
await agent.run("Tidy up.");
await checkpointer.close();
console.log(`after the run: ${readdirSync(cwd).join(", ")}`);

const report = await undo(rollbackPlace({ folder, journal, cwd }));
console.log(`${report.status}: ${report.changes.map(({ path }) => path).join(", ")}`);
console.log(
  `after undo: ${readdirSync(cwd).join(", ")}: ${readFileSync(join(cwd, "notes.txt"), "utf8").trim()}`,
);
await journal.close();
await shell.dispose();
