import { isBuiltin } from "node:module";
import { join, relative } from "node:path";
import { type InputOptions, type OutputChunk, type OutputOptions, type Plugin, rolldown } from "rolldown";
import type { PublicEntry } from "../gates/public-entries.ts";
import { installedPackages, type Manifest } from "./manifest.ts";

/** A file to be written, with its whole path. */
export interface BundledFile {
  readonly path: string;
  readonly text: string;
}

/** What one bundling run makes, still in memory. */
export interface Bundle {
  readonly files: readonly BundledFile[];
  /** Files whose code is in it, relative to the root. */
  readonly inputs: readonly string[];
  /** Paths of the entries and of all they import statically, the entries first. */
  readonly atStart: readonly string[];
}

/** Where a bundling run takes its files from and puts them. */
export interface BundleJob {
  readonly root: string;
  readonly manifest: Manifest;
  readonly outDir: string;
}

/**
 * Bundles the library entries so that an import reads few files; code shared by entries goes into shared
 * chunks and what is imported dynamically stays apart. Throws when a package other than an installed one
 * would be swallowed.
 */
export async function buildLibrary(
  job: BundleJob & { readonly entries: readonly PublicEntry[] },
): Promise<Bundle> {
  const bundle = await bundleOf(
    job,
    {
      input: Object.fromEntries(job.entries.map(({ source, output }) => [output, source])),
      external: externalPackages(installedPackages(job.manifest)),
      // CommonJS would bring a file of helpers into every entry; this is the same code as modules.
      plugins: [MCP_PLATFORM],
      resolve: {
        mainFields: MAIN_FIELDS,
        alias: { yaml: join(job.root, "node_modules/yaml/browser/index.js") },
      },
    },
    {
      entryFileNames: "[name].js",
      chunkFileNames: "chunks/[name]-[hash].js",
      minify: false,
      codeSplitting: {
        groups: [
          { name: "base", test: FOR_EVERY_ENTRY },
          { name: "check", test: CHECKS },
        ],
      },
    },
  );
  assertPackages("the library", bundle, BUNDLED_PACKAGES);
  return bundle;
}

/** Throws when code of a package is in a bundle that is not meant to be; the project's own is. */
export function assertPackages(what: string, { inputs }: Bundle, allowed: ReadonlySet<string>): void {
  const swallowed = inputs.filter((path) => packageOf(path) !== OWN_SOURCES && !allowed.has(packageOf(path)));
  if (swallowed.length === 0) return;
  throw new Error(
    `${what} would bundle ${swallowed.join(", ")}: make the package a dependency, or one that is bundled, or do without it`,
  );
}

/** Small modules that all entries share in part; the validator of schemas is neither. */
const FOR_EVERY_ENTRY =
  /[\\/]src[\\/]core[\\/](base[\\/](?!check|validate|compile|schema)|message[\\/]|model[\\/])/;
/** The checker of values, which most entries need. */
const CHECKS = /[\\/]src[\\/]core[\\/]base[\\/](?:check|validate|compile|schema)/;

/**
 * Bundles the terminal program with everything only it needs. What every start needs, `program` with all it
 * imports, is one file, for each file more costs as much as twenty kilobytes; lazily imported parts are own
 * chunks.
 */
export async function buildCli(
  job: BundleJob & { readonly main: string; readonly program: string },
): Promise<Bundle> {
  const bundle = await bundleOf(
    job,
    {
      input: { main: job.main },
      external: externalPackages(installedPackages(job.manifest).filter((name) => name !== BUNDLED_IN_CLI)),
      resolve: { mainFields: MAIN_FIELDS },
      plugins: [MCP_PLATFORM, LAZY_BUILTINS],
    },
    {
      entryFileNames: "[name].mjs",
      chunkFileNames: "chunks/[name]-[hash].mjs",
      minify: MINIFY,
      codeSplitting: { groups: [{ name: "program", test: (id) => isForEveryStart(job, id) }] },
    },
  );
  return { ...bundle, files: bundle.files.map(({ path, text }) => ({ path, text: inAscii(text) })) };
}

/** With the program goes what the wires, of which every run loads one, have in common. */
function isForEveryStart(
  { root, program }: { readonly root: string; readonly program: string },
  id: string,
): boolean {
  const path = relative(root, id).replaceAll("\\", "/");
  return path === program || /^src\/providers\/[^/]+\.ts$/.test(path);
}

/** Builds the tiny first file, readable by old versions of Node. */
export async function buildBin(job: BundleJob & { readonly source: string }): Promise<Bundle> {
  return bundleOf(
    job,
    {
      input: { bin: job.source },
      external: () => true,
      makeAbsoluteExternalsRelative: false,
      transform: { target: "node12.20" },
    },
    { entryFileNames: "[name].mjs", minify: { ...MINIFY, codegen: false }, banner: "#!/usr/bin/env node" },
  );
}

/** Without blanks and detours, with the names that stand in a stack trace. */
const MINIFY = {
  mangle: false,
  compress: { keepNames: { function: true, class: true } },
  codegen: { removeWhitespace: true },
} as const satisfies OutputOptions["minify"];

