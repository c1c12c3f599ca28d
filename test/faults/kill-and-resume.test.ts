import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { Agent } from "../../src/agent/agent.ts";
import type { JournalEntry } from "../../src/core/agent/entries.ts";
import { transcriptViolations } from "../../src/core/message/transcript.ts";
import { JsonlJournal } from "../../src/session/jsonl-journal.ts";
import { ScriptedModel } from "../../src/testing/scripted-model.ts";
import { tempFolder } from "../temp-folder.ts";
import { effectTool, remainingSteps } from "./effects.ts";
import { isFullSweep } from "./sweep.ts";

const CALLS = 50;
const PLACES = ["before_write", "after_write", "before_sync", "half_synced", "after_sync"] as const;
/**
 * More than the session reaches of any place; the run that is not killed any more ends the sweep of a place.
 */
const MANY = 1_000;
const SAMPLE = [1, 9, 48];

it.each(PLACES)(
  "loses nothing acknowledged and runs nothing twice when it is killed at any %s",
  async (place) => {
    let kills = 0;
    for (const count of isFullSweep ? Array.from({ length: MANY }, (_, at) => at + 1) : SAMPLE) {
      const folder = tempFolder();
      const killed = runAndKill(folder, place, count);
      if (!killed) break;
      kills++;
      await checkResume(folder, `${place} ${count}`);
    }
    if (isFullSweep)
      process.stdout.write(`killed ${place}: ${kills} points of a session of ${CALLS} calls\n`);
    expect(kills).toBeGreaterThanOrEqual(isFullSweep ? CALLS : SAMPLE.length);
  },
);

function runAndKill(folder: string, place: string, count: number): boolean {
  const script = join(import.meta.dirname, "killed-run.ts");
  const child = spawnSync(process.execPath, [script, folder, place, String(count), String(CALLS)], {
    encoding: "utf8",
  });
  if (child.signal !== "SIGKILL" && child.status !== 0) throw new Error(child.stderr);
  return child.signal === "SIGKILL";
}

async function checkResume(folder: string, point: string): Promise<void> {
  const path = join(folder, "s.jsonl");
  // Killed before anything was recorded: there is a file at most, and nothing in it.
  const journal = existsSync(path)
    ? await JsonlJournal.open(path)
    : await JsonlJournal.create(path, { sessionId: "s", cwd: folder });
  const before = [...journal.entries()];
  const ids = new Set(before.map(({ id }) => id));
  const lost = linesOf(folder, "acknowledged").filter(
    (line) => !isRidden(line) && !ids.has(line.split(" ")[1] ?? ""),
  );
  const begun = new Set(before.flatMap((entry) => (entry.type === "tool_intent" ? [entry.input["n"]] : [])));
  const unforeseen = linesOf(folder, "effects").filter((n) => !begun.has(Number(n)));
  expect({ point, lost, unforeseen }).toEqual({ point, lost: [], unforeseen: [] });

  const next = nextNumber(before);
  const agent = new Agent({
    model: new ScriptedModel(remainingSteps(next, CALLS)),
    tools: [effectTool(folder)],
    journal,
    maxIterations: CALLS,
  });
  const { stopReason, messages } = await agent.run("go on");
  await journal.close();
  const effects = linesOf(folder, "effects");
  const repeated = effects.filter((n, at) => effects.indexOf(n) !== at);
  expect({ point, stopReason, violations: transcriptViolations(messages), repeated }).toEqual({
    point,
    stopReason: "completed",
    violations: [],
    repeated: [],
  });
  const reopened = await JsonlJournal.open(path);
  const again = new Agent({ model: new ScriptedModel([]), journal: reopened });
  expect([point, again.getState().messages]).toEqual([point, messages]);
  await reopened.close();
}

/** Records that acknowledge nothing reach the disk with the one behind them. */
function isRidden(line: string): boolean {
  return line.startsWith("run_start ") || line.startsWith("permission_decision ");
}

function linesOf(folder: string, name: string): string[] {
  const path = join(folder, name);
  return existsSync(path) ? readFileSync(path, "utf8").trimEnd().split("\n") : [];
}

/** The model has asked for every number below. */
function nextNumber(entries: readonly JournalEntry[]): number {
  const asked = entries.flatMap((entry) =>
    entry.type === "assistant_message" ? entry.message.content.filter(({ type }) => type === "tool_use") : [],
  );
  return asked.length;
}
