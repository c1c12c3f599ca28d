import { readFileSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { Agent } from "../../src/agent/agent.ts";
import { type Message, messageText } from "../../src/core/message/message.ts";
import { transcriptViolations } from "../../src/core/message/transcript.ts";
import { defineTool, type Tool } from "../../src/core/tool/tool.ts";
import { summaryCompaction } from "../../src/memory/context/summary-compaction.ts";
import { JsonlJournal, type JsonlJournalOptions } from "../../src/session/jsonl-journal.ts";
import { calls, finishes, type ScriptStep, says } from "../../src/testing/script.ts";
import { ScriptedModel } from "../../src/testing/scripted-model.ts";
import { tempFolder } from "../temp-folder.ts";
import { isFullSweep } from "./sweep.ts";

const WORDS = "What the user said, word for word: 用 npm。";
const SUMMARY = "## Goal: read on";
const PAGE = "a line of a page that is read\n".repeat(150);

/** A tool that counts how often each page was read. */
function reader(counts: Map<string, number>): Tool {
  return defineTool({
    name: "read",
    description: "Reads a page.",
    parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
    execute: ({ path }: { readonly path: string }) => {
      counts.set(path, (counts.get(path) ?? 0) + 1);
      return PAGE;
    },
  });
}

/** Four pages; after the third the conversation is near the end of the window. */
const STEPS: readonly ScriptStep[] = [
  [calls("read", { path: "1" }), finishes("tool_use", { inputTokens: 300, outputTokens: 10 })],
  [calls("read", { path: "2" }), finishes("tool_use", { inputTokens: 1_500, outputTokens: 10 })],
  [calls("read", { path: "3" }), finishes("tool_use", { inputTokens: 3_800, outputTokens: 10 })],
  says(SUMMARY),
  [calls("read", { path: "4" }), finishes("tool_use", { inputTokens: 2_000, outputTokens: 10 })],
  says("done"),
];

interface PlayedSession {
  readonly path: string;
  readonly counts: Map<string, number>;
}

/** Plays the session until its end or the failure of its journal. */
async function play(options: JsonlJournalOptions = {}): Promise<PlayedSession & { readonly error: unknown }> {
  const folder = tempFolder();
  const path = join(folder, "s.jsonl");
  const counts = new Map<string, number>();
  const journal = await JsonlJournal.create(path, { sessionId: "s", cwd: folder, ...options });
  const agent = new Agent({
    model: new ScriptedModel(STEPS, { info: { contextWindow: 8_000 } }),
    tools: [reader(counts)],
    compaction: summaryCompaction({ at: 0.6 }),
    journal,
  });
  const error = await agent.run(WORDS).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  await journal.close().catch(() => undefined);
  return { path, counts, error };
}

/** Goes on with a session file and tells what the model is sent. */
async function resumed(
  path: string,
): Promise<{ readonly types: readonly string[]; readonly messages: readonly Message[] }> {
  const journal = await JsonlJournal.open(path, { calls: { write: writeSync, sync: async () => undefined } });
  const types = [...journal.entries()].map(({ type }) => type);
  const model = new ScriptedModel([says("on")], { info: { contextWindow: 100_000 } });
  const agent = new Agent({ model, tools: [reader(new Map())], compaction: summaryCompaction(), journal });
  await agent.run("Go on.");
  await journal.close();
  expect(transcriptViolations(model.requests[0]?.messages ?? [])).toEqual([]);
  return { types, messages: agent.getState().messages };
}

it("goes on wherever the journal of a session with a compaction is cut", async () => {
  const { path, error } = await play();
  expect(error).toBeUndefined();
  const whole = readFileSync(path);
  const text = whole.toString("latin1");
  const from = text.indexOf('"type":"model_usage"') - 200;
  const to = text.indexOf("\n", text.indexOf('"type":"compaction"')) + 400;
  const cut = join(tempFolder(), "cut.jsonl");
  const seen = new Set<boolean>();
  // A prime, so that a sample meets every kind of place.
  for (let size = from; size <= to; size += isFullSweep ? 1 : 23) {
    writeFileSync(cut, whole.subarray(0, size));
    const { types, messages } = await resumed(cut);
    const isCompacted = types.includes("compaction");
    seen.add(isCompacted);
    const texts = messages.map((message) => messageText(message));
    expect(texts[0]).toBe(WORDS);
    expect(texts.some((each) => each.includes(SUMMARY))).toBe(isCompacted);
  }
  expect([...seen]).toEqual([false, true]);
});

it("loses nothing when the disk is full at any record around a compaction, and reads no page twice", async () => {
  const { path } = await play();
  const records = readFileSync(path, "utf8").trimEnd().split("\n").length;
  let refusedCompactions = 0;
  for (let room = 2; room < records; room += 1) {
    let left = room;
    const calls = {
      write: (descriptor: number, bytes: Uint8Array): number => {
        if (left-- <= 0) throw Object.assign(new Error("no space"), { code: "ENOSPC" });
        return writeSync(descriptor, bytes);
      },
      sync: async () => undefined,
    };
    const played = await play({ calls });
    expect(played.error).toMatchObject({ code: "journal" });
    if (String(played.error).includes("compaction record")) refusedCompactions += 1;
    const { types } = await resumed(played.path);
    expect(types.length).toBe(room - 1);
    expect([...played.counts.values()].every((count) => count === 1)).toBe(true);
  }
  expect(refusedCompactions).toBe(1);
});
