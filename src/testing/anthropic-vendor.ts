import { type Fields, isRecord } from "../core/base/json.ts";
import type { FieldsByType, ObjectAt, Violations } from "./request-violations.ts";
import {
  createRenderer,
  deltas,
  namedEvent,
  renderCall,
  statusOf,
  type Vendor,
  type VendorError,
} from "./vendor.ts";

/** The Messages API (https://docs.anthropic.com/en/api/messages and …/build-with-claude/streaming). */
export const anthropicVendor: Vendor = {
  check: (body, issues) => {
    issues.checkField("model", body["model"], "filled");
    const maxTokens = body["max_tokens"];
    if (!Number.isInteger(maxTokens) || Number(maxTokens) < 1)
      issues.add("max_tokens", "must be a whole number from 1");
    if (body["system"] !== undefined && typeof body["system"] !== "string")
      checkBlocks("system", body["system"], issues);
    if (body["tools"] !== undefined) checkTools(body["tools"], issues);
    if (isRecord(body["tool_choice"])) issues.checkToolChoice(body["tool_choice"]["name"]);
    if (countCacheMarks(body) > MAX_CACHE_MARKS)
      issues.add("body", `has more than ${MAX_CACHE_MARKS} cache_control marks`);
    checkSampling(body, issues);
    checkMessages(issues.nonEmptyObjects("messages", body["messages"], "are empty"), issues);
  },
  error: (error) => ({ ...errorOf(error), request_id: "req_scripted" }),
  render: createRenderer(
    { stop: "end_turn", tool_use: "tool_use", length: "max_tokens", refusal: "refusal", pause: "pause_turn" },
    (context, usage) => {
      const { inputTokens, cacheReadTokens = 0, cacheWriteTokens = 0, cacheWrite1hTokens = 0 } = usage;
      let index = 0;
      return {
        begin: () => [
          event("message_start", {
            message: {
              id: `msg_${context.number}`,
              type: "message",
              role: "assistant",
              model: context.model,
              content: [],
              stop_reason: null,
              stop_sequence: null,
              usage: {
                input_tokens: inputTokens - cacheReadTokens - cacheWriteTokens,
                cache_creation_input_tokens: cacheWriteTokens,
                cache_read_input_tokens: cacheReadTokens,
                cache_creation: {
                  ephemeral_5m_input_tokens: cacheWriteTokens - cacheWrite1hTokens,
                  ephemeral_1h_input_tokens: cacheWrite1hTokens,
                },
                output_tokens: 1,
                service_tier: "standard",
              },
            },
          }),
          event("ping", {}),
        ],
        *say(piece) {
          const start = (content_block: Fields): string =>
            event("content_block_start", { index, content_block });
          const delta = (data: Fields): string => event("content_block_delta", { index, delta: data });
          if (piece.type === "says") {
            yield start({ type: "text", text: "" });
            for (const text of deltas(piece.text, context)) yield delta({ type: "text_delta", text });
          } else if (piece.type === "thinks") {
            const { text, signature } = piece;
            yield start({ type: "thinking", thinking: "", signature: "" });
            for (const thinking of deltas(text, context)) yield delta({ type: "thinking_delta", thinking });
            if (signature !== undefined) yield delta({ type: "signature_delta", signature });
          } else {
            const { id, name, json } = renderCall(piece, context);
            yield start({ type: "tool_use", id, name, input: {} });
            for (const partial_json of ["", ...deltas(json, context)])
              yield delta({ type: "input_json_delta", partial_json });
          }
          yield event("content_block_stop", { index });
          index += 1;
        },
        fail: (error) => namedEvent("error", errorOf(error)),
        end: (stop_reason) => [
          event("message_delta", {
            delta: { stop_reason, stop_sequence: null },
            usage: { output_tokens: usage.outputTokens },
          }),
          event("message_stop", {}),
        ],
      };
    },
  ),
};

function event(type: string, data: Fields): string {
  return namedEvent(type, { type, ...data });
}

/** https://docs.anthropic.com/en/api/errors. */
function errorOf(error: VendorError): Fields {
  const type = ERROR_TYPES[statusOf(error)] ?? "api_error";
  return { type: "error", error: { type, message: error.message } };
}

const ERROR_TYPES: { readonly [status: number]: string } = {
  400: "invalid_request_error",
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  500: "api_error",
  504: "timeout_error",
  529: "overloaded_error",
};

const MAX_CACHE_MARKS = 4;

/** Options that cannot be combined with extended thinking. */
function checkSampling(body: Fields, issues: Violations): void {
  const { thinking, temperature, top_k, top_p, tool_choice, max_tokens } = body;
  const type = isRecord(thinking) ? thinking["type"] : undefined;
  if (type !== "enabled" && type !== "adaptive") return;
  if (temperature !== undefined && temperature !== 1)
    issues.add("temperature", "may only be 1 while the model thinks");
  if (top_k !== undefined) issues.add("top_k", "is not allowed while the model thinks");
  if (top_p !== undefined && !(Number(top_p) >= 0.95 && Number(top_p) <= 1))
    issues.add("top_p", "must be from 0.95 to 1 while the model thinks");
  if (isRecord(tool_choice) && /^(?:any|tool)$/.test(String(tool_choice["type"])))
    issues.add("tool_choice", "forces a tool, which is not allowed while the model thinks");
  if (type === "enabled" && isRecord(thinking)) checkBudget(thinking["budget_tokens"], max_tokens, issues);
}

