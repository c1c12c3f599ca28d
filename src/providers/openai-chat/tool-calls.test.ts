// Shapes of fragments as vendors' documentation and bug reports show them, written by hand.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { replayBody, sseBody } from "../../../test/replay-stream.ts";
import { type ToolUseBlock, toolCallsOf } from "../../core/message/message.ts";
import { openAiChat } from "./chat-wire.ts";

function callsOf(events: readonly (readonly object[])[], finish = "tool_calls"): readonly ToolUseBlock[] {
  const chunks = events.map((tool_calls) => ({ choices: [{ index: 0, delta: { tool_calls } }] }));
  const last = { choices: [{ index: 0, delta: {}, finish_reason: finish }] };
  return toolCallsOf(replayBody(openAiChat, sseBody(...chunks, last)).message);
}

function fn(name: string | null, args?: unknown): object {
  return { type: "function", function: { name, arguments: args } };
}

function use(id: unknown, name: string, input: object): object {
  return { type: "tool_use", id, name, input };
}

const madeUp = expect.stringMatching(/^call_[0-9a-z]+$/);

it("takes a call of a tool of plain text as any other that cannot be run", () => {
  const custom = (input: string, name?: string): object => ({ type: "custom", custom: { name, input } });
  const pieces = [[{ index: 0, id: "a", ...custom("SELECT ", "sql") }], [{ index: 0, ...custom("1") }]];
  expect(callsOf(pieces)).toEqual([
    { ...use("a", "sql", {}), invalid_input: { reason: "malformed", raw: "SELECT 1" } },
  ]);
});

describe("fragments", () => {
  it.each<[string, readonly (readonly object[])[], readonly object[]]>([
    [
      "without index, each a whole call with an id (Google, compatible)",
      [[{ id: "a", ...fn("read", '{"p":1}') }], [{ id: "b", ...fn("read", '{"p":2}') }]],
      [use("a", "read", { p: 1 }), use("b", "read", { p: 2 })],
    ],
    [
      "without index and id, several in one event (Google, compatible)",
      [[fn("read", '{"p":1}'), fn("read", '{"p":1}')]],
      [use(madeUp, "read", { p: 1 }), use(madeUp, "read", { p: 1 })],
    ],
    [
      "without index and id, one after the other (Ollama)",
      [[fn("read", '{"p":1}')], [fn("read", '{"p":2}')], [fn("list", "{}")]],
      [use(madeUp, "read", { p: 1 }), use(madeUp, "read", { p: 2 }), use(madeUp, "list", {})],
    ],
    [
      "without index, arguments in pieces",
      [
        [{ id: "a", ...fn("read", "") }],
        [fn(null, '{"p"')],
        [fn(null, ":1}")],
        [{ id: "b", ...fn("list", "{}") }],
      ],
      [use("a", "read", { p: 1 }), use("b", "list", {})],
    ],
    [
      "all numbered 0, with ids of their own (Ollama)",
      [[{ index: 0, id: "a", ...fn("read", '{"p":1}') }], [{ index: 0, id: "b", ...fn("read", '{"p":2}') }]],
      [use("a", "read", { p: 1 }), use("b", "read", { p: 2 })],
    ],
    [
      "all numbered 0, without ids",
      [[{ index: 0, ...fn("read", '{"p":1}') }], [{ index: 0, ...fn("list", "{}") }]],
      [use(madeUp, "read", { p: 1 }), use(madeUp, "list", {})],
    ],
    [
      "with an empty id after the first (DashScope)",
      [
        [{ index: 0, id: "a", ...fn("read", '{"p"') }],
        [{ index: 0, id: "", ...fn("", ":1}") }],
        [{ index: 0, id: "", ...fn(null, null) }],
      ],
      [use("a", "read", { p: 1 })],
    ],
    [
      "with id and name again in every event",
      [
        [{ index: 0, id: "a", ...fn("read", '{"p"') }],
        [{ index: 0, id: "a", ...fn("read", ":1") }],
        [{ index: 0, id: "a", ...fn("read", "}") }],
      ],
      [use("a", "read", { p: 1 })],
    ],
    [
      "with the name again and no id",
      [[{ index: 0, ...fn("read", '{"p"') }], [{ index: 0, ...fn("read", ":1}") }]],
      [use(madeUp, "read", { p: 1 })],
    ],
    [
      "whose name arrives after the arguments",
      [[{ index: 0, id: "a", ...fn(null, '{"p":') }], [{ index: 0, ...fn("read", "1}") }]],
      [use("a", "read", { p: 1 })],
    ],
    [
      "whose name comes in pieces",
      [
        [{ index: 0, id: "a", ...fn("read") }],
        [{ index: 0, ...fn("_file") }],
        [{ index: 0, ...fn(null, "{}") }],
      ],
      [use("a", "read_file", {})],
    ],
    [
      "that share one id",
      [
        [
          { index: 0, id: "a", ...fn("read", "{}") },
          { index: 1, id: "a", ...fn("list", "{}") },
        ],
      ],
      [use("a", "read", {}), use(madeUp, "list", {})],
    ],
    [
      "with arguments as an object",
      [[{ index: 0, id: "a", ...fn("read", { p: 1 }) }]],
      [use("a", "read", { p: 1 })],
    ],
    ["without arguments", [[{ index: 0, id: "a", ...fn("list", null) }]], [use("a", "list", {})]],
    [
      "closed by the whole arguments once more",
      [[{ index: 0, id: "a", ...fn("read", '{"p":1}') }], [{ index: 0, id: "a", ...fn("read", '{"p":1}') }]],
      [use("a", "read", { p: 1 })],
    ],
    [
      "with the number as a text",
      [[{ index: "0", id: "a", ...fn("read", '{"p"') }], [{ index: "0", ...fn(null, ":1}") }]],
      [use("a", "read", { p: 1 })],
    ],
    ["without any name", [[{ index: 0, id: "a", ...fn(null, "{}") }]], []],
  ])("%s", (_, events, expected) => {
    const calls = callsOf(events);
    expect(calls).toEqual(expected);
    expect(new Set(calls.map((call) => call.id)).size).toBe(calls.length);
  });

  it("of a call in the style before tool_calls", () => {
    const chunks = [{ name: "read", arguments: "" }, { arguments: '{"p"' }, { arguments: ":1}" }].map(
      (function_call) => ({ choices: [{ delta: { function_call } }] }),
    );
    const last = { choices: [{ delta: {}, finish_reason: "function_call" }] };
    const { message, finish } = replayBody(openAiChat, sseBody(...chunks, last, "[DONE]"));
    expect([message.content, finish.finishReason.unified]).toEqual([
      [use(madeUp, "read", { p: 1 })],
      "tool_use",
    ]);
  });

  it("keep the thought signature of a compatible Google endpoint", () => {
    const extra_content = { google: { thought_signature: "sig" } };
    expect(callsOf([[{ index: 0, id: "a", extra_content, ...fn("read", "{}") }]])).toEqual([
      { ...use("a", "read", {}), provider_data: { openai_chat: { extra_content } } },
    ]);
  });

  it("cut by the output limit give a call that says so", () => {
    expect(callsOf([[{ index: 0, id: "a", ...fn("write", '{"text":"abc') }]], "length")).toEqual([
      { ...use("a", "write", {}), invalid_input: { reason: "truncated", raw: '{"text":"abc' } },
    ]);
  });

  it("that are not JSON give a call that says so", () => {
    expect(callsOf([[{ index: 0, id: "a", ...fn("write", "{text:") }]])).toEqual([
      { ...use("a", "write", {}), invalid_input: { reason: "malformed", raw: "{text:" } },
    ]);
  });

  it("announce a call once and pass on all of its arguments", () => {
    const delta = (call: object): object => ({ choices: [{ delta: { tool_calls: [call] } }] });
    const { parts } = replayBody(
      openAiChat,
      sseBody(
        delta({ index: 0, ...fn(null, '{"p"') }),
        delta({ index: 0, id: "a", ...fn("read", ":") }),
        delta({ index: 0, ...fn("read", "1}") }),
        { choices: [{ delta: {}, finish_reason: "tool_calls" }] },
      ),
    );
    expect(parts.slice(0, 3)).toEqual([
      { type: "tool_call_start", index: 0, id: "a", name: "read" },
      { type: "tool_call_delta", index: 0, json: '{"p":' },
      { type: "tool_call_delta", index: 0, json: "1}" },
    ]);
  });
});

