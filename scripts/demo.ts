import { spawn } from "node:child_process";
import { isBuildFresh, rememberBuild } from "./build/freshness.ts";
import { buildPackage } from "./build/package.ts";

/**
 * Builds `dist/` when it is stale and runs the demo of the built program; words on the command line go to it.
 */
const root = process.cwd();
if (!isBuildFresh(root)) {
  console.error("building nano-agent …");
  await buildPackage(root);
  rememberBuild(root);
}
// The demo gets the signals of the terminal itself and ends in order; this process waits for that.
for (const name of ["SIGINT", "SIGTERM"] as const) process.on(name, () => undefined);
const child = spawn(process.execPath, ["dist/bin.mjs", "demo", ...process.argv.slice(2)], {
  stdio: "inherit",
});
child.on("close", (code) => {
  process.exitCode = code ?? 1;
});
