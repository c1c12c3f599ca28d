import { type Fields, isRecord } from "../core/base/json.ts";
import type { FieldsByType, ObjectAt, Violations } from "./request-violations.ts";
import { createRenderer, deltas, openAiError, renderCall, type Vendor } from "./vendor.ts";

/**
 * Chat Completions (https://platform.openai.com/docs/api-reference/chat). Reasoning goes into
 * `reasoning_content`, as with compatible servers; this format cannot carry signatures.
 */
export const openAiChatVendor: Vendor = {
  check: (body, issues) => {
    const { model, stream, stream_options, tools, parallel_tool_calls, tool_choice: choice } = body;
    issues.checkField("model", model, "filled");
    if (stream_options !== undefined && stream !== true)
      issues.add("stream_options", "are only allowed when streaming");
    if (tools !== undefined)
      for (const [where, tool] of issues.nonEmptyObjects("tools", tools, "are empty; leave the field out"))
        checkTool(where, tool, issues);
    if (parallel_tool_calls !== undefined && tools === undefined)
      issues.add("parallel_tool_calls", "is given without tools");
    if (choice !== undefined)
      issues.checkToolChoice(
        isRecord(choice) && isRecord(choice["function"]) ? choice["function"]["name"] : undefined,
      );
    checkMessages(issues.nonEmptyObjects("messages", body["messages"], "are empty"), issues);
  },
  error: openAiError,
  render: createRenderer(
    { stop: "stop", tool_use: "tool_calls", length: "length", refusal: "content_filter", pause: "stop" },
    (context, usage, pieces) => {
      const head = {
        id: `chatcmpl-${context.number}`,
        object: "chat.completion.chunk",
        created: 1_767_225_600,
        model: context.model,
        service_tier: "default",
        system_fingerprint: "fp_scripted",
      };
      const chunk = (delta: Fields, finish_reason: string | null = null): string =>
        data({
          ...head,
          choices: [{ index: 0, delta, logprobs: null, finish_reason }],
          ...(context.wantsUsage ? { usage: null } : {}),
        });
      let callIndex = 0;
      return {
        begin: () => {
          const content = pieces.some(({ type }) => type === "calls") ? null : "";
          return [chunk({ role: "assistant", content, refusal: null })];
        },
        *say(piece) {
          if (piece.type !== "calls") {
            const field = piece.type === "says" ? "content" : "reasoning_content";
            for (const text of deltas(piece.text, context)) yield chunk({ [field]: text });
            return;
          }
          const { id, name, json } = renderCall(piece, context);
          const index = callIndex++;
          yield chunk({ tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] });
          for (const part of deltas(json, context))
            yield chunk({ tool_calls: [{ index, function: { arguments: part } }] });
        },
        fail: (error) => data(openAiError(error)),
        end: (reason) => {
          const { inputTokens, outputTokens, cacheReadTokens = 0, reasoningTokens = 0 } = usage;
          const spent = {
            prompt_tokens: inputTokens,
            completion_tokens: outputTokens,
            total_tokens: inputTokens + outputTokens,
            prompt_tokens_details: { cached_tokens: cacheReadTokens, audio_tokens: 0 },
            completion_tokens_details: { reasoning_tokens: reasoningTokens, audio_tokens: 0 },
          };
          const counted = context.wantsUsage ? [data({ ...head, choices: [], usage: spent })] : [];
          return [chunk({}, reason), ...counted, "data: [DONE]\n\n"];
        },
      };
    },
  ),
};

function data(value: Fields): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

function checkTool(where: string, { type, function: inner }: Fields, issues: Violations): void {
  if (type !== "function" || !isRecord(inner)) {
    issues.add(where, "is not a function");
    return;
  }
  const { name, parameters = { type: "object" } } = inner;
  issues.checkTool(`${where}.function`, name, parameters);
  issues.checkPlainSchema(`${where}.function`, parameters);
}

function checkMessages(messages: readonly ObjectAt[], issues: Violations): void {
  let at = 0;
  while (at < messages.length) {
    const [where, message] = messages[at] ?? ["", {}];
    at += 1;
    if (message["role"] === "tool") issues.add(where, "is a tool message that follows no tool call");
    checkMessage(where, message, issues);
    if (message["role"] !== "assistant" || message["tool_calls"] === undefined) continue;
    const calls = checkCalls(`${where}.tool_calls`, message["tool_calls"], issues);
    const answeredIds: unknown[] = [];
    for (; messages[at]?.[1]["role"] === "tool"; at += 1) {
      const [path, result] = messages[at] ?? ["", {}];
      checkMessage(path, result, issues);
      answeredIds.push(result["tool_call_id"]);
    }
    issues.checkAnswers(`${where} (its tool messages)`, calls, answeredIds);
  }
}

function checkCalls(where: string, value: unknown, issues: Violations): readonly string[] {
  const calls = issues.nonEmptyObjects(where, value, "are empty; leave the field out");
  return calls.map(([path, { id, type, function: inner }]) => {
    issues.checkField(`${path}.id`, id, "callId");
    if (type !== "function" || !isRecord(inner)) issues.add(path, "is not a function call");
    else {
      issues.checkField(`${path}.function.name`, inner["name"], "toolName");
      issues.checkField(`${path}.function.arguments`, inner["arguments"], "arguments");
    }
    return String(id);
  });
}

const TEXT = { text: { text: "filled" } } as const;

/** Content parts allowed for each role; strings are allowed everywhere. */
const PARTS: { readonly [role: string]: FieldsByType } = {
  system: TEXT,
  developer: TEXT,
  user: { ...TEXT, image_url: { image_url: "object" }, input_audio: {}, file: {} },
  assistant: { ...TEXT, refusal: {} },
  tool: TEXT,
};

function checkMessage(where: string, message: Fields, issues: Violations): void {
  const { role, content, name } = message;
  const parts = PARTS[String(role)];
  if (parts === undefined) {
    issues.add(`${where}.role`, `is ${JSON.stringify(role)}`);
    return;
  }
  if (name !== undefined && !/^[^\s<|\\/>]{1,64}$/.test(String(name)))
    issues.add(`${where}.name`, "has characters that are not allowed");
  if (content === null || content === undefined) {
    if (role !== "assistant" || (message["tool_calls"] === undefined && message["refusal"] === undefined))
      issues.add(where, "has no content");
    return;
  }
  for (const [path, { type, image_url: image }] of issues.parts(`${where}.content`, content, parts))
    if (type === "image_url" && isRecord(image))
      issues.checkField(`${path}.image_url.url`, image["url"], "filled");
}
