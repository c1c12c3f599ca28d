import { isBuiltin } from "node:module";
import { type BuildOptions, type BuildResult, build, type OutputFile, type Plugin } from "esbuild";
import type { PublicEntry } from "../gates/public-entries.ts";
import { installedPackages, type Manifest } from "./manifest.ts";

/** What one bundling run makes, still in memory. */
export type Bundle = BuildResult<{ readonly write: false; readonly metafile: true }>;

interface BundleJob {
  readonly root: string;
  readonly manifest: Manifest;
  readonly outDir: string;
}

/**
 * Bundles the library entries so that an import reads few files; code shared by entries goes into shared chunks and
 * what is imported dynamically stays apart. Throws when a package other than an installed one would be swallowed.
 */
export async function buildLibrary(
  job: BundleJob & { readonly entries: readonly PublicEntry[] },
): Promise<Bundle> {
  const bundle = await build({
    ...commonOptions(job),
    entryPoints: job.entries.map(({ source, output }) => ({ in: source, out: output })),
    splitting: true,
    chunkNames: "chunks/[name]-[hash]",
    legalComments: "none",
    mainFields: MAIN_FIELDS,
    // CommonJS would bring a file of helpers into every entry; this is the same code as modules.
    alias: { yaml: "./node_modules/yaml/browser/index.js" },
  });
  const swallowed = Object.keys(bundle.metafile.inputs).filter(
    (path) => !BUNDLED_PACKAGES.has(packageOf(path)),
  );
  if (swallowed.length > 0) {
    throw new Error(
      `the library would bundle ${swallowed.join(", ")}: make the package a dependency, or one that is bundled, or do without it`,
    );
  }
  return bundle;
}

/** Bundles the terminal program with everything only it needs; faces and other lazily imported parts are own chunks. */
export async function buildCli(job: BundleJob & { readonly main: string }): Promise<Bundle> {
  const bundle = await build({
    ...commonOptions(job),
    entryPoints: [{ in: job.main, out: "main" }],
    outExtension: { ".js": ".mjs" },
    splitting: true,
    chunkNames: "chunks/[name]-[hash]",
    minifySyntax: true,
    minifyWhitespace: true,
    // Node reads and keeps a file of plain ASCII in half the space.
    charset: "ascii",
    legalComments: "none",
    mainFields: MAIN_FIELDS,
    plugins: [LAZY_BUILTINS],
    external: externalOfCli(job.manifest),
  });
  return { ...bundle, outputFiles: bundle.outputFiles.map(withRequire) };
}

/** Some packages ship a UMD file as "main", whose relative requires no bundler sees. */
const MAIN_FIELDS = ["module", "main"];

const OWN_SOURCES = "";

/**
 * Packages that become part of what is built, with their licence notices: a few kilobytes of each are used, an installed one is up to a
 * hundred times larger. Development dependencies, and what these need.
 */
const BUNDLED_PACKAGES: ReadonlySet<string> = new Set([
  OWN_SOURCES,
  "diff",
  "entities",
  "parse5",
  "tokenx",
  "yaml",
]);

/** The package a file is of; that of the sources has none. */
function packageOf(path: string): string {
  return /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? OWN_SOURCES;
}

/** Small, and needed while somebody waits, where finding the files of a package costs time: in the executable it is bundled too. */
const BUNDLED_IN_CLI = "ignore";

function externalOfCli(manifest: Manifest): string[] {
  return installedPackages(manifest)
    .filter((name) => name !== BUNDLED_IN_CLI)
    .flatMap((name) => [name, `${name}/*`]);
}

/** Builds the tiny first file, readable by old versions of Node. */
export async function buildBin(job: BundleJob & { readonly source: string }): Promise<Bundle> {
  return build({
    ...commonOptions(job),
    entryPoints: [{ in: job.source, out: "bin" }],
    outExtension: { ".js": ".mjs" },
    target: "node12.20",
    minifySyntax: true,
    banner: { js: "#!/usr/bin/env node" },
  });
}

function commonOptions({ root, manifest, outDir }: BundleJob) {
  return {
    absWorkingDir: root,
    outdir: outDir,
    write: false,
    metafile: true,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node22.19",
    charset: "utf8",
    logLevel: "silent",
    external: installedPackages(manifest).flatMap((name) => [name, `${name}/*`]),
    define: {
      NANO_AGENT_VERSION: JSON.stringify(manifest.version),
      NANO_AGENT_NODE: JSON.stringify(manifest.engines.node.replace(/^[^\d]*/, "")),
    },
  } as const satisfies BuildOptions;
}

/**
 * Takes Node's own modules with `process.getBuiltinModule`. An `import` of one evaluates all its exports, also those that load half
 * of Node behind a getter (`node:http` a whole fetch client); and modules that Node has not loaded anyway are only taken when one
 * of their functions is called. Together that is half of the time a command needs to start.
 */
const LAZY_BUILTINS: Plugin = {
  name: "lazy-builtins",
  setup: (build) => {
    build.onResolve({ filter: /^node:/ }, ({ path }) =>
      isBuiltin(path) ? { path, namespace: "builtin", sideEffects: false } : undefined,
    );
    build.onLoad({ filter: /./, namespace: "builtin" }, ({ path }) => ({ contents: builtinStandIn(path) }));
  },
};

/** Loaded by Node itself before any program runs: nothing is gained by waiting. */
const ALWAYS_LOADED: ReadonlySet<string> = new Set([
  "node:fs",
  "node:path",
  "node:buffer",
  "node:util",
  "node:events",
]);

function builtinStandIn(path: string): string {
  const builtin: object = process.getBuiltinModule(path) ?? {};
  const lines = [
    `const load = () => process.getBuiltinModule(${JSON.stringify(path)});`,
    'const CUSTOM = Symbol.for("nodejs.util.promisify.custom");',
    "const later = (name) =>",
    "  Object.defineProperty((...args) => load()[name](...args), CUSTOM, { get: () => load()[name][CUSTOM] });",
    "const now = (name) => load()[name];",
  ];
  for (const [name, property] of Object.entries(Object.getOwnPropertyDescriptors(builtin))) {
    if (!/^[a-zA-Z_$][\w$]*$/.test(name) || name === "default") continue;
    const isPlainFunction = typeof property.value === "function" && /^[a-z]/.test(name);
    const take = isPlainFunction && !ALWAYS_LOADED.has(path) ? "later" : "now";
    lines.push(`export const ${name} = /* @__PURE__ */ ${take}("${name}");`);
  }
  return `${lines.join("\n")}\nexport default /* @__PURE__ */ load();\n`;
}

const REQUIRE =
  'import{createRequire as nanoAgentCreateRequire}from"node:module";const require=nanoAgentCreateRequire(import.meta.url);\n';

/** CommonJS packages call `require` for Node's own modules; only the chunk that defines esbuild's stand-in needs the real one. */
function withRequire(file: OutputFile): OutputFile {
  if (!file.text.includes('Dynamic require of "')) return file;
  return { ...file, contents: Buffer.from(REQUIRE + file.text) };
}
