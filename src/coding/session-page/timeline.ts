import type { JournalEntry } from "../../core/agent/entries.ts";
import { counted } from "../../core/base/text.ts";
import { sessionSteps } from "../../journal/steps.ts";
import { describeDuration } from "../../tools/shell/report.ts";
import { type Html, html } from "./html.ts";

/** Steps a timeline shows; of more, the longest. */
const MAX_STEPS = 200;

/** How long each step took, as bars: the model first, then its tools. Each line leads to its step. */
export function timeline(entries: readonly JournalEntry[]): Html {
  const times = stepTimes(entries);
  const longest = Math.max(1, ...times.map(({ modelMs, toolMs }) => modelMs + toolMs));
  const shown = new Set(
    times
      .toSorted((left, right) => right.modelMs + right.toolMs - left.modelMs - left.toolMs)
      .slice(0, MAX_STEPS),
  );
  const lines = times
    .filter((time) => shown.has(time))
    .map(({ step, modelMs, toolMs }) => {
      const model = Math.round((modelMs / longest) * 1_000);
      const tools = Math.round((toolMs / longest) * 1_000);
      return html`<li><a href="#step-${step}">step ${step}</a><svg viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true"><rect class="m" y="2" height="6" width="${model}"/><rect class="t" y="2" height="6" x="${model}" width="${tools}"/></svg><span>${describeDuration(modelMs + toolMs)}</span></li>`;
    });
  if (lines.length === 0) return html``;
  const left = times.length - lines.length;
  return html`<details open><summary>Timeline of ${counted(times.length, "step")}${left > 0 ? `, the ${lines.length} longest` : ""}</summary><ol class="time">${lines}</ol></details>`;
}

interface StepTime {
  readonly step: number;
  readonly modelMs: number;
  readonly toolMs: number;
}

function stepTimes(entries: readonly JournalEntry[]): readonly StepTime[] {
  const steps = sessionSteps(entries);
  return steps.map(({ number: step, at }, index) => {
    const own = entries.slice(at, steps[index + 1]?.at ?? entries.length);
    let modelMs = 0;
    let toolMs = 0;
    for (const entry of own) {
      if (entry.type === "assistant_message") modelMs += entry.durationMs;
      if (entry.type === "tool_result" && entry.parentCallId === undefined) toolMs += entry.durationMs;
    }
    return { step, modelMs, toolMs };
  });
}
