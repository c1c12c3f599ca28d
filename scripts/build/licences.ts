import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

interface InstalledManifest {
  readonly name?: string;
  readonly version?: string;
  readonly license?: string;
}

/**
 * The licence notices of every package whose code is in the bundle. Throws when a package comes without any.
 */
export function collectLicences(root: string, inputs: readonly string[]): string {
  const folders = new Set<string>();
  for (const path of inputs) if (path.includes("node_modules/")) folders.add(packageFolder(root, path));
  const notices = [...folders].sort().map((folder) => notice(root, folder));
  return `nano-agent contains code of the packages below.\n\n${notices.join("\n")}`;
}

function packageFolder(root: string, path: string): string {
  let folder = dirname(path);
  while (!isPackage(root, folder)) folder = dirname(folder);
  return folder;
}

/**
 * Some packages keep a bare `{ "type": "module" }` manifest in a subfolder: only one with a name and version
 * counts.
 */
function isPackage(root: string, folder: string): boolean {
  if (folder === ".") throw new Error("a bundled file belongs to no package");
  const { name, version } = manifestOf(root, folder);
  return name !== undefined && version !== undefined;
}

function manifestOf(root: string, folder: string): InstalledManifest {
  const path = join(root, folder, "package.json");
  return existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as InstalledManifest) : {};
}

function notice(root: string, folder: string): string {
  const { name, version, license } = manifestOf(root, folder);
  const texts = readdirSync(join(root, folder))
    .filter((file) => /^(licen[cs]e|notice|copying)/i.test(file))
    .sort()
    .map((file) => readFileSync(join(root, folder, file), "utf8").trim())
    .filter((text) => text !== "");
  if (texts.length === 0 && license === undefined) {
    throw new Error(`${name}@${version} is bundled but names no licence: do without it`);
  }
  return `${"=".repeat(72)}\n${name}@${version} (${license ?? "see below"})\n\n${texts.join("\n\n")}\n`;
}
