import { expect, test } from "vitest";
import { checkRequest } from "./check-request.ts";

test("a request may have tools of the vendor's own, and what they leave in a conversation", () => {
  const results = [
    { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "a" } },
    { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: [] },
    { type: "text", text: "found" },
  ];
  const document = { type: "document", source: { type: "text", media_type: "text/plain", data: "a" } };
  const picture = { type: "image", source: { type: "file", file_id: "file_1" } };
  const claude = {
    model: "m",
    max_tokens: 9,
    tools: [{ type: "web_search_20260209", name: "web_search" }],
    tool_choice: { type: "tool", name: "web_search" },
    messages: [
      { role: "user", content: [document, picture, { type: "text", text: "hi" }] },
      { role: "assistant", content: results },
      { role: "user", content: "go on" },
    ],
  };
  const openai = {
    model: "m",
    tools: [{ type: "web_search" }],
    tool_choice: "auto",
    input: [
      { role: "user", content: "hi" },
      { type: "reasoning", summary: [] },
      { type: "web_search_call", status: "completed" },
      { type: "custom_tool_call", call_id: "c1", name: "patch", input: "*** Begin" },
      { type: "custom_tool_call_output", call_id: "c1", output: "done" },
    ],
  };
  expect([checkRequest("anthropic", claude), checkRequest("openai_responses", openai)]).toEqual([[], []]);
});

test("what is wrong with these is found", () => {
  const content = [{ type: "server_tool_use", id: "", name: "x" }, { type: "made_up" }];
  const claude = { model: "m", max_tokens: 9, messages: [{ role: "assistant", content }] };
  const input = [
    { type: "custom_tool_call", call_id: "c1", name: "patch", input: {} },
    { type: "custom_tool_call_output", call_id: "c2", output: "" },
    { type: "made_up" },
  ];
  const choice = { model: "m", tools: [], tool_choice: "auto", input: "hi" };
  expect([
    checkRequest("anthropic", claude),
    checkRequest("openai_responses", { model: "m", input }),
    checkRequest("openai_responses", choice),
  ]).toEqual([
    [
      "messages[0].content[0].id is empty",
      "messages[0].content[0].input is not an object",
      'messages[0].content[1] has type "made_up", which is not allowed here',
    ],
    [
      "input[0].input is not text",
      'input[1] answers "c2", which was not called before',
      'input[2] has type "made_up", which is not allowed here',
      "input does not answer the call c1",
    ],
    ["tool_choice is given without tools"],
  ]);
});
