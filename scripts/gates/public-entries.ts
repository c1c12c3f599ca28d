import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** One way into the library. */
export interface PublicEntry {
  /** Key in the manifest's `exports`, e.g. `./tools`. */
  readonly subpath: string;
  /** Its source, e.g. `src/tools/index.ts`. */
  readonly source: string;
  /** Name of the built file below `dist/lib` without its ending, e.g. `tools/index`. */
  readonly output: string;
}

interface Manifest {
  readonly exports?: Readonly<Record<string, unknown>>;
}

/**
 * The library entries that the manifest at `root` names. Files such as `./package.json` and `./schema/*` are
 * no entries.
 */
export function publicEntries(root: string): PublicEntry[] {
  const path = join(root, "package.json");
  if (!existsSync(path)) return [];
  const manifest = JSON.parse(readFileSync(path, "utf8")) as Manifest;
  return Object.keys(manifest.exports ?? {})
    .filter((subpath) => !subpath.endsWith(".json") && !subpath.includes("*"))
    .map((subpath) => {
      const output = subpath === "." ? "index" : `${subpath.slice(2)}/index`;
      return { subpath, source: `src/${output}.ts`, output };
    });
}

/** What is wrong with the manifest's `exports`, one line each. */
export function exportProblems(root: string): string[] {
  const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as Manifest;
  return publicEntries(root).flatMap((entry) => {
    const problems: string[] = [];
    if (!existsSync(join(root, entry.source))) {
      problems.push(`package.json exports "${entry.subpath}", but ${entry.source} does not exist`);
    }
    const expected = JSON.stringify({
      types: `./dist/types/${entry.output}.d.ts`,
      default: `./dist/lib/${entry.output}.js`,
    });
    if (JSON.stringify(manifest.exports?.[entry.subpath]) !== expected) {
      problems.push(`package.json exports "${entry.subpath}": write ${expected}`);
    }
    return problems;
  });
}
