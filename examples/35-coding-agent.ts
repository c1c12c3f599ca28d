// The coding agent in one call: its prompt, its tools, permission, undo and a session, all wired.
//   node examples/35-coding-agent.ts [provider/model]
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createCodingSession } from "nano-agent/coding-agent";
import { calls, ScriptedModel, says } from "nano-agent/testing";

const cwd = mkdtempSync(join(tmpdir(), "coding-"));
writeFileSync(join(cwd, "list.txt"), "milk\ntee\n");
const edits = [{ old_string: "tee", new_string: "tea" }];
const script = [
  calls("read", { path: "list.txt" }),
  calls("edit", { path: "list.txt", edits }),
  says("It is tea now."),
];

const named = process.argv[2];
const demo = { model: new ScriptedModel(script), environment: { HOME: cwd } };
const session = await createCodingSession({
  cwd,
  permissionMode: "acceptEdits",
  ...(named === undefined ? demo : { model: named }),
});
console.log(session.info.tools.join(", "));
const outcome = await session.send("Correct the slip in list.txt.");
console.log(`${outcome.stopReason}: ${outcome.text}`);
await session.close();
