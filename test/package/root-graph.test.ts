import { readFileSync } from "node:fs";
import { posix } from "node:path";
import { parseSync } from "oxc-parser";
import { expect, test } from "vitest";
import { ROOT } from "./packed.ts";

interface Graph {
  readonly files: ReadonlySet<string>;
  readonly packages: ReadonlySet<string>;
}

/** What loading a built file loads with it: static imports and re-exports, followed through. */
function staticGraph(entry: string): Graph {
  const files = new Set([entry]);
  const packages = new Set<string>();
  for (const file of files) {
    const { module } = parseSync(file, readFileSync(posix.join(ROOT, file), "utf8"));
    const requests = [
      ...module.staticImports.map((item) => item.moduleRequest.value),
      ...module.staticExports.flatMap((item) => item.entries.map((entry) => entry.moduleRequest?.value)),
    ];
    for (const request of requests) {
      if (request?.startsWith(".")) files.add(posix.join(posix.dirname(file), request));
      else if (request !== undefined) packages.add(request);
    }
  }
  return { files, packages };
}

test("the root of the library loads nothing of Node and no package", () => {
  expect([...staticGraph("dist/lib/index.js").packages]).toEqual([]);
});

test("the root of the library is a few files", () => {
  expect(staticGraph("dist/lib/index.js").files.size).toBeLessThanOrEqual(16);
});

test("the server of the library loads nothing of Node and no package", () => {
  expect([...staticGraph("dist/lib/server/index.js").packages]).toEqual([]);
});
