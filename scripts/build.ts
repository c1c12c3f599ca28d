import { isBuildFresh, rememberBuild } from "./build/freshness.ts";
import { buildPackage } from "./build/package.ts";

/**
 * Builds `dist/`. With `--if-stale` it does nothing when no input changed since the last build.
 */
const root = process.cwd();
if (!process.argv.includes("--if-stale") || !isBuildFresh(root)) {
  const started = performance.now();
  const report = await buildPackage(root);
  rememberBuild(root);
  for (const line of report) console.log(line);
  console.log(`built dist in ${((performance.now() - started) / 1000).toFixed(1)} s`);
}
