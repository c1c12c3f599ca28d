import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { JsonlJournal } from "../../src/session/jsonl-journal.ts";
import { lines } from "../scenarios/conversation.ts";
import { tempFolder } from "../temp-folder.ts";
import { pausingAgent } from "./pausing-agent.ts";

function killedRun(folder: string, ...args: readonly string[]): string | null {
  const script = join(import.meta.dirname, "paused-run.ts");
  const { signal, stderr, status } = spawnSync(process.execPath, [script, folder, ...args], {
    encoding: "utf8",
  });
  if (signal === null && status !== 0) throw new Error(stderr);
  return signal;
}

const effects = (folder: string): string => readFileSync(join(folder, "effects"), "utf8");

test("a run that paused in a process that was killed goes on in another one", async () => {
  const folder = tempFolder();
  expect([killedRun(folder), effects(folder)]).toEqual(["SIGKILL", "read {}\n"]);
  const journal = await JsonlJournal.open(join(folder, "s.jsonl"));
  expect(journal.repairs).toEqual({ damaged: [], droppedResults: [], interrupted: [] });
  const agent = pausingAgent(journal, folder);
  const result = await agent.run(undefined, { approvals: { first: true, second: false } });
  await journal.close();
  expect(lines(result.messages).slice(4)).toEqual([
    "result first: done",
    "error second: Error: Tool call was not approved: the user refused it",
    "result third: done",
    "assistant: end",
  ]);
  expect(effects(folder)).toBe('read {}\nwrite {"n":1}\n');
});

test("killed inside an approved call: that one is not run again, the other one still waits", async () => {
  const folder = tempFolder();
  expect([killedRun(folder), killedRun(folder, "approve")]).toEqual(["SIGKILL", "SIGKILL"]);
  const journal = await JsonlJournal.open(join(folder, "s.jsonl"));
  expect(journal.repairs.interrupted).toEqual([{ callId: "first", name: "write", outcome: "unknown" }]);
  const agent = pausingAgent(journal, folder);
  const result = await agent.run(undefined, { approvals: { second: true } });
  await journal.close();
  expect(lines(result.messages).slice(4)).toEqual([
    "error first: Error: interrupted, outcome unknown",
    "result second: done",
    "result third: done",
    "assistant: end",
  ]);
  expect(effects(folder)).toBe('read {}\nwrite {"n":1}\nwrite {"n":2}\n');
});
