import { readFileSync, statSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { tempFolder } from "../../../test/temp-folder.ts";
import { FileMemo } from "./file-memo.ts";

test("a file is read again until it has stood for longer than its times may be rounded, and when it changes", () => {
  const path = `${tempFolder({ file: "one" })}/file`;
  const reads: string[] = [];
  let age = 0;
  const files = new FileMemo(
    (each: string) => {
      const text = readFileSync(each, "utf8");
      reads.push(text);
      return text;
    },
    () => statSync(path).ctimeMs + age,
  );
  files.of(path);
  age = 2_000;
  files.of(path);
  age = 2_001;
  files.of(path);
  files.of(path);
  expect(reads).toEqual(["one", "one", "one"]);
  writeFileSync(path, "other");
  expect([files.of(path), reads.length]).toEqual(["other", 4]);
});

test("a file that is not there is looked for each time", () => {
  const path = `${tempFolder()}/file`;
  const files = new FileMemo((each: string) => statSync(each, { throwIfNoEntry: false })?.size);
  expect(files.of(path)).toBe(undefined);
  writeFileSync(path, "text");
  expect(files.of(path)).toBe(4);
});

test("a file is read again where it is to be read in another way", () => {
  const path = `${tempFolder({ file: "text" })}/file`;
  const files = new FileMemo(
    (each: string, ending: string) => readFileSync(each, "utf8") + ending,
    () => statSync(path).ctimeMs + 10_000,
  );
  expect([files.of(path, "1"), files.of(path, "2"), files.of(path, "2")]).toEqual([
    "text1",
    "text2",
    "text2",
  ]);
});
