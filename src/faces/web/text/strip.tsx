import type { VNode } from "preact";
import type { JournalEntry } from "../../../core/agent/entries.ts";
import { RunClock } from "../../../journal/run-clock.ts";

/** The class that colours a call of a tool: it read, changed files, or ran a command. */
export function stepClass(tool: string): "t-look" | "t-edit" | "t-bash" {
  if (tool === "bash" || tool === "task") return "t-bash";
  return tool === "write" || tool === "edit" ? "t-edit" : "t-look";
}

/** A stretch of the strip: what the session spent the time with. */
export interface StripStep {
  readonly entryId: string;
  /** Milliseconds of work before it. */
  readonly from: number;
  readonly to: number;
  readonly kind: string;
}

/** All of a session in one line: colour is what it did, width how long; pauses between runs are left out. */
export interface StripData {
  readonly steps: readonly StripStep[];
  readonly length: number;
  /** Milliseconds of work up to each entry. */
  readonly workedAt: readonly number[];
}

/** More steps than this are drawn as this many. */
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

/** The kind of the time before an entry; undefined when it goes on with the one before. */
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

/** Steps too short to be seen become one with their neighbours, in the colour of the longest. */
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
  /** The words that a step is explained with. */
  readonly nameOf?: (step: StripStep) => string;
  readonly onChoose?: (entryId: string) => void;
}

/** The strip as a picture. Everything in it can also be found, and reached by key, in the timeline. */
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
