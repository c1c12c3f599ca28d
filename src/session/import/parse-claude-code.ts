import { type Fields, fieldsOf, omitUndefined } from "../../core/base/json.ts";
import type { AssistantBlock, Usage, UserBlock } from "../../core/message/message.ts";
import {
  type Counts,
  callBlock,
  contentBlocks,
  type FinishWords,
  type ForeignItem,
  type ForeignRecord,
  finishOf,
  type KindCount,
  listOf,
  type MutableAnswer,
  type ParseForeign,
  resultItem,
  textBlocks,
  textField,
  timeField,
  type UsageFields,
  usageFrom,
} from "./foreign-session.ts";

/** Kinds of records that the model never saw. */
const SKIPPED_RECORDS: ReadonlySet<string> = new Set([
  "system",
  "summary",
  "custom-title",
  "ai-title",
  "agent-name",
  "tag",
  "last-prompt",
  "mode",
  "permission-mode",
  "pr-link",
  "file-history-snapshot",
  "queue-operation",
  "progress",
  "attachment",
  "attribution-snapshot",
]);

/**
 * A session file of Claude Code: one record per line, joined to a tree by `uuid` and `parentUuid`. The
 * conversation is the path from the last message back to the first, or to its compaction. One answer spans
 * records that share `message.id`; answers to parallel calls may be off the path.
 */
export const parseClaudeCode: ParseForeign = (records, counts) => {
  // A subagent's file holds nothing else.
  const isSubagent = records.every(
    ({ fields }) => !isUserOrAssistant(fields) || fields["isSidechain"] === true,
  );
  const messages = records.filter(({ fields }) => isMessage(fields, counts, isSubagent));
  const path = conversation(records, messages);
  counts.leftOut.add("messages of other branches, or before a compaction", messages.length - path.length);
  const first = path[0]?.fields ?? {};
  return {
    sessionId: textField(first["sessionId"]),
    cwd: textField(first["cwd"]),
    items: itemsOf(path, counts),
  };
};

function isUserOrAssistant({ type }: Fields): boolean {
  return type === "user" || type === "assistant";
}

function isMessage(fields: Fields, { leftOut, unknown }: Counts, isSubagent: boolean): boolean {
  const { type } = fields;
  if (isUserOrAssistant(fields)) {
    if (fields["isSidechain"] === true && !isSubagent) leftOut.add("messages of subagents");
    else if (fields["isApiErrorMessage"] === true) leftOut.add("reports of failed requests");
    else if (fields["isVisibleInTranscriptOnly"] === true && fields["isCompactSummary"] !== true)
      leftOut.add("messages for the screen");
    else return true;
    return false;
  }
  if (typeof type === "string" && SKIPPED_RECORDS.has(type)) leftOut.add(`records of type ${type}`);
  else unknown.add(`record ${String(type)}`);
  return false;
}

function conversation(
  records: readonly ForeignRecord[],
  messages: readonly ForeignRecord[],
): readonly ForeignRecord[] {
  const byId = new Map<string, ForeignRecord>();
  for (const record of records) {
    const id = textField(record.fields["uuid"]);
    if (id !== undefined && !byId.has(id)) byId.set(id, record);
  }
  const path = new Set<ForeignRecord>();
  let position = messages.length - 1;
  /** The message before a record. The path only leads backwards, so no position is checked twice. */
  const messageBefore = ({ line }: ForeignRecord): ForeignRecord | undefined => {
    while (position >= 0 && (messages[position]?.line ?? 0) >= line) position--;
    return messages[position];
  };
  for (let at = messages.at(-1); at !== undefined && !path.has(at); at = before(at, byId, messageBefore))
    path.add(at);
  const answers = new Set<string>();
  const calls = new Set<string>();
  for (const record of path) collectIds(record, answers, calls);
  // A second pass, since a call off the path brings in its result.
  for (const record of messages) if (isPartOf(record, answers, calls)) collectIds(record, answers, calls);
  const seen = new Set<string>();
  return messages.filter((record) => {
    const id = textField(record.fields["uuid"]);
    if (id !== undefined && seen.has(id)) return false;
    if (id !== undefined) seen.add(id);
    return path.has(record) || isPartOf(record, answers, calls);
  });
}

function before(
  record: ForeignRecord,
  byId: ReadonlyMap<string, ForeignRecord>,
  messageBefore: (record: ForeignRecord) => ForeignRecord | undefined,
): ForeignRecord | undefined {
  const parent = record.fields["parentUuid"];
  if (parent === null || parent === undefined) return undefined;
  const found = typeof parent === "string" ? byId.get(parent) : undefined;
  // If the parent's line is lost, the message before the record replaces it.
  if (found !== undefined && found.line < record.line) return found;
  return messageBefore(record);
}

