import { misuse } from "../base/errors.ts";
import { type Input, toMessages } from "./given-message.ts";
import type { Message } from "./message.ts";

/** The messages an input stands for, as providers can take them. Throws `invalid_argument` for an input that says nothing. */
export function inputMessages(input: Input): readonly Message[] {
  const messages = toMessages(input);
  const empty = messages.every((message) =>
    message.content.every((block) => block.type === "text" && block.text.trim() === ""),
  );
  if (empty) throw misuse("The input is empty: pass a text, content blocks or messages.");
  return messages.map(wellFormed);
}

/** The messages a run is given; none where it goes on. Throws `invalid_argument` also for an input that ends with an answer. */
export function runMessages(input: Input | undefined): readonly Message[] {
  if (input === undefined) return [];
  const messages = inputMessages(input);
  if (messages.at(-1)?.role === "user") return messages;
  throw misuse(
    "The input ends with a message of the assistant, so there is nothing to answer: end it with one of the user.",
  );
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
