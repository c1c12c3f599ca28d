import { Agent } from "../../src/agent/agent.ts";
import type { AgentEvent } from "../../src/core/agent/entries.ts";
import type { RunResult } from "../../src/core/agent/result.ts";
import { JsonlJournal } from "../../src/session/jsonl-journal.ts";
import { calls, says } from "../../src/testing/script.ts";
import { ScriptedModel } from "../../src/testing/scripted-model.ts";
import type { LibraryFault } from "./library-fault.ts";

/** What one run with a fault came to. */
export interface PlayedFault {
  readonly result: RunResult;
  readonly events: readonly AgentEvent[];
}

/** One run in which a fault happens, its journal in a file. */
export async function playLibraryFault(fault: LibraryFault, path: string): Promise<PlayedFault> {
  const journal = await JsonlJournal.create(path, { sessionId: "s", cwd: "/" });
  const stop = new AbortController();
  const begun = (): void => {
    // In a moment, for what begins is to be waited for by then.
    if (fault.stopped === true) setTimeout(() => stop.abort(), 5);
  };
  const agent = new Agent({
    model: new ScriptedModel(fault.steps ?? [calls("odd"), says("done")]),
    ...fault.agent(begun),
    journal,
  });
  const events: AgentEvent[] = [];
  try {
    const stream = agent.stream("go", { signal: stop.signal });
    for await (const event of stream) events.push(event);
    return { result: await stream.result, events };
  } finally {
    await journal.close();
  }
}
