import { mkdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempFolder } from "../../test/temp-folder.ts";
import { PathSpace } from "./path-space.ts";

test("links are followed, also before .. and for what is not there yet", () => {
  const root = tempFolder({ "outside/x": "", "work/src/a": "" });
  const work = join(root, "work");
  symlinkSync("../outside", join(work, "way"));
  symlinkSync("loop", join(work, "loop"));
  symlinkSync("../gone/far", join(work, "dangling"));
  const space = new PathSpace({ cwd: work, home: root, workspace: [work] });
  const inside = (path: string): boolean => space.isInside(space.resolve(path).resolved);
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
  expect(typeof space.resolve("loop/x").resolved).toBe("string");
});

test("a workspace that is reached through a link is the folder behind it", () => {
  const root = tempFolder();
  mkdirSync(join(root, "real"));
  symlinkSync("real", join(root, "alias"));
  const space = new PathSpace({
    cwd: join(root, "alias"),
    home: root,
    workspace: [join(root, "alias")],
  });
  const path = space.resolve("a");
  expect(path.resolved.endsWith("/real/a")).toBe(true);
  expect(space.workspaceForms(path.resolved)).toEqual(["a"]);
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
  const space = new PathSpace({ cwd: "/w", home: "/h", workspace: ["/w"] });
  const isProtected = (path: string): boolean => space.isProtected(space.resolve(path));
  expect([...yes, ...no].map((path) => [path, isProtected(path)])).toEqual([
    ...yes.map((path) => [path, true]),
    ...no.map((path) => [path, false]),
  ]);
});

test("the place of the working folder is that of its links at each check, and as it is written where it is not there", () => {
  const root = tempFolder({ "one/x": "", "other/x": "" });
  const cwd = join(root, "work");
  const space = new PathSpace({ cwd, home: root, workspace: [root] });
  const places = (): readonly string[] => {
    return [space.cwd, space.resolve(".").resolved, space.resolve("x").resolved];
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
