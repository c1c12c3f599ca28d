import { expect, test } from "vitest";
import { checkSamples } from "../../scripts/gates/samples.ts";
import { tempFolder } from "../temp-folder.ts";

test("a TypeScript sample must be a part of an example; indentation and blank lines do not count, … stands for any lines", () => {
  const root = tempFolder({
    "examples/01-a.ts": "const a = 1;\n\nif (a) {\n  run(a);\n}\n",
    "README.md": "```ts\nif (a) {\nrun(a);\n}\n```\n\n```sh\nrun b\n```\n",
    "README.zh-CN.md": "```ts\nconst a = 1;\n…\n}\n```\n",
    "docs/a.md": "text\n\n```ts\nrun(b);\n```\n\n```ts\n}\n…\nconst a = 1;\n```\n",
  });
  expect(checkSamples(root)).toEqual({
    looked: 4,
    findings: [
      "docs/a.md:3  the sample is in no file of examples/: copy it from one, or write one",
      "docs/a.md:7  the sample is in no file of examples/: copy it from one, or write one",
    ],
  });
});
