import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Agent } from "../../src/agent/agent.ts";
import type { JournalEntry } from "../../src/core/agent/entries.ts";
import { defineTool } from "../../src/core/tool/tool.ts";
import { JsonlJournal } from "../../src/session/jsonl-journal.ts";
import { calls, type ScriptStep, says } from "../../src/testing/script.ts";
import { ScriptedModel } from "../../src/testing/scripted-model.ts";

/** A session on disk, and what stands in its file where. */
export interface RecordedSession {
  readonly path: string;
  readonly entries: readonly JournalEntry[];
  /** Byte behind each entry, its newline left out. */
  readonly ends: readonly number[];
}

/** Records a run that calls two tools together in each turn, with text that is not only ASCII. */
export async function recordedSession(
  folder: string,
  { turns }: { readonly turns: number },
): Promise<RecordedSession> {
  const path = join(folder, "recorded.jsonl");
  const journal = await JsonlJournal.create(path, { sessionId: "recorded", cwd: folder });
  const steps: ScriptStep[] = Array.from({ length: turns }, (_, turn) => [
    says(`Schritt ${turn}: größer → 漢字 🙂`),
    calls("echo", { text: `a\u0000${turn}` }),
    calls("echo", { text: `b${turn}` }),
  ]);
  const echo = defineTool({
    name: "echo",
    description: "Says it again.",
    parameters: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
    execute: ({ text }: { readonly text: string }) => `${text} ${"x".repeat(40)}`,
  });
  const agent = new Agent({
    model: new ScriptedModel([...steps, says("done")]),
    tools: [echo],
    journal,
    maxIterations: turns + 1,
  });
  await agent.run("go");
  await journal.close();
  let end = 0;
  const [, ...ends] = readFileSync(path, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => {
      const own = end + Buffer.byteLength(line);
      end = own + 1;
      return own;
    });
  return { path, entries: [...journal.entries()], ends };
}
