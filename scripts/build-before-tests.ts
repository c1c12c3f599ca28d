import { isBuildFresh, rememberBuild } from "./build/freshness.ts";
import { buildPackage } from "./build/package.ts";

/** Runs once before the tests: tests of the built package never meet an old one. */
export async function setup(): Promise<void> {
  const root = process.cwd();
  if (isBuildFresh(root)) return;
  for (const line of await buildPackage(root)) console.log(line);
  rememberBuild(root);
}
