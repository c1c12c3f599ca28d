// The tests of the notes agent of docs/tutorial.md. They need no key and no network.
//   node examples/tutorial/check.ts
import assert from "node:assert/strict";
import { test } from "node:test";
import { calls, ScriptedModel, says } from "nano-agent/testing";
import { createNotesAgent } from "./notes-agent.ts";

await test("a note is written without a question", async () => {
  const notes = new Map<string, string>();
  const model = new ScriptedModel([calls("write_note", { title: "shopping", text: "tea" }), says("Noted.")]);
  const result = await createNotesAgent(notes, { model }).run("Tea is out.");
  assert.equal(result.stopReason, "completed");
  assert.equal(result.text, "Noted.");
  model.assertFinished();
  assert.deepEqual([...notes], [["shopping", "tea"]]);
});

await test("no note is removed when the user says no", async () => {
  const notes = new Map([["shopping", "tea"]]);
  const model = new ScriptedModel([calls("remove_note", { title: "shopping" }), says("I kept it.")]);
  const result = await createNotesAgent(notes, { model, approve: () => false }).run("Clear my list.");
  assert.equal(result.stopReason, "completed");
  assert.equal(result.text, "I kept it.");
  model.assertFinished();
  assert.deepEqual([...notes], [["shopping", "tea"]]);
});
