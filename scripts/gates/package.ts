import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { isBuildFresh, rememberBuild } from "../build/freshness.ts";
import { readManifest } from "../build/manifest.ts";
import { buildPackage } from "../build/package.ts";
import { runCommand } from "../run-command.ts";

/** Packs the built package and lets publint and attw judge the tarball. */
const root = process.cwd();
if (!isBuildFresh(root)) {
  await buildPackage(root);
  rememberBuild(root);
}

const folder = join(root, ".cache/pack");
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
const pack = await runCommand(["npm", "pack", "--ignore-scripts", "--silent", "--pack-destination", folder]);
const manifest = readManifest(root);
const tarball = join(folder, `${manifest.name}-${manifest.version}.tgz`);
if (!pack.ok || !existsSync(tarball)) {
  console.error(`npm pack failed:\n${pack.output}`);
  process.exitCode = 1;
} else {
  const [types, { messages }] = await Promise.all([
    runCommand(["attw", tarball, "--profile", "esm-only", "--no-emoji"]),
    publint({ pkgDir: root, strict: true, pack: false }),
  ]);
  for (const message of messages)
    console.error(`publint: ${formatMessage(message, manifest as never) ?? message.code}`);
  if (!types.ok) console.error(types.output);
  process.exitCode = messages.length > 0 || !types.ok ? 1 : 0;
}
