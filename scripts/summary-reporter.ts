import { writeSync } from "node:fs";
import type { Reporter, TestModule, TestRunEndReason } from "vitest/node";
import { SUMMARY_FILE, type Summary, summaryLine, writeSummary } from "./summary.ts";

/**
 * Ends the output of a test run with the one line `N passed, N failed`. A file that cannot be loaded, a
 * failing hook, an unhandled error and an interrupted run count as a failure each: a run that did not succeed
 * never says `0 failed`.
 */
export default class SummaryReporter implements Reporter {
  #summary: Summary = { passed: 0, failed: 1, skipped: 0 };

  onInit(): void {
    process.once("exit", () => writeSync(1, `${summaryLine(this.#summary)}\n`));
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[], reason: TestRunEndReason): void {
    const counts = { passed: 0, failed: errors.length, skipped: 0 };
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        counts[state === "pending" ? "failed" : state]++;
      }
      counts.failed += module.errors().length;
      for (const suite of module.children.allSuites()) counts.failed += suite.errors().length;
    }
    const unexplained = reason !== "passed" && counts.failed === 0;
    const nothing = counts.passed + counts.failed === 0;
    if (unexplained || nothing) counts.failed = 1;
    this.#summary = counts;
    writeSummary(SUMMARY_FILE, counts);
  }
}
