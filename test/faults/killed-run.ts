/**
 * A run that kills itself: `node killed-run.ts FOLDER PLACE COUNT CALLS`. It calls a tool CALLS times in all,
 * two calls an answer, and dies with SIGKILL at the COUNT-th time it reaches PLACE. What the journal
 * acknowledged is noted in FOLDER/acknowledged, what the tool did in FOLDER/effects. Bytes reach the file
 * only with a sync, so that the kill takes what a power cut would.
 */
import { appendFileSync, fdatasyncSync, writeSync } from "node:fs";
import { join } from "node:path";
import { Agent } from "../../src/agent/agent.ts";
import { type AppendCalls, JsonlJournal } from "../../src/session/jsonl-journal.ts";
import { ScriptedModel } from "../../src/testing/scripted-model.ts";
import { effectTool, remainingSteps } from "./effects.ts";

const [, , folder = "", place = "", count = "", callCount = ""] = process.argv;
let left = Number(count);

function reach(here: string): void {
  if (here === place && --left === 0) process.kill(process.pid, "SIGKILL");
}

let unsynced: Uint8Array[] = [];
const calls: AppendCalls = {
  write: (_descriptor, bytes) => {
    reach("before_write");
    unsynced.push(bytes.slice());
    reach("after_write");
    return bytes.length;
  },
  sync: async (descriptor) => {
    reach("before_sync");
    const bytes = Buffer.concat(unsynced);
    unsynced = [];
    // Half of it may reach the disk before the power is gone.
    if (place === "half_synced" && left === 1) writeSync(descriptor, bytes, 0, bytes.length >> 1);
    reach("half_synced");
    writeSync(descriptor, bytes);
    fdatasyncSync(descriptor);
    reach("after_sync");
  },
};

const journal = await JsonlJournal.create(join(folder, "s.jsonl"), { sessionId: "s", cwd: folder, calls });
const agent = new Agent({
  model: new ScriptedModel(remainingSteps(0, Number(callCount))),
  tools: [effectTool(folder)],
  journal,
  maxIterations: Number(callCount),
});
await agent.run("go", {
  onEvent: (event) => {
    if ("id" in event && "parent" in event)
      appendFileSync(join(folder, "acknowledged"), `${event.type} ${event.id}\n`);
  },
});
await journal.close();
