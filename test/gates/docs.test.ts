import { expect, test } from "vitest";
import { checkDocs } from "../../scripts/gates/docs.ts";
import { tempFolder } from "../temp-folder.ts";

test("every declaration that an entry exports has a doc comment directly above it", () => {
  const root = tempFolder({
    "package.json": JSON.stringify({ exports: { ".": {}, "./package.json": "./package.json" } }),
    "src/index.ts": 'export { add, bare, type Shape } from "./a.ts";\nexport { Bare } from "./a.ts";\n',
    "src/a.ts": [
      "/** Adds. */",
      "export function add(a: number): number;",
      "export function add(a: string): string;",
      "export function add(a: unknown): unknown { return a; }",
      "",
      "/** Another comment */ const own = 1;",
      "export const bare = own;",
      "// a line comment is not a doc comment",
      "export class Bare {}",
      "export interface Shape {}",
      "export const internal = 1;",
      "export { own };",
    ].join("\n"),
    "src/b.ts": "export const fine = 1;",
  });
  expect(checkDocs(root)).toEqual({
    looked: 1,
    findings: [
      "src/a.ts:7  exported bare has no doc comment: say what it is for",
      "src/a.ts:9  exported Bare has no doc comment: say what it is for",
      "src/a.ts:10  exported Shape has no doc comment: say what it is for",
    ],
  });
});
