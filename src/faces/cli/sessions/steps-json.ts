import type { JournalEntry, RunEndEntry, ToolIntentEntry } from "../../../core/agent/entries.ts";
import { addSpending, NO_SPENDING, type Spending } from "../../../core/agent/state.ts";
import { messageText, toolCallsOf } from "../../../core/message/message.ts";
import { sessionSteps } from "../../../journal/steps.ts";

/** The steps of a session for programs, each with the subagents it started. */
export function stepsJson(entries: readonly JournalEntry[]): readonly object[] {
  let from = 0;
  const delegated = subagentRuns(entries);
  return sessionSteps(entries).map(({ number: step, at, answerAt, run }, index, steps) => {
    const next = steps[index + 1]?.at ?? entries.length;
    const input = entries.slice(from, at).flatMap(saidTo);
    from = answerAt + 1;
    const answer = entries[answerAt];
    const messages =
      answer?.type === "assistant_message"
        ? [answer.message]
        : answer?.type === "history"
          ? answer.messages
          : [];
    const subagents = delegated.filter((started) => started.at >= at && started.at < next);
    return {
      step,
      run,
      time: timeText(answer?.time),
      input,
      text: messages.map((message) => messageText(message, "\n")).join("\n"),
      tools: messages.flatMap((message) => toolCallsOf(message).map(({ name }) => name)),
      ...(subagents.length === 0 ? {} : { subagents: subagents.map(subagentJson) }),
    };
  });
}

function saidTo(entry: JournalEntry): readonly string[] {
  if (entry.type !== "user_message" || entry.scope !== undefined) return [];
  const text = messageText(entry.message, "\n");
  return [text === "" ? "(no text)" : text];
}

/** An ISO time; null when it is missing or not a valid date. */
export function timeText(time: number | undefined): string | null {
  const date = new Date(time ?? Number.NaN);
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}

/** The work of a subagent for the call that started it. */
interface SubagentRun {
  /** Place of its first entry. */
  readonly at: number;
  readonly scope: string;
  readonly startedAt: number;
  readonly callId: string;
  readonly agent: string;
  readonly model: string;
  readonly turns: { readonly text: string; readonly tools: readonly string[] }[];
  readonly subagents: SubagentRun[];
  toolCalls: number;
  /** Calls that failed, were refused or were stopped. */
  failedCalls: number;
  /** Requests, tokens and cost, those of its own subagents included. */
  used: Spending;
  durationMs: number;
  /** Undefined while it works, or when it was interrupted. */
  end: RunEndEntry | undefined;
}

/** The subagents of the conversation and its patterns, in the order in which they began. */
function subagentRuns(entries: readonly JournalEntry[]): readonly SubagentRun[] {
  let open: SubagentRun[] = [];
  const outer: SubagentRun[] = [];
  const intents = new Map<string, ToolIntentEntry>();
  entries.forEach((entry, at) => {
    const { scope } = entry;
    if (entry.type === "tool_intent")
      intents.set(`${scope === undefined ? "" : `${scope}/`}${entry.name}/${entry.callId}`, entry);
    if (scope === undefined) return;
    const parents = open.filter((run) => scope === run.scope || scope.startsWith(`${run.scope}/`));
    if (entry.type === "run_start") {
      // The call that started it: a second subagent of the same call has a number behind it.
      const intent = intents.get(scope) ?? intents.get(scope.replace(/\/\d+$/, ""));
      const { time: startedAt, agent = intent?.name ?? "subagent", model } = entry;
      const who = { at, scope, startedAt, callId: intent?.callId ?? scope, agent, model, end: undefined };
      const nothing = { toolCalls: 0, failedCalls: 0, used: NO_SPENDING, durationMs: 0 };
      const run: SubagentRun = { ...who, ...nothing, turns: [], subagents: [] };
      (parents.at(-1)?.subagents ?? outer).push(run);
      open.push(run);
    }
    for (const run of parents) add(run, entry);
    if (entry.type === "run_end") open = open.filter((run) => run.scope !== scope);
  });
  return outer;
}

function add(run: SubagentRun, entry: JournalEntry): void {
  run.durationMs = Math.max(run.durationMs, entry.time - run.startedAt);
  if (entry.type === "assistant_message" || entry.type === "model_usage")
    run.used = addSpending(run.used, entry);
  if (entry.scope !== run.scope) return;
  if (entry.type === "run_end") run.end = entry;
  if (entry.type === "assistant_message") {
    const { message } = entry;
    run.turns.push({ text: messageText(message, "\n"), tools: toolCallsOf(message).map(({ name }) => name) });
  }
  if (entry.type !== "tool_result") return;
  run.toolCalls++;
  if (entry.status !== "ok") run.failedCalls++;
}

function subagentJson(run: SubagentRun): object {
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
