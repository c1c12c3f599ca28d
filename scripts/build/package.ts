import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { exportProblems, publicEntries } from "../gates/public-entries.ts";
import { listFiles } from "../gates/source.ts";
import { type BundledFile, type BundleJob, buildBin, buildCli, buildLibrary } from "./bundles.ts";
import { buildDeclarations } from "./declarations.ts";
import { collectLicences } from "./licences.ts";
import { readManifest } from "./manifest.ts";
import { buildExport, buildWebPage, type WebPage } from "./web-page.ts";

const CLI_MAIN = "src/faces/cli/main.ts";
const WEB_PAGE = "src/faces/web/index.html";
const EXPORT_PAGE = "src/faces/web/export-page.tsx";
const CLI_PROGRAM = "src/faces/cli/run-cli.ts";

/**
 * Builds the package at `root` into `dist/`: declarations, library bundles, executable, web page, schemas and
 * licence notices. The old `dist/` is replaced only when everything succeeded. Returns what a reader of the
 * log wants to know.
 */
export async function buildPackage(root: string): Promise<string[]> {
  const entries = publicEntries(root);
  if (entries.length === 0) throw new Error("package.json exports no library entry: nothing to build");
  const problems = exportProblems(root);
  if (problems.length > 0) throw new Error(problems.join("\n"));

  const staging = join(root, ".cache/dist");
  rmSync(staging, { recursive: true, force: true });
  const manifest = readManifest(root);
  const hasCli = existsSync(join(root, CLI_MAIN));
  const [, library, cli, bin, page, exported] = await Promise.all([
    buildDeclarations({ root, outDir: join(staging, "types"), entries }),
    buildLibrary({ root, manifest, outDir: join(staging, "lib"), entries }),
    hasCli
      ? buildCli({ root, manifest, outDir: join(staging, "cli"), main: CLI_MAIN, program: CLI_PROGRAM })
      : undefined,
    buildBin({ root, manifest, outDir: staging, source: "src/faces/cli/bin.ts" }),
    buildPage({ root, manifest, outDir: join(staging, "web") }),
    existsSync(join(root, EXPORT_PAGE))
      ? buildExport({ root, manifest, outDir: join(staging, "cli"), source: EXPORT_PAGE })
      : undefined,
  ]);
  const bundles = [library, cli, bin, page, exported].filter((each) => each !== undefined);
  for (const { files } of bundles) for (const file of files) write(file);
  chmodSync(join(staging, "bin.mjs"), 0o755);
  const bundled = bundles.flatMap(({ inputs }) => inputs);
  writeFileSync(join(staging, "THIRD-PARTY-LICENSES.txt"), collectLicences(root, bundled));
  const schemas = copySchemas(root, join(staging, "schema"));
  if (schemas > 0 && manifest.exports?.["./schema/*"] !== "./dist/schema/*") {
    throw new Error('there are schemas, but package.json does not export "./schema/*": "./dist/schema/*"');
  }

  rmSync(join(root, "dist"), { recursive: true, force: true });
  renameSync(staging, join(root, "dist"));
  return [
    `library: ${entries.length} entries, ${library.files.length} files`,
    cli ? `executable: ${cli.files.length + 1} files` : `executable: only bin.mjs, ${CLI_MAIN} is absent`,
    `page: ${page.files.length} files, ${page.firstLoadKilobytes} kB compressed at first`,
    `schemas: ${schemas}`,
  ];
}

/** The page, if the package has one. */
async function buildPage(job: BundleJob): Promise<WebPage> {
  if (existsSync(join(job.root, WEB_PAGE))) return buildWebPage({ ...job, page: WEB_PAGE });
  return { files: [], inputs: [], firstLoadKilobytes: 0 };
}

function write({ path, text }: BundledFile): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

function copySchemas(root: string, target: string): number {
  const paths = listFiles(root, "src", /\.json$/).filter((path) => basename(dirname(path)) === "schema");
  const taken = new Set<string>();
  for (const path of paths) {
    const name = basename(path);
    if (taken.has(name)) throw new Error(`two schemas are called ${name}: rename one of them`);
    taken.add(name);
    mkdirSync(target, { recursive: true });
    writeFileSync(join(target, name), readFileSync(join(root, path)));
  }
  return paths.length;
}
