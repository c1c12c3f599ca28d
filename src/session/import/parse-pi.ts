import { type Fields, fieldsOf, omitUndefined } from "../../core/base/json.ts";
import type { AssistantBlock } from "../../core/message/message.ts";
import {
  type Counts,
  callBlock,
  contentBlocks,
  type FinishWords,
  type ForeignItem,
  finishOf,
  type KindCount,
  listOf,
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
  "model_change",
  "thinking_level_change",
  "label",
  "session_info",
  "custom",
  "ephemeral",
  "context_transform",
]);

/**
 * A session file of pi: a header, then entries that form a tree by `id` and `parentId` (in old files a plain
 * list). The conversation is the path from the last entry to the first; a `compaction` replaces everything
 * before the entry that it names in `firstKeptEntryId`.
 */
export const parsePi: ParseForeign = (records, counts) => {
  const header = records.find(({ fields }) => fields["type"] === "session")?.fields ?? {};
  const entries = records.filter(({ fields }) => fields["type"] !== "session").map(({ fields }) => fields);
  const path = pathToLast(entries);
  counts.leftOut.add("entries of other branches", entries.length - path.length);
  const items = fromCompaction(path, counts.leftOut).flatMap((entry) => itemOf(entry, counts));
  return { sessionId: textField(header["id"]), cwd: textField(header["cwd"]), items };
};

function pathToLast(entries: readonly Fields[]): readonly Fields[] {
  if (entries.every((entry) => textField(entry["id"]) === undefined)) return entries;
  const positions = new Map(entries.map((entry, at) => [textField(entry["id"]), at]));
  const path: Fields[] = [];
  for (let at = entries.length - 1; at >= 0; ) {
    const entry = entries[at];
    if (entry === undefined) break;
    path.push(entry);
    const parent = textField(entry["parentId"]);
    if (parent === undefined && entry["parentId"] === null) break;
    const position = positions.get(parent);
    // If the parent's line is lost, the entry before it replaces it.
    at = position !== undefined && parent !== undefined && position < at ? position : at - 1;
  }
  return path.reverse();
}

/** The summary of the newest compaction, the messages it kept, and the later ones. */
function fromCompaction(path: readonly Fields[], leftOut: KindCount): readonly Fields[] {
  const at = path.findLastIndex((entry) => entry["type"] === "compaction");
  const compaction = path[at];
  if (compaction === undefined) return path;
  const first = path.findIndex(
    (entry) => entry["id"] !== undefined && entry["id"] === compaction["firstKeptEntryId"],
  );
  const from = first === -1 || first > at ? at : first;
  leftOut.add("entries before a compaction", from);
  return [compaction, ...path.slice(from, at), ...path.slice(at + 1)];
}

function itemOf(entry: Fields, counts: Counts): readonly ForeignItem[] {
  const { type } = entry;
  const time = timeField(entry["timestamp"]);
  if (type === "message") return messageItem(fieldsOf(entry["message"]), time, counts);
  if (type === "compaction" || type === "branch_summary")
    return programText(textField(entry["summary"]), time);
  if (type === "custom_message") {
    const content = contentBlocks(entry["content"], counts.unknown);
    return content.length === 0 ? [] : [{ type: "user", content, isInput: false, time }];
  }
  if (typeof type === "string" && SKIPPED_RECORDS.has(type)) counts.leftOut.add(`records of type ${type}`);
  else counts.unknown.add(`record ${String(type)}`);
  return [];
}

function programText(text: string | undefined, time: number | undefined): readonly ForeignItem[] {
  return text === undefined
    ? []
    : [{ type: "user", content: [{ type: "text", text }], isInput: false, time }];
}

function messageItem(message: Fields, recorded: number | undefined, counts: Counts): readonly ForeignItem[] {
  const time = timeField(message["timestamp"]) ?? recorded;
  switch (message["role"]) {
    case "user":
    case "custom":
    case "hookMessage": {
      const content = contentBlocks(message["content"], counts.unknown);
      return content.length === 0
        ? []
        : [{ type: "user", content, isInput: message["role"] === "user", time }];
    }
    case "assistant":
      return [assistantItem(message, time, counts)];
    case "toolResult":
      return [resultItem({ ...message, callId: message["toolCallId"] }, time, counts.unknown)];
    case "bashExecution":
      return programText(
        `Ran by the user: ${textField(message["command"]) ?? ""}\n${textField(message["output"]) ?? ""}`.trim(),
        time,
      );
    case "branchSummary":
    case "compactionSummary":
      return programText(textField(message["summary"]), time);
    default:
      counts.unknown.add(`message of role ${String(message["role"])}`);
      return [];
  }
}

function assistantItem(message: Fields, time: number | undefined, counts: Counts): ForeignItem {
  const isAnthropic = message["api"] === "anthropic-messages";
  return {
    type: "assistant",
    time,
    content: listOf(message["content"]).flatMap((block) =>
      assistantBlock(fieldsOf(block), counts, isAnthropic),
    ),
    model: `${textField(message["provider"]) ?? "unknown"}/${textField(message["model"]) ?? "unknown"}`,
    usage: usageFrom(message["usage"], USAGE),
    costUsd: costOf(message["usage"]),
    finish: finishOf(message["stopReason"], FINISHES),
  };
}

const FINISHES: FinishWords = {
  length: "length",
  aborted: "interrupted",
  error: "interrupted",
  toolUse: "tool_use",
};

function assistantBlock(block: Fields, { unknown }: Counts, isAnthropic: boolean): readonly AssistantBlock[] {
  switch (block["type"]) {
    case "text":
      return textBlocks(block["text"]);
    case "thinking": {
      const thinking = textField(block["thinking"]) ?? "";
      // Signatures of other providers have their own formats.
      const signature = isAnthropic ? textField(block["thinkingSignature"]) : undefined;
      if (isAnthropic && block["redacted"] === true)
        return signature === undefined ? [] : [{ type: "thinking", thinking: "", redacted: signature }];
      if (thinking === "") return [];
      return [{ type: "thinking", thinking, ...omitUndefined({ signature }) }];
    }
    case "toolCall":
      return [callBlock(block, block["arguments"])];
    default:
      unknown.add(`block ${String(block["type"])}`);
      return [];
  }
}

const USAGE: UsageFields = { input: "input", output: "output", read: "cacheRead", write: "cacheWrite" };

function costOf(value: unknown): number | undefined {
  const total = fieldsOf(fieldsOf(value)["cost"])["total"];
  return typeof total === "number" && Number.isFinite(total) && total > 0 ? total : undefined;
}
