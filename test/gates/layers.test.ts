import { expect, test } from "vitest";
import { checkLayers } from "../../scripts/gates/layers.ts";
import { tempFolder } from "../temp-folder.ts";

const manifest = JSON.stringify({ exports: { ".": {}, "./tools": {}, "./package.json": "./package.json" } });

function findings(files: Readonly<Record<string, string>>): readonly string[] {
  return checkLayers(tempFolder({ "package.json": manifest, ...files })).findings;
}

test("a tree that keeps the layers has no findings", () => {
  const root = tempFolder({
    "package.json": manifest,
    "src/index.ts": 'export * from "./app/config/env.ts";\nexport * from "./tools/index.ts";',
    "src/tools/index.ts": 'export { read } from "./read.ts";',
    "src/tools/read.ts":
      'import { stat } from "node:fs";\nimport "../core/tool/tool.ts";\nexport const read = stat;',
    "src/core/agent/agent.ts": 'import type { Tool } from "../tool/tool.ts";\nexport type A = Tool;',
    "src/core/tool/tool.ts": 'import type { M } from "../model/model.ts";\nexport type Tool = M;',
    "src/core/model/model.ts": 'import type { B } from "../message/block.ts";\nexport type M = B;',
    "src/core/message/block.ts": 'import type { E } from "../base/errors.ts";\nexport type B = E;',
    "src/core/base/errors.ts": "export type E = 1;",
    "src/core/base/errors.test.ts": 'import "node:fs";\nimport "../agent/agent.ts";\nprocess.env["X"];',
    "src/extensions/subagents/task.ts":
      'import "../../patterns/react.ts";\nimport "../markdown/front-matter.ts";',
    "src/extensions/markdown/front-matter.ts": "export {};",
    "src/patterns/react.ts": 'import "../agent/agent.ts";',
    "src/agent/agent.ts": 'await import("../core/base/errors.ts");',
    "src/system/env.ts": "export const env = process.env;",
    "src/faces/cli/main.ts":
      'import "../../system/env.ts";\nawait import("../terminal/screen.ts");\nprocess.exit(0);',
    "src/faces/terminal/screen.ts": "export {};",
  });
  expect(checkLayers(root)).toEqual({ looked: 16, findings: [] });
});

test("an empty folder is looked at in vain", () => {
  expect(checkLayers(tempFolder())).toEqual({ looked: 0, findings: [] });
});

test.each([
  [
    "a lower layer",
    "src/core/base/a.ts",
    'import "../agent/agent.ts";',
    "core/base must not know core/agent",
  ],
  [
    "the model room",
    "src/core/model/a.ts",
    'import "../tool/tool.ts";',
    "core/model must not know core/tool",
  ],
  [
    "a higher room that is loaded late",
    "src/agent/agent.ts",
    'await import("../coding/setup/compose.ts");',
    "agent must not know coding",
  ],
  ["a sibling", "src/tools/a.ts", 'import "../permission/rules.ts";', "tools must not know permission"],
  [
    "a sibling extension",
    "src/extensions/mcp/a.ts",
    'import "../skills/s.ts";',
    "must not know extensions/skills",
  ],
  [
    "a face",
    "src/faces/acp/a.ts",
    'await import("../terminal/screen.ts");',
    "faces/acp must not know faces/terminal",
  ],
  ["the library root", "src/index.ts", 'export * from "./faces/cli/main.ts";', ". must not know faces/cli"],
])("%s that imports what it must not know is found", (_who, path, text, message) => {
  expect(findings({ [path]: text })).toEqual([expect.stringContaining(message)]);
});

test("types, re-exports, type imports and dynamic imports are imports like any other", () => {
  const text = [
    'import type { A } from "../agent/a.ts";',
    'export * from "../agent/b.ts";',
    'export type { C } from "../agent/c.ts";',
    'type D = import("../agent/d.ts").D;',
    'const e = () => import("../agent/e.ts");',
  ];
  const lines = findings({ "src/core/base/a.ts": text.join("\n") }).map((line) => line.split("  ")[0]);
  expect(lines).toEqual([1, 2, 3, 4, 5].map((line) => `src/core/base/a.ts:${line}`));
});

