import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempFolder } from "../../../test/temp-folder.ts";
import { sandboxLimits } from "./sandbox-limits.ts";

test("commands write to the workspace, the temporary folder and what the user allows; what steers stays", () => {
  const home = tempFolder();
  const workspace = tempFolder({ "nano-agent.json": "{}", ".mcp.json": "{}", "src/a.ts": "" });
  const temporary = tempFolder();
  mkdirSync(join(workspace, ".git"));
  writeFileSync(join(workspace, ".git", "config"), "");
  expect(
    sandboxLimits({
      workspace: [workspace],
      temporary,
      home,
      protect: [join(home, ".config/nano-agent"), join(workspace, "state")],
      allowWrite: ["~/.cache", "../shared", "/srv/data"],
      denyRead: ["~/.ssh", "secret"],
      allowDomains: ["a.example", "a.example"],
    }),
  ).toEqual({
    writable: [workspace, temporary, join(home, ".cache"), join(workspace, "..", "shared"), "/srv/data"],
    temporary,
    protected: [
      ...[".git/config", ".git/hooks", ".mcp.json", "nano-agent.json"].map((name) => join(workspace, name)),
      join(workspace, "state"),
    ].toSorted((a, b) => order(a) - order(b)),
    unreadable: [join(home, ".ssh"), join(workspace, "secret")],
    domains: ["a.example"],
  });
});

const ORDER = ["nano-agent.json", ".mcp.json", "config", "hooks", "state"];
function order(path: string): number {
  return ORDER.findIndex((name) => path.endsWith(name));
}

test("links are resolved, so that a limit holds for the real place", () => {
  const real = tempFolder({ "nano-agent.json": "{}" });
  const link = join(tempFolder(), "link");
  symlinkSync(real, link);
  const limits = sandboxLimits({ workspace: [link], temporary: "/tmp", home: "/nowhere" });
  expect({ writable: limits.writable, kept: limits.protected }).toEqual({
    writable: [real, "/tmp"],
    kept: [join(real, "nano-agent.json")],
  });
});

test("without a repository nothing of Git is guarded, and a .git that is a file is", () => {
  const plain = tempFolder();
  const tree = tempFolder({ ".git": "gitdir: /elsewhere" });
  const keptIn = (workspace: string): readonly string[] =>
    sandboxLimits({ workspace: [workspace], temporary: "/tmp", home: "/nowhere" }).protected;
  expect([keptIn(plain), keptIn(tree)]).toEqual([[], [join(tree, ".git")]]);
});
