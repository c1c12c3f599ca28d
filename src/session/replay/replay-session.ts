import type { JournalEntry } from "../../core/agent/entries.ts";
import { sessionSteps, stepNumbered } from "../../journal/steps.ts";
import { compareRun } from "./compare-run.ts";
import { type RecordedRun, recordedRuns } from "./recorded-run.ts";
import { ReplayFindings, type ReplayReport } from "./replay-report.ts";
import { type ReplayTools, replayRun } from "./replay-run.ts";

/** How a session is run again. */
export interface ReplayOptions extends ReplayTools {
  /** First step that is compared. Default 1. */
  readonly from?: number;
}

/**
 * Runs the loop of a session again from its journal, without a model: answers, permission decisions, input,
 * steering and interruptions come from the record, and so do the results of tools, unless `runTool` runs
 * them. Says where the messages of a request, the arguments or the result of a call, or the way a run ended
 * differ from the record. Every run starts from what is recorded before it, so one difference does not lead
 * to others. Writes nothing. Throws `invalid_argument` for a step that is not there.
 */
export async function replaySession(
  entries: readonly JournalEntry[],
  options: ReplayOptions = {},
): Promise<ReplayReport> {
  const { from = 1, signal } = options;
  if (options.from !== undefined) stepNumbered(entries, from);
  const findings = new ReplayFindings();
  const stepOf = stepFinder(entries);
  for (const run of recordedRuns(entries)) {
    if (signal?.aborted === true) break;
    const last = stepOf(run.end ?? run.answers.at(-1) ?? run.start);
    if (last !== null && last < from) continue;
    const unknown = unknownPhase(run, options);
    if (unknown !== undefined) {
      findings.leaveOut(`runs in phases that are not known here (${unknown})`);
      continue;
    }
    const before = entries.slice(0, run.before);
    const replayed = await replayRun(run, before, options);
    compareRun({ run, before, replayed, stepOf, from, findings });
  }
  return findings.report();
}

/** The first phase of a run that was worked out in nested runs nobody here can conduct. */
function unknownPhase(run: RecordedRun, { conductor }: ReplayOptions): string | undefined {
  const { answers } = run;
  const scope = answers[0]?.scope;
  const isNested = scope !== undefined && answers.every((answer) => answer.scope !== undefined);
  return isNested && conductor?.(run) === undefined ? scope : undefined;
}

/** Tells the step an entry belongs to: the last one that had begun. */
function stepFinder(entries: readonly JournalEntry[]): (entry: JournalEntry | undefined) => number | null {
  const places = new Map(entries.map((entry, at) => [entry, at]));
  const steps = sessionSteps(entries);
  return (entry) => {
    const at = entry === undefined ? undefined : places.get(entry);
    return steps.findLast((step) => at !== undefined && step.at <= at)?.number ?? null;
  };
}
