import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempFolder } from "../../../test/temp-folder.ts";
import { LinkReader } from "./link-reader.ts";

test("below a folder that is not there nothing is looked up", () => {
  const looked: string[] = [];
  const look = (path: string): null => {
    looked.push(path);
    return null;
  };
  const reader = new LinkReader({ look, list: () => undefined });
  expect([reader.linkAt("/a"), reader.linkAt("/a/b"), reader.linkIn("/a/b", "c")]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
  expect(looked).toEqual(["/a"]);
});

test("a folder that is asked about again and again is listed, and its links are still followed", () => {
  let looks = 0;
  const lists: [string, number][] = [];
  const reader = new LinkReader({
    look: (path) => {
      looks++;
      return path === "/a/Link" ? "/b" : undefined;
    },
    list: (folder, most) => {
      lists.push([folder, most]);
      return ["Link"];
    },
  });
  for (let index = 0; index < 5_000; index++) reader.linkIn("/a", `f${index}`);
  expect([looks, lists]).toEqual([63, [["/a", 512]]]);
  expect([reader.linkIn("/a", "Link"), reader.linkIn("/a", "link"), reader.linkIn("/a", "ﬁ")]).toEqual([
    "/b",
    undefined,
    undefined,
  ]);
  expect(looks).toBe(66);
});

test("links on disk are found among many files, before and after the folder is listed", () => {
  const root = tempFolder();
  mkdirSync(join(root, "d"));
  for (let index = 0; index < 200; index++) writeFileSync(join(root, "d", `f${index}`), "");
  symlinkSync("../x", join(root, "d", "early"));
  symlinkSync("../y", join(root, "d", "late"));
  const reader = new LinkReader();
  const at = (name: string): string | undefined => reader.linkIn(join(root, "d"), name);
  expect(at("early")).toBe("../x");
  for (let index = 0; index < 200; index++) expect(at(`f${index}`)).toBeUndefined();
  expect([at("early"), at("late"), at("missing")]).toEqual(["../x", "../y", undefined]);
});
