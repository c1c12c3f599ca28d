import { type Fields, fieldsOf, parseToolInput } from "../../core/base/json.ts";
import {
  type AssistantBlock,
  type ToolUseBlock,
  tokenCount,
  type Usage,
} from "../../core/message/message.ts";
import {
  type Counts,
  contentBlocks,
  type ForeignItem,
  type KindCount,
  listOf,
  type ParsedSession,
  type ParseForeign,
  resultItem,
  textField,
  timeField,
  toolName,
} from "./foreign-session.ts";

/**
 * A session file of Codex (a rollout): lines `{ timestamp, type, payload }`, or in old files only the
 * payloads. `response_item` holds the conversation, `turn_context` the model, `token_count` the usage of the
 * answer before it; `compacted` replaces everything before it, `thread_rolled_back` removes turns.
 */
export const parseCodex: ParseForeign = (records, counts) => {
  const reader = new CodexReader(counts);
  for (const { fields } of records) reader.apply(fields);
  return reader.session();
};

class CodexReader {
  readonly #leftOut: KindCount;
  readonly #unknown: KindCount;
  #items: ForeignItem[] = [];
  #sessionId: string | undefined;
  #cwd: string | undefined;
  #provider = "openai";
  #model = "unknown";
  #lastTotal = "";

  constructor({ leftOut, unknown }: Counts) {
    this.#leftOut = leftOut;
    this.#unknown = unknown;
  }

  session(): ParsedSession {
    return { sessionId: this.#sessionId, cwd: this.#cwd, items: this.#items };
  }

  apply(fields: Fields): void {
    const time = timeField(fields["timestamp"]);
    const payload = fieldsOf(fields["payload"]);
    switch (fields["type"]) {
      case "session_meta":
        this.#readMeta(payload);
        return;
      case "turn_context":
        this.#model = textField(payload["model"]) ?? this.#model;
        this.#cwd ??= textField(payload["cwd"]);
        return;
      case "response_item":
        this.#item(payload, time);
        return;
      case "event_msg":
        this.#event(payload);
        return;
      case "compacted":
        this.#compact(payload, time);
        return;
      case "world_state":
        this.#leftOut.add("records of type world_state");
        return;
      case undefined:
        if (fields["record_type"] !== undefined) this.#leftOut.add("state records");
        else this.#readMeta(fields);
        return;
      default:
        // Old files hold the items themselves.
        this.#item(fields, time);
    }
  }

  #readMeta(meta: Fields): void {
    this.#sessionId ??= textField(meta["id"]);
    this.#cwd ??= textField(meta["cwd"]);
    this.#provider = textField(meta["model_provider"]) ?? this.#provider;
  }