/** Some packages ship a UMD file as "main", whose relative requires no bundler sees. */
const MAIN_FIELDS = ["module", "main"];

const OWN_SOURCES = "";

/**
 * Packages that become part of what is built, with their licence notices: a few kilobytes of each are used,
 * an installed one is up to a hundred times larger. Development dependencies, and what these need.
 */
const BUNDLED_PACKAGES: ReadonlySet<string> = new Set([
  "jsonc-parser",
  "@modelcontextprotocol/client",
  "@modelcontextprotocol/core",
  "diff",
  "entities",
  "eventsource",
  "eventsource-parser",
  "jose",
  "parse5",
  "pkce-challenge",
  "tokenx",
  "yaml",
  "zod",
]);

/** The package a file is of; that of the sources has none. */
function packageOf(path: string): string {
  return /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? OWN_SOURCES;
}

/**
 * Small, and needed while somebody waits, where finding the files of a package costs time: in the executable
 * it is bundled too.
 */
const BUNDLED_IN_CLI = "ignore";

function externalPackages(names: readonly string[]): (id: string) => boolean {
  return (id) => names.some((name) => id === name || id.startsWith(`${name}/`));
}

/** Bundles; what `input` and `output` do not say is as the library and the program have it. */
export async function bundleOf(
  { root, manifest, outDir }: BundleJob,
  input: InputOptions,
  output: OutputOptions,
): Promise<Bundle> {
  const build = await rolldown({
    cwd: root,
    platform: "node",
    onLog: (level, log) => {
      if (level === "warn") throw new Error(log.message);
    },
    ...input,
    transform: {
      target: "node22.21",
      define: {
        NANO_AGENT_VERSION: JSON.stringify(manifest.version),
        NANO_AGENT_NODE: JSON.stringify(manifest.engines.node.replace(/^[^\d]*/, "")),
      },
      ...input.transform,
    },
  });
  try {
    const { output: made } = await build.generate({ format: "esm", comments: false, ...output });
    const chunks = made.filter((each): each is OutputChunk => each.type === "chunk");
    const inputs = chunks.flatMap(({ moduleIds }) => moduleIds).filter((id) => id.startsWith(root));
    return {
      files: chunks.map(({ fileName, code }) => ({ path: join(outDir, fileName), text: code })),
      atStart: staticNames(chunks).map((fileName) => join(outDir, fileName)),
      inputs: [...new Set(inputs.map((id) => relative(root, id).replaceAll("\\", "/")))].sort(),
    };
  } finally {
    await build.close();
  }
}

function staticNames(chunks: readonly OutputChunk[]): readonly string[] {
  const names = new Set(chunks.filter(({ isEntry }) => isEntry).map(({ fileName }) => fileName));
  for (const name of names)
    for (const imported of chunks.find(({ fileName }) => fileName === name)?.imports ?? [])
      if (chunks.some(({ fileName }) => fileName === imported)) names.add(imported);
  return [...names];
}

/** Node reads and keeps a file of plain ASCII in half the space. */
function inAscii(code: string): string {
  return code.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

const STAND_IN = "\0builtin:";
const BUNDLER = "\0rolldown/";

/**
 * Takes Node's own modules with `process.getBuiltinModule`. An `import` of one evaluates all its exports,
 * also those that load half of Node behind a getter (`node:http` a whole fetch client); and modules that Node
 * has not loaded anyway are only taken when one of their functions is called. Together that is half of the
 * time a command needs to start.
 */
const LAZY_BUILTINS: Plugin = {
  name: "lazy-builtins",
  // What the bundler itself brings along is needed before any stand-in could be there. What is imported
  // dynamically waits by itself, and would have its classes and objects looked up at every start.
  resolveId: (id, importer, { kind }) =>
    kind !== "dynamic-import" &&
    id.startsWith("node:") &&
    isBuiltin(id) &&
    importer?.startsWith(BUNDLER) !== true
      ? { id: `${STAND_IN}${id}`, moduleSideEffects: false }
      : undefined,
  load: (id) =>
    id.startsWith(STAND_IN)
      ? { code: builtinStandIn(id.slice(STAND_IN.length)), moduleSideEffects: false }
      : undefined,
};

/**
 * Takes the place of what the packages of MCP choose by platform: a validator of 300 KB above all, which is
 * never asked, for the client and the server are given ours.
 */
const MCP_PLATFORM: Plugin = {
  name: "mcp-platform",
  resolveId: (id) =>
    /^@modelcontextprotocol\/(?:client|server)\/_shims$/.test(id) ? "\0mcp-platform" : undefined,
  load: (id) => (id === "\0mcp-platform" ? MCP_PLATFORM_CODE : undefined),
};

const MCP_PLATFORM_CODE = `
export { default as process } from "node:process";
export const CORS_IS_POSSIBLE = false;
export class DefaultJsonSchemaValidator {
  getValidator() {
    throw new Error("no validator of schemas was passed");
  }
}
`;

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
