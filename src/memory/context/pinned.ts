import { isRecord, omitUndefined } from "../../core/base/json.ts";
import {
  type ContentBlock,
  LONG_TERM_MEMORY,
  type Message,
  messageText,
  type ToolUseBlock,
  textOf,
  toolCallsOf,
  type UserBlock,
  type UserMessage,
  userMessage,
} from "../../core/message/message.ts";

export type FileAction = "read" | "written" | "edited";

/** Changes to files, by path, in the order of their last touch. */
type TouchedFiles = ReadonlyMap<string, ReadonlySet<FileAction>>;

const FILE_TOOLS: ReadonlyMap<string, FileAction> = new Map([
  ["read", "read"],
  ["write", "written"],
  ["edit", "edited"],
]);

interface FileTouch {
  readonly path: string;
  readonly action: FileAction;
}

/** The files touched by a call of a file tool, even inside a `batch`; none for other tools. */
function fileTouchesOf({ name, input }: Pick<ToolUseBlock, "name" | "input">): readonly FileTouch[] {
  const action = FILE_TOOLS.get(name);
  const path = input["path"];
  if (action !== undefined) return typeof path === "string" && path !== "" ? [{ path, action }] : [];
  const calls: unknown = input["calls"];
  if (name !== "batch" || !Array.isArray(calls)) return [];
  return calls.flatMap((call: unknown) => {
    const { tool, input: inner } = (call ?? {}) as { readonly tool?: unknown; readonly input?: unknown };
    if (typeof tool !== "string" || tool === "batch" || typeof inner !== "object" || inner === null)
      return [];
    return fileTouchesOf({ name: tool, input: inner as { readonly [key: string]: unknown } });
  });
}

function addTouch(files: Map<string, Set<FileAction>>, path: string, action: FileAction): void {
  const actions = files.get(path) ?? new Set<FileAction>();
  files.delete(path);
  files.set(path, actions.add(action));
}

interface Note {
  readonly summary: string | undefined;
  readonly todo: string | undefined;
  readonly plan: string | undefined;
  readonly files: TouchedFiles;
}

interface NoteFacts extends Note {
  readonly now: number;
  readonly leftOut: number;
}

const OPEN = "<conversation_summary>";
const CLOSE = "</conversation_summary>";
const NOTE_START =
  /^<conversation_summary>\nOn [\d-]+ \d+ older messages of this conversation were left out /;
/** Maximum number of files in a note; those touched longest ago are omitted. */
const MAX_FILES = 200;

/** Replaces the removed messages, as a message of the user. The next compaction parses it. */
export function noteMessage({ now, leftOut: omitted, summary, todo, plan, files }: NoteFacts): UserMessage {
  const lead =
    summary === undefined
      ? "They could not be summarised: what is needed of them must be found out again."
      : "A summary stands in their place. Go on from there; do not ask for what it tells, and do not do again what is done.";
  return userMessage(
    [
      OPEN,
      `On ${new Date(now).toISOString().slice(0, 10)} ${omitted} older messages of this conversation were left out to make room. What the user wrote stands above word for word. ${lead}`,
      ...section("summary", summary),
      ...section("approved_plan", plan),
      ...section("todo_list", todo),
      ...section("files_touched", filesText(files)),
      CLOSE,
    ].join("\n"),
  );
}

export function readNote(message: Message): Note | undefined {
  if (message.role !== "user" || message.content.length !== 1) return undefined;
  const text = messageText(message);
  if (!NOTE_START.test(text) || !text.endsWith(CLOSE)) return undefined;
  return {
    summary: sectionOf(text, "summary"),
    todo: sectionOf(text, "todo_list"),
    plan: sectionOf(text, "approved_plan"),
    files: filesIn(sectionOf(text, "files_touched") ?? ""),
  };
}

/** Tags of a note, which a model may repeat, would mislead the next reader if they stood in its text. */
const TAGS = /^<(\/?(?:conversation_summary|summary|approved_plan|todo_list|files_touched)>)/gm;

function section(name: string, text: string | undefined): readonly string[] {
  if (text === undefined || text.trim() === "") return [];
  return [`<${name}>`, text.trim().replaceAll(TAGS, "< $1"), `</${name}>`];
}

function sectionOf(text: string, name: string): string | undefined {
  const start = text.indexOf(`\n<${name}>\n`);
  if (start < 0) return undefined;
  const from = start + name.length + 4;
  const end = text.indexOf(`\n</${name}>`, from);
  return end < 0 ? undefined : text.slice(from, end);
}

function filesText(files: TouchedFiles): string {
  return [...files]
    .slice(-MAX_FILES)
    .map(
      ([path, actions]) =>
        `- ${[...actions].join(", ")}: ${/[\r\n]/.test(path) ? JSON.stringify(path) : path}`,
    )
    .join("\n");
}

const ACTIONS: readonly string[] = ["read", "written", "edited"] satisfies readonly FileAction[];

function filesIn(text: string): TouchedFiles {
  const files = new Map<string, ReadonlySet<FileAction>>();
  for (const [, words = "", path = ""] of text.matchAll(/^- ([a-z, ]+): (.+)$/gm)) {
    const actions = words.split(", ").filter((word): word is FileAction => ACTIONS.includes(word));
    if (actions.length > 0) files.set(path, new Set(actions));
  }
  return files;
}

/** The messages a compaction takes over word for word from those it replaces. */
export interface PinnedMessages {
  /** The user's words, oldest first: the messages themselves, without any results of calls in them. */
  readonly userMessages: readonly UserMessage[];
  /** The todo list as last written; undefined if there is none. */
  readonly todo: string | undefined;
  readonly plan: string | undefined;
  readonly files: TouchedFiles;
}

const TODO_TOOL = "todo";
const PLAN_TOOL = "present_plan";

/** Collects the pinned parts of `messages`; those pinned by an earlier compaction come from its note. */
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
      ({ todo, plan } = { todo, plan, ...omitUndefined({ todo: note.todo, plan: note.plan }) });
      for (const [path, actions] of note.files) for (const action of actions) addTouch(files, path, action);
      continue;
    }
    for (const block of message.content) {
      const call = block.type === "tool_result" ? open.get(block.tool_use_id) : undefined;
      if (block.type !== "tool_result" || call === undefined || block.is_error === true) continue;
      if (call.name === TODO_TOOL) todo = todoText(call, textOf(block.content));
      plan = approvedPlan(call, textOf(block.content)) ?? plan;
      for (const { path, action } of fileTouchesOf(call)) addTouch(files, path, action);
    }
    const own = withoutResults(message);
    if (own !== undefined) userMessages.push(own);
  }
  return { userMessages, todo, plan, files };
}

function withoutResults(message: UserMessage): UserMessage | undefined {
  // Memories of other conversations are retrieved afresh each time.
  if (message.name === LONG_TERM_MEMORY) return undefined;
  const content = message.content.filter((block: UserBlock) => block.type !== "tool_result");
  if (content.length === 0) return undefined;
  return content.length === message.content.length ? message : { ...message, content };
}

/** The list in the call or, if the tool returned one, in the result. Undefined if all items are completed. */
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

function approvedPlan({ name, input }: ToolUseBlock, result: string): string | undefined {
  const { plan } = input;
  const isApproved = name === PLAN_TOOL && result.startsWith("Approved");
  return isApproved && typeof plan === "string" ? plan : undefined;
}

export function hasToolResults(message: Message): boolean {
  return (message.content as readonly ContentBlock[]).some((block) => block.type === "tool_result");
}