test("the command line loads another face only with a dynamic import", () => {
  const types =
    'import type { A } from "../terminal/screen.ts";\ntype B = import("../terminal/screen.ts").B;';
  expect(findings({ "src/faces/cli/main.ts": types })).toEqual([]);
  expect(findings({ "src/faces/cli/main.ts": 'import "../terminal/screen.ts";' })).toEqual([
    'src/faces/cli/main.ts:1  import "../terminal/screen.ts": faces/cli loads faces/terminal with a dynamic import only',
  ]);
});

test("core does without Node and everybody writes the node: prefix", () => {
  expect(
    findings({
      "src/core/base/a.ts": 'import { join } from "node:path";',
      "src/tools/b.ts": 'import { join } from "path";',
    }),
  ).toEqual([
    'src/core/base/a.ts:1  import "node:path": core runs without Node',
    'src/tools/b.ts:1  import "path": write "node:path"',
  ]);
});

test("an index.ts is a public entry and nobody inside imports it", () => {
  expect(
    findings({
      "src/memory/index.ts": "export {};",
      "src/tools/index.ts": "export {};",
      "src/tools/a.ts": 'import "./index.ts";',
    }),
  ).toEqual([
    "src/memory/index.ts  only the entries that package.json exports are called index.ts",
    'src/tools/a.ts:1  import "./index.ts": name the file that defines it, not an index.ts',
  ]);
});

test("cycles are found, also when only types go round", () => {
  expect(
    findings({
      "src/tools/a.ts": 'import type { B } from "./b.ts";\nexport type A = B;',
      "src/tools/b.ts": 'import type { C } from "./c.ts";\nexport type B = C;',
      "src/tools/c.ts": 'import type { A } from "./a.ts";\nexport type C = A;',
    }),
  ).toEqual([
    "src/tools/a.ts  import cycle: src/tools/a.ts -> src/tools/b.ts -> src/tools/c.ts -> src/tools/a.ts",
  ]);
});

test("the environment is read in one file and the process ended in two", () => {
  const text = [
    'import process, { env } from "node:process";',
    'const key = process["env"]["KEY"];',
    "const { env: all } = process;",
    "globalThis.process.env;",
    "process.exit(1);",
    "class A { process = { exit: 1 }; exit = this.process.exit; }",
  ];
  const found = findings({ "src/tools/a.ts": text.join("\n") }).map((line) =>
    line.replace("src/tools/a.ts:", ""),
  );
  expect(found.sort()).toEqual([
    ...[1, 2, 3, 4].map((line) => `${line}  process.env is read in src/system/env.ts only`),
    "5  process.exit is called in src/faces/cli/main.ts, src/faces/cli/bin.ts, src/faces/cli/foreign-code.ts only",
  ]);
});

test("nothing imports a test, a path without its ending, or a folder outside src", () => {
  expect(
    findings({
      "src/tools/a.ts":
        'import "./b.test.ts";\nimport "./c.js";\nimport "../../scripts/d.ts";\nimport "nano-agent/tools";',
    }),
  ).toEqual([
    'src/tools/a.ts:1  import "./b.test.ts": nothing but a test may use a test',
    'src/tools/a.ts:2  import "./c.js": write the file\'s real ending',
    'src/tools/a.ts:3  import "../../scripts/d.ts" leaves src/',
    'src/tools/a.ts:4  import "nano-agent/tools": use a relative path',
  ]);
});

test("files lie in a known room and have names that say something", () => {
  expect(findings({ "src/misc/aB.ts": "", "src/tools/utils.ts": "" })).toEqual([
    expect.stringMatching(/^src\/misc\/aB\.ts {2}is in no known room/),
    'src/misc/aB.ts  "misc" says nothing. Name it after what it holds',
    'src/misc/aB.ts  "aB" is not kebab-case',
    'src/tools/utils.ts  "utils" says nothing. Name it after what it holds',
  ]);
});
