import { readFileSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, it } from "vitest";
import type { NewEntry } from "../../src/core/agent/entries.ts";
import { SessionState } from "../../src/core/agent/state.ts";
import { transcriptViolations } from "../../src/core/message/transcript.ts";
import { JsonlJournal } from "../../src/session/jsonl-journal.ts";
import { tempFolder } from "../temp-folder.ts";
import { isFullSweep } from "./sweep.ts";

const RUNS = isFullSweep ? 10_000 : 200;

const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 20 }),
  fc.constantFrom("", "\u0000", "\ud800", "\udc00x", "\u2028", '"}{"v":1,', '{"v":9,', "\r\n"),
);
const callIds = fc.nat(15).map((n) => `c${n}`);

/**
 * Entries as a run could write them, and as it never would: results before their calls, twice, or without
 * one.
 */
const entry: fc.Arbitrary<NewEntry> = fc.oneof(
  text.map(
    (said): NewEntry => ({
      type: "user_message",
      message: { role: "user", content: said === "" ? [] : [{ type: "text", text: said }] },
      source: "input",
    }),
  ),
  fc.tuple(text, fc.uniqueArray(fc.nat(15), { maxLength: 3 })).map(
    ([said, numbers]): NewEntry => ({
      type: "assistant_message",
      message: {
        role: "assistant",
        content: [
          ...(said === "" ? [] : [{ type: "text", text: said } as const]),
          ...numbers.map((n) => ({ type: "tool_use", id: `c${n}`, name: "t", input: { said } }) as const),
        ],
      },
      model: "a/b",
      finishReason: { unified: "stop", raw: "stop" },
      usage: { inputTokens: 1, outputTokens: 1 },
      durationMs: 1,
    }),
  ),
  callIds.map((callId): NewEntry => ({ type: "tool_intent", callId, name: "t", input: {} })),
  fc.tuple(callIds, text).map(
    ([callId, content]): NewEntry => ({
      type: "tool_result",
      callId,
      name: "t",
      status: "ok",
      result: { type: "tool_result", tool_use_id: callId, content },
      durationMs: 1,
    }),
  ),
  fc
    .constantFrom("completed", "aborted", "awaiting_external")
    .map((stopReason) => ({ type: "run_end", stopReason, iterations: 1 }) satisfies NewEntry),
);

/** What happens to the file between two processes. */
const damage = fc.record({
  kind: fc.constantFrom("none", "cut", "flip", "lose_newline", "drop_line", "nul"),
  at: fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
});

type Damage = typeof damage extends fc.Arbitrary<infer D> ? D : never;

it(`goes on with a transcript that can be sent after each of ${RUNS} random histories`, async () => {
  const folder = tempFolder();
  let count = 0;
  const calls = { write: writeSync, sync: async () => undefined };
  const property = fc.asyncProperty(
    fc.array(fc.tuple(fc.array(entry, { maxLength: 12 }), damage), { minLength: 1, maxLength: 3 }),
    async (lives) => {
      const path = join(folder, `h${count++}.jsonl`);
      let journal = await JsonlJournal.create(path, { sessionId: "h", cwd: folder, calls });
      await journal.append({ type: "run_start", sessionId: "h", model: "a/b", tools: [] });
      for (const [entries, fault] of lives) {
        await journal.append({ type: "run_start", sessionId: "h", model: "a/b", tools: [] });
        // An agent never uses a call id twice: its calls are made unique against all before them.
        const used = new Set(stateOf(journal).transcript.callIds);
        for (const one of entries) if (isFresh(one, used)) await journal.append(one);
        await journal.close();
        inflict(path, fault);
        journal = await JsonlJournal.open(path, { calls });
        const last = await journal.append({
          type: "user_message",
          message: { role: "user", content: [{ type: "text", text: "go on" }] },
          source: "input",
        });
        const state = stateOf(journal);
        const { messages } = state.transcript;
        expect(transcriptViolations(messages)).toEqual([]);
        expect(JSON.stringify(messages).includes("\\ud8")).toBe(false);
        expect([...journal.entries()].at(-1)).toEqual(last);
      }
      await journal.close();
    },
  );
  await fc.assert(property, { numRuns: RUNS });
});

function stateOf(journal: JsonlJournal): SessionState {
  const state = new SessionState();
  for (const each of journal.entries()) state.apply(each);
  return state;
}

function isFresh(one: NewEntry, used: Set<string>): boolean {
  if (one.type !== "assistant_message") return true;
  const ids = one.message.content.flatMap((block) => (block.type === "tool_use" ? [block.id] : []));
  if (ids.some((id) => used.has(id))) return false;
  for (const id of ids) used.add(id);
  return true;
}

function inflict(path: string, { kind, at }: Damage): void {
  const bytes = readFileSync(path);
  const place = Math.floor(at * bytes.length);
  if (kind === "cut") writeFileSync(path, bytes.subarray(0, place));
  if (kind === "nul") writeFileSync(path, Buffer.concat([bytes.subarray(0, place), Buffer.alloc(600)]));
  if (kind === "flip") {
    // A version digit that turns into a higher one refuses the file, which is another promise.
    const before = bytes.subarray(Math.max(0, place - 5), place).toString("latin1");
    if (before.endsWith('{"v":')) return;
    bytes[place] = (bytes[place] ?? 0) ^ 4;
    writeFileSync(path, bytes);
  }
  const lines = bytes.toString("latin1").split("\n");
  const line = Math.floor(at * (lines.length - 1));
  if (kind === "lose_newline") {
    const merged = [...lines.slice(0, line), `${lines[line]}${lines[line + 1]}`, ...lines.slice(line + 2)];
    writeFileSync(path, Buffer.from(merged.join("\n"), "latin1"));
  }
  if (kind === "drop_line") writeFileSync(path, Buffer.from(lines.toSpliced(line, 1).join("\n"), "latin1"));
}
