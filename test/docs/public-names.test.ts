import { expect, test } from "vitest";
import { apiExports } from "../../scripts/gen-api-docs.ts";
import { tempFolder } from "../temp-folder.ts";

/** More than this nobody keeps in the head. */
const MOST_NAMES = 80;

const exports = apiExports(process.cwd());

test("the root exports at most 80 names", () => {
  const names = exports.get("nano-agent")?.map(({ name }) => name) ?? [];
  expect(names).toEqual(expect.arrayContaining(["Agent", "defineTool"]));
  expect(names.length).toBeLessThanOrEqual(MOST_NAMES);
});

test("a name is the same thing wherever it is exported", () => {
  expect(twofold(exports)).toEqual([]);
});

test("two things of one name are found", () => {
  const root = tempFolder({
    "package.json": JSON.stringify({ name: "kit", exports: { ".": {}, "./more": {}, "./again": {} } }),
    "src/index.ts": 'export { lamp } from "./lamp.ts";\n',
    "src/more/index.ts": 'export { lamp } from "./other.ts";\n',
    "src/again/index.ts": 'export { lamp } from "../lamp.ts";\n',
    "src/lamp.ts": "export const lamp = 1;\n",
    "src/more/other.ts": "export const lamp = 2;\n",
  });
  expect(twofold(apiExports(root))).toEqual(["lamp: src/lamp.ts, src/more/other.ts"]);
});

/** Names that stand for more than one declaration. */
function twofold(entries: ReturnType<typeof apiExports>): string[] {
  const sources = new Map<string, Set<string>>();
  for (const { name, source } of [...entries.values()].flat()) {
    sources.set(name, (sources.get(name) ?? new Set()).add(source));
  }
  return [...sources]
    .filter(([, places]) => places.size > 1)
    .map(([name, places]) => `${name}: ${[...places].join(", ")}`);
}
