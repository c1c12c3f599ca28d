import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/** How many checks of one kind passed, failed and were left out. */
export interface Summary {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/**
 * What every run ends with: the line `N passed, N failed`, and before it `N skipped` when something was left
 * out.
 */
export function summaryLine({ passed, failed, skipped }: Summary): string {
  return `${skipped > 0 ? `${skipped} skipped\n` : ""}${passed} passed, ${failed} failed`;
}

/** Adds up summaries. */
export function addSummaries(summaries: readonly Summary[]): Summary {
  return summaries.reduce(
    (sum, one) => ({
      passed: sum.passed + one.passed,
      failed: sum.failed + one.failed,
      skipped: sum.skipped + one.skipped,
    }),
    { passed: 0, failed: 0, skipped: 0 },
  );
}

/** Where a test run leaves its summary for the script that started it, relative to the checkout. */
export const SUMMARY_FILE = ".cache/test-summary.json";

/** Writes the summary of a finished test run. */
export function writeSummary(path: string, summary: Summary): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, JSON.stringify(summary));
}

/**
 * Takes the summary a test run left; undefined when it left none, so that a crash never looks like a success.
 */
export function takeSummary(path: string): Summary | undefined {
  if (!existsSync(path)) return undefined;
  const summary = JSON.parse(readFileSync(path, "utf8")) as Summary;
  rmSync(path);
  return summary;
}
