import { defineTool, type Tool, type ToolResult } from "../core/tool/tool.ts";
import { errorResult } from "../core/tool/tool-output.ts";

/** State of a todo item. */
export type TodoStatus = "pending" | "in_progress" | "completed";

/** An item of a todo list. */
export interface TodoItem {
  readonly content: string;
  readonly status: TodoStatus;
}

const MAX_ITEMS = 100;
const MAX_CONTENT_CHARS = 500;
const CHECKBOXES: { readonly [S in TodoStatus]: string } = {
  pending: "[ ]",
  in_progress: "[>]",
  completed: "[x]",
};

/**
 * The `todo` tool: the model's list of tasks, passed whole with each call. The result reports progress; the
 * list itself is in `metadata.todos` of the result, so the newest one in a journal is the current list.
 * Refused, with the list unchanged: more than one item in progress, an item without text or with more than
 * 500 characters, more than 100 items.
 */
export function createTodoTool(): Tool {
  return defineTool({
    name: "todo",
    description:
      "Keep the list of steps of a longer task: pass the whole list each time, one item in_progress at most.",
    parameters: {
      type: "object",
      properties: {
        todos: {
          type: "array",
          items: {
            type: "object",
            properties: {
              content: { type: "string" },
              status: { type: "string", enum: ["pending", "in_progress", "completed"] },
            },
            required: ["content", "status"],
          },
        },
      },
      required: ["todos"],
    },
    readOnly: true,
    access: { write: ["todo:list"] },
    execute: ({ todos }) =>
      todoResult(todos.map(({ content, status }) => ({ content: content.trim(), status }))),
  });
}

function todoResult(todos: readonly TodoItem[]): ToolResult {
  const problem = problemOf(todos);
  if (problem !== undefined) return errorResult(`${problem} The list is unchanged.`);
  if (todos.length === 0)
    return { content: "The list is empty.", title: "no todos", metadata: { todos: [] } };
  const done = todos.filter(({ status }) => status === "completed").length;
  const recap = `[${done}/${todos.length}]`;
  return {
    content: [recap, ...todos.map(({ content, status }) => `${CHECKBOXES[status]} ${content}`)].join("\n"),
    title: `${recap} ${nextOf(todos)}`,
    metadata: { todos: todos.map(({ content, status }) => ({ content, status })) },
  };
}

function problemOf(todos: readonly TodoItem[]): string | undefined {
  if (todos.length > MAX_ITEMS)
    return `${todos.length} items; a list takes ${MAX_ITEMS}: put steps together.`;
  const invalidAt = todos.findIndex(({ content }) => content === "" || content.length > MAX_CONTENT_CHARS);
  if (invalidAt >= 0) return `Item ${invalidAt + 1} needs a text of 1 to ${MAX_CONTENT_CHARS} characters.`;
  const inProgress = todos.filter(({ status }) => status === "in_progress");
  if (inProgress.length < 2) return undefined;
  return `${inProgress.length} items are in_progress (${inProgress.map(({ content }) => content).join("; ")}); one at a time.`;
}

function nextOf(todos: readonly TodoItem[]): string {
  const next =
    todos.find(({ status }) => status === "in_progress") ?? todos.find(({ status }) => status === "pending");
  return next?.content ?? "all done";
}
