import { mkdtempSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { openSandbox } from "../src/permission/sandbox/open-sandbox.ts";
import { type BashTools, createBashTools } from "../src/tools/bash-tools.ts";

/** Median time of a command inside and outside of the sandbox, alternating, through the `bash` tool. */
const ROUNDS = Number(process.argv[2] ?? 100);
const COMMAND = "true";

/** Below the home folder, as people have it: a folder in `/tmp` needs mounts of its own. */
const home = mkdtempSync(join(homedir(), ".nano-agent-bench-"));
const workspace = mkdtempSync(join(home, "workspace-"));
const env = { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: home };

async function timeOf({ bash }: BashTools): Promise<number> {
  const context = { signal: new AbortController().signal, cwd: workspace, update: () => undefined };
  const start = performance.now();
  const result = await bash.execute?.({ command: COMMAND } as never, context as never);
  if (result == null || (typeof result === "object" && "isError" in result && result.isError === true))
    throw new Error(`The command failed: ${JSON.stringify(result)}`);
  return performance.now() - start;
}

function median(times: readonly number[]): number {
  return times.toSorted((left, right) => left - right)[Math.floor(times.length / 2)] ?? 0;
}

const start = performance.now();
const opened = await openSandbox({ workspace: [workspace], home, environment: env });
if ("problem" in opened) throw new Error(opened.problem);
const openMs = performance.now() - start;
const [inside, outside] = [createBashTools({ env, sandbox: opened.sandbox }), createBashTools({ env })];
const times: { readonly inside: number[]; readonly outside: number[] } = { inside: [], outside: [] };
for (let round = 0; round < ROUNDS; round++) {
  times.outside.push(await timeOf(outside));
  times.inside.push(await timeOf(inside));
}
const [within, without] = [median(times.inside), median(times.outside)];
console.log(
  `opening ${openMs.toFixed(1)} ms · ${ROUNDS} commands: outside ${without.toFixed(1)} ms, inside ${within.toFixed(1)} ms, ${(within - without).toFixed(1)} ms more (aim 15)`,
);
await Promise.all([inside.dispose(), outside.dispose()]);
await opened.sandbox.dispose();
rmSync(home, { recursive: true, force: true });
