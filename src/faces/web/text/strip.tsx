import type { VNode } from "preact";
import type { JournalEntry } from "../../../core/agent/entries.ts";
import { RunClock } from "../../../journal/run-clock.ts";

/** The colour class for a tool's call: it read, changed files, or ran a command. */
export function stepClass(tool: string): "t-look" | "t-edit" | "t-bash" {
  if (tool === "bash" || tool === "task") return "t-bash";
  return tool === "write" || tool === "edit" ? "t-edit" : "t-look";
}

/** A stretch of the strip: one kind of activity. */
export interface StripStep {
  readonly entryId: string;
  /** Active milliseconds before it. */
  readonly from: number;
  readonly to: number;
  readonly kind: string;
}

/** A whole session in one line: colour is the activity, width its time, without the pauses between runs. */
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
    const from = clock.worked;
    clock.apply(entry);
    const { worked } = clock;
    workedAt.push(worked);
    if (worked === from) continue;
    const last = steps.at(-1);
    const kind = kindOf(entry) ?? last?.kind ?? "t-think";
    if (last?.kind === kind) steps[steps.length - 1] = { ...last, to: worked, entryId: entry.id };
    else steps.push({ entryId: entry.id, from, to: worked, kind });
  }
  return { steps: coarse(steps, clock.worked), length: Math.max(1, clock.worked), workedAt };
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

/** Merges steps too short to be visible with their neighbours, in the colour of the longest. */
function coarse(steps: readonly StripStep[], length: number): readonly StripStep[] {
  if (steps.length <= MAX_STEPS) return steps;
  const made: StripStep[] = [];
  let longest = 0;
  for (const step of steps) {
    const last = made.at(-1);
    const own = step.to - step.from;
    if (last === undefined || last.to - last.from >= length / MAX_STEPS) {
      made.push(step);
      longest = own;
    } else {
      made[made.length - 1] = { ...last, to: step.to, ...(own > longest && { kind: step.kind }) };
      longest = Math.max(longest, own);
    }
  }
  return made;
}

interface StripProps {
  readonly data: StripData;
  readonly height: number;
  /** The description of a step. */
  readonly nameOf?: (step: StripStep) => string;
  readonly onChoose?: (entryId: string) => void;
}

/** The strip as a picture. The timeline offers everything in it in text and by keyboard. */
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
