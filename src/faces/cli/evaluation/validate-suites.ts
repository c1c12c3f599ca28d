import { commandVariables } from "../../../coding/setup/secrets.ts";
import { counted } from "../../../core/base/text.ts";
import { type TaskProof, validateTask } from "../../../evaluation/judge.ts";
import type { TaskFault } from "../../../evaluation/task.ts";
import { createProcessWatcher } from "../../../system/process-watcher.ts";
import { EXIT } from "../../../view/exit-code.ts";
import { terminalLine } from "../../../view/safe-text.ts";
import type { CommandCall } from "../command-call.ts";
import { answer, type CommandContext } from "../command-context.ts";
import { withSignals } from "../ending-signals.ts";
import { type Style, styleFor } from "../style.ts";
import { countOf, scratchSettings, tasksOf } from "./suite-call.ts";

/** `nano-agent eval validate SUITE…`: proves that the tasks tell a solution from none. */
export async function validateSuites(context: CommandContext, call: CommandCall): Promise<number> {
  const jobs = countOf(call, "--jobs", 64);
  const { tasks, faults } = await tasksOf(call);
  const { environment, config } = await scratchSettings(context);
  const proofs: TaskProof[] = faults.map(unusable);
  return withSignals(async ({ signal, forced }) => {
    const watcher = createProcessWatcher();
    const place = { env: commandVariables(environment, config.values), signal, watcher };
    const waiting = [...tasks];
    const worker = async (): Promise<void> => {
      for (let task = waiting.shift(); task !== undefined && !signal.aborted; task = waiting.shift())
        proofs.push(await validateTask(task, place));
    };
    await Promise.race([Promise.all(Array.from({ length: jobs }, worker)), forced]);
    // A proof that was cut says nothing.
    if (signal.aborted) return EXIT.failed;
    proofs.sort((left, right) => (left.task < right.task ? -1 : 1));
    const style = styleFor(context.stdout.isTerminal, context.environment);
    answer(context, call, { json: () => proofs, text: () => proofText(proofs, style) });
    return proofs.some((proof) => proof.faults.length > 0) ? EXIT.failed : EXIT.done;
  });
}

function unusable({ name, faults }: TaskFault): TaskProof {
  return { task: name, faults, isSolvable: false };
}

function proofText(proofs: readonly TaskProof[], style: Style): string {
  const lines = proofs.flatMap(({ task, faults, isSolvable }) => {
    const name = terminalLine(task, 80);
    if (faults.length > 0)
      return [`${style.red("✗")} ${name}`, ...faults.map((fault) => `    ${terminalLine(fault, 1_000)}`)];
    return isSolvable
      ? [`${style.green("✓")} ${name}: fails untouched, passes with its reference`]
      : [
          `${style.yellow("–")} ${name}: fails untouched; without a reference nothing proves that it can be solved`,
        ];
  });
  const bad = proofs.filter(({ faults }) => faults.length > 0).length;
  const total =
    bad === 0
      ? counted(proofs.length, "good task")
      : `${bad} of ${counted(proofs.length, "task")} cannot be used as it stands`;
  return [...lines, `${total}.`].map((line) => `${line}\n`).join("");
}
