import type { JournalEntry } from "../../../core/agent/entries.ts";
import { messageText, toolCallsOf } from "../../../core/message/message.ts";
import { sessionSteps } from "../../../journal/steps.ts";
import { type SubagentRun, subagentRuns } from "./subagent-runs.ts";

/** A step as people are shown it. */
export interface StepLine {
  readonly step: number;
  /** Of the run, from 1. */
  readonly run: number;
  readonly time: string | null;
  /** Inputs since the step before. */
  readonly input: readonly string[];
  readonly text: string;
  readonly tools: readonly string[];
  readonly subagents: readonly SubagentRun[];
}

/** The steps of a session, in order. */
export function stepLines(entries: readonly JournalEntry[]): readonly StepLine[] {
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
    return {
      step,
      run,
      time: timeText(answer?.time),
      input,
      text: messages.map((message) => messageText(message, "\n")).join("\n"),
      tools: messages.flatMap((message) => toolCallsOf(message).map(({ name }) => name)),
      subagents: delegated.filter((started) => started.at >= at && started.at < next),
    };
  });
}

function saidTo(entry: JournalEntry): readonly string[] {
  if (entry.type !== "user_message" || entry.scope !== undefined) return [];
  const text = messageText(entry.message, "\n");
  return [text === "" ? "(no text)" : text];
}

/** A time for programs and people alike; null where there is none, or none that a calendar has. */
export function timeText(time: number | undefined): string | null {
  const date = new Date(time ?? Number.NaN);
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}
