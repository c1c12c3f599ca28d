import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isBuildFresh, rememberBuild } from "../../scripts/build/freshness.ts";
import { buildPackage } from "../../scripts/build/package.ts";
import { listFiles } from "../../scripts/gates/source.ts";
import { tempFolder } from "../temp-folder.ts";

const manifest = {
  name: "sample",
  version: "1.2.3",
  type: "module",
  engines: { node: ">=22.21" },
  exports: {
    ".": { types: "./dist/types/index.d.ts", default: "./dist/lib/index.js" },
    "./tools": { types: "./dist/types/tools/index.d.ts", default: "./dist/lib/tools/index.js" },
    "./schema/*": "./dist/schema/*",
  },
  dependencies: { installed: "1.0.0" },
};

const files = {
  "package.json": JSON.stringify(manifest),
  "tsconfig.build.json": JSON.stringify({
    compilerOptions: {
      module: "nodenext",
      target: "es2023",
      types: [],
      rootDir: "src",
      declaration: true,
      emitDeclarationOnly: true,
      allowImportingTsExtensions: true,
      strict: true,
    },
    include: ["src/index.ts", "src/*/index.ts"],
  }),
  "src/index.ts":
    'export { type NameHolder, name } from "./core/name.ts";\nexport const later = (): Promise<object> => import("./core/heavy.ts");',
  "src/tools/index.ts":
    'import { type NameHolder, name } from "../core/name.ts";\n/** A tool. */\nexport const tool: NameHolder = { name };',
  "src/core/name.ts":
    '/** The name, see {@link import("./heavy.ts").heavy}. */\nexport const name: string = "sample";\n/** What has a name. */\nexport interface NameHolder {\n  /** Never empty. */\n  readonly name: string;\n}',
  "src/core/heavy.ts": "export const heavy: number = 1;",
  "src/coding/schema/config.json": "{}",
  "src/faces/cli/bin.ts": "declare const NANO_AGENT_VERSION: string;\nconsole.log(NANO_AGENT_VERSION);",
  "src/faces/cli/main.ts":
    'import { parse } from "parser";\nimport { x } from "installed";\nconsole.log(parse, x);',
  "node_modules/parser/package.json":
    '{ "name": "parser", "version": "2.0.0", "license": "MIT", "main": "index.js" }',
  "node_modules/parser/LICENSE": "Permission is hereby granted.",
  "node_modules/parser/index.js": 'exports.parse = require("fs").existsSync("/");',
  "node_modules/installed/package.json":
    '{ "name": "installed", "version": "1.0.0", "type": "module", "exports": "./index.js" }',
  "node_modules/installed/index.js": 'export const x = "installed";',
};

function contents(root: string): Record<string, string> {
  const paths = listFiles(root, "", /./).map(
    (path) => [path, readFileSync(join(root, path), "utf8")] as const,
  );
  return Object.fromEntries(paths);
}

test("a build makes entries, shared and lazy chunks, declarations, the executable, its notices and schemas", async () => {
  const root = tempFolder(files);
  await buildPackage(root);
  const built = contents(join(root, "dist"));
  expect(Object.keys(built).map((path) => path.replace(/-[\w-]{8}\.(m?js|d\.ts)/, "-HASH.$1"))).toEqual([
    "THIRD-PARTY-LICENSES.txt",
    "bin.mjs",
    "cli/main.mjs",
    "lib/chunks/heavy-HASH.js",
    "lib/chunks/name-HASH.js",
    "lib/index.js",
    "lib/tools/index.js",
    "schema/config.json",
    "types/chunks/name-HASH.d.ts",
    "types/index.d.ts",
    "types/tools/index.d.ts",
  ]);
  const [, shared = ""] = Object.entries(built).find(([path]) => path.startsWith("types/chunks/")) ?? [];
  expect(shared.match(/\/\*\*.*\*\//g)).toEqual([
    "/** The name, see {@link heavy}. */",
    "/** What has a name. */",
    "/** Never empty. */",
  ]);
  expect(built["types/tools/index.d.ts"]).toContain("/** A tool. */\nexport declare const tool: NameHolder;");
  expect(built["bin.mjs"]).toContain("1.2.3");
  expect(built["cli/main.mjs"]).toMatch(/from ?"installed"/);
  const printed = execFileSync(process.execPath, [join(root, "dist/cli/main.mjs")], { encoding: "utf8" });
  expect(printed).toBe("true installed\n");
  expect(built["THIRD-PARTY-LICENSES.txt"]).toContain("parser@2.0.0 (MIT)\n\nPermission is hereby granted.");
});

test("the same sources build the same bytes, and nothing of an older build stays", async () => {
  const [first, second] = [tempFolder(files), tempFolder({ ...files, "dist/lib/stale.js": "old" })];
  await buildPackage(first);
  await buildPackage(second);
  expect(contents(join(second, "dist"))).toEqual(contents(join(first, "dist")));
});

