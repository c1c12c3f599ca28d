import { mkdirSync, realpathSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempFolder } from "../../../test/temp-folder.ts";
import { existingFolder, projectFolders, userPaths } from "./paths.ts";

test("XDG variables name the user's folders, relative ones are ignored", () => {
  expect(userPaths({ HOME: "/home/a", XDG_CONFIG_HOME: "/conf", XDG_STATE_HOME: "relative" })).toEqual({
    home: "/home/a",
    configFolder: "/conf/nano-agent",
    stateFolder: "/home/a/.local/state/nano-agent",
    historyFolder: "/home/a/.local/state/nano-agent",
  });
});

test("a project reaches from the root of its repository to the working folder", () => {
  const root = tempFolder();
  const inner = join(root, "a/b");
  mkdirSync(inner, { recursive: true });
  mkdirSync(join(root, ".git"));
  expect(projectFolders(inner)).toEqual([root, join(root, "a"), inner]);
});

test("outside a repository a project is its working folder", () => {
  const folder = tempFolder();
  expect(projectFolders(folder)).toEqual([folder]);
});

test("a folder is found through links, and anything else is refused", () => {
  const root = tempFolder({ "file.txt": "" });
  symlinkSync(".", join(root, "link"));
  expect(existingFolder("link", "--cwd", root)).toBe(realpathSync(root));
  expect(() => existingFolder("file.txt", "--cwd", root)).toThrow("is not a folder");
  expect(() => existingFolder("missing", "--cwd", root)).toThrow(
    "missing: it does not exist (ENOENT). Name a folder that exists.",
  );
});
