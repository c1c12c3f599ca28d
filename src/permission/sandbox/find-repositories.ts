import { execFile } from "node:child_process";
import { statSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { pointedGit } from "../paths/git-settings.ts";
import type { Variables } from "./confined-start.ts";

/** Folders this far down are looked at. */
const DEPTH = 3;
const MAX_OUTPUT = 64 * 1024 * 1024;
/** Git as a program that only looks: a repository could name a server to fetch what is missing from. */
const GIT_LOOKS = ["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"];

/** The folders named by the index of a repository, and the state of the index. */
type Submodules = { readonly index: string; readonly folders: readonly string[] };

/** Finds the repositories of a workspace: those at most three levels down, and submodules at any depth. */
export class RepositoryFinder {
  readonly #env: Variables;
  readonly #submodules = new Map<string, Submodules>();

  constructor({ PATH, HOME }: Variables) {
    this.#env = { PATH, HOME, GIT_ALLOW_PROTOCOL: "", GIT_NO_LAZY_FETCH: "1" };
  }

  /** The folders with a `.git` in `roots`, those included. Never rejects. */
  async find(roots: readonly string[]): Promise<ReadonlySet<string>> {
    const found = new Set((await Promise.all(roots.map((root) => repositoriesIn(root, DEPTH)))).flat());
    // A submodule that is found may have submodules itself.
    for (const folder of found)
      for (const inner of await this.#submodulesOf(folder))
        if (statSync(join(inner, ".git"), { throwIfNoEntry: false }) !== undefined) found.add(inner);
    return found;
  }

  async #submodulesOf(folder: string): Promise<readonly string[]> {
    const git = join(folder, ".git");
    const stats = statSync(join(pointedGit(git)?.own ?? git, "index"), { throwIfNoEntry: false });
    const index = `${stats?.mtimeMs} ${stats?.size} ${stats?.ino}`;
    const known = this.#submodules.get(folder);
    if (stats === undefined || known?.index === index) return known?.folders ?? [];
    const args = ["-C", folder, ...GIT_LOOKS, "ls-files", "-s", "-z"];
    const options = { env: this.#env, cwd: "/", maxBuffer: MAX_OUTPUT };
    const output = await new Promise<string>((resolve) => {
      execFile("git", args, options, (_error, listed) => resolve(listed)).stdin?.end();
    });
    const named = [...output.matchAll(/(?:^|\0)160000 [^\0\t]*\t([^\0]+)/g)];
    const folders = named.map(([, path = ""]) => join(folder, path));
    this.#submodules.set(folder, { index, folders });
    return folders;
  }
}

async function repositoriesIn(folder: string, depth: number): Promise<readonly string[]> {
  // One that is gone, or closed to this user, holds none.
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const own = entries.some(({ name }) => name === ".git") ? [folder] : [];
  const inner = entries.filter(
    (entry) => depth > 0 && entry.isDirectory() && entry.name !== ".git" && entry.name !== "node_modules",
  );
  const found = await Promise.all(inner.map(({ name }) => repositoriesIn(join(folder, name), depth - 1)));
  return [...own, ...found.flat()];
}