function checkBudget(budget: unknown, max_tokens: unknown, issues: Violations): void {
  if (!Number.isInteger(budget) || Number(budget) < 1_024)
    issues.add("thinking.budget_tokens", "must be a whole number from 1024");
  else if (Number(budget) >= Number(max_tokens))
    issues.add("thinking.budget_tokens", "must be less than max_tokens");
}

function checkTools(tools: unknown, issues: Violations): void {
  for (const [where, { type, name, input_schema }] of issues.objects("tools", tools)) {
    // The vendor's own tools have a type and no schema.
    if (type !== undefined && type !== "custom") issues.addVendorTool(name);
    else {
      issues.checkTool(where, name, input_schema);
      issues.checkPlainSchema(where, input_schema);
    }
  }
}

function checkMessages(messages: readonly ObjectAt[], issues: Violations): void {
  let open: readonly string[] = [];
  for (const [at, [where, { role, content }]] of messages.entries()) {
    // Adjacent messages of one role count as one, and either role may come first.
    if (role !== "user" && role !== "assistant")
      issues.add(where, `has role ${JSON.stringify(role)}; there are user and assistant`);
    const blocks = contentBlocks(`${where}.content`, content, issues);
    const results = blocks.filter((block) => block["type"] === "tool_result");
    if (role === "user") {
      const answeredIds = results.map((block) => block["tool_use_id"]);
      issues.checkAnswers(where, open, answeredIds);
      if (blocks.slice(0, results.length).some((block) => block["type"] !== "tool_result"))
        issues.add(where, "has other content before its tool results");
      open = [];
    } else {
      if (results.length > 0) issues.add(where, "has tool results in an assistant message");
      open = blocks.filter(({ type }) => type === "tool_use").map(({ id }) => String(id));
      const text = blocks.at(-1)?.["text"];
      if (at === messages.length - 1 && typeof text === "string" && text !== text.trimEnd())
        issues.add(where, "is the last message and ends with blanks");
    }
  }
  if (open.length > 0) issues.add("messages", `end without an answer to the call ${open.join(", ")}`);
}

function contentBlocks(where: string, content: unknown, issues: Violations): readonly Fields[] {
  if (typeof content !== "string") return checkBlocks(where, content, issues);
  issues.checkField(where, content, "words");
  return [{ type: "text", text: content }];
}

function checkBlocks(where: string, content: unknown, issues: Violations): readonly Fields[] {
  return issues.nonEmptyObjects(where, content).map(([path, block]) => {
    checkBlock(path, block, issues);
    return block;
  });
}

/** Calls of tools that run at the vendor, their results, and other blocks only the vendor can read. */
const VENDOR_CALL = { id: "callId", name: "filled", input: "object" } as const;
const VENDOR_RESULTS =
  "advisor bash_code_execution code_execution mcp text_editor_code_execution tool_search web_fetch web_search";

const BLOCKS: FieldsByType = {
  text: { text: "words" },
  thinking: { thinking: "text", signature: "filled" },
  redacted_thinking: { data: "filled" },
  image: { source: "object" },
  document: { source: "object" },
  tool_use: { id: "callId", name: "toolName", input: "object" },
  tool_result: {},
  server_tool_use: VENDOR_CALL,
  mcp_tool_use: VENDOR_CALL,
  compaction: {},
  container_upload: {},
  search_result: {},
  tool_reference: {},
  ...Object.fromEntries(
    VENDOR_RESULTS.split(" ").map((name) => [`${name}_tool_result`, { tool_use_id: "filled" as const }]),
  ),
};

const SOURCES: FieldsByType = {
  base64: { data: "filled" },
  url: { url: "filled" },
  file: { file_id: "filled" },
};

function checkBlock(where: string, block: Fields, issues: Violations): void {
  const { type, id, source, content } = block;
  issues.checkTyped(where, block, BLOCKS);
  if (type === "tool_use" && typeof id === "string" && !/^[a-zA-Z0-9_-]*$/.test(id))
    issues.add(`${where}.id`, "has other characters than a-z A-Z 0-9 _ -");
  if (type === "image" && isRecord(source)) {
    issues.checkTyped(`${where}.source`, source, SOURCES);
    if (source["type"] === "base64" && !/^image\/(?:jpeg|png|gif|webp)$/.test(String(source["media_type"])))
      issues.add(`${where}.source.media_type`, "is not an image type that is taken");
  }
  if (type !== "tool_result" || content === undefined || typeof content === "string") return;
  for (const [path, part] of issues.objects(`${where}.content`, content)) {
    checkBlock(path, part, issues);
    if (block["is_error"] === true && part["type"] !== "text")
      issues.add(path, "is not a text, and the result is an error");
  }
}

function countCacheMarks(value: unknown): number {
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + countCacheMarks(item), 0);
  if (!isRecord(value)) return 0;
  let count = isRecord(value["cache_control"]) ? 1 : 0;
  for (const key of ["system", "tools", "messages", "content"]) count += countCacheMarks(value[key]);
  return count;
}
