import { expect, test } from "vitest";
import type { ModelRequest } from "../core/model/model.ts";
import { reportedError } from "./provider-errors.ts";
import { Refusals } from "./refusals.ts";

const tools = ["read", "mcp__s__bad", "mcp__s__bad_too"].map((name) => ({
  name,
  description: "",
  parameters: { type: "object" },
}));
const request: ModelRequest = { messages: [], tools };

test.each([
  ["Invalid schema for function 'mcp__s__bad': array schema missing items.", undefined],
  ["array schema missing items", "tools[1].function.parameters"],
  ["tools.1.custom.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12", undefined],
  [
    "* GenerateContentRequest.tools[0].function_declarations[1].parameters.properties[x].items: missing field.",
    undefined,
  ],
  ['Failed to compile the parameters of tool "mcp__s__bad"', undefined],
])("the next request goes without the tool that is refused: %s", (message, param) => {
  const refused = new Refusals([], false);
  const error = reportedError({ message, ...(param === undefined ? {} : { param }) }, { status: 400 });
  expect([refused.learn(request, error), refused.withoutRefused(request).tools]).toEqual([
    "The request continues without the tool mcp__s__bad.",
    [tools[0], tools[2]],
  ]);
  expect(refused.withoutRefused(request).tools).toBe(refused.withoutRefused(request).tools);
});

test.each([
  [400, "messages.3: the result of 'mcp__s__bad' must follow its call"],
  [400, "messages[1].content is not valid"],
  [400, "The JSON schema of response_format is not valid"],
  [429, "Too many requests with the schema of 'mcp__s__bad'"],
])("%i %s is about something else", (status, message) => {
  const refused = new Refusals([], false);
  expect(refused.learn(request, reportedError({ message }, { status }))).toBeUndefined();
  expect(refused.withoutRefused(request)).toBe(request);
});

test("a tool that must be called is not left out, and without any tool nothing is said of choosing", () => {
  const refused = new Refusals([], false);
  const error = reportedError({ message: "Invalid schema", param: "tools[0]" }, { status: 400 });
  const forced: ModelRequest = { ...request, toolChoice: { type: "tool", name: "read" } };
  expect(refused.learn(forced, error)).toBeUndefined();
  const alone: ModelRequest = { messages: [], tools: tools.slice(0, 1), toolChoice: "auto" };
  expect([refused.learn(alone, error), refused.withoutRefused(alone)]).toEqual([
    "The request continues without the tool read.",
    { messages: [] },
  ]);
});
