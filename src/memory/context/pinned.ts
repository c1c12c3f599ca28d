import { defined, isRecord } from "../../core/base/json.ts";
import {
  type ContentBlock,
  LONG_TERM_MEMORY,
  type Message,
  type ToolUseBlock,
  textOf,
  toolCallsOf,
  type UserBlock,
  type UserMessage,
} from "../../core/message/message.ts";
import { readNote } from "./note.ts";
import { type FileAction, type TouchedFiles, touch, touchedBy } from "./touched-files.ts";

/** The messages a compaction takes over word for word from those it replaces. */
export interface PinnedMessages {
  /** The words of the user, oldest first: the messages themselves, results of calls beside them left out. */
  readonly userMessages: readonly UserMessage[];
  /** The todo list as it was last written; undefined when there is none. */
  readonly todo: string | undefined;
  /** The newest plan that the user has approved. */
  readonly plan: string | undefined;
  readonly files: TouchedFiles;
}

const TODO_TOOL = "todo";
const PLAN_TOOL = "present_plan";

/** Collects what is pinned of `messages`; what an earlier compaction pinned is taken over from its note. */
export function pinnedOf(messages: readonly Message[]): PinnedMessages {
  const userMessages: UserMessage[] = [];
  const files = new Map<string, Set<FileAction>>();
  let todo: string | undefined;
  let plan: string | undefined;
  let open = new Map<string, ToolUseBlock>();
  for (const message of messages) {
    if (message.role === "assistant") {
      open = new Map(toolCallsOf(message).map((call) => [call.id, call]));
      continue;
    }
    const note = readNote(message);
    if (note !== undefined) {
      ({ todo, plan } = { todo, plan, ...defined({ todo: note.todo, plan: note.plan }) });
      for (const [path, actions] of note.files) for (const action of actions) touch(files, path, action);
      continue;
    }
    for (const block of message.content) {
      const call = block.type === "tool_result" ? open.get(block.tool_use_id) : undefined;
      if (block.type !== "tool_result" || call === undefined || block.is_error === true) continue;
      if (call.name === TODO_TOOL) todo = todoText(call, textOf(block.content));
      plan = approvedPlan(call, textOf(block.content)) ?? plan;
      for (const { path, action } of touchedBy(call)) touch(files, path, action);
    }
    const own = ownWords(message);
    if (own !== undefined) userMessages.push(own);
  }
  return { userMessages, todo, plan, files };
}

/** The message without results of calls; undefined when nothing of the user is left. */
function ownWords(message: UserMessage): UserMessage | undefined {
  // Memories of other conversations are looked up again each time.
  if (message.name === LONG_TERM_MEMORY) return undefined;
  const content = message.content.filter((block: UserBlock) => block.type !== "tool_result");
  if (content.length === 0) return undefined;
  return content.length === message.content.length ? message : { ...message, content };
}

/** The list as the call has it; some tools answer with it as people read it. Without open items: none. */
function todoText({ input }: ToolUseBlock, result: string): string | undefined {
  const { todos } = input;
  if (
    Array.isArray(todos) &&
    todos.every((item: unknown) => isRecord(item) && item["status"] === "completed")
  )
    return undefined;
  const list = JSON.stringify(input);
  return result.trim().length > list.length / 4 ? result.trim() : list;
}

/** The plan of a call whose result says that it was approved. */
function approvedPlan({ name, input }: ToolUseBlock, result: string): string | undefined {
  const { plan } = input;
  const isApproved = name === PLAN_TOOL && result.startsWith("Approved");
  return isApproved && typeof plan === "string" ? plan : undefined;
}

/** True when a message answers tool calls. */
export function answersCalls(message: Message): boolean {
  return (message.content as readonly ContentBlock[]).some((block) => block.type === "tool_result");
}
