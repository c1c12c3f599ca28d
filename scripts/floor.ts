import { join } from "node:path";
import { readManifest } from "./build/manifest.ts";
import { useOwnPrograms } from "./check.ts";
import { runCommand } from "./run-command.ts";

/**
 * `npm run floor`: the tests on the oldest Node that the package promises to run on, which npm fetches. Words
 * on the command line go to vitest.
 */
useOwnPrograms();
const { engines } = readManifest(join(import.meta.dirname, ".."));
const node = engines.node.replace(">=", "");
const vitest = ["node", "node_modules/vitest/vitest.mjs", "run", ...process.argv.slice(2)];
const { ok } = await runCommand(["npm", "exec", "--yes", `--package=node@${node}`, "--", ...vitest], {
  show: true,
});
process.exitCode = ok ? 0 : 1;
