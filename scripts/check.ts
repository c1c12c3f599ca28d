import { availableParallelism } from "node:os";
import { delimiter, join } from "node:path";
import { GATES, type GateCommand } from "./gates/all.ts";
import { runCommand } from "./run-command.ts";
import type { Summary } from "./summary.ts";

/** Runs the gates, a few at a time, with one line each and the output of those that fail. */
export async function runGates(gates: readonly GateCommand[]): Promise<Summary> {
  const waiting = [...gates];
  let failed = 0;
  const work = async (): Promise<void> => {
    for (let gate = waiting.shift(); gate; gate = waiting.shift()) {
      const result = await runCommand(gate.command);
      if (!result.ok) failed++;
      const verdict = result.ok ? "ok  " : "FAIL";
      console.log(`${verdict} ${gate.name.padEnd(10)} ${(result.ms / 1000).toFixed(1).padStart(5)} s`);
      if (!result.ok) console.log(result.output.trimEnd().replaceAll(/^/gm, "     "));
    }
  };
  await Promise.all(Array.from({ length: Math.max(2, availableParallelism()) }, work));
  return { passed: gates.length - failed, failed, skipped: 0 };
}

/** Puts the programs of the checkout first on the path, Node 24 among them. */
export function useOwnPrograms(): void {
  process.env["PATH"] = [join(import.meta.dirname, "../node_modules/.bin"), process.env["PATH"]].join(
    delimiter,
  );
}

if (import.meta.main) {
  useOwnPrograms();
  const names = process.argv.slice(2);
  const gates = GATES.filter((gate) => names.length === 0 || names.includes(gate.name));
  const unknown = names.filter((name) => !GATES.some((gate) => gate.name === name));
  if (unknown.length > 0) {
    console.error(
      `No gate is called ${unknown.join(", ")}. Gates: ${GATES.map((gate) => gate.name).join(", ")}`,
    );
    process.exitCode = 2;
  } else {
    const { passed, failed } = await runGates(gates);
    console.log(`gates: ${passed} passed, ${failed} failed`);
    process.exitCode = failed > 0 ? 1 : 0;
  }
}
