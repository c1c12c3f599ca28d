import type { AgentEvent, CompactionEntry, PhaseEvent } from "../core/agent/entries.ts";
import type { StopReason } from "../core/base/stop-reason.ts";
import { loopText } from "../hooks/loop-guard.ts";
import { oneLine } from "./call-text.ts";
import type { Notice } from "./notice.ts";
import { noticeText } from "./notice-text.ts";
import type { RunView, ToolItem, ViewItem } from "./view.ts";

/** How a run ended: its stop reason, or the time limit. */
export type EndReason = StopReason | "wall_time";

export function endReason(stopReason: StopReason, limit: string | undefined): EndReason {
  return limit === "wall_time" ? limit : stopReason;
}

/** The endings in words. */
export const ENDING_TEXTS: { readonly [R in EndReason]: string } = {
  completed: "Done",
  finish_tool: "Done",
  structured_output: "Done",
  max_iterations: "Turn limit reached",
  budget: "Budget used up",
  wall_time: "Time limit reached",
  aborted: "Stopped",
  denied: "A refused call ended the run",
  awaiting_approval: "Waits for your answer",
  awaiting_external: "Waits for something outside",
  output_limit: "The answer hit the model's output limit",
  refusal: "The model or its provider's filter refused to answer",
  loop_detected: "The model kept repeating itself",
  error: "The run failed",
};

/** Advice for a person after an ending. */
export const ENDING_ADVICE: { readonly [R in EndReason]?: string } = {
  aborted: "Say what to do instead, or to continue.",
  max_iterations: "Your next message continues.",
  budget: "A higher --max-budget-usd lets it continue.",
  wall_time: "Your next message continues.",
  loop_detected: "Say what to do differently, or pick another model.",
  output_limit: "Ask it to continue.",
};

/** States of a call that its result does not show. */
export const CALL_STATES: { readonly [S in ToolItem["state"]]?: string } = {
  denied: "refused",
  aborted: "stopped",
};

/** A remark outside the conversation, as data: a frontend may word it itself. */
export type Phrase =
  | { readonly code: "notice"; readonly notice: Notice }
  | ({ readonly code: "compacted" } & Omit<Compaction, "id" | "version" | "time" | "type">);

type Compaction = Extract<ViewItem, { readonly type: "compaction" }>;

/** How a conversation was shortened. */
export type CompactionMethod = CompactionEntry["method"];

/** The ways of shortening a conversation, in words. */
export const COMPACTION_TEXTS: { readonly [M in CompactionMethod]: string } = {
  summary: "the older part was summarized",
  shortening: "old results were shortened",
  truncation: "older messages were left out",
};

/** Describes a compaction by the tokens before and after it. */
export function compactedText(before: string, after: string, how: string): string {
  return `Compacted from ${before} to ${after} tokens: ${how}.`;
}

/** A phrase in English. `tokens` formats a token count. */
export function phraseText(phrase: Phrase, tokens: (count: number) => string): string {
  if (phrase.code === "notice") return noticeText(phrase.notice);
  return compactedText(tokens(phrase.before), tokens(phrase.after), COMPACTION_TEXTS[phrase.method]);
}

/** The notice for an event; undefined for most events. */
export function noticeOf(event: AgentEvent): Notice | undefined {
  switch (event.type) {
    case "warning":
      return { level: "warning", code: "other", message: event.message };
    case "user_message": {
      if (event.circle === undefined) return undefined;
      const message = `The model is repeating itself and has been warned. ${loopText(event.circle)}`;
      return { level: "warning", code: "other", message };
    }
    case "phase":
      return { level: "info", code: "other", message: phaseText(event) };
    case "rollback_end":
      return { level: "info", code: "undo", message: "Files were put back." };
    case "compaction_undone":
      return { level: "info", code: "other", message: "The newest compaction was undone." };
    default:
      return undefined;
  }
}

function phaseText({ phase, round = 1, step, plan = [] }: PhaseEvent): string {
  const name = phase.replace("_", " ");
  if (step !== undefined)
    return `Step ${step} of ${Math.max(step, plan.length)}: ${oneLine(plan[step - 1] ?? "", 200)}`;
  return `${name.charAt(0).toUpperCase()}${name.slice(1)}${round === 1 ? "" : ` ${round}`}`;
}

/** The things a run waits for. */
export const PHASE_TEXTS: { readonly [P in RunView["phase"]]: string } = {
  waiting: "waiting for the model",
  thinking: "the model is thinking",
  answering: "the model is writing",
  tools: "tools are running",
  compacting: "compacting the conversation",
};

/** Describes a retry: its reason and when it happens. */
export function retryText(
  { attempt, until, reason }: { readonly attempt: number; readonly until: number; readonly reason: string },
  now: number,
): string {
  const seconds = Math.max(0, Math.ceil((until - now) / 1_000));
  return `attempt ${attempt} in ${seconds} s: ${oneLine(reason, 300)}`;
}
