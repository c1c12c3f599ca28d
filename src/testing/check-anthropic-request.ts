import { type Fields, isRecord } from "../core/base/json.ts";
import { type Violations } from "./request-violations.ts";

/** Cache marks one request may have. */
const MAX_CACHE_MARKS = 4;

/** Violations of the Messages API (https://docs.anthropic.com/en/api/messages). */
export function checkAnthropicRequest(body: Fields, found: Violations): void {
  found.nonEmpty("model", body["model"]);
  const maxTokens = body["max_tokens"];
  if (!Number.isInteger(maxTokens) || Number(maxTokens) < 1)
    found.add("max_tokens", "must be a whole number from 1");
  if (body["system"] !== undefined && typeof body["system"] !== "string")
    checkBlocks("system", body["system"], found);
  if (body["tools"] !== undefined) checkTools(body["tools"], found);
  if (isRecord(body["tool_choice"])) found.toolChoice(body["tool_choice"]["name"]);
  if (countCacheMarks(body) > MAX_CACHE_MARKS)
    found.add("body", `has more than ${MAX_CACHE_MARKS} cache_control marks`);
  checkSampling(body, found);
  checkMessages(found.someObjects("messages", body["messages"], "are empty"), found);
}

/** Options that extended thinking excludes. */
function checkSampling(body: Fields, found: Violations): void {
  const { thinking, temperature, top_k, top_p, tool_choice, max_tokens } = body;
  const type = isRecord(thinking) ? thinking["type"] : undefined;
  if (type !== "enabled" && type !== "adaptive") return;
  if (temperature !== undefined && temperature !== 1)
    found.add("temperature", "may only be 1 while the model thinks");
  if (top_k !== undefined) found.add("top_k", "is not allowed while the model thinks");
  if (top_p !== undefined && !(Number(top_p) >= 0.95 && Number(top_p) <= 1))
    found.add("top_p", "must be from 0.95 to 1 while the model thinks");
  if (isRecord(tool_choice) && /^(?:any|tool)$/.test(String(tool_choice["type"])))
    found.add("tool_choice", "forces a tool, which is not allowed while the model thinks");
  if (type === "enabled" && isRecord(thinking)) checkBudget(thinking["budget_tokens"], max_tokens, found);
}

function checkBudget(budget: unknown, maxTokens: unknown, found: Violations): void {
  if (!Number.isInteger(budget) || Number(budget) < 1_024)
    found.add("thinking.budget_tokens", "must be a whole number from 1024");
  else if (Number(budget) >= Number(maxTokens))
    found.add("thinking.budget_tokens", "must be less than max_tokens");
}

function checkTools(tools: unknown, found: Violations): void {
  for (const [where, tool] of found.objects("tools", tools)) {
    // Tools of the vendor itself have a type and no schema.
    if (tool["type"] === undefined || tool["type"] === "custom")
      found.tool(where, { name: tool["name"], schema: tool["input_schema"] });
    else found.vendorTool(tool["name"]);
  }
}

function checkMessages(messages: readonly (readonly [string, Fields])[], found: Violations): void {
  let open: readonly string[] = [];
  for (const [at, [where, message]] of messages.entries()) {
    // Neighbours of one role count as one message, and either may begin.
    if (message["role"] !== "user" && message["role"] !== "assistant")
      found.add(where, `has role ${JSON.stringify(message["role"])}; there are user and assistant`);
    const blocks = contentBlocks(where, message["content"], found);
    const results = blocks.filter(([, block]) => block["type"] === "tool_result");
    if (message["role"] === "user") {
      found.answers(
        where,
        open,
        results.map(([, block]) => block["tool_use_id"]),
      );
      if (blocks.slice(0, results.length).some(([, block]) => block["type"] !== "tool_result")) {
        found.add(where, "has other content before its tool results");
      }
      open = [];
    } else {
      if (results.length > 0) found.add(where, "has tool results in an assistant message");
      open = blocks.flatMap(([, block]) =>
        block["type"] === "tool_use" && typeof block["id"] === "string" ? [block["id"]] : [],
      );
      if (at === messages.length - 1) checkPrefill(where, blocks, found);
    }
  }
  if (open.length > 0) found.add("messages", `end without an answer to the call ${open.join(", ")}`);
}

function checkPrefill(
  where: string,
  blocks: readonly (readonly [string, Fields])[],
  found: Violations,
): void {
  const text = blocks.at(-1)?.[1]["text"];
  if (typeof text === "string" && text !== text.trimEnd())
    found.add(where, "is the last message and ends with blanks");
}

