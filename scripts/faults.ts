import { useOwnPrograms } from "./check.ts";
import { runCommand } from "./run-command.ts";

/**
 * `npm run faults`: the fault tests with every point they know instead of a sample, which takes some minutes.
 * Words on the command line go to vitest, e.g. a part of a file's name.
 */
useOwnPrograms();
process.env["NANO_AGENT_FAULTS"] = "full";
process.env["NANO_AGENT_SEED"] ??= "random";
const words = process.argv.slice(2);
const command = [
  "vitest",
  "run",
  ...(words.length === 0 ? ["test/faults", "test/durable/kills.test.ts"] : words),
];
const { ok } = await runCommand(command, { show: true });
process.exitCode = ok ? 0 : 1;
