import { readFileSync } from "node:fs";
import { join } from "node:path";

type Ranges = Readonly<Record<string, string>>;

/** The parts of package.json the build reads. */
export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly engines: { readonly node: string };
  readonly exports?: Readonly<Record<string, unknown>>;
  readonly dependencies?: Ranges;
  readonly optionalDependencies?: Ranges;
  readonly peerDependencies?: Ranges;
}

/** Reads `package.json` at `root`. */
export function readManifest(root: string): Manifest {
  return JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as Manifest;
}

/** Packages that are installed beside ours and therefore never bundled. */
export function installedPackages(manifest: Manifest): string[] {
  const { dependencies, optionalDependencies, peerDependencies } = manifest;
  return Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies }).sort();
}
