import { NanoAgentError } from "../base/errors.ts";
import { isRecord } from "../base/json.ts";
import { type Input, type Message, toMessages } from "../message/message.ts";

/** The messages an input stands for, as providers can take them. Throws `invalid_argument` for an input that says nothing. */
export function inputMessages(input: Input): readonly Message[] {
  assertInput(input);
  const messages = toMessages(input);
  const empty = messages.every((message) =>
    message.content.every((block) => block.type === "text" && block.text.trim() === ""),
  );
  if (empty)
    throw new NanoAgentError(
      "invalid_argument",
      "The input is empty: pass a text, content blocks or messages.",
    );
  return messages.map(wellFormed);
}

/** Whoever writes no types may pass anything. */
function assertInput(input: unknown): void {
  const items: readonly unknown[] = Array.isArray(input) ? input : [input];
  if (typeof input === "string" || items.every(isMessage) || (Array.isArray(input) && items.every(isBlock)))
    return;
  throw new NanoAgentError(
    "invalid_argument",
    `The input is ${(JSON.stringify(input) ?? String(input)).slice(0, 100).toWellFormed()}: pass a text, content blocks, a message or messages ({ role: "user" | "assistant", content }).`,
  );
}

function isMessage(value: unknown): boolean {
  if (!isRecord(value) || (value["role"] !== "user" && value["role"] !== "assistant")) return false;
  const { content } = value;
  return typeof content === "string" || (Array.isArray(content) && content.every(isBlock));
}

function isBlock(value: unknown): boolean {
  return isRecord(value) && typeof value["type"] === "string";
}

/** Lone surrogates cannot be encoded as UTF-8: providers refuse the whole request for one. */
function wellFormed(message: Message): Message {
  const broken = message.content.some((block) => block.type === "text" && !block.text.isWellFormed());
  if (!broken) return message;
  const content = message.content.map((block) =>
    block.type === "text" ? { ...block, text: block.text.toWellFormed() } : block,
  );
  return { ...message, content } as Message;
}
