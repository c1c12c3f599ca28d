import { counted } from "../../../core/base/text.ts";
import { describeDuration } from "../../../tools/shell/report.ts";
import { terminalLine } from "../../../view/safe-text.ts";
import type { SubagentRun } from "./subagent-runs.ts";

const SHOWN_TURNS = 20;

/** Subagents for people: a line with use and ending for each, and one for each of its requests. */
export function subagentText(runs: readonly SubagentRun[], indent: string): readonly string[] {
  return runs.flatMap((run) => {
    const left = run.turns.length - SHOWN_TURNS;
    const turns = run.turns.slice(-SHOWN_TURNS).map(({ text, tools }) => {
      const called = tools.length === 0 ? "" : ` → ${tools.join(", ")}`;
      return `${indent}  - ${terminalLine(`${text}${called}`.trim(), 110)}`;
    });
    return [
      `${indent}${terminalLine(headOf(run), 300)}`,
      ...(left > 0 ? [`${indent}  … ${counted(left, "request")} before, see --json`] : []),
      ...turns,
      ...subagentText(run.subagents, `${indent}  `),
    ];
  });
}

function headOf(run: SubagentRun): string {
  const { agent, callId, used, toolCalls, failedCalls, durationMs } = run;
  const failed = failedCalls === 0 ? "" : ` (${failedCalls} failed or refused)`;
  const facts = [
    counted(used.requests, "request"),
    `${counted(toolCalls, "tool call")}${failed}`,
    `${used.usage.inputTokens} tokens in, ${used.usage.outputTokens} out`,
    used.costUsd === undefined ? "cost unknown" : `$${used.costUsd.toFixed(4)}`,
    describeDuration(durationMs),
  ];
  return `${agent} (${callId}): ${facts.join(", ")}; ${endOf(run)}`;
}

function endOf({ end }: SubagentRun): string {
  if (end === undefined) return "cut or still at work";
  const why = end.error?.message ?? end.detail;
  return why === undefined ? end.stopReason : `${end.stopReason}: ${why}`;
}

/** The work of a subagent for programs. */
export function subagentJson(run: SubagentRun): object {
  const { callId, agent, model, turns, used, toolCalls, failedCalls, durationMs, end, subagents } = run;
  return {
    call_id: callId,
    agent,
    model,
    requests: used.requests,
    tool_calls: toolCalls,
    failed_calls: failedCalls,
    input_tokens: used.usage.inputTokens,
    output_tokens: used.usage.outputTokens,
    cost_usd: used.costUsd ?? null,
    duration_ms: durationMs,
    stop_reason: end?.stopReason ?? null,
    error: end?.error,
    detail: end?.detail,
    turns,
    subagents: subagents.map(subagentJson),
  };
}
