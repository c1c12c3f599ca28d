import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { GATES } from "../../scripts/gates/all.ts";
import { tempFolder } from "../temp-folder.ts";

const ROOT = join(import.meta.dirname, "../..");

test("code that only its own test uses is reported, and what an entry reaches is not", () => {
  const root = tempFolder({
    "knip.json": readFileSync(join(ROOT, "knip.json"), "utf8"),
    "package.json":
      '{ "name": "sample", "type": "module", "exports": { "./tools": "./src/tools/index.ts" } }',
    "src/tools/index.ts": 'export { reached } from "./parts.ts";\n',
    "src/tools/parts.ts": "export const reached = 1;\nexport const tested = 2;\n",
    "src/tools/parts.test.ts": 'import { tested } from "./parts.ts";\nconsole.log(tested);\n',
  });
  const words = GATES.find(({ name }) => name === "test-only")?.command.slice(1) ?? [];
  const run = spawnSync(join(ROOT, "node_modules/.bin/knip"), words, { cwd: root, encoding: "utf8" });
  expect({ code: run.status, found: /tested/.test(run.stdout), wrong: /reached/.test(run.stdout) }).toEqual({
    code: 1,
    found: true,
    wrong: false,
  });
});
