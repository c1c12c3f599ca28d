import { misuse } from "../base/errors.ts";
import { type Input, toMessages } from "./given-message.ts";
import { type Message, mapTexts, type UserMessage } from "./message.ts";

/** The messages an input stands for. Throws `invalid_argument` for an input that says nothing. */
export function inputMessages(input: Input): readonly Message[] {
  const messages = toMessages(input);
  const empty = messages.every((message) =>
    message.content.every((block) => block.type === "text" && block.text.trim() === ""),
  );
  if (empty) throw misuse("The input is empty: pass a text, content blocks or messages.");
  return messages.map(wellFormed);
}

/** The messages of a run; none where it goes on. Throws `invalid_argument` where the last is an answer. */
export function runMessages(input: Input | undefined): readonly Message[] {
  if (input === undefined) return [];
  const messages = inputMessages(input);
  if (messages.at(-1)?.role === "user") return messages;
  throw misuse(
    "The input ends with a message of the assistant, so there is nothing to answer: end it with one of the user.",
  );
}

/**
 * The messages somebody says beside the input of a run: those of users. A result would have no call in front
 * of it there. Throws `invalid_argument` for anything else, naming the `method` it was passed to.
 */
export function spokenMessages(input: Input, method: string): readonly UserMessage[] {
  return inputMessages(input).map((message) => {
    if (message.role !== "user") throw misuse(`${method} takes messages of users: set role to user.`);
    if (message.content.every(({ type }) => type !== "tool_result")) return message;
    throw misuse(`${method} takes no tool_result: results of calls are the input of run().`);
  });
}

/** Lone surrogates cannot be encoded as UTF-8: providers refuse the whole request for one. */
function wellFormed(message: Message): Message {
  const broken = message.content.some((block) => block.type === "text" && !block.text.isWellFormed());
  if (!broken) return message;
  return { ...message, content: mapTexts(message.content, (text) => text.toWellFormed()) } as Message;
}
