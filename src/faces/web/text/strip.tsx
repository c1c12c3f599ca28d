import type { VNode } from "preact";
import type { JournalEntry } from "../../../core/agent/entries.ts";
import { RunClock } from "../../../journal/run-clock.ts";

/** The colour class of a tool: it reads, changes files, or runs commands. */
export function stepClass(tool: string): "t-look" | "t-edit" | "t-bash" {
  if (tool === "bash" || tool === "task") return "t-bash";
  return tool === "write" || tool === "edit" ? "t-edit" : "t-look";
}

export interface StripStep {
  readonly entryId: string;
  /** Active milliseconds before it. */
  readonly from: number;
  readonly to: number;
  readonly kind: string;
}

/** A whole session in one line: colour is the activity, width its time. Pauses between runs are omitted. */
export interface StripData {
  readonly steps: readonly StripStep[];
  readonly length: number;
  /** Active milliseconds up to each entry. */
  readonly workedAt: readonly number[];
}

/** More steps are reduced to this many. */
const MAX_STEPS = 400;

export function stripOf(entries: readonly JournalEntry[]): StripData {
  const steps: StripStep[] = [];
  const workedAt: number[] = [];
  const clock = new RunClock();
  for (const entry of entries) {
    const from = clock.activeMs;
    clock.apply(entry);
    const { activeMs } = clock;
    workedAt.push(activeMs);
    if (activeMs === from) continue;
    const last = steps.at(-1);
    const kind = kindOf(entry) ?? last?.kind ?? "t-think";
    if (last?.kind === kind) steps[steps.length - 1] = { ...last, to: activeMs, entryId: entry.id };
    else steps.push({ entryId: entry.id, from, to: activeMs, kind });
  }
  return { steps: mergeShort(steps, clock.activeMs), length: Math.max(1, clock.activeMs), workedAt };
}

/** The kind of the time before an entry; undefined if it continues the previous one. */
function kindOf(entry: JournalEntry): string | undefined {
  switch (entry.type) {
    case "assistant_message":
    case "model_usage":
      return "t-model";
    case "tool_result":
      return entry.status === "error" ? "t-fail" : stepClass(entry.name);
    case "permission_decision":
      return entry.by === "person" ? "t-wait" : undefined;
    case "retry":
      return "t-fail";
    default:
      return undefined;
  }
}

/** Merges steps too short to see with their neighbours, in the colour of the longest. */
function mergeShort(steps: readonly StripStep[], length: number): readonly StripStep[] {
  if (steps.length <= MAX_STEPS) return steps;
  const merged: StripStep[] = [];
  let longest = 0;
  for (const step of steps) {
    const last = merged.at(-1);
    const duration = step.to - step.from;
    if (last === undefined || last.to - last.from >= length / MAX_STEPS) {
      merged.push(step);
      longest = duration;
    } else {
      merged[merged.length - 1] = { ...last, to: step.to, ...(duration > longest && { kind: step.kind }) };
      longest = Math.max(longest, duration);
    }
  }
  return merged;
}

interface StripProps {
  readonly data: StripData;
  readonly height: number;
  readonly nameOf?: (step: StripStep) => string;
  readonly onChoose?: (entryId: string) => void;
}

/** Hidden from screen readers: the timeline offers the same as text and by keyboard. */
export function Strip({ data: { steps, length }, height, nameOf, onChoose }: StripProps): VNode {
  const percent = (ms: number): string => `${Number(((100 * ms) / length).toFixed(2))}%`;
  return (
    <svg class="strip" height={height} aria-hidden="true">
      {steps.map((step) => (
        <rect
          key={step.from}
          class={step.kind}
          x={percent(step.from)}
          width={percent(step.to - step.from)}
          height={height}
          onClick={onChoose && (() => onChoose(step.entryId))}
        >
          {nameOf && <title>{nameOf(step)}</title>}
        </rect>
      ))}
    </svg>
  );
}
