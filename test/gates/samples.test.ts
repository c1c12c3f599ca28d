import { expect, test } from "vitest";
import { checkSamples } from "../../scripts/gates/samples.ts";
import { tempFolder } from "../temp-folder.ts";

const example = 'import { a } from "a";\n\nfunction main() {\n  a(1);\n  a(2);\n  a(3);\n}\n';

function folder(sample: string): string {
  return tempFolder({
    "examples/one.ts": example,
    "README.md": `Text.\n\n\`\`\`ts\n${sample}\n\`\`\`\n`,
    "README.zh-CN.md": "",
    "docs/a.md": "",
  });
}

test.each([
  'import { a } from "a";',
  "a(1);\na(2);",
  'import { a } from "a";\n…\na(3);',
  "a(1);\n// …\na(3);",
])("a sample that stands in an example is fine: %j", (sample) =>
  expect(checkSamples(folder(sample))).toEqual({ looked: 1, findings: [] }),
);

test.each(["a(4);", "a(2);\na(1);", "a(3);\n…\na(1);"])(
  "a sample that no example holds is named: %j",
  (sample) => {
    expect(checkSamples(folder(sample)).findings).toEqual([
      expect.stringMatching(/^README\.md:3 {2}the sample is in no file/),
    ]);
  },
);

test("documents without samples are nothing to look at, which the gate refuses", () => {
  expect(checkSamples(tempFolder({ "README.md": "", "README.zh-CN.md": "", "docs/a.md": "" })).looked).toBe(
    0,
  );
});