  #event(payload: Fields): void {
    const type = payload["type"];
    if (type === "token_count") this.#usage(fieldsOf(payload["info"]));
    else if (type === "thread_rolled_back") this.#rollBack(tokenCount(payload["num_turns"]));
    else this.#leftOut.add("records for the screen (event_msg)");
  }

  #usage(info: Fields): void {
    const total = JSON.stringify(info["total_token_usage"] ?? null);
    const last = fieldsOf(info["last_token_usage"]);
    // The same figures are repeated if only the rate limits changed.
    if (total === this.#lastTotal || Object.keys(last).length === 0) return;
    this.#lastTotal = total;
    const at = this.#items.findLastIndex(({ type }) => type === "assistant");
    const answer = this.#items[at];
    if (answer?.type === "assistant" && answer.usage === undefined)
      this.#items[at] = { ...answer, usage: usageOf(last) };
  }

  #rollBack(turns: number): void {
    for (let left = turns; left > 0; left--) {
      const at = this.#items.findLastIndex((item) => item.type === "user" && item.isInput);
      if (at === -1) return;
      this.#leftOut.add("turns that were undone");
      this.#items.length = at;
    }
  }

  #compact(payload: Fields, time: number | undefined): void {
    this.#leftOut.add("messages before a compaction", this.#items.length);
    this.#items = [];
    const replacement = listOf(payload["replacement_history"]);
    for (const item of replacement) this.#item(fieldsOf(item), time);
    const summary = textField(payload["message"]);
    if (replacement.length === 0 && summary !== undefined)
      this.#items.push({ type: "user", content: [{ type: "text", text: summary }], isInput: false, time });
  }

  #item(item: Fields, time: number | undefined): void {
    switch (item["type"]) {
      case "message":
        this.#message(item, time);
        return;
      case "reasoning":
        this.#reasoning(item, time);
        return;
      case "function_call":
      case "custom_tool_call":
      case "local_shell_call":
        this.#addBlock(time, callBlock(item));
        return;
      case "function_call_output":
      case "custom_tool_call_output":
      case "local_shell_call_output":
        this.#output(item, time);
        return;
      default:
        if (typeof item["type"] === "string" && SKIPPED_ITEMS.has(item["type"]))
          this.#leftOut.add(`items of type ${item["type"]}`);
        else this.#unknown.add(`item ${String(item["type"])}`);
    }
  }

  #message(item: Fields, time: number | undefined): void {
    const blocks = contentBlocks(item["content"], this.#unknown);
    if (item["role"] === "assistant") {
      for (const block of blocks) if (block.type === "text") this.#addBlock(time, block);
    } else if (item["role"] === "user") {
      const [first] = blocks;
      if (first?.type === "text" && isProgramText(first.text)) this.#leftOut.add("context of the program");
      else if (blocks.length > 0) this.#items.push({ type: "user", content: blocks, isInput: true, time });
    } else this.#leftOut.add("instructions of the program");
  }

  #reasoning(item: Fields, time: number | undefined): void {
    const texts = [...listOf(item["summary"]), ...listOf(item["content"])]
      .map((part) => textField(fieldsOf(part)["text"]))
      .filter((text) => text !== undefined);
    if (texts.length === 0) this.#leftOut.add("hidden reasoning");
    else this.#addBlock(time, { type: "thinking", thinking: texts.join("\n\n") });
  }

  #output(item: Fields, time: number | undefined): void {
    const output = item["output"];
    const fields = fieldsOf(output);
    const isError = fields["success"] === false;
    const content =
      typeof output === "string" || Array.isArray(output)
        ? output
        : (fields["content_items"] ?? fields["content"]);
    this.#items.push(resultItem({ callId: item["call_id"], content, isError }, time, this.#unknown));
  }

  /** As a separate answer: consecutive answers are joined later. */
  #addBlock(time: number | undefined, block: AssistantBlock): void {
    const model = `${this.#provider}/${this.#model}`;
    this.#items.push({ type: "assistant", content: [block], model, finish: "stop", time });
  }
}

/** Kinds of items that another model could not use. */
const SKIPPED_ITEMS: ReadonlySet<string> = new Set([
  "web_search_call",
  "image_generation_call",
  "tool_search_call",
  "tool_search_output",
  "ghost_snapshot",
  "compaction",
  "context_compaction",
]);

function callBlock(item: Fields): ToolUseBlock {
  const id = textField(item["call_id"]) ?? textField(item["id"]) ?? "";
  const block = { type: "tool_use", id, name: toolName(item["name"] ?? "shell") } as const;
  if (item["type"] === "local_shell_call")
    return { ...block, name: "shell", input: fieldsOf(item["action"]) };
  if (item["type"] === "custom_tool_call")
    return { ...block, input: { input: textField(item["input"]) ?? "" } };
  const given = textField(item["arguments"]) ?? "";
  const { input, invalid_input: invalid } = parseToolInput(given);
  // The call has a result nevertheless: its arguments are imported as text.
  return { ...block, input: invalid === undefined ? input : { arguments: given } };
}

/** True if the program itself wrote a user message. */
function isProgramText(text: string): boolean {
  return /^(?:<(?:environment_context|user_instructions|permissions instructions|skills_instructions|INSTRUCTIONS)>|# AGENTS\.md instructions)/.test(
    text.trimStart(),
  );
}

function usageOf(usage: Fields): Usage {
  return {
    inputTokens: tokenCount(usage["input_tokens"]),
    outputTokens: tokenCount(usage["output_tokens"]),
    cacheReadTokens: tokenCount(usage["cached_input_tokens"]),
    reasoningTokens: tokenCount(usage["reasoning_output_tokens"]),
  };
}
