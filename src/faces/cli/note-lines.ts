import type { AgentEvent, CompactionEntry, PhaseEvent, SubagentEvent } from "../../core/agent/entries.ts";
import { textOf } from "../../core/message/message.ts";
import { circleText } from "../../hooks/loop-guard-plugin.ts";
import { describeDuration } from "../../tools/shell/report.ts";
import { callTitle } from "../../view/call-text.ts";
import { terminalLine } from "../../view/safe-text.ts";
import type { Style } from "./style.ts";

/** A note about an event that is told wherever standard error goes; undefined for most events. */
export function noteOf(event: AgentEvent): string | undefined {
  if (event.type === "warning") return terminalLine(event.message, 500);
  if (event.type === "compaction") return compactionLine(event);
  if (event.type !== "user_message" || event.circle === undefined) return undefined;
  const circle = circleText(event.circle);
  return terminalLine(`The model is repeating itself and has been warned. ${circle}`, 500);
}

/** A note on a line of its own on a terminal, whatever is shown around it. */
export function noteLine(event: AgentEvent, style: Style): string | undefined {
  switch (event.type) {
    case "subagent":
      return subagentLine(event, style);
    case "phase":
      return style.dim(phaseLine(event));
    case "retry": {
      const wait = event.delayMs < 50 ? "now" : `in ${describeDuration(event.delayMs)}`;
      return style.yellow(`↻ attempt ${event.attempt} ${wait}: ${terminalLine(event.error.message, 300)}`);
    }
    case "compaction_start":
      return style.dim("⇣ making room in the conversation");
    case "compaction":
      return style.dim(`⇣ ${compactionLine(event)}`);
    default:
      return style.yellow(noteOf(event) ?? "");
  }
}

const METHODS: { readonly [M in CompactionEntry["method"]]: string } = {
  summary: "the older part was summarised",
  shortening: "old results were shortened",
  truncation: "older messages were left out",
};

type Compaction = Pick<CompactionEntry, "method" | "tokensBefore" | "tokensAfter">;

/** A compaction in one line. */
export function compactionLine({ method, tokensBefore, tokensAfter }: Compaction): string {
  const thousands = (tokens: number): string => `${(tokens / 1_000).toFixed(1)}k`;
  return `the conversation was compacted from about ${thousands(tokensBefore)} to ${thousands(tokensAfter)} tokens: ${METHODS[method]}`;
}

function phaseLine({ phase, round, step, plan }: PhaseEvent): string {
  const name = phase.replace("_", " ");
  if (step === undefined) return `── ${name}${round === undefined || round === 1 ? "" : ` ${round}`}`;
  return `── step ${step} of ${plan?.length ?? step}: ${terminalLine(plan?.[step - 1] ?? "", 100)}`;
}

/** Widest title of a subagent's call; what goes wrong may be twice as long. */
const MAX_COLUMNS = 90;

/**
 * One line for what a subagent does: each call it begins, and what goes wrong; `undefined` for the rest,
 * since its words are for the agent that asked for them. Each line names its own: several may be at work.
 */
export function subagentLine({ agent, event }: SubagentEvent, style: Style): string | undefined {
  let names = terminalLine(agent, 40);
  let inner = event;
  for (; inner.type === "subagent"; inner = inner.event) names += ` › ${terminalLine(inner.agent, 40)}`;
  const text = innerText(inner, style);
  return text === undefined ? undefined : `  ${style.dim(`${names} ·`)} ${text}`;
}

function innerText(inner: AgentEvent, style: Style): string | undefined {
  const cut = (text: string): string => terminalLine(text, MAX_COLUMNS * 2);
  switch (inner.type) {
    case "tool_intent": {
      const input = terminalLine(callTitle(inner.input), MAX_COLUMNS);
      return `${inner.name}${input === "" ? "" : ` ${style.dim(input)}`}`;
    }
    case "tool_result":
      if (inner.status === "ok") return undefined;
      return style.red(`✗ ${inner.name}: ${cut(textOf(inner.result.content, "\n"))}`);
    case "retry":
      return style.yellow(`↻ attempt ${inner.attempt}: ${cut(inner.error.message)}`);
    case "user_message":
      if (inner.circle === undefined) return undefined;
      return style.yellow(`is repeating itself: ${cut(circleText(inner.circle))}`);
    case "warning":
      return style.yellow(cut(inner.message));
    default:
      return undefined;
  }
}
