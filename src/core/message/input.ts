import { invalidArgument, type NanoAgentError } from "../base/errors.ts";
import { type Fields, isRecord, ownValue } from "../base/json.ts";
import { type Message, mapTexts, type UserBlock, type UserMessage, userMessage } from "./message.ts";

/** A message as callers may write it: with blocks, or with plain text instead. */
export type GivenMessage =
  | Message
  | { readonly role: "user" | "assistant"; readonly content: string; readonly name?: string };

/** Input as callers may pass it: text, blocks, or whole messages. */
export type Input = string | readonly UserBlock[] | GivenMessage | readonly GivenMessage[];

/**
 * Checks messages from a caller, who may have loaded them from elsewhere. Throws `invalid_argument`, with the
 * path below `what`, for a role, content or block that cannot be sent to any provider.
 */
export function toMessages(input: Input, what = "input"): readonly Message[] {
  if (typeof input === "string") return [userMessage(input)];
  if (!Array.isArray(input)) return [toMessage(input, what)];
  const items: readonly unknown[] = input;
  if (items.length === 0 || items.some((item) => isRecord(item) && !("role" in item) && "type" in item))
    return [toMessage({ role: "user", content: input }, what)];
  return items.map((item, at) => toMessage(item, `${what}[${at}]`));
}

function toMessage(given: unknown, where: string): Message {
  if (!isRecord(given))
    throw inputError(where, `is ${describeType(given)}: pass a text, content blocks or messages`);
  const { role, content, name } = given;
  if (role !== "user" && role !== "assistant") throw inputError(where, roleProblem(role));
  // Messages of other programs have extra fields; they do not go into the journal.
  const own = { role, ...(typeof name === "string" ? { name } : {}) };
  if (typeof content === "string") {
    const message: unknown = {
      ...own,
      content: content.trim() === "" ? [] : [{ type: "text", text: content }],
    };
    return message as Message;
  }
  if (!Array.isArray(content))
    throw inputError(`${where}.content`, `is ${describeType(content)}: pass a text or a list of blocks`);
  content.forEach((block: unknown, at) => {
    const problem = blockProblem(block, role);
    if (problem !== undefined) throw inputError(`${where}.content[${at}]`, problem);
  });
  const isPlain = Object.keys(given).every((key) => key in own || key === "content");
  const message: unknown = isPlain ? given : { ...own, content };
  return message as Message;
}

function roleProblem(role: unknown): string {
  if (role === "system" || role === "developer")
    return `has the role ${JSON.stringify(role)}: instructions are the option systemPrompt of the agent`;
  if (role === "tool")
    return 'has the role "tool": the result of a call is a tool_result block in a message of the user';
  if (role === undefined)
    return "has no role: pass a text, blocks, or messages of the role user or assistant";
  return `has the role ${JSON.stringify(role)}: use user or assistant`;
}

type BlockCheck = (block: Fields) => string | undefined;

const USER_BLOCKS: { readonly [type: string]: BlockCheck } = {
  text: requireTexts("text"),
  image: ({ source }) => {
    if (!isRecord(source)) return "has no source";
    if (source["type"] === "url") return requireTexts("url")(source);
    if (source["type"] === "base64") return requireTexts("media_type", "data")(source);
    return "has a source of an unknown type: use url or base64";
  },
  tool_result: (block) => {
    const { content } = block;
    if (typeof content === "string") return requireTexts("tool_use_id")(block);
    if (!Array.isArray(content)) return "has no content: pass a text or a list of text and image blocks";
    const parts = content.map((part: unknown) =>
      isRecord(part) && part["type"] === "tool_result" ? "holds another result" : blockProblem(part, "user"),
    );
    return requireTexts("tool_use_id")(block) ?? parts.find((problem) => problem !== undefined);
  },
};

const ASSISTANT_BLOCKS: { readonly [type: string]: BlockCheck } = {
  text: requireTexts("text"),
  thinking: requireTexts("thinking"),
  tool_use: (block) =>
    requireTexts("id", "name")(block) ??
    (isRecord(block["input"]) ? undefined : "has no object as its input"),
};

/** The problem of a block, as the end of a sentence. */
function blockProblem(block: unknown, role: Message["role"]): string | undefined {
  if (!isRecord(block)) return `is ${describeType(block)}, not a block`;
  const { type } = block;
  const known = role === "user" ? USER_BLOCKS : ASSISTANT_BLOCKS;
  const checkOf = ownValue(known, type);
  if (checkOf !== undefined) return checkOf(block);
  const types = Object.keys(known).join(", ");
  return `is of type ${JSON.stringify(type) ?? "undefined"}: in a message of the ${role} use ${types}`;
}

function requireTexts(...names: readonly string[]): BlockCheck {
  return (block) => {
    const missing = names.find((name) => typeof block[name] !== "string");
    return missing === undefined ? undefined : `has no text as its ${missing}`;
  };
}

function describeType(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

function inputError(where: string, problem: string): NanoAgentError {
  return invalidArgument(`${where} ${problem}.`);
}

/** The messages of an input. Throws `invalid_argument` for an empty one. */
export function inputMessages(input: Input): readonly Message[] {
  const messages = toMessages(input);
  const empty = messages.every((message) =>
    message.content.every((block) => block.type === "text" && block.text.trim() === ""),
  );
  if (empty) throw invalidArgument("The input is empty: pass a text, content blocks or messages.");
  return messages.map(toWellFormedMessage);
}

/** The messages of a run; none if it resumes. Throws `invalid_argument` if the last one is an answer. */
export function runMessages(input: Input | undefined): readonly Message[] {
  if (input === undefined) return [];
  const messages = inputMessages(input);
  if (messages.at(-1)?.role === "user") return messages;
  throw invalidArgument(
    "The input ends with a message of the assistant, so there is nothing to answer: end it with one of the user.",
  );
}

/**
 * User messages besides the input of a run; a tool result would have no call before it there. Throws
 * `invalid_argument` for anything else, naming the `method` it was passed to.
 */
export function toUserMessages(input: Input, method: string): readonly UserMessage[] {
  return inputMessages(input).map((message) => {
    if (message.role !== "user")
      throw invalidArgument(`${method} takes messages of users: set role to user.`);
    if (message.content.every(({ type }) => type !== "tool_result")) return message;
    throw invalidArgument(`${method} takes no tool_result: results of calls are the input of run().`);
  });
}

/** UTF-8 cannot encode lone surrogates: providers refuse the whole request because of one. */
function toWellFormedMessage(message: Message): Message {
  const broken = message.content.some((block) => block.type === "text" && !block.text.isWellFormed());
  if (!broken) return message;
  return { ...message, content: mapTexts(message.content, (text) => text.toWellFormed()) } as Message;
}
