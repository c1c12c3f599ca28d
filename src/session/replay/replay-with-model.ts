import type { AssistantEntry, JournalEntry } from "../../core/agent/entries.ts";
import { MemoryJournal } from "../../core/agent/journal.ts";
import { loop } from "../../core/agent/loop.ts";
import { endRun } from "../../core/agent/perform.ts";
import type { Run } from "../../core/agent/run.ts";
import { SessionState } from "../../core/agent/state.ts";
import { toNanoAgentError } from "../../core/base/errors.ts";
import { canonicalJson, defined, firstDifference } from "../../core/base/json.ts";
import { messageText, type ToolInput, toolCallsOf } from "../../core/message/message.ts";
import type { Model } from "../../core/model/model.ts";
import type { Tool, ToolContext, ToolResult } from "../../core/tool/tool.ts";
import { errorResult } from "../../core/tool/tool-output.ts";
import { LoopGuard, loopGuardPlugin } from "../../hooks/loop-guard.ts";
import { sessionSteps, stepNumbered } from "../../journal/steps.ts";
import { checkedInput, type RecordedCall, recordedRuns } from "./recorded-run.ts";
import { replayContext } from "./replay-context.ts";
import { ReplayFindings, type ReplayReport } from "./replay-report.ts";
import type { ToolRunner } from "./replay-run.ts";

/** How a session is run again with another model. */
export interface ModelReplayOptions {
  readonly model: Model;
  /** Step that the model is asked first. */
  readonly from: number;
  readonly systemPrompt?: string;
  /** Tools the model is offered, of those the recorded run had. */
  readonly tools: readonly Tool[];
  /** Runs calls that are not in the record. Without it they are answered with an error. */
  readonly runTool?: ToolRunner | undefined;
  /** Model requests at most. Default 20. */
  readonly maxIterations?: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Asks another model from a step on, to the end of that run, and says at which step its answers differ from
 * the recorded ones. A call that is recorded with the same arguments gets the recorded result. Writes
 * nothing. Throws `invalid_argument` for a step that is not there, and what makes the model fail.
 */
export async function replayWithModel(
  entries: readonly JournalEntry[],
  options: ModelReplayOptions,
): Promise<ReplayReport> {
  const step = stepNumbered(entries, options.from);
  const findings = new ReplayFindings();
  const run = recordedRuns(entries).findLast(({ before }) => before < step.at);
  const journal = new MemoryJournal({ sessionId: run?.start.sessionId ?? "replay" });
  const state = new SessionState([LoopGuard]);
  for (const entry of entries.slice(0, step.at)) state.apply(entry);
  const again = modelContext(entries, { options, journal, state, findings, offered: run?.start.tools });
  await endRun(again, await loop(again));
  const end = [...journal.entries()].find((entry) => entry.type === "run_end");
  if (end?.type === "run_end" && end.error !== undefined) throw toNanoAgentError(end.error.message);
  findings.runs = 1;
  const steps = sessionSteps(entries).filter((each) => each.run === step.run && each.number >= step.number);
  const recorded = steps.map(({ answerAt }) => entries[answerAt]);
  compareAnswers(findings, {
    recorded: recorded.filter((entry) => entry?.type === "assistant_message"),
    made: [...journal.entries()].filter((entry) => entry.type === "assistant_message"),
    from: step.number,
    run: step.run,
  });
  return findings.report();
}

interface Setting {
  readonly options: ModelReplayOptions;
  readonly journal: MemoryJournal;
  readonly state: SessionState;
  readonly findings: ReplayFindings;
  readonly offered: readonly string[] | undefined;
}

function modelContext(entries: readonly JournalEntry[], setting: Setting): Run {
  const { options, journal, state, offered } = setting;
  const { model, maxIterations = 20, systemPrompt, signal } = options;
  const tools = options.tools.filter(({ name }) => offered?.includes(name) ?? true);
  const recorded = recordedByInput(entries);
  const { sessionId } = journal;
  return replayContext({
    model,
    tools: tools.map((tool) => answeredFromRecord(tool, recorded, setting)),
    journal,
    state,
    signal: signal ?? new AbortController().signal,
    settings: { maxIterations: state.progress.iterations + maxIterations, onMaxIterations: "last" },
    request: { sessionId, ...defined({ system: systemPrompt }) },
    plugins: [loopGuardPlugin()],
  });
}

function recordedByInput(entries: readonly JournalEntry[]): ReadonlyMap<string, RecordedCall> {
  const calls = new Map<string, RecordedCall>();
  for (const run of recordedRuns(entries)) {
    for (const call of run.calls.values()) {
      const input = checkedInput(call);
      if (input !== undefined && call.result !== undefined) calls.set(keyOf(call.name, input), call);
    }
  }
  return calls;
}

function keyOf(name: string, input: ToolInput): string {
  return `${name} ${canonicalJson(JSON.parse(JSON.stringify(input)))}`;
}

function answeredFromRecord(
  tool: Tool,
  recorded: ReadonlyMap<string, RecordedCall>,
  { options, findings }: Setting,
): Tool {
  const execute = async (input: never, context: ToolContext): Promise<ToolResult> => {
    const result = recorded.get(keyOf(tool.name, input))?.result?.result;
    findings.calls++;
    if (result !== undefined) return { content: result.content, isError: result.is_error === true };
    const ran = await options.runTool?.({ name: tool.name, input }, context);
    if (ran !== undefined) {
      findings.callsRun++;
      return ran;
    }
    findings.leaveOut("calls that are not in the record");
    return errorResult(
      "This is a replay: only calls of the recorded session are answered. Go on without this one.",
    );
  };
  return { ...tool, execute };
}

interface ComparedAnswers {
  readonly recorded: readonly AssistantEntry[];
  readonly made: readonly AssistantEntry[];
  readonly from: number;
  readonly run: number;
}

function compareAnswers(findings: ReplayFindings, { recorded, made, from, run }: ComparedAnswers): void {
  findings.requests = made.length;
  for (let at = 0; at < Math.max(recorded.length, made.length); at++) {
    findings.note(
      { run, step: from + at, aspect: "answer" },
      firstDifference(saidIn(recorded[at]), saidIn(made[at])),
    );
  }
}

function saidIn(answer: AssistantEntry | undefined): object | undefined {
  if (answer === undefined) return undefined;
  const { message } = answer;
  return {
    calls: toolCallsOf(message).map(({ name, input }) => ({ name, input })),
    text: messageText(message),
  };
}
