import { mkdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempFolder } from "../../../test/temp-folder.ts";
import { PathSpace } from "./path-space.ts";

test("links are followed, also before .. and for what is not there yet", () => {
  const root = tempFolder({ "outside/x": "", "work/src/a": "" });
  const work = join(root, "work");
  symlinkSync("../outside", join(work, "way"));
  symlinkSync("loop", join(work, "loop"));
  symlinkSync("../gone/far", join(work, "dangling"));
  const space = new PathSpace({ cwd: work, home: root, workspace: [work], platform: "linux" });
  const inside = (path: string): boolean => space.isInside(space.path(path).resolved);
  const paths = [
    "src/a",
    "src/new/deep",
    "./src/../src",
    ".",
    "way",
    "way/x",
    "way/../x",
    "src/../../x",
    "dangling",
    "dangling/x",
    "~",
    "~/work/src",
    "/",
    "../work/src",
    "../work-evil",
  ];
  expect(paths.map((path) => [path, inside(path)])).toEqual([
    ["src/a", true],
    ["src/new/deep", true],
    ["./src/../src", true],
    [".", true],
    ["way", false],
    ["way/x", false],
    ["way/../x", false],
    ["src/../../x", false],
    ["dangling", false],
    ["dangling/x", false],
    ["~", false],
    ["~/work/src", true],
    ["/", false],
    ["../work/src", true],
    ["../work-evil", false],
  ]);
  expect(typeof space.path("loop/x").resolved).toBe("string");
});

test("a workspace that is reached through a link is the folder behind it", () => {
  const root = tempFolder();
  mkdirSync(join(root, "real"));
  symlinkSync("real", join(root, "alias"));
  const space = new PathSpace({
    cwd: join(root, "alias"),
    home: root,
    workspace: [join(root, "alias")],
    platform: "linux",
  });
  const path = space.path("a");
  expect(path.resolved.endsWith("/real/a")).toBe(true);
  expect(space.insideForms(path.resolved)).toEqual(["a"]);
});

test("Windows paths are told apart by drive, share and device", () => {
  const links = new Map([["C:\\work\\way", "D:\\other"]]);
  const space = new PathSpace({
    cwd: "C:\\work",
    home: "C:\\Users\\me",
    workspace: ["C:\\work"],
    platform: "win32",
    readLink: (path) => links.get(path),
  });
  const look = (path: string): readonly [string, boolean, string | undefined] => {
    const { resolved, odd } = space.path(path);
    return [resolved, space.isInside(resolved), odd];
  };
  expect(
    [
      "src\\a",
      "src/a",
      "c:\\work\\a",
      "C:\\other",
      "..\\work-evil",
      "way\\x",
      "\\\\server\\share\\x",
      "~\\x",
      "/etc",
    ].map(look),
  ).toEqual([
    ["C:/work/src/a", true, undefined],
    ["C:/work/src/a", true, undefined],
    ["C:/work/a", true, undefined],
    ["C:/other", false, undefined],
    ["C:/work-evil", false, undefined],
    ["D:/other/x", false, undefined],
    ["//server/share/x", false, undefined],
    ["C:/Users/me/x", false, undefined],
    ["C:/etc", false, undefined],
  ]);
  expect(
    [
      "D:x",
      "con",
      "sub\\NUL.txt",
      "\\\\.\\pipe\\x",
      "\\\\?\\C:\\work\\a",
      "PROGRA~1\\x",
      "a.txt. .",
      "a.txt::$DATA",
    ].filter((path) => space.path(path).odd === undefined),
  ).toEqual([]);
});

test("what steers git and others is known in every spelling a file system takes for it", () => {
  const yes = [
    ".git/config",
    "/a/.git/hooks/x",
    ".GIT/config",
    ".g\u200cit/config",
    ".git./config",
    ".git /x",
    "sub/.git",
    ".nano-agent/config.json",
    "nano-agent.json",
    ".mcp.json",
    "sub/.claude/x",
    ".vscode/tasks.json",
    ".idea",
    "GIT~1/config",
    "/home/x/.config/nano-agent/config.json",
  ];
  const no = [".gitignore", ".github/x", "a.git/x", "git/x", "nano-agent/x", "my.nano-agent"];
  const space = new PathSpace({ cwd: "/w", home: "/h", workspace: ["/w"], platform: "linux" });
  const isProtected = (path: string): boolean => space.isProtected(space.path(path));
  expect([...yes, ...no].map((path) => [path, isProtected(path)])).toEqual([
    ...yes.map((path) => [path, true]),
    ...no.map((path) => [path, false]),
  ]);
});

test("the place of the working folder is that of its links at each check, and as it is written where it is not there", () => {
  const root = tempFolder({ "one/x": "", "other/x": "" });
  const cwd = join(root, "work");
  const space = new PathSpace({ cwd, home: root, workspace: [root], platform: "linux" });
  const places = (): readonly string[] => {
    space.refresh();
    return [space.place, space.path(".").resolved, space.path("x").resolved];
  };
  const gone = places();
  symlinkSync("one", cwd);
  const one = places();
  rmSync(cwd);
  symlinkSync("other", cwd);
  expect([gone, one, places()]).toEqual(
    ["work", "one", "other"].map((name) => [join(root, name), join(root, name), join(root, name, "x")]),
  );
});

test("the place of the working folder goes by the links that it is told of", () => {
  const links = new Map([["/work", "/place"]]);
  const readLink = (path: string): string | undefined => links.get(path);
  const space = new PathSpace({
    cwd: "/work/a",
    home: "/home",
    workspace: ["/work"],
    platform: "linux",
    readLink,
  });
  expect([space.place, space.path("b").resolved, space.from("b").place]).toEqual([
    "/place/a",
    "/place/a/b",
    "/place/a/b",
  ]);
});
