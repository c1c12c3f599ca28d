import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { expect, test } from "vitest";
import { tempFolder } from "../../../test/temp-folder.ts";
import { repositoriesBelow } from "./git-steering.ts";
import { PlaceholderClaims } from "./placeholder-claims.ts";
import { Placeholders } from "./placeholders.ts";
import { runtimeConfig, type SandboxLimits, sandboxLimits } from "./sandbox-limits.ts";

function limitsOf(workspace: string): SandboxLimits {
  return sandboxLimits({ workspace: [workspace], temporary: "/tmp", home: "/nowhere" });
}

/** What is guarded and what is put in place, relative to the workspace. */
function keptIn(workspace: string): { readonly kept: readonly string[]; readonly placed: readonly string[] } {
  const { protected: kept, placeholders } = limitsOf(workspace);
  const shown = (path: string): string => relative(workspace, path);
  return { kept: kept.map(shown).toSorted(), placed: placeholders.map(({ path }) => shown(path)).toSorted() };
}

test("commands write to the workspace, the temporary folder and what the user allows; what steers stays", () => {
  const home = tempFolder();
  const workspace = tempFolder({ "nano-agent.json": "{}", ".mcp.json": "{}", "src/a.ts": "" });
  const temporary = tempFolder();
  mkdirSync(join(workspace, ".git"));
  writeFileSync(join(workspace, ".git", "config"), "");
  const {
    placeholders,
    unasked: _unasked,
    ...limits
  } = sandboxLimits({
    workspace: [workspace],
    temporary,
    home,
    protect: [join(home, ".config/nano-agent"), join(workspace, "state")],
    allowWrite: ["~/.cache", "../shared", "/srv/data"],
    denyRead: ["~/.ssh", "secret"],
    allowDomains: ["a.example", "a.example"],
  });
  const guards = ["config.worktree", "commondir", "hooks"].map((name) => join(workspace, ".git", name));
  expect(limits).toEqual({
    writable: [workspace, temporary, join(home, ".cache"), join(workspace, "..", "shared"), "/srv/data"],
    temporary,
    protected: [
      ...["nano-agent.json", ".mcp.json", ".git/config"].map((name) => join(workspace, name)),
      ...guards,
      join(workspace, "state"),
    ],
    unreadable: [join(home, ".ssh"), join(workspace, "secret")],
    domains: ["a.example"],
  });
  expect(placeholders.map(({ path }) => path)).toEqual(guards);
});

test("folders that the runtime opens of itself stay closed, unless the user allows them", () => {
  const home = tempFolder({ ".npm/_logs/x": "", ".claude/debug/x": "" });
  const place = { workspace: [tempFolder()], temporary: tempFolder(), home, allowWrite: ["~/.npm"] };
  const limits = sandboxLimits(place);
  const debug = join(home, ".claude/debug");
  const denied = runtimeConfig(limits).filesystem.denyWrite.map(({ path }) => path);
  expect([limits.unasked.filter((path) => path.startsWith(home)), denied.includes(debug)]).toEqual([
    [debug],
    true,
  ]);
});

test("links are resolved, so that a limit holds for the real place", () => {
  const real = tempFolder({ "nano-agent.json": "{}" });
  const link = join(tempFolder(), "link");
  symlinkSync(real, link);
  const limits = limitsOf(link);
  expect({ writable: limits.writable, kept: limits.protected }).toEqual({
    writable: [real, "/tmp"],
    kept: ["nano-agent.json", ".git", "HEAD"].map((name) => join(real, name)),
  });
});

test("the place of a repository is kept where there is none, and what leads elsewhere where there is one", () => {
  const rest = (git: string): string[] => ["commondir", "config.worktree"].map((name) => join(git, name));
  const full = tempFolder({
    ".git/HEAD": "",
    ".git/config": "",
    ".git/hooks/a": "",
    ".git/worktrees/w/HEAD": "",
    ".git/worktrees/w/commondir": "../..",
    ".git/worktrees/w/gitdir": "/x/.git",
    ".git/modules/vendor/lib/HEAD": "",
  });
  const [tree, module] = [".git/worktrees/w", ".git/modules/vendor/lib"];
  const all = (git: string): string[] => ["config", "hooks"].map((name) => join(git, name));
  const placed = [
    ...rest(".git"),
    ...all(tree),
    join(tree, "config.worktree"),
    ...all(module),
    ...rest(module),
  ];
  const there = [...all(".git"), join(tree, "commondir"), join(tree, "gitdir")];
  const bare = tempFolder({ HEAD: "", "objects/x": "", "refs/x": "", config: "" });
  const inRepository = tempFolder({ ".git/HEAD": "", "packages/a/x": "" });
  const folders = [tempFolder(), tempFolder({ ".git": "gitdir: /elsewhere" }), full, bare];
  expect([...folders.map(keptIn), keptIn(join(inRepository, "packages/a"))]).toEqual([
    { kept: [".git", "HEAD"], placed: [".git", "HEAD"] },
    { kept: [".git"], placed: [] },
    { kept: [...placed, ...there].toSorted(), placed: placed.toSorted() },
    {
      kept: [".git", "commondir", "config", "config.worktree", "hooks"],
      placed: [".git", "commondir", "config.worktree", "hooks"],
    },
    { kept: [".git"], placed: [".git"] },
  ]);
});

test("a link where something steers is refused, for it could be exchanged", () => {
  const workspace = tempFolder({ "x/a": "" });
  symlinkSync("x", join(workspace, ".vscode"));
  expect(() => limitsOf(workspace)).toThrow(".vscode is a link, which cannot be guarded.");
});

test("repositories below are found three levels deep, without following links", () => {
  const workspace = tempFolder({
    "a/.git": "gitdir: x",
    "b/c/.git/HEAD": "",
    "b/c/d/e/.git/HEAD": "",
    "node_modules/p/.git/HEAD": "",
  });
  symlinkSync(join(workspace, "a"), join(workspace, "link"));
  expect(repositoriesBelow(workspace).map((path) => relative(workspace, path))).toEqual(["a", "b/c"]);
});

test("placeholders stay while one of several commands needs them, and what somebody made of them stays for good", () => {
  const folder = tempFolder({ there: "x" });
  const place = (...names: readonly string[]) =>
    names.map((name) => ({ path: join(folder, name), ...(name === "dir" ? {} : { content: "." }) }));
  const placeholders = new Placeholders();
  const claims = new PlaceholderClaims(tempFolder());
  const first = placeholders.put(place("file", "dir", "there", "none/at/all"), { claims });
  const second = placeholders.put(place("file"), { claims });
  const names = (): readonly string[] => readdirSync(folder).toSorted();
  const seen = [names()];
  first();
  seen.push(names());
  second();
  seen.push(names());
  // A command that finds one of another command there needs it as well.
  const earlier = placeholders.put(place("file"), { claims });
  const later = placeholders.put([], { there: [join(folder, "file"), join(folder, "there")], claims });
  earlier();
  seen.push(names());
  later();
  const third = placeholders.put(place("file", "dir"), { claims });
  writeFileSync(join(folder, "file"), "mine");
  writeFileSync(join(folder, "dir", "x"), "");
  third();
  expect({ seen, kept: existsSync(join(folder, "dir", "x")), names: names() }).toEqual({
    seen: [["dir", "file", "there"], ["file", "there"], ["there"], ["file", "there"]],
    kept: true,
    names: ["dir", "file", "there"],
  });
});
