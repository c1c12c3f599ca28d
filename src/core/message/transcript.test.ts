import fc from "fast-check";
import { expect, test } from "vitest";
import type { AssistantBlock, Message, UserBlock } from "./message.ts";
import {
  INTERRUPTED_BEFORE_START,
  repairTranscript,
  Transcript,
  transcriptViolations,
} from "./transcript.ts";

const call = (id: string): AssistantBlock => ({ type: "tool_use", id, name: "work", input: {} });
const result = (id: string, content = "ok"): UserBlock => ({ type: "tool_result", tool_use_id: id, content });
const text = (value: string): { readonly type: "text"; readonly text: string } => ({
  type: "text",
  text: value,
});

test("results stand in call order, whatever order they come in", () => {
  const transcript = new Transcript();
  transcript.addUser({ role: "user", content: [text("go")] });
  transcript.addAssistant({ role: "assistant", content: [call("a"), call("b")] });
  expect(transcript.addResult({ type: "tool_result", tool_use_id: "b", content: "2" })).toBe(true);
  expect(transcript.pending.map(({ id }) => id)).toEqual(["a"]);
  expect(transcript.addResult({ type: "tool_result", tool_use_id: "a", content: "1" })).toBe(true);
  expect(transcript.messages.at(-1)).toEqual({ role: "user", content: [result("a", "1"), result("b", "2")] });
});

test("a second result of a call and a result nobody asked for change nothing", () => {
  const transcript = new Transcript();
  transcript.addAssistant({ role: "assistant", content: [call("a"), call("b")] });
  transcript.addResult({ type: "tool_result", tool_use_id: "a", content: "first" });
  expect(transcript.addResult({ type: "tool_result", tool_use_id: "a", content: "second" })).toBe(false);
  expect(transcript.addResult({ type: "tool_result", tool_use_id: "x", content: "?" })).toBe(false);
  transcript.closeOpenCalls();
  expect(transcript.messages.at(-1)).toEqual({
    role: "user",
    content: [
      result("a", "first"),
      { type: "tool_result", tool_use_id: "b", content: INTERRUPTED_BEFORE_START, is_error: true },
    ],
  });
});

test("repair answers open calls, drops stray results, makes ids unique and leaves empty messages out", () => {
  const repaired = repairTranscript([
    { role: "user", content: [text("go"), result("stray")] },
    { role: "assistant", content: [call("a")] },
    { role: "user", content: [result("a")] },
    { role: "assistant", content: [] },
    { role: "assistant", content: [call("a"), call("b")] },
    { role: "user", content: [result("a", "again"), text("and then?")] },
  ]);
  expect(repaired).toEqual([
    { role: "user", content: [text("go")] },
    { role: "assistant", content: [call("a")] },
    { role: "user", content: [result("a")] },
    { role: "assistant", content: [call("a_2"), call("b")] },
    {
      role: "user",
      content: [
        result("a_2", "again"),
        { type: "tool_result", tool_use_id: "b", content: INTERRUPTED_BEFORE_START, is_error: true },
      ],
    },
    { role: "user", content: [text("and then?")] },
  ]);
});

const id = fc.constantFrom("a", "b", "c", "");
const message: fc.Arbitrary<Message> = fc.oneof(
  fc.record({
    role: fc.constant("user" as const),
    content: fc.array(
      fc.oneof(
        id.map((one) => result(one)),
        fc.constant(text("hi")),
      ),
      { maxLength: 4 },
    ),
  }),
  fc.record({
    role: fc.constant("assistant" as const),
    content: fc.array(fc.oneof(id.map(call), fc.constant(text("ho"))), { maxLength: 4 }),
  }),
);

test("any list of messages is repaired to one that can be sent, and a good list stays as it is", () => {
  fc.assert(
    fc.property(fc.array(message, { maxLength: 12 }), (messages) => {
      const repaired = repairTranscript(messages);
      expect(transcriptViolations(repaired)).toEqual([]);
      expect(repairTranscript(repaired)).toEqual(repaired);
    }),
    { numRuns: 1000 },
  );
});
