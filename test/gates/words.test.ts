import { expect, test } from "vitest";
import { checkWords } from "../../scripts/gates/words.ts";
import { tempFolder } from "../temp-folder.ts";

test.each([
  ["src/a.ts", "// TODO later"],
  ["src/a.ts", "/* FIXME: broken */"],
  ["src/a.ts", 'throw new Error("not implemented");'],
  ["src/a.ts", "// @ts-ignore"],
  ["src/a.ts", "// @ts-expect-error wrong on purpose"],
  ["src/a.ts", "// oxlint-disable-next-line"],
  ["src/a.ts", "// biome-ignore lint: why not"],
  ["src/a.ts", "/* v8 ignore next */"],
  ["test/a.test.ts", 'vi.mock("./b.ts");'],
  ["docs/a.md", "cd /srv/checkout && npm test"],
  ["README.md", "See issue #12."],
  ["src/a.ts", 'throw new Error(`"${name}" is no model name`);'],
  ["src/a.ts", 'throw new Error("The file is broken. Mend it.");'],
  ["src/a.ts", "/** Whether it is one. */"],
  ["docs/a.md", "A colon is no part of a name."],
  ["src/a.ts", "interface Compiled {"],
  ["src/a.ts", "export class Remembered<T> {"],
  ["src/a.ts", "type ShellUnwrapped = string;"],
  ["src/a.test.ts", "interface Seen {"],
  ["src/a.tsx", "type Shown = string;"],
  ["src/a.tsx", "<p dangerouslySetInnerHTML={{ __html: text }} />"],
  ["src/a.ts", "element.innerHTML = text;"],
  ["test/a.test.ts", "}, 120_000);"],
  ["test/a.test.ts", "  { timeout: 60_000 },"],
  ["test/a.test.ts", "  1_200_000,"],
])("%s must not say: %s", (path, text) => {
  expect(checkWords(tempFolder({ [path]: text })).findings).toEqual([expect.stringContaining(`${path}:1  `)]);
});

test.each([
  ["src/a.ts", "export const todo = { name: 'todo' };"],
  ["src/a.ts", "// answers 501 Not Implemented"],
  ["src/a.test.ts", "// @ts-expect-error a number is not a name"],
  ["src/a.ts", 'throw new Error("There is no such model, and it is no longer sold.");'],
  ["src/a.ts", "// What is no model."],
  ["src/a.ts", "export type IsTrusted = (item: string) => boolean;"],
  ["src/a.ts", "export interface LoadedSkill extends Feed {"],
  ["docs/a.md", "The todo tool keeps TODO lists."],
  ["test/a.test.ts", "    { name: 'a', timeout: 5_000 },"],
])("%s may say: %s", (path, text) => {
  expect(checkWords(tempFolder({ [path]: text }))).toEqual({ looked: 1, findings: [] });
});