function collectIds({ fields }: ForeignRecord, answers: Set<string>, calls: Set<string>): void {
  if (fields["type"] !== "assistant") return;
  const message = fieldsOf(fields["message"]);
  const id = textField(message["id"]);
  if (id !== undefined) answers.add(id);
  for (const block of listOf(message["content"])) {
    const call = textField(fieldsOf(block)["id"]);
    if (call !== undefined) calls.add(call);
  }
}

function isPartOf(
  { fields }: ForeignRecord,
  answers: ReadonlySet<string>,
  calls: ReadonlySet<string>,
): boolean {
  const message = fieldsOf(fields["message"]);
  if (fields["type"] === "assistant") return answers.has(textField(message["id"]) ?? "");
  const blocks = listOf(message["content"]).map(fieldsOf);
  return (
    blocks.length > 0 &&
    blocks.every((block) => block["type"] === "tool_result" && calls.has(String(block["tool_use_id"])))
  );
}

function itemsOf(path: readonly ForeignRecord[], counts: Counts): readonly ForeignItem[] {
  const itemsOf: ForeignItem[] = [];
  const positions = new Map<string, { readonly at: number; answer: MutableAnswer }>();
  for (const { fields } of path) {
    const message = fieldsOf(fields["message"]);
    const time = timeField(fields["timestamp"]);
    if (fields["type"] === "user") {
      const isInput = fields["isMeta"] !== true;
      for (const item of userItems(message, time, isInput, counts.unknown)) itemsOf.push(item);
      continue;
    }
    const answer = assistantItem(message, time, counts);
    const id = textField(message["id"]);
    const position = id === undefined ? undefined : positions.get(id);
    if (position === undefined) {
      if (id !== undefined) positions.set(id, { at: itemsOf.length, answer });
      itemsOf.push(answer);
    } else {
      position.answer = {
        ...answer,
        usage: largerUsage(position.answer.usage, answer.usage),
        content: position.answer.content,
      };
      for (const block of answer.content) position.answer.content.push(block);
      itemsOf[position.at] = position.answer;
    }
  }
  return itemsOf;
}

/** The records of one answer repeat its usage, earlier ones with partial values. */
function largerUsage(left: Usage | undefined, right: Usage | undefined): Usage | undefined {
  if (left === undefined || right === undefined) return left ?? right;
  return right.inputTokens + right.outputTokens >= left.inputTokens + left.outputTokens ? right : left;
}

function userItems(
  message: Fields,
  time: number | undefined,
  isInput: boolean,
  unknown: KindCount,
): readonly ForeignItem[] {
  const content = message["content"];
  const results = listOf(content)
    .map(fieldsOf)
    .filter((block) => block["type"] === "tool_result");
  const remaining =
    typeof content === "string"
      ? content
      : listOf(content).filter((block) => fieldsOf(block)["type"] !== "tool_result");
  const blocks: readonly UserBlock[] = contentBlocks(remaining, unknown);
  return [
    ...results.map(({ tool_use_id: callId, content: output, is_error: isError }) =>
      resultItem({ callId, content: output, isError }, time, unknown),
    ),
    ...(blocks.length === 0 ? [] : [{ type: "user", content: blocks, isInput, time } as const]),
  ];
}

function assistantItem(message: Fields, time: number | undefined, counts: Counts): MutableAnswer {
  return {
    type: "assistant",
    time,
    content: listOf(message["content"]).flatMap((block) => assistantBlock(fieldsOf(block), counts)),
    model: `anthropic/${textField(message["model"]) ?? "unknown"}`,
    usage: usageFrom(message["usage"], USAGE),
    finish: finishOf(message["stop_reason"], FINISHES),
  };
}

const FINISHES: FinishWords = { max_tokens: "length", refusal: "refusal", tool_use: "tool_use" };

function assistantBlock(block: Fields, { leftOut, unknown }: Counts): readonly AssistantBlock[] {
  switch (block["type"]) {
    case "text":
      return textBlocks(block["text"]);
    case "thinking": {
      const thinking = textField(block["thinking"]) ?? "";
      const signature = textField(block["signature"]);
      if (thinking === "" && signature === undefined) return [];
      return [{ type: "thinking", thinking, ...omitUndefined({ signature }) }];
    }
    case "redacted_thinking": {
      const redacted = textField(block["data"]);
      return redacted === undefined ? [] : [{ type: "thinking", thinking: "", redacted }];
    }
    case "tool_use":
      return [callBlock(block, block["input"])];
    case "server_tool_use":
    case "web_search_tool_result":
      leftOut.add(`blocks of type ${block["type"]}`);
      return [];
    default:
      unknown.add(`block ${String(block["type"])}`);
      return [];
  }
}

const USAGE: UsageFields = {
  input: "input_tokens",
  output: "output_tokens",
  read: "cache_read_input_tokens",
  write: "cache_creation_input_tokens",
};
