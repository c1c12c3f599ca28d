import { type Fields, isRecord } from "../core/base/json.ts";
import { type Input, toMessages } from "../core/message/input.ts";
import type { HookPoint } from "./hook.ts";

/**
 * Looks at what a hook wants in the place of `current`, so that a slip in it is told where it was made.
 * Throws when it is nothing that can stand there, or changes what a hook may not change.
 */
export function assertReplacement(point: HookPoint, made: unknown, current: unknown): void {
  const check = CHECKS[point];
  if (check === undefined) return;
  const { shape, holds } = check;
  if (!isRecord(made) || !holds(made))
    throw new TypeError(`it returned ${describe(made)}: return ${shape}, or nothing`);
  if (point === "pre_acting" && isRecord(current)) assertSameCall(made, current);
}

interface Check {
  /** The form that has to be returned. */
  readonly shape: string;
  readonly holds: (made: Fields) => boolean;
}

const CHECKS: { readonly [P in HookPoint]?: Check } = {
  pre_reply: { shape: "{ messages }", holds: ({ messages }) => areMessages(messages) },
  post_reply: {
    shape: "the whole result, changed",
    holds: ({ text, stopReason, messages }) =>
      typeof text === "string" && typeof stopReason === "string" && Array.isArray(messages),
  },
  pre_reasoning: {
    shape: "{ request }",
    holds: ({ request }) => isRecord(request) && Array.isArray(request["messages"]),
  },
  post_reasoning: {
    shape: "{ message, finishReason }",
    holds: ({ message, finishReason }) => isMessage(message, "assistant") && isRecord(finishReason),
  },
  pre_acting: {
    shape: "{ ...args, input } or { ...args, refuse }",
    holds: ({ input, refuse }) => isRecord(input) && (refuse === undefined || typeof refuse === "string"),
  },
  post_acting: {
    shape: "the result, changed, with its content",
    holds: ({ content }) =>
      typeof content === "string" || (Array.isArray(content) && content.every((block) => isRecord(block))),
  },
  pre_print: {
    shape: "{ event }",
    holds: ({ event }) => event === undefined || (isRecord(event) && typeof event["type"] === "string"),
  },
  pre_observe: { shape: "{ message }", holds: ({ message }) => isMessage(message, "user") },
};

/** Rights and records are those of the call the model made: another one in its place would go unseen. */
function assertSameCall(made: Fields, current: Fields): void {
  for (const field of ["name", "callId"] as const) {
    if (made[field] === current[field]) continue;
    throw new TypeError(
      `it returned the ${field} ${JSON.stringify(made[field])} for ${JSON.stringify(current[field])}: only input and refuse can be replaced`,
    );
  }
}

function areMessages(messages: unknown): boolean {
  return Array.isArray(messages) && toMessages(messages as Input, "messages").length >= 0;
}

function isMessage(message: unknown, role: string): boolean {
  return (
    isRecord(message) &&
    message["role"] === role &&
    Array.isArray(message["content"]) &&
    areMessages([message])
  );
}

function describe(made: unknown): string {
  if (Array.isArray(made)) return "a list";
  if (!isRecord(made)) return `a ${typeof made}`;
  const keys = Object.keys(made);
  return keys.length === 0 ? "an empty object" : `an object with ${keys.join(", ")}`;
}