function contentBlocks(
  where: string,
  content: unknown,
  found: Violations,
): readonly (readonly [string, Fields])[] {
  if (typeof content !== "string") return checkBlocks(`${where}.content`, content, found);
  if (content.trim() === "") found.add(`${where}.content`, "is empty");
  return [[`${where}.content`, { type: "text", text: content }]];
}

function checkBlocks(
  where: string,
  content: unknown,
  found: Violations,
): readonly (readonly [string, Fields])[] {
  const blocks = found.someObjects(where, content);
  for (const [place, block] of blocks) checkBlock(place, block, found);
  return blocks;
}

function checkBlock(where: string, block: Fields, found: Violations): void {
  switch (block["type"]) {
    case "text":
      if (typeof block["text"] !== "string" || block["text"].trim() === "")
        found.add(where, "is a text block without text");
      return;
    case "thinking":
      if (typeof block["thinking"] !== "string") found.add(where, "is a thinking block without thinking");
      found.nonEmpty(`${where}.signature`, block["signature"]);
      return;
    case "redacted_thinking":
      found.nonEmpty(`${where}.data`, block["data"]);
      return;
    case "image":
      checkImage(where, block["source"], found);
      return;
    case "tool_use":
      found.callId(`${where}.id`, block["id"]);
      if (typeof block["id"] === "string" && !/^[a-zA-Z0-9_-]+$/.test(block["id"]))
        found.add(`${where}.id`, "has other characters than a-z A-Z 0-9 _ -");
      found.toolName(`${where}.name`, block["name"]);
      if (!isRecord(block["input"])) found.add(`${where}.input`, "is not an object");
      return;
    case "tool_result":
      checkResult(where, block, found);
      return;
    default:
      checkVendorBlock(where, block, found);
  }
}

/** Calls of tools that run at the vendor, and what comes of them. */
const VENDOR_CALLS: ReadonlySet<unknown> = new Set(["server_tool_use", "mcp_tool_use"]);
const VENDOR_RESULTS: ReadonlySet<unknown> = new Set(
  "advisor bash_code_execution code_execution mcp text_editor_code_execution tool_search web_fetch web_search"
    .split(" ")
    .map((name) => `${name}_tool_result`),
);
/** Others that only the vendor looks into. */
const VENDOR_BLOCKS: ReadonlySet<unknown> = new Set([
  "compaction",
  "container_upload",
  "search_result",
  "tool_reference",
]);

function checkVendorBlock(where: string, block: Fields, found: Violations): void {
  const { type } = block;
  if (VENDOR_CALLS.has(type)) {
    found.callId(`${where}.id`, block["id"]);
    found.nonEmpty(`${where}.name`, block["name"]);
    if (!isRecord(block["input"])) found.add(`${where}.input`, "is not an object");
  } else if (VENDOR_RESULTS.has(type)) found.nonEmpty(`${where}.tool_use_id`, block["tool_use_id"]);
  else if (type === "document") {
    if (!isRecord(block["source"])) found.add(`${where}.source`, "is not an object");
  } else if (!VENDOR_BLOCKS.has(type)) found.add(where, `has the unknown type ${JSON.stringify(type)}`);
}

function checkResult(where: string, block: Fields, found: Violations): void {
  const { content } = block;
  if (content === undefined || typeof content === "string") return;
  for (const [place, part] of found.objects(`${where}.content`, content)) {
    checkBlock(place, part, found);
    if (block["is_error"] === true && part["type"] !== "text")
      found.add(place, "is not a text, and the result is an error");
  }
}

function checkImage(where: string, source: unknown, found: Violations): void {
  const fields = isRecord(source) ? source : {};
  if (fields["type"] === "file") found.nonEmpty(`${where}.source.file_id`, fields["file_id"]);
  else if (fields["type"] === "url") found.nonEmpty(`${where}.source.url`, fields["url"]);
  else if (fields["type"] === "base64") {
    found.nonEmpty(`${where}.source.data`, fields["data"]);
    if (!/^image\/(?:jpeg|png|gif|webp)$/.test(String(fields["media_type"])))
      found.add(`${where}.source.media_type`, "is not an image type that is taken");
  } else found.add(`${where}.source`, "is neither base64, url nor file");
}

function countCacheMarks(value: unknown): number {
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + countCacheMarks(item), 0);
  if (!isRecord(value)) return 0;
  let count = isRecord(value["cache_control"]) ? 1 : 0;
  for (const key of ["system", "tools", "messages", "content"]) count += countCacheMarks(value[key]);
  return count;
}
