import type {
  JournalEntry,
  RunEndEntry,
  RunStartEntry,
  ToolIntentEntry,
} from "../../../core/agent/entries.ts";
import { addSpending, NO_SPENDING, type Spending } from "../../../core/agent/state.ts";
import { messageText, toolCallsOf } from "../../../core/message/message.ts";

/** One request of a subagent: what it said and the tools it called. */
export interface SubagentTurn {
  readonly text: string;
  readonly tools: readonly string[];
}

/** The work of a subagent for the call that started it, as the entries of a session tell it. */
export interface SubagentRun {
  /** Place of its first entry. */
  readonly at: number;
  readonly callId: string;
  readonly agent: string;
  readonly model: string;
  readonly turns: readonly SubagentTurn[];
  readonly toolCalls: number;
  /** Calls that failed, were refused or were stopped. */
  readonly failedCalls: number;
  /** Requests, tokens and cost, those of its own subagents included. */
  readonly used: Spending;
  /** Milliseconds from its first entry to its last. */
  readonly durationMs: number;
  /** Undefined while it is at work, or when it was cut. */
  readonly end: RunEndEntry | undefined;
  readonly subagents: readonly SubagentRun[];
}

/** The subagents of the conversation and its patterns, in the order in which they began. */
export function subagentRuns(entries: readonly JournalEntry[]): readonly SubagentRun[] {
  let open: OpenRun[] = [];
  const outer: OpenRun[] = [];
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
      const run = begin(entry, { at, scope, intent });
      (parents.at(-1)?.subagents ?? outer).push(run);
      open.push(run);
    }
    for (const run of parents) add(run, entry);
    if (entry.type === "run_end") open = open.filter((run) => run.scope !== scope);
  });
  return outer;
}

interface OpenRun extends SubagentRun {
  readonly scope: string;
  readonly startedAt: number;
  readonly turns: SubagentTurn[];
  readonly subagents: OpenRun[];
  toolCalls: number;
  failedCalls: number;
  used: Spending;
  durationMs: number;
  end: RunEndEntry | undefined;
}

interface BeginPlace {
  readonly at: number;
  readonly scope: string;
  readonly intent: ToolIntentEntry | undefined;
}

function begin({ time, agent, model }: RunStartEntry, { at, scope, intent }: BeginPlace): OpenRun {
  const who = { callId: intent?.callId ?? scope, agent: agent ?? intent?.name ?? "subagent", model };
  const nothing = { toolCalls: 0, failedCalls: 0, used: NO_SPENDING, durationMs: 0, end: undefined };
  return { at, scope, startedAt: time, ...who, turns: [], subagents: [], ...nothing };
}

function add(run: OpenRun, entry: JournalEntry): void {
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
