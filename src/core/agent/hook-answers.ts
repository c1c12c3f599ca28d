import { isRecord } from "../base/json.ts";
import { isToolResult } from "../tool/output.ts";
import type { HookPoint } from "./hook.ts";

/** What a hook may give back at a point: how it is described, and how it is told. */
type Expected = readonly [description: string, isIt: (made: { readonly [key: string]: unknown }) => boolean];

/** Points that are not here take no answer. */
const EXPECTED: { readonly [P in HookPoint]?: Expected } = {
  pre_reply: ["{ messages }", ({ messages }) => Array.isArray(messages)],
  post_reply: ["the result of a run", ({ stopReason, text }) => isText(stopReason) && isText(text)],
  pre_reasoning: ["{ request }", ({ request }) => isRecord(request) && Array.isArray(request["messages"])],
  post_reasoning: [
    "{ message, finishReason }",
    ({ message, finishReason }) =>
      isRecord(message) && Array.isArray(message["content"]) && isRecord(finishReason),
  ],
  pre_acting: ["{ callId, name, input }", ({ input, refuse }) => isRecord(input) || isText(refuse)],
  post_acting: ["a tool result with content", (made) => isToolResult(made)],
  pre_print: ["{ event }", (made) => "event" in made],
  pre_observe: ["{ message }", ({ message }) => isRecord(message)],
};

/** What is wrong with what a hook gave back at a point; `undefined` when it is as expected, or does not matter there. */
export function misfitOf(point: HookPoint, made: unknown): string | undefined {
  const [description, isIt] = EXPECTED[point] ?? [];
  if (isIt === undefined || (isRecord(made) && isIt(made))) return undefined;
  return `it returned ${shown(made)} where ${description} or nothing is expected`;
}

function shown(made: unknown): string {
  return typeof made === "object" ? "an object of another shape" : String(made);
}

function isText(value: unknown): boolean {
  return typeof value === "string";
}
