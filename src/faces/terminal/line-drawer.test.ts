import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { Agent } from "../../agent/agent.ts";
import { defineTool } from "../../core/tool/tool.ts";
import { calls, type ScriptAnswer, says, thinks } from "../../testing/script.ts";
import { ScriptedModel } from "../../testing/scripted-model.ts";
import { createBatchTool } from "../../tools/batch-tool.ts";
import type { Notice } from "../../view/notice.ts";
import type { Question, QuestionReply } from "../../view/question.ts";
import { EMPTY_HOST, ViewFold } from "../../view/view-fold.ts";
import { askInLines, LineDrawer } from "./line-drawer.ts";

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
      isLive,
      shownNotices: new Set([told]),
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
    "First the notes.",
    ...DONE,
    "Done",
    "",
    "It is text.",
  ]);
});

test("where the answer goes elsewhere, text that something follows is shown, and the answer is not", async () => {
  expect((await drawn(SCRIPT, { isLive: false })).trimEnd().split("\n")).toEqual([
    "  Let me look.",
    "First the notes.",
    ...DONE,
  ]);
});

const QUESTION: Question = {
  id: "q",
  type: "permission",
  time: 0,
  tool: "bash",
  input: { command: "npm test" },
  reason: "",
  choices: [
    { choice: "once" },
    { choice: "always", rule: "bash(npm test*)" },
    { choice: "no" },
    { choice: "stop" },
  ],
};

/** What a question resolves to when these keys come, one after the other, each once it is asked for. */
async function answered(...typed: readonly string[]): Promise<readonly [QuestionReply | undefined, string]> {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const left = [...typed];
  let text = "";
  output.setEncoding("utf8").on("data", (piece: string) => {
    text += piece;
    if (!piece.includes("> ")) return;
    const next = left.shift();
    if (next === "end") input.end();
    else if (next !== undefined) input.write(next);
  });
  const place = {
    environment: { LANG: "C.UTF-8" },
    isStyled: false,
    columns: () => 80,
    input,
    output,
    quietMs: 0,
  };
  return [await askInLines(QUESTION, new AbortController().signal, place), text];
}

test.each<[readonly string[], QuestionReply | undefined]>([
  [["1\r"], { choice: "once" }],
  [["2\r"], { choice: "always", rule: "bash(npm test*)" }],
  [["3\r"], { choice: "no" }],
  [["3 use make\r"], { choice: "no", reason: "use make" }],
  [["1 use make\r", "4\r", "yes\r", "1\r"], { choice: "once" }],
  [["\u001B"], { choice: "stop" }],
  [["\x03"], undefined],
  [["end"], { choice: "no" }],
])("%j answers with %j", async (typed, reply) => {
  expect((await answered(...typed))[0]).toEqual(reply);
});

test("the whole call stands there with its numbered answers, and what is no answer is said so", async () => {
  const [, text] = await answered("9\r", "1\r");
  for (const part of [
    "$ npm test",
    "1  Run once",
    "2  Always run npm test* here",
    "3  No, and say why",
    "type the number of one",
  ])
    expect(text).toContain(part);
});

test("what was typed before the question is no answer, but Ctrl-C is", async () => {
  const place = {
    environment: {},
    isStyled: false,
    columns: () => 80,
    output: new PassThrough(),
    quietMs: 5,
  };
  const early = new PassThrough();
  early.write("1\r");
  const later = setInterval(() => early.write("x"), 1);
  const end = new AbortController();
  const asked = askInLines(QUESTION, end.signal, { ...place, input: early });
  clearInterval(later);
  end.abort(new Error("the run ended"));
  await expect(asked).rejects.toThrow("the run ended");
  const stopped = new PassThrough();
  stopped.write("\x03");
  expect(
    await askInLines(QUESTION, new AbortController().signal, { ...place, input: stopped }),
  ).toBeUndefined();
});
