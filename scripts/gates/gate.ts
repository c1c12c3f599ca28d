/**
 * What a gate found. `looked` counts the files it read; a gate that reads too few proves nothing and fails.
 */
export interface GateReport {
  readonly looked: number;
  /** One line each: where, what is wrong, what to do. */
  readonly findings: readonly string[];
}

/** One check over the checkout at `root`. */
export type Gate = (root: string) => GateReport | Promise<GateReport>;

/**
 * Prints the report of a gate on the folder named on the command line (default: the working folder) and sets
 * the exit code.
 */
export async function runGate(name: string, gate: Gate, minimum: number): Promise<void> {
  const report = await gate(process.argv[2] ?? process.cwd());
  for (const finding of report.findings) console.error(finding);
  if (report.looked < minimum) {
    console.error(
      `${name}: looked at ${report.looked} files, expected at least ${minimum}. Are the paths right?`,
    );
  }
  const failed = report.findings.length > 0 || report.looked < minimum;
  console.log(`${name}: ${report.looked} files, ${report.findings.length} findings`);
  process.exitCode = failed ? 1 : 0;
}