const PAGE =
  '<html>\n  <head>\n    <link rel="stylesheet" href="a.css">\n    <link rel="stylesheet" href="b.css">\n    <script type="module" src="main.ts"></script>\n  </head>\n</html>\n';
const page = {
  "src/faces/web/index.html": PAGE,
  "src/faces/web/a.css": "/* first */\na {\n  color: red;\n}\n",
  "src/faces/web/b.css": "b + c {\n  margin: 0 auto;\n}\n",
  "src/faces/web/main.ts": 'document.title = "shown"; export const later = import("./more.ts");',
  "src/faces/web/more.ts": "export const more = 1;",
};

test("a page is built of its script, what it loads later and one sheet of style, under names of their own", async () => {
  const root = tempFolder({ ...files, ...page });
  const log = await buildPackage(root);
  const built = contents(join(root, "dist/web"));
  const paths = Object.keys(built);
  expect(paths.map((path) => path.replace(/-[\w-]{8}\./, "-HASH."))).toEqual([
    "index.html",
    "more-HASH.js",
    "page-HASH.js",
    "style-HASH.css",
  ]);
  const [, , script = "", style = ""] = paths;
  expect(built[style]).toBe("a{color: red;}b + c{margin: 0 auto;}");
  expect(built["index.html"]).toBe(
    `<html>\n  <head>\n    <script type="module" src="${script}"></script>\n    <link rel="stylesheet" href="${style}">\n  </head>\n</html>\n`,
  );
  expect(log).toContain("page: 4 files, 1 kB compressed at first");
});

test("the executable may be absent while its main file is", async () => {
  const { "src/faces/cli/main.ts": _, ...rest } = files;
  const root = tempFolder(rest);
  const log = await buildPackage(root);
  expect(log).toContain("executable: only bin.mjs, src/faces/cli/main.ts is absent");
  expect(existsSync(join(root, "dist/cli"))).toBe(false);
});

test.each<[string, Readonly<Record<string, string>>, RegExp]>([
  [
    "an export without a source",
    { "package.json": JSON.stringify({ ...manifest, exports: { ...manifest.exports, "./x": {} } }) },
    /exports "\.\/x", but src\/x\/index\.ts does not exist/,
  ],
  [
    "an export that points elsewhere",
    { "package.json": JSON.stringify({ ...manifest, exports: { ".": "./dist/lib/index.js" } }) },
    /exports "\.": write/,
  ],
  ["no export at all", { "package.json": JSON.stringify({ ...manifest, exports: {} }) }, /nothing to build/],
  ["a wrong type", { "src/core/name.ts": "export const name: string = 1;" }, /src\/core\/name\.ts.*TS2322/s],
  ["a broken import", { "src/faces/cli/main.ts": 'import "./gone.ts";' }, /Could not resolve/],
  [
    "a library that would swallow a package",
    {
      "src/core/heavy.ts": 'import { parse } from "parser";\nexport const heavy: unknown = parse;',
    },
    /library would bundle node_modules\/parser\/index\.js/,
  ],
  [
    "a page that takes a package nobody meant for it",
    { ...page, "src/faces/web/main.ts": 'import { x } from "installed";\nx.at(0);' },
    /the page would bundle node_modules\/installed\/index\.js/,
  ],
  [
    "a page that takes long to load",
    { ...page, "src/faces/web/main.ts": `globalThis.x = "${randomBytes(300_000).toString("base64")}";` },
    /the page needs \d+ kB before it shows, at most 200/,
  ],
  [
    "a page without a script",
    { ...page, "src/faces/web/index.html": "<html></html>" },
    /has no module script/,
  ],
  [
    "a bundled package without a licence",
    {
      "node_modules/parser/package.json": '{ "name": "parser", "version": "2.0.0" }',
      "node_modules/parser/LICENSE": "",
    },
    /parser@2\.0\.0 is bundled but names no licence/,
  ],
  [
    "two schemas of one name",
    { "src/session/schema/config.json": "{}" },
    /two schemas are called config\.json/,
  ],
])("%s fails the build and leaves the old one in place", async (_what, changes, message) => {
  const root = tempFolder({ ...files, "dist/lib/old.js": "old", ...changes });
  await expect(buildPackage(root)).rejects.toThrow(message);
  expect(contents(join(root, "dist"))).toEqual({ "lib/old.js": "old" });
});

test("a build is fresh until one of its inputs changes, and no test is an input", () => {
  const root = tempFolder({ ...files, "dist/bin.mjs": "" });
  expect(isBuildFresh(root)).toBe(false);
  rememberBuild(root);
  expect(isBuildFresh(root)).toBe(true);
  writeFileSync(join(root, "src/core/name.test.ts"), "");
  expect(isBuildFresh(root)).toBe(true);
  writeFileSync(join(root, "src/core/name.ts"), "");
  expect(isBuildFresh(root)).toBe(false);
});
