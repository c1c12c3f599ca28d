import fc from "fast-check";
import { expect, test } from "vitest";
import { isNanoAgentError } from "../base/errors.ts";
import { type Input, toMessages } from "./input.ts";

const text = (value: string): { readonly type: "text"; readonly text: string } => ({
  type: "text",
  text: value,
});

test("text, blocks, messages and messages with a text in place of blocks are input", () => {
  const said = { role: "user", content: [text("hi")] } as const;
  const inputs: readonly Input[] = [
    "hi",
    [text("hi")],
    said,
    [said],
    { role: "user", content: "hi" },
    [{ role: "user", content: "hi" }],
  ];
  for (const input of inputs) expect(toMessages(input)).toEqual([said]);
  expect(toMessages([{ role: "assistant", content: "ho", name: "ann" }])).toEqual([
    { role: "assistant", content: [text("ho")], name: "ann" },
  ]);
});

test("a message is taken as it is, without what other programs note beside it", () => {
  const said = { role: "user", content: [text("hi")], name: "ann" } as const;
  expect(toMessages(said)[0]).toBe(said);
  const noted = { ...said, id: "m1", createdAt: 5, parts: [] };
  expect(toMessages(noted)).toEqual([said]);
});

test("what is not a message is refused with its place", () => {
  const cases: readonly (readonly [unknown, string])[] = [
    [5, "input is a number: pass a text, content blocks or messages."],
    [null, "input is null: pass a text, content blocks or messages."],
    [["a"], "input[0] is a string: pass a text, content blocks or messages."],
    [{ role: "user" }, "input.content is undefined: pass a text or a list of blocks."],
    [
      [
        { role: "user", content: "x" },
        { role: "system", content: "y" },
      ],
      'input[1] has the role "system": instructions are the option systemPrompt of the agent.',
    ],
    [
      { role: "tool", content: "x" },
      'input has the role "tool": the result of a call is a tool_result block in a message of the user.',
    ],
    [{ content: "x" }, "input has no role: pass a text, blocks, or messages of the role user or assistant."],
    [
      { role: "user", content: [{ type: "tool_use", id: "a", name: "b", input: {} }] },
      'input.content[0] is of type "tool_use": in a message of the user use text, image, tool_result.',
    ],
    [{ role: "user", content: ["x"] }, "input.content[0] is a string, not a block."],
    [[{ type: "text" }], "input.content[0] has no text as its text."],
    [[{ type: "image", source: "x" }], "input.content[0] has no source."],
    [
      [{ type: "image", source: { type: "base64", data: "x" } }],
      "input.content[0] has no text as its media_type.",
    ],
    [
      [{ type: "tool_result", tool_use_id: "a" }],
      "input.content[0] has no content: pass a text or a list of text and image blocks.",
    ],
    [
      { role: "assistant", content: [{ type: "tool_use", id: "a", name: "b", input: "{}" }] },
      "input.content[0] has no object as its input.",
    ],
  ];
  for (const [input, message] of cases) expect(() => toMessages(input as Input)).toThrow(message);
});

test("whatever is passed, it is messages or misuse, never another error", () => {
  const block = fc.oneof(
    fc.record({ type: fc.constantFrom("text", "image", "tool_result", "x"), text: fc.anything() }),
    fc.anything(),
  );
  const message = fc.oneof(
    fc.record({
      role: fc.constantFrom("user", "assistant", "system"),
      content: fc.oneof(fc.string(), fc.array(block)),
    }),
    fc.anything(),
  );
  fc.assert(
    fc.property(fc.oneof(message, fc.array(message), fc.array(block)), (input) => {
      try {
        for (const { role, content } of toMessages(input as Input))
          expect([role === "user" || role === "assistant", Array.isArray(content)]).toEqual([true, true]);
      } catch (error) {
        expect(isNanoAgentError(error, "invalid_argument")).toBe(true);
      }
    }),
  );
});
