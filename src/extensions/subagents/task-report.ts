import { counted, truncateMiddle } from "../../core/base/text.ts";
import type { SubagentOutcome, ToolResult } from "../../core/tool/tool.ts";
import { errorResult } from "../../core/tool/tool-output.ts";

/**
 * The report for the agent that handed on a task: the subagent's last message, and in one last line how it
 * ended and what it took. One that did not end by itself is an error, with what it had written.
 */
export function taskReport(agent: string, outcome: SubagentOutcome, maxChars: number): ToolResult {
  const { text, stopReason, iterations, toolCalls, usage, cost, durationMs } = outcome;
  const requests = counted(iterations, "request");
  const calls = counted(toolCalls, "tool call");
  const shown = truncateMiddle(text.trim(), maxChars);
  const facts = `[${agent}: ${requests}, ${calls}, ${usage.inputTokens} tokens in, ${usage.outputTokens} out, ${money(cost)}, ${seconds(durationMs)}]`;
  const extra = {
    // The same task with the same report is a repetition, however long it took this time.
    essence: `${stopReason} ${shown}`,
    title: `${requests}, ${calls}`,
    metadata: {
      agent,
      stopReason,
      iterations,
      toolCalls,
      inputTokens: usage.inputTokens,
      outputTokens: usage.outputTokens,
      costUsd: cost ?? null,
      durationMs,
    },
  };
  const failure = failureOf(outcome);
  if (failure !== undefined) {
    const found = shown === "" ? "It had written nothing." : `What it had written so far:\n\n${shown}`;
    return errorResult(`The subagent ${agent} ${failure}. ${found}\n\n${facts}`, extra);
  }
  const remark = REMARKS[stopReason];
  return {
    ...extra,
    content: [
      shown === "" ? "(The subagent said nothing.)" : shown,
      ...(remark === undefined ? [] : [`(${remark})`]),
      facts,
    ].join("\n\n"),
  };
}

const REMARKS: { readonly [reason in SubagentOutcome["stopReason"]]?: string } = {
  max_iterations: "It used up its requests before it was done.",
  output_limit: "Its report was cut at the model's output limit.",
};

/** Why there is no full report; undefined where there is one. */
function failureOf({ stopReason, limit, error, detail }: SubagentOutcome): string | undefined {
  if (stopReason === "error") return `failed: ${withoutStop(error?.message ?? "for an unknown reason")}`;
  const failure = FAILURES[stopReason];
  const more = detail ?? limit;
  return failure === undefined || more === undefined ? failure : `${failure} (${withoutStop(more)})`;
}

const WAITS = "was stopped: it needs an answer that can only be given to the agent itself";

const FAILURES: { readonly [reason in SubagentOutcome["stopReason"]]?: string } = {
  budget: "was stopped: the budget of the run is used up",
  aborted: "was stopped with the run",
  denied: "was stopped: the user refused one of its calls and wanted it to end",
  awaiting_approval: WAITS,
  awaiting_external: WAITS,
  refusal: "was refused by its model",
  loop_detected: "was stopped: it repeated itself without getting anywhere",
};

function withoutStop(sentence: string): string {
  return sentence.replace(/\.$/, "");
}

function money(cost: number | undefined): string {
  return cost === undefined ? "cost unknown" : `$${cost.toFixed(4)}`;
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1_000).toFixed(1)} s`;
}