describe("any interleaving", () => {
  const call = fc.record({
    name: fc.constantFrom("read", "write", "read_file"),
    input: fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.integer(), fc.constant({}))),
    cuts: fc.array(fc.nat(), { maxLength: 5 }),
  });

  it("of the fragments of several calls gives the same calls", () => {
    fc.assert(
      fc.property(
        fc.array(call, { minLength: 1, maxLength: 4 }),
        fc.infiniteStream(fc.nat()),
        fc.nat(),
        (calls, picks, cut) => {
          const queues = calls.map(({ name, input, cuts }, index) => {
            const json = JSON.stringify(input);
            const at = [0, ...cuts.map((n) => n % (json.length + 1)).sort((a, b) => a - b), json.length];
            const pieces = at
              .slice(1)
              .map((end, n) => ({ index, function: { arguments: json.slice(at[n], end) } }));
            return [
              { index, id: `call_${index}`, type: "function", function: { name, arguments: "" } },
              ...pieces,
            ];
          });
          const events: object[] = [];
          for (let open = queues.filter((queue) => queue.length > 0); open.length > 0; ) {
            const fragment = open[(picks.next().value ?? 0) % open.length]?.shift();
            events.push({ choices: [{ index: 0, delta: { tool_calls: [fragment] } }] });
            open = queues.filter((queue) => queue.length > 0);
          }
          const body = sseBody(
            ...events,
            { choices: [{ delta: {}, finish_reason: "tool_calls" }] },
            "[DONE]",
          );
          const found = toolCallsOf(replayBody(openAiChat, body, [cut % body.length]).message);
          const expected = calls.map(({ name, input }, index) =>
            use(`call_${index}`, name, JSON.parse(JSON.stringify(input))),
          );
          expect([...found].sort((a, b) => a.id.localeCompare(b.id))).toEqual(expected);
        },
      ),
    );
  });
});
