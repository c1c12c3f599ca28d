import { expect, test } from "vitest";
import { Agent } from "../../src/agent/agent.ts";
import type { JournalEntry } from "../../src/core/agent/entries.ts";
import { MemoryJournal } from "../../src/core/agent/journal.ts";
import type { RunResult } from "../../src/core/agent/result.ts";
import type { ModelRequest } from "../../src/core/model/model.ts";
import type { RunRow, StoredReport } from "../../src/durable/durable-run.ts";
import type { HostOptions } from "../../src/durable/index.ts";
import { lineOf } from "../../src/durable/run-journal.ts";
import { encodeRecord } from "../../src/session/record.ts";
import { calls, says } from "../../src/testing/script.ts";
import { ScriptedModel } from "../../src/testing/scripted-model.ts";
import { type Room, roomMaker } from "./attack-room.ts";
import { faultsOf } from "./crew.ts";
import { noteTool } from "./fleet-room.ts";

const openRoom = roomMaker();

/** Calls and requests of all runs: lines of run and call, or of run and `asked`. */
type Diary = string[];

/** An agent of two turns with calls, which then answers, or ends by a tool. */
function clerk(diary: Diary, run: string, host: Partial<HostOptions>): Agent {
  const note = noteTool([], {
    execute: (_: unknown, { callId }) => {
      diary.push(`${run} ${callId}`);
      return "noted";
    },
  });
  const pay = { ...note, name: "pay", idempotent: true };
  const hand_in = {
    ...note,
    name: "hand_in",
    idempotent: true,
    execute: () => ({ content: "ok", finish: { text: "Handed in.", output: { list: [1, "two"] } } }),
  };
  const model = new ScriptedModel(({ messages }: ModelRequest) => {
    diary.push(`${run} asked`);
    const turn = messages.filter(({ role }) => role === "assistant").length;
    if (turn < 2) return [calls("note", { n: 1 }, `note_${turn}`), calls("pay", { n: 1 }, `pay_${turn}`)];
    return run.startsWith("tool") ? calls("hand_in", { n: 1 }, "hand_in") : says("Done.");
  });
  return new Agent({ model, tools: [note, pay, hand_in], ...host });
}

test("a run goes on behind each of its entries, whether it ends by an answer or by a tool", async () => {
  const room = await openRoom();
  const cuts: Cut[] = [];
  for (const kind of ["answer", "tool"]) {
    const journal = new MemoryJournal();
    const whole = await clerk([], kind, { journal }).run("Go.");
    const all = [...journal.entries()];
    // The first entry is stored with the second, and the last with the row that says how the run has ended.
    for (const count of all.keys())
      if (count !== 1) cuts.push({ id: `${kind}-${count}`, entries: all.slice(0, count), whole });
  }
  for (const cut of cuts) await leave(room, cut);
  const diary: Diary = [];
  await room.work((host, run) => clerk(diary, run.id, host));

  for (const { id, entries, whole } of cuts) {
    const { report } = await room.when(id, ({ state }: RunRow) => state === "ended");
    const { stopReason, text, output } = JSON.parse(report ?? "{}") as StoredReport;
    expect({
      id,
      end: [stopReason, text, output],
      faults: faultsOf(await room.entries(id)),
      done: diary.filter((line) => line.startsWith(`${id} `)).toSorted(),
    }).toEqual({
      id,
      end: [whole.stopReason, whole.text, whole.output],
      faults: [],
      done: leftBehind(entries).map((what) => `${id} ${what}`),
    });
  }
});

/** A run whose worker died when it had stored these entries, and how it ends when nobody dies. */
interface Cut {
  readonly id: string;
  readonly entries: readonly JournalEntry[];
  readonly whole: RunResult;
}

async function leave({ add, take, runs }: Room, { id, entries }: Cut): Promise<void> {
  await add(id);
  await runs.claim(id, { job: await take(id), worker: "dead", version: "1" });
  if (entries.length === 0) return;
  await runs.append({
    run: id,
    epoch: 1,
    after: 0,
    ids: entries.map((entry) => entry.id),
    records: entries.map((entry) => lineOf(encodeRecord(entry).bytes)),
    isProgress: false,
    took: [],
  });
}

/** The rest behind these entries: requests, calls that did not begin, and those that may be repeated. */
function leftBehind(entries: readonly JournalEntry[]): readonly string[] {
  const has = (type: string, call: string): boolean =>
    entries.some((entry) => entry.type === type && "callId" in entry && entry.callId === call);
  const answers = entries.filter(({ type }) => type === "assistant_message").length;
  const due = ["note_0", "note_1", "pay_0", "pay_1"].filter(
    (call) => !has("tool_result", call) && (call.startsWith("pay") || !has("tool_intent", call)),
  );
  return [...Array.from({ length: 3 - answers }, () => "asked"), ...due];
}
