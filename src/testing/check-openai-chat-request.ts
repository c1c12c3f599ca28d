import { type Fields, isRecord } from "../core/base/json.ts";
import { type Violations } from "./request-violations.ts";

/** Violations of Chat Completions (https://platform.openai.com/docs/api-reference/chat/create). */
export function checkOpenAiChatRequest(body: Fields, found: Violations): void {
  found.nonEmpty("model", body["model"]);
  if (body["stream_options"] !== undefined && body["stream"] !== true)
    found.add("stream_options", "are only allowed when streaming");
  if (body["tools"] !== undefined) {
    const tools = found.someObjects("tools", body["tools"], "are empty; leave the field out");
    for (const [where, tool] of tools) checkTool(where, tool, found);
  }
  if (body["parallel_tool_calls"] !== undefined && body["tools"] === undefined)
    found.add("parallel_tool_calls", "is given without tools");
  if (body["tool_choice"] !== undefined) found.toolChoice(namedChoice(body["tool_choice"]));
  checkMessages(found.someObjects("messages", body["messages"], "are empty"), found);
}

function checkTool(where: string, tool: Fields, found: Violations): void {
  const inner = tool["function"];
  if (tool["type"] !== "function" || !isRecord(inner)) found.add(where, "is not a function");
  else
    found.tool(`${where}.function`, {
      name: inner["name"],
      schema: inner["parameters"],
      schemaOptional: true,
    });
}

function namedChoice(choice: unknown): unknown {
  if (!isRecord(choice)) return undefined;
  return isRecord(choice["function"]) ? choice["function"]["name"] : undefined;
}

function checkMessages(messages: readonly (readonly [string, Fields])[], found: Violations): void {
  let at = 0;
  while (at < messages.length) {
    const [where, message] = messages[at] ?? ["", {}];
    at += 1;
    if (message["role"] === "tool") found.add(where, "is a tool message that follows no tool call");
    checkMessage(where, message, found);
    if (message["role"] !== "assistant" || message["tool_calls"] === undefined) continue;
    const calls = checkCalls(`${where}.tool_calls`, message["tool_calls"], found);
    const answered: unknown[] = [];
    for (; messages[at]?.[1]["role"] === "tool"; at += 1) {
      const [place, result] = messages[at] ?? ["", {}];
      checkMessage(place, result, found);
      answered.push(result["tool_call_id"]);
    }
    found.answers(`${where} (its tool messages)`, calls, answered);
  }
}

function checkCalls(where: string, value: unknown, found: Violations): readonly string[] {
  const calls = found.someObjects(where, value, "are empty; leave the field out");
  return calls.flatMap(([place, call]) => {
    found.callId(`${place}.id`, call["id"]);
    const inner = call["function"];
    if (call["type"] !== "function" || !isRecord(inner)) found.add(place, "is not a function call");
    else {
      found.toolName(`${place}.function.name`, inner["name"]);
      found.argumentsText(`${place}.function.arguments`, inner["arguments"]);
    }
    return typeof call["id"] === "string" ? [call["id"]] : [];
  });
}

/** Content parts each role may have; strings are allowed everywhere. */
const PARTS: { readonly [role: string]: readonly string[] } = {
  system: ["text"],
  developer: ["text"],
  user: ["text", "image_url", "input_audio", "file"],
  assistant: ["text", "refusal"],
  tool: ["text"],
};

function checkMessage(where: string, message: Fields, found: Violations): void {
  const { role, content, name } = message;
  const allowed = PARTS[String(role)];
  if (allowed === undefined) {
    found.add(`${where}.role`, `is ${JSON.stringify(role)}`);
    return;
  }
  if (name !== undefined && !/^[^\s<|\\/>]{1,64}$/.test(String(name)))
    found.add(`${where}.name`, "has characters that are not allowed");
  if (content === null || content === undefined) {
    if (role !== "assistant" || (message["tool_calls"] === undefined && message["refusal"] === undefined))
      found.add(where, "has no content");
    return;
  }
  if (typeof content === "string") return;
  for (const [place, part] of found.someObjects(`${where}.content`, content))
    checkPart(place, part, { allowed, found });
}

function checkPart(
  where: string,
  part: Fields,
  { allowed, found }: { readonly allowed: readonly string[]; readonly found: Violations },
): void {
  const type = String(part["type"]);
  if (!allowed.includes(type)) found.add(where, `has type ${type}, which this role may not have`);
  else if (type === "text") found.nonEmpty(`${where}.text`, part["text"]);
  else if (type === "image_url")
    found.nonEmpty(
      `${where}.image_url.url`,
      isRecord(part["image_url"]) ? part["image_url"]["url"] : undefined,
    );
}
