import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Agent } from "../../src/agent/agent.ts";
import type { AgentEvent } from "../../src/core/agent/entries.ts";
import { textOf } from "../../src/core/message/message.ts";
import { createTaskTool } from "../../src/extensions/subagents/task-tool.ts";
import { calls, says } from "../../src/testing/script.ts";
import { ScriptedModel } from "../../src/testing/scripted-model.ts";
import { fileTools } from "../../src/tools/file-tools.ts";
import { tempFolder } from "../temp-folder.ts";
import { lines } from "./conversation.ts";

test("a file is found, read, edited and written through the loop, and the model sees what each tool did", async () => {
  const cwd = tempFolder({ "src/price.ts": "export const price = OLD;\n", "README.md": "# x\n" });
  const model = new ScriptedModel([
    [calls("glob", { pattern: "**/*.ts" }), calls("grep", { pattern: "OLD", mode: "content" })],
    calls("edit", { path: "src/price.ts", edits: [{ old_string: "OLD", new_string: "NEW" }] }),
    calls("read", { path: "src/price.ts" }),
    calls("edit", { path: "src/price.ts", edits: [{ old_string: "OLD", new_string: "'$&'" }] }),
    calls("write", { path: "src/new/note.txt", content: "done\n" }),
    says("Done."),
  ]);
  const agent = new Agent({ model, tools: fileTools({ cwd }) });

  const result = await agent.run("Change the price.");

  expect(lines(result.messages).filter((line) => /^(result|error)/u.test(line))).toEqual([
    "result call_1: src/price.ts",
    "result call_2: src/price.ts\n1:export const price = OLD;",
    "error call_3: Error: src/price.ts is there already and was not read in this session. Read it first, then change it.",
    "result call_4:      1\texport const price = OLD;",
    "result call_5: Edited src/price.ts (1 replacement):\n     1\texport const price = '$&';",
    "result call_6: Created src/new/note.txt (1 line).",
  ]);
  expect(readFileSync(join(cwd, "src/price.ts"), "utf8")).toBe("export const price = '$&';\n");
  model.assertFinished();
});

test("edits of one file in one answer all hold, in call order", async () => {
  const cwd = tempFolder({ a: "one two three" });
  const change = (from: string, to: string) =>
    calls("edit", { path: "a", edits: [{ old_string: from, new_string: to }] });
  const model = new ScriptedModel([
    [
      calls("read", { path: "a" }),
      change("one", "1"),
      change("two", "2"),
      change("1 2", "12"),
      calls("read", { path: "a" }),
    ],
    says("Done."),
  ]);
  const result = await new Agent({ model, tools: fileTools({ cwd }) }).run("go");
  expect([lines(result.messages).at(-2), readFileSync(join(cwd, "a"), "utf8")]).toEqual([
    "result call_5:      1\t12 three",
    "12 three",
  ]);
});

test("what a subagent has read or changed, the agent reads before it changes it, and the other way round", async () => {
  const cwd = tempFolder({ a: "one two three" });
  const change = (from: string, to: string) =>
    calls("edit", { path: "a", edits: [{ old_string: from, new_string: to }] });
  const model = new ScriptedModel([
    calls("read", { path: "a" }),
    calls("task", { agent: "general", prompt: "Change it." }),
    change("one", "1"),
    calls("read", { path: "a" }),
    change("one", "1"),
    says("Changed."),
    change("two", "2"),
    says("Not yet."),
  ]);
  const agent = new Agent({ model, tools: [...fileTools({ cwd }), createTaskTool()] });
  const seen: string[] = [];
  const note = (event: AgentEvent, who = "agent"): void => {
    if (event.type === "subagent") note(event.event, event.agent);
    if (event.type === "tool_result" && event.name === "edit")
      seen.push(`${who}: ${textOf(event.result.content).split(".")[0] ?? ""}`);
  };
  await agent.run("go", { onEvent: (event) => note(event) });
  expect(seen).toEqual([
    "general: Error: a is there already and was not read in this session",
    expect.stringMatching(/^general: Edited a \(1 replacement\)/),
    "agent: Error: a was changed since it was read in this session",
  ]);
});
