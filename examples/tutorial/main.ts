// One message to the notes agent of docs/tutorial.md, in a session that the next start goes on with.
//   node examples/tutorial/main.ts [folder] [message] [provider/model]
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline/promises";
import type { Approver } from "nano-agent";
import { SessionStore } from "nano-agent/session";
import { calls, ScriptedModel, says } from "nano-agent/testing";
import { createNotesAgent } from "./notes-agent.ts";

const [, , folder = mkdtempSync(join(tmpdir(), "notes-")), message = "Note that tea is out.", name] =
  process.argv;
const scripted = new ScriptedModel([
  calls("write_note", { title: "shopping", text: "tea" }),
  says("Noted: tea."),
]);

const approve: Approver = async ({ name, input, decision }) => {
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const answer = await terminal.question(
    `${name} ${JSON.stringify(input)}: ${decision.reason} Allow? [y/N] `,
  );
  terminal.close();
  return answer === "y" || { approved: false, reason: "the user said no" };
};

const store = new SessionStore(folder);
const [last] = store.list(process.cwd());
const journal = await (last === undefined ? store.start(process.cwd()) : store.resume(last));

const file = join(folder, "notes.json");
const saved = existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as [string, string][]) : [];
const notes = new Map(saved);

const agent = createNotesAgent(notes, { model: name ?? scripted, approve, journal });
const result = await agent.run(message);
await journal.close();
writeFileSync(file, JSON.stringify([...notes]));

console.log(result.error?.message ?? result.text);
console.log(`${result.messages.length} messages in this session`);
