import fc from "fast-check";
import { expect, test } from "vitest";
import { isNanoAgentError } from "../../core/base/errors.ts";
import { parseInputLine, readInputMessages } from "./prompt.ts";

const LINE = (text: string): string =>
  JSON.stringify({ type: "user", message: { role: "user", content: text } });

async function* bytesOf(text: string, cuts: readonly number[]): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(text);
  let at = 0;
  for (const size of [...cuts, bytes.length]) {
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

test("messages are the same wherever the bytes are cut", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.string({ unit: "grapheme", minLength: 1 })),
      fc.array(fc.nat(20)),
      async (texts, cuts) => {
        const read: unknown[] = [];
        for await (const message of readInputMessages(bytesOf(texts.map(LINE).join("\n"), cuts)))
          read.push(message);
        expect(read).toEqual(texts.map((text) => ({ role: "user", content: [{ type: "text", text }] })));
      },
    ),
  );
});

test("images are taken, other blocks and other lines are refused with their number", () => {
  const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } };
  const line = (content: unknown): string =>
    JSON.stringify({ type: "user", message: { role: "user", content } });
  expect(parseInputLine(line([image]), 1)).toEqual({ role: "user", content: [image] });
  for (const bad of [
    "{",
    "[]",
    '{"type":"control_request"}',
    '{"type":"user","message":{"role":"assistant"}}',
    line([]),
    line([{ type: "tool_result" }]),
  ])
    expect(() => parseInputLine(bad, 7)).toThrow("Line 7 of standard input");
});

test("whatever the line, it is a message or wrong use", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json()), (line) => {
      try {
        expect(parseInputLine(line, 1).role).toBe("user");
      } catch (error) {
        expect(isNanoAgentError(error, "invalid_argument")).toBe(true);
      }
    }),
  );
});
