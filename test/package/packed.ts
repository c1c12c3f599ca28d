import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

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

/** Packs the built package and installs the tarball into a temporary project, without optional packages. */
export function installPacked(): InstalledPackage {
  const folder = mkdtempSync(join(tmpdir(), "nano-agent-packed-"));
  const npm = (words: readonly string[], cwd: string): string =>
    execFileSync("npm", [...words, "--loglevel=error"], {
      cwd,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "inherit"],
    });
  const packed = JSON.parse(
    npm(["pack", "--ignore-scripts", "--json", "--pack-destination", folder], ROOT),
  ) as unknown;
  const [{ filename, files }] = Object.values(packed as object) as [PackReport];
  const project = join(folder, "project");
  mkdirSync(project);
  writeFileSync(join(project, "package.json"), '{ "type": "module", "private": true }');
  npm(
    ["install", "--no-audit", "--no-fund", "--omit=optional", "--prefer-offline", join(folder, filename)],
    project,
  );
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
