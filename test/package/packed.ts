import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readManifest } from "../../scripts/build/manifest.ts";

/** The checkout. */
export const ROOT: string = join(import.meta.dirname, "../..");

/** The packed package, installed into a folder of its own. */
export interface InstalledPackage {
  readonly folder: string;
  /** Where npm put the package itself. */
  readonly path: string;
  /** Files of the tarball, relative to the package. */
  readonly files: readonly string[];
  readonly remove: () => void;
}

/**
 * Packs the built package and installs the tarball into a temporary project, without optional packages and
 * without a registry: the packages it needs are those of the checkout.
 */
export function installPacked(): InstalledPackage {
  const folder = mkdtempSync(join(tmpdir(), "nano-agent-packed-"));
  const npm = (words: readonly string[], cwd: string): string =>
    execFileSync("npm", [...words, "--loglevel=error"], {
      cwd,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "inherit"],
    });
  const pack = (from: string): PackReport => {
    const words = ["pack", from, "--ignore-scripts", "--json", "--pack-destination", folder];
    const [report] = Object.values(JSON.parse(npm(words, folder)) as object) as [PackReport];
    return report;
  };
  const { filename, files } = pack(ROOT);
  const { dependencies = {} } = readManifest(ROOT);
  const needed = Object.keys(dependencies).map((name) => pack(join(ROOT, "node_modules", name)).filename);
  const project = join(folder, "project");
  mkdirSync(project);
  writeFileSync(join(project, "package.json"), '{ "type": "module", "private": true }');
  const tarballs = [filename, ...needed].map((name) => join(folder, name));
  npm(["install", "--no-audit", "--no-fund", "--omit=optional", "--offline", ...tarballs], project);
  return {
    folder: project,
    path: join(project, "node_modules/nano-agent"),
    files: files.map((file) => file.path).sort(),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

interface PackReport {
  readonly filename: string;
  readonly files: readonly { readonly path: string }[];
}

/** Bytes of all files below a folder. */
export function sizeOf(folder: string): number {
  let bytes = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    if (entry.isFile()) bytes += statSync(join(entry.parentPath, entry.name)).size;
  }
  return bytes;
}
