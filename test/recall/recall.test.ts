import { expect, test } from "vitest";
import { Agent } from "../../src/agent/agent.ts";
import { MemoryJournal } from "../../src/core/agent/journal.ts";
import type { ModelRequest } from "../../src/core/model/model.ts";
import type { Compactor } from "../../src/memory/context/compactor.ts";
import { firstAndLast } from "../../src/memory/context/first-and-last.ts";
import { summaryCompaction } from "../../src/memory/context/summary-compaction.ts";
import { finishes, says } from "../../src/testing/script.ts";
import { ScriptedModel } from "../../src/testing/scripted-model.ts";
import { countedUsage } from "./counted-usage.ts";
import { FACTS, type FactKind, plantedTurns } from "./planted-session.ts";
import { asksForSummary, scriptedSummary } from "./scripted-summariser.ts";

const WINDOW = 24_000;
const LIMITS = { maxChars: 7_000, overlooksOneIn: 12 };

interface Recall {
  readonly kept: { readonly [K in FactKind]: number };
  readonly total: number;
  readonly compactions: number;
  readonly summaries: number;
}

/**
 * Plays the planted session with a compactor, compacting whenever it says so, and looks what the last request
 * still holds.
 */
async function recallWith(compaction: Compactor): Promise<Recall> {
  const requests: ModelRequest[] = [];
  let summaries = 0;
  const model = new ScriptedModel(
    async (request) => {
      const usage = await countedUsage(request);
      if (asksForSummary(request)) {
        summaries += 1;
        return [says(scriptedSummary(request, LIMITS)), finishes("stop", usage)];
      }
      requests.push(request);
      return [says("I see."), finishes("stop", usage)];
    },
    { info: { contextWindow: WINDOW } },
  );
  const journal = new MemoryJournal();
  for (const turn of plantedTurns()) {
    for (const message of turn) journal.append({ type: "history", messages: [message] });
    await new Agent({ model, journal, compaction }).run("Go on.");
  }
  const compactions = [...journal.entries()].filter(({ type }) => type === "compaction").length;
  const last = JSON.stringify(requests.at(-1)?.messages);
  const kept = { "said by the user": 0, decided: 0, "found by a tool": 0, failed: 0, "noted in passing": 0 };
  for (const { kind, needle } of FACTS) if (last.includes(needle)) kept[kind] += 1;
  const total = Object.values(kept).reduce((sum, count) => sum + count, 0);
  return { kept, total, compactions, summaries };
}

/** The figures stand in docs/context.md. */
test.each<readonly [what: string, Compactor, Recall]>([
  ["summaries", summaryCompaction(), recall([12, 9, 11, 11, 1], { compactions: 3, summaries: 3 })],
  [
    "shortened results first",
    summaryCompaction({ shortenResults: true }),
    recall([12, 9, 4, 12, 3], { compactions: 3, summaries: 1 }),
  ],
  [
    "the first and the last messages",
    firstAndLast(20),
    recall([1, 1, 1, 1, 0], { compactions: 55, summaries: 0 }),
  ],
])(
  "of sixty facts in a session four times the window so many survive with %s",
  async (_what, compaction, figures) => {
    expect(await recallWith(compaction)).toEqual(figures);
  },
);

function recall(
  [said, decided, found, failed, passing]: readonly [number, number, number, number, number],
  rest: { readonly compactions: number; readonly summaries: number },
): Recall {
  return {
    kept: {
      "said by the user": said,
      decided,
      "found by a tool": found,
      failed,
      "noted in passing": passing,
    },
    total: said + decided + found + failed + passing,
    ...rest,
  };
}
