import { expect, test } from "vitest";
import { Agent } from "../agent/agent.ts";
import { calls, says } from "../testing/script.ts";
import { ScriptedModel } from "../testing/scripted-model.ts";
import { createTodoTool, type TodoItem } from "./todo-tool.ts";

async function resultsOf(...inputs: readonly unknown[]) {
  const model = new ScriptedModel([...inputs.map((todos) => calls("todo", { todos })), says("done")]);
  const results: unknown[] = [];
  await new Agent({ model, tools: [createTodoTool()] }).run("go", {
    onEvent: (event) => {
      if (event.type !== "tool_result") return;
      results.push([event.status, event.result.content, event.metadata ?? {}]);
    },
  });
  return results;
}

const LIST: readonly TodoItem[] = [
  { content: "读取文件", status: "completed" },
  { content: "change it", status: "in_progress" },
  { content: "run the tests", status: "pending" },
];

test("the result says how far the list is, and the list itself is kept for programs", async () => {
  expect(await resultsOf(LIST)).toEqual([
    ["ok", "[1/3]\n[x] 读取文件\n[>] change it\n[ ] run the tests", { todos: LIST }],
  ]);
});

test("an empty list clears it", async () => {
  expect(await resultsOf([])).toEqual([["ok", "The list is empty.", { todos: [] }]]);
});

test.for<[string, unknown, string]>([
  [
    "two items in progress",
    LIST.map((item) => ({ ...item, status: "in_progress" })),
    "Error: 3 items are in_progress (读取文件; change it; run the tests); one at a time. The list is unchanged.",
  ],
  [
    "an item without text",
    [{ content: "  ", status: "pending" }],
    "Error: Item 1 needs a text of 1 to 500 characters. The list is unchanged.",
  ],
  [
    "too many items",
    Array.from({ length: 101 }, () => ({ content: "x", status: "pending" })),
    "Error: 101 items; a list takes 100: put steps together. The list is unchanged.",
  ],
  [
    "an unknown status",
    [{ content: "x", status: "done" }],
    'Error: Invalid arguments for todo, so it was not run:\ntodos[0].status: expected one of "pending", "in_progress", "completed", got "done"',
  ],
])("%s is refused", async ([, todos, said]) => {
  expect(await resultsOf(todos)).toEqual([["error", said, {}]]);
});
