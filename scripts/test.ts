import { runGates, useOwnPrograms } from "./check.ts";
import { GATES } from "./gates/all.ts";
import { runCommand } from "./run-command.ts";
import { addSummaries, SUMMARY_FILE, type Summary, summaryLine, takeSummary } from "./summary.ts";

/**
 * Builds, runs every gate and every test, and ends with one line that counts them all, whatever went wrong
 * before. Words on the command line go to vitest.
 */
useOwnPrograms();
const build = await runCommand(["node", "scripts/build.ts"], { show: true });
const gates = await runGates(GATES);
console.log(`gates: ${summaryLine(gates)}`);
takeSummary(SUMMARY_FILE);
const run = await runCommand(["vitest", "run", ...process.argv.slice(2)], { show: true });
const total = addSummaries([oneCheck(build.ok), gates, testsOf(run.ok)]);
process.exitCode = total.failed > 0 ? 1 : 0;
console.log(summaryLine(total));

function oneCheck(ok: boolean): Summary {
  return { passed: ok ? 1 : 0, failed: ok ? 0 : 1, skipped: 0 };
}

function testsOf(ok: boolean): Summary {
  const tests = takeSummary(SUMMARY_FILE);
  if (tests && (ok || tests.failed > 0)) return tests;
  return addSummaries([tests ?? { passed: 0, failed: 0, skipped: 0 }, oneCheck(false)]);
}
