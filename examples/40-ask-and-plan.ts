// The model asks what only a person can decide, and hands in a plan before it changes anything.
//   node examples/40-ask-and-plan.ts [provider/model]
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent } from "nano-agent";
import { createCodingSession } from "nano-agent/coding-agent";
import { calls, ScriptedModel, says } from "nano-agent/testing";
import { createAskTool } from "nano-agent/tools";

const cwd = mkdtempSync(join(tmpdir(), "plan-"));
const question = "Where do the notes go?";
const options = [{ label: "One file", description: "notes.md, newest first." }, { label: "A file a day" }];
const script = [
  calls("ask_user", { questions: [{ question, options }] }),
  calls("present_plan", { plan: "1. Create notes.md.\n2. Add a heading." }),
  calls("present_plan", { plan: "1. Create notes.md.\n2. Add a heading and today's date." }),
  calls("write", { path: "notes.md", content: "# Notes\n\n28 November\n" }),
  says("notes.md is there."),
];

const named = process.argv[2];
const demo = { model: new ScriptedModel(script), environment: { HOME: cwd } };
await using session = await createCodingSession({
  cwd,
  permissionMode: "plan",
  ...(named === undefined ? demo : { model: named }),
});

let plans = 0;
session.onQuestion(({ id, tool, input = {}, schema, options: starts = [] }) => {
  if (tool === "ask_user") {
    // A field for each question, named by it: one of its options, or any other text.
    const fields = Object.keys((schema?.["properties"] ?? {}) as object);
    console.log(`? ${fields.join(" · ")}`);
    session.answer(id, { value: Object.fromEntries(fields.map((field) => [field, "One file"])) });
  } else if (tool === "present_plan") {
    console.log(`plan ${++plans}: ${starts.map(({ label }) => label).join(" · ")}\n${String(input["plan"])}`);
    if (plans === 1) session.answer(id, { choice: "no", reason: "add the date" });
    else session.answer(id, { value: "default" });
  } else session.answer(id, { choice: "once" });
});

const { text } = await session.send("Start a file for my notes.");
console.log(`${session.info.mode}: ${text}`);
console.log(`approved: ${session.view.plan ?? "no plan"}`);

// An agent of your own: the answers are the input that the call is approved with.
const asking = new ScriptedModel([script[0] ?? says(""), says("One file it is.")]);
const agent = new Agent({ model: named ?? asking, tools: [createAskTool()] });
const { text: answer } = await agent.run("Ask me where my notes go.", {
  approve: ({ input }) => ({ approved: true, input: { ...input, answers: { [question]: "One file" } } }),
});
console.log(answer);
