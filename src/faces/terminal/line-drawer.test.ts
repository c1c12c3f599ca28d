import { expect, test } from "vitest";
import { Agent } from "../../agent/agent.ts";
import { defineTool } from "../../core/tool/tool.ts";
import { calls, type ScriptAnswer, says, thinks } from "../../testing/script.ts";
import { ScriptedModel } from "../../testing/scripted-model.ts";
import { createBatchTool } from "../../tools/batch-tool.ts";
import type { Notice } from "../../view/notice.ts";
import { EMPTY_HOST, ViewFold } from "../../view/view-fold.ts";
import { LineDrawer } from "./line-drawer.ts";

const read = defineTool({
  name: "read",
  description: "reads",
  parameters: { type: "object", properties: { path: { type: "string" } } } as const,
  execute: ({ path }) => (path === "gone" ? { content: "no such file", isError: true } : "text"),
});
const task = defineTool({
  name: "task",
  description: "hands on",
  execute: async (_input, { runAgent }) => (await runAgent({ agent: "helper", prompt: "Look." })).text,
});

/** The lines of a run of these answers: what it does, and its answers. */
async function drawn(
  script: readonly ScriptAnswer[],
  { isLive }: { readonly isLive: boolean },
): Promise<string> {
  let text = "";
  const write = (more: string): void => {
    text += more.replaceAll(/\d+ ms/g, "0 ms");
  };
  const fold = new ViewFold(EMPTY_HOST);
  const told: Notice = { level: "warning", code: "other", message: "told before" };
  const drawer = new LineDrawer(
    {
      environment: { LANG: "C.UTF-8" },
      isStyled: false,
      columns: () => 60,
      write,
      writeAnswer: isLive ? (more) => write(more.replaceAll(/^(?=.)/gm, "> ")) : undefined,
      told: new Set([told]),
    },
    fold.view.items,
  );
  const agent = new Agent({ model: new ScriptedModel(script), tools: [read, task, createBatchTool()] });
  await agent.run("go", {
    onEvent: (event) => {
      fold.apply(event);
      drawer.draw(fold.view.items);
    },
  });
  fold.notice(told);
  drawer.end(fold.view.items);
  return text;
}

const SCRIPT: readonly ScriptAnswer[] = [
  [thinks("Let me look."), says("**First** the notes."), calls("read", { path: "a" }), calls("task")],
  calls("read", { path: "gone" }),
  says("Nothing there."),
  calls("batch", { calls: [{ tool: "read", input: { path: "b" } }] }),
  says("## Done\n\nIt is *text*."),
];

const DONE = [
  "✓ read a  1 line, 4 B · 0 ms",
  "  helper · ✗ read gone  0 ms",
  "      no such file",
  "✓ task  1 line, 14 B · 0 ms",
  "  └ helper  1 call · 40 tokens · cost unknown",
  expect.stringMatching(/^✓ batch/),
  "  ✓ read b  1 line, 4 B · 0 ms",
];

test("a run whose answer is watched: thinking, answers as they come, calls when they are over", async () => {
  expect((await drawn(SCRIPT, { isLive: true })).trimEnd().split("\n")).toEqual([
    "  Let me look.",
    "> First the notes.",
    ...DONE,
    "> Done",
    "",
    "> It is text.",
  ]);
});

test("where the answer goes elsewhere, text that something follows is shown, and the answer is not", async () => {
  expect((await drawn(SCRIPT, { isLive: false })).trimEnd().split("\n")).toEqual([
    "  Let me look.",
    "First the notes.",
    ...DONE,
  ]);
});
