import { execFileSync } from "node:child_process";
import { chmodSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempFolder } from "../../../test/temp-folder.ts";
import { asOrdinaryUser } from "../../../test/tools/call-tool.ts";
import { GitFiles } from "./git-programs.ts";
import { programsBelow } from "./programs-below.ts";

const FILTER = '[filter "x"]\n\tclean = evil\n';
const HEAD = { HEAD: "ref: refs/heads/main\n", "objects/x": "", "refs/x": "" };

/** The files of a repository at a path, with these settings. */
function repositoryAt(path: string, settings: string): Readonly<Record<string, string>> {
  const files = { ...HEAD, config: settings };
  return Object.fromEntries(Object.entries(files).map(([name, text]) => [`${path}.git/${name}`, text]));
}

const below = (tree: string): readonly string[] => programsBelow(tree, new GitFiles());

test("repositories below a work tree count wherever they lie, but for what its own settings say as well", () => {
  const tree = tempFolder({
    ...repositoryAt("", '[filter "own"]\n\tclean = mine\n'),
    ...repositoryAt("plain/", "[core]\n\tbare = false\n"),
    ...repositoryAt("same/", '[filter "own"]\n\tclean = mine\n'),
    ...repositoryAt("a/b/c/node_modules/d/", FILTER),
    ...repositoryAt("plain/in/", "[core]\n\tsshCommand = evil\n"),
    "kept/pointer/.git": "gitdir: ../../meta\n",
    ...Object.fromEntries(
      Object.entries({ ...HEAD, config: FILTER }).map(([name, text]) => [`meta/${name}`, text]),
    ),
  });
  symlinkSync(join(tree, "a/b"), join(tree, "link"));
  expect(below(tree).toSorted()).toEqual([
    "core.sshcommand=evil in plain/in",
    "filter.x.clean=evil in a/b/c/node_modules/d",
    "filter.x.clean=evil in kept/pointer",
    expect.stringMatching(/^repository\.folder=.*meta in kept\/pointer$/),
  ]);
});

test("a folder whose name is no text counts", () => {
  const tree = tempFolder({ "plain/a": "" });
  execFileSync("/bin/sh", ["-c", "mkdir \"$(printf 'x\\377')\""], { cwd: tree });
  expect(below(tree)).toEqual([`the folder x\uFFFD in ${tree}`]);
});

test.skipIf(process.platform === "win32")(
  "a folder that is closed counts where git could enter it",
  async () => {
    const tree = tempFolder({ "closed/a": "", "hidden/a": "" });
    chmodSync(join(tree, "closed"), 0o000);
    chmodSync(join(tree, "hidden"), 0o755);
    const seen = (): Promise<readonly string[]> => asOrdinaryUser(tree, async () => below(tree));
    expect(await seen()).toEqual([]);
    chmodSync(join(tree, "hidden"), 0o111);
    expect(await seen()).toEqual([expect.stringContaining("EACCES")]);
  },
);
