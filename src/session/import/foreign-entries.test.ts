import fc from "fast-check";
import { expect, test } from "vitest";
import type { NewEntry } from "../../core/agent/entries.ts";
import { SessionState } from "../../core/agent/state.ts";
import { transcriptViolations } from "../../core/message/transcript.ts";
import type { ForeignRecord } from "./foreign-session.ts";
import { foreignEntries, parseForeign } from "./import-session.ts";

const PNG = "iVBORw0KGgo=";

/** Values as a foreign file could hold them anywhere. */
const anything = fc.oneof(
  fc.constantFrom(
    "",
    "a",
    "t1",
    "t2",
    "\ud800",
    "text",
    "tool_use",
    "tool_result",
    "assistant",
    "user",
    null,
    1,
    -1,
    true,
  ),
  fc.jsonValue({ maxDepth: 2 }),
);
const block = fc.record(
  {
    type: fc.constantFrom(
      "text",
      "thinking",
      "tool_use",
      "tool_result",
      "image",
      "toolCall",
      "input_text",
      "output_text",
      "input_image",
      "redacted_thinking",
      "?",
    ),
    text: anything,
    thinking: anything,
    signature: anything,
    id: fc.constantFrom("", "t1", "t2", "t3"),
    name: fc.constantFrom("Bash", "", "9 lives", "x".repeat(90)),
    input: anything,
    arguments: anything,
    tool_use_id: fc.constantFrom("", "t1", "t2", "t3"),
    content: anything,
    source: fc.record({
      type: fc.constantFrom("base64", "url"),
      media_type: fc.constantFrom("image/png", "text/html"),
      data: fc.constantFrom(PNG, "<>", ""),
      url: anything,
    }),
    image_url: fc.constantFrom(
      "https://a.b/c.png",
      "javascript:alert(1)",
      "data:text/html;base64,AAAA",
      `data:image/png;base64,${PNG}`,
    ),
    is_error: anything,
  },
  { requiredKeys: ["type"] },
);
const content = fc.oneof(anything, fc.array(fc.oneof(block, anything), { maxLength: 4 }));
const uuid = fc.constantFrom("1", "2", "3", "4", "5");
const record = fc.oneof(
  fc.record({
    type: fc.constantFrom("user", "assistant"),
    uuid,
    parentUuid: fc.option(uuid),
    isSidechain: fc.boolean(),
    isMeta: fc.boolean(),
    timestamp: anything,
    message: fc.record({
      id: fc.constantFrom("m1", "m2", ""),
      content,
      usage: anything,
      stop_reason: anything,
    }),
  }),
  fc.record({
    type: fc.constantFrom("response_item", "event_msg", "compacted", "turn_context", "session_meta"),
    timestamp: anything,
    payload: fc.record({
      type: fc.constantFrom(
        "message",
        "reasoning",
        "function_call",
        "function_call_output",
        "custom_tool_call",
        "local_shell_call",
        "token_count",
        "thread_rolled_back",
      ),
      role: fc.constantFrom("user", "assistant", "system"),
      content,
      arguments: fc.oneof(fc.constantFrom("{}", "{", ""), anything),
      call_id: fc.constantFrom("t1", "t2", ""),
      output: content,
      name: anything,
      action: anything,
      summary: content,
      num_turns: anything,
      info: anything,
      replacement_history: content,
      message: anything,
    }),
  }),
  fc.record({
    type: fc.constantFrom("message", "compaction", "custom_message", "branch_summary", "session"),
    id: uuid,
    parentId: fc.option(uuid),
    timestamp: anything,
    summary: anything,
    firstKeptEntryId: uuid,
    content,
    message: fc.record({
      role: fc.constantFrom("user", "assistant", "toolResult", "bashExecution", "custom"),
      content,
      toolCallId: fc.constantFrom("t1", "t2"),
      isError: anything,
      usage: anything,
      stopReason: fc.constantFrom("stop", "aborted", "toolUse", "length"),
    }),
  }),
  fc.dictionary(fc.string({ maxLength: 5 }), anything, { maxKeys: 3 }),
);

test("whatever a file holds becomes a conversation that can be sent, or a clear refusal", () => {
  fc.assert(
    fc.property(fc.array(record, { maxLength: 12 }), (fields) => {
      const records: ForeignRecord[] = fields.map((each, at) => ({
        line: at + 1,
        fields: JSON.parse(JSON.stringify(each)) as ForeignRecord["fields"],
      }));
      let entries: readonly NewEntry[];
      try {
        entries = foreignEntries(parseForeign("f", records), "s").entries.map(({ entry }) => entry);
      } catch (error) {
        expect(error).toMatchObject({ code: "invalid_argument" });
        return;
      }
      const state = new SessionState();
      for (const entry of entries) state.apply({ id: "e", parent: null, time: 0, ...entry });
      expect(transcriptViolations(state.transcript.messages)).toEqual([]);
      expect(state.transcript.pending).toEqual([]);
      expect(JSON.stringify(state.transcript.messages)).not.toMatch(/\\ud[89a-f]/);
      const names = state.transcript.messages.flatMap((message) =>
        message.content.flatMap((each) => (each.type === "tool_use" ? [each.name] : [])),
      );
      for (const name of names) expect(name).toMatch(/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/);
    }),
    { numRuns: 500 },
  );
});

/** Records whose reading took quadratic time once: one answer of many parts, one id for all, lost parents. */
const MANY = 60_000;
const tedious: { readonly [name: string]: (at: number) => ForeignRecord["fields"] } = {
  "one answer in many records": (at) => ({
    type: "assistant",
    uuid: `${at}`,
    parentUuid: "lost",
    message: { id: "m", content: [{ type: "tool_use", id: "", name: "Bash", input: {} }] },
  }),
  "two large records of one answer": (at) => ({
    type: "assistant",
    uuid: `${at}`,
    message: {
      id: "m",
      content: at < 2 ? Array.from({ length: 3 * MANY }, () => ({ type: "tool_use", id: "" })) : [],
    },
  }),
  "one id for all calls": () => ({
    type: "response_item",
    payload: { type: "function_call", call_id: "", name: "shell", arguments: "{}" },
  }),
  "one id for all results": (at) => ({
    type: "message",
    message:
      at % 2 === 0
        ? { role: "assistant", content: [{ type: "toolCall", id: "t", name: "Bash", arguments: {} }] }
        : { role: "toolResult", toolCallId: "t", content: `${at}` },
  }),
};

test.each(Object.entries(tedious))("a long file with %s is read in one go", (_name, fieldsAt) => {
  const records = Array.from({ length: MANY }, (_, at) => ({ line: at + 1, fields: fieldsAt(at) }));
  const { entries } = foreignEntries(parseForeign("f", records), "s");
  const ids = entries.flatMap(({ entry }) => (entry.type === "tool_intent" ? [entry.callId] : []));
  expect(ids.length).toBeGreaterThanOrEqual(MANY / 2);
  expect(new Set(ids).size).toBe(ids.length);
});
