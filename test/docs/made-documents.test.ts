import { expect, test } from "vitest";
import { apiPages } from "../../scripts/gen-api-docs.ts";
import { llmsText } from "../../scripts/gen-llms.ts";
import { tempFolder } from "../temp-folder.ts";

const manifest = JSON.stringify({
  name: "kit",
  version: "1.0.0",
  description: "A kit.",
  exports: { ".": {}, "./more": {}, "./package.json": "./package.json" },
});

const LAMP = `/**
 * Lights a lamp, e.g. of the hall: quickly. A second sentence.
 *
 * @param on whether it is on
 */
export function light(on: true): void;
export function light(on: boolean): void {}
/** A lamp of \`a | b\`, < 5 W. */
export interface Lamp {}
export const BARE = 1;
`;

test("a page of an entry has each name with its kind and the first sentence of its comment", () => {
  const root = tempFolder({
    "package.json": manifest,
    "src/index.ts": 'export { type Lamp, light as turnOn } from "./lamp.ts";\n',
    "src/more/index.ts": 'export { BARE, turn } from "../again.ts";\n',
    "src/again.ts": 'export { BARE, light as turn } from "./lamp.ts";\n',
    "src/lamp.ts": LAMP,
  });
  const tables = Object.entries(apiPages(root)).map(([path, text]) => [
    path,
    ...text.split("\n").filter((line) => line.startsWith("| `") || line.startsWith("| [")),
  ]);
  expect(tables).toEqual([
    [
      "docs/api/kit.md",
      "| `Lamp` | interface | A lamp of `a \\| b`, &lt; 5 W. |",
      "| `turnOn` | function | Lights a lamp, e.g. of the hall: quickly. |",
    ],
    [
      "docs/api/more.md",
      "| `BARE` | const |  |",
      "| `turn` | function | Lights a lamp, e.g. of the hall: quickly. |",
    ],
    ["docs/api/README.md", "| [`kit`](kit.md) | 2 |", "| [`kit/more`](more.md) | 2 |"],
  ]);
});

test("an entry that exports everything of a file, or what is not there, is refused", () => {
  const project = (index: string) =>
    tempFolder({
      "package.json": JSON.stringify({ name: "kit", exports: { ".": {} } }),
      "src/index.ts": index,
      "src/lamp.ts": LAMP,
    });
  expect(() => apiPages(project('export * from "./lamp.ts";\n'))).toThrow(
    "src/index.ts: name what is exported",
  );
  expect(() => apiPages(project('export { dim } from "./lamp.ts";\n'))).toThrow(
    "src/lamp.ts does not declare dim",
  );
});

test("llms.txt is the index of the documents with paths from the root", () => {
  const index =
    "# Documents\n\nText.\n\n## Start\n\n- [A](a.md): begin\n- [Names](api/README.md): all\n- [Why](../WHY.md): why\n";
  const files = { "package.json": manifest, "docs/README.md": index, "docs/a.md": "", "docs/api/kit.md": "" };
  expect(llmsText(tempFolder(files))).toBe(
    "# kit\n\n> A kit.\n\n## Start\n\n- [A](docs/a.md): begin\n- [Names](docs/api/README.md): all\n- [Why](WHY.md): why\n",
  );
  expect(() => llmsText(tempFolder({ ...files, "docs/b.md": "" }))).toThrow(
    "docs/README.md does not list docs/b.md: add a line for it",
  );
});
