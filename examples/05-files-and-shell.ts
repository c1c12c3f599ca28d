// The built-in tools in a scratch folder: read, write, edit, glob, grep, bash, job and batch.
//   node examples/05-files-and-shell.ts [provider/model]
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent } from "nano-agent";
import { calls, ScriptedModel, says } from "nano-agent/testing";
import { createBashTools, createBatchTool, fileTools } from "nano-agent/tools";

const folder = await mkdtemp(join(tmpdir(), "nano-agent-example-"));
// Commands see no environment variable but a plain PATH and HOME unless `env` is passed.
const shell = createBashTools();

const edits = [
  { old_string: "teh", new_string: "the", replace_all: true },
  { old_string: "fox.", new_string: "fox!" },
];
const script = [
  calls("write", { path: "story.txt", content: "teh quick brown fox.\nteh end\n" }),
  [says("Two mistakes."), calls("edit", { path: "story.txt", edits })],
  // Calls that do not depend on each other run together, in one step.
  calls("batch", {
    calls: [
      { tool: "bash", input: { command: "wc -w < story.txt" } },
      { tool: "grep", input: { pattern: "the", mode: "count" } },
    ],
  }),
  says("story.txt is written, corrected and counted."),
];
const model = process.argv[2] ?? new ScriptedModel(script);
const agent = new Agent({
  model,
  tools: [...fileTools(), ...shell.tools, createBatchTool()],
  cwd: folder,
  systemPrompt: "You work on the files of the working folder. Paths are relative to it.",
});

try {
  const result = await agent.runOrThrow(
    "Write a story of two lines to story.txt, correct its spelling, count its words.",
    {
      onEvent: (event) => {
        if (event.type !== "tool_result") return;
        const indent = event.parentCallId === undefined ? "" : "  ";
        console.log(
          `${indent}${event.name}: ${event.status}${event.title === undefined ? "" : `, ${event.title}`}`,
        );
      },
    },
  );
  console.log(result.text);
  console.log(await readFile(join(folder, "story.txt"), "utf8"));
} finally {
  // Ends whatever commands left running.
  await shell.dispose();
  await rm(folder, { recursive: true });
}
