/**
 * A run that pauses for approval and is killed: `node paused-run.ts FOLDER [approve]`. With `approve` it goes
 * on with the session, says yes to the first call, and dies inside it.
 */
import { join } from "node:path";
import { JsonlJournal } from "../../src/session/jsonl-journal.ts";
import { pausingAgent } from "./pausing-agent.ts";

const [, , folder = "", approve] = process.argv;
const path = join(folder, "s.jsonl");
if (approve === undefined) {
  const journal = await JsonlJournal.create(path, { sessionId: "s", cwd: folder });
  await pausingAgent(journal, folder).run("go");
  process.kill(process.pid, "SIGKILL");
}
const journal = await JsonlJournal.open(path);
const dying = pausingAgent(journal, folder, () => process.kill(process.pid, "SIGKILL"));
await dying.run(undefined, { approvals: { first: true } });
