import { execFile } from "node:child_process";
import { statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Variables } from "./confined-start.ts";

/** Folders this far down are looked at. */
const DEPTH = 3;
const MAX_OUTPUT = 64 * 1024 * 1024;
/** Git as a program that only looks. */
const GIT_LOOKS = ["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"];

/** Finds the repositories of a workspace: those at most three levels down, and submodules at any depth. */
export class RepositoryFinder {
  readonly #roots: readonly string[];
  readonly #env: Variables;
  /** The submodules of each repository, and the state of the index that names them. */
  readonly #submodules = new Map<string, { readonly index: string; readonly folders: readonly string[] }>();

  constructor(roots: readonly string[], env: Variables) {
    this.#roots = roots;
    this.#env = env;
  }

  /** The folders with a `.git` below the roots, those included. Never rejects. */
  async find(): Promise<readonly string[]> {
    const near = await Promise.all(this.#roots.map((root) => this.#near(root)));
    const found = new Set(near.flat());
    // A submodule that is found may have submodules itself.
    for (const folder of found) for (const inner of await this.#submodulesOf(folder)) found.add(inner);
    return [...found].filter(
      (folder) => statSync(join(folder, ".git"), { throwIfNoEntry: false }) !== undefined,
    );
  }

  async #near(root: string): Promise<readonly string[]> {
    const named = ["-name", "node_modules", "-prune", "-o", "-name", ".git", "-print0", "-prune"];
    const output = await this.#run("find", [root, "-maxdepth", String(DEPTH + 1), ...named]);
    return output.split("\0").filter(Boolean).map(dirname);
  }

  async #submodulesOf(folder: string): Promise<readonly string[]> {
    const { mtimeMs, size, ino } = statSync(join(folder, ".git", "index"), { throwIfNoEntry: false }) ?? {};
    const index = `${mtimeMs} ${size} ${ino}`;
    const known = this.#submodules.get(folder);
    if (size === undefined || known?.index === index) return known?.folders ?? [];
    const output = await this.#run("git", ["-C", folder, ...GIT_LOOKS, "ls-files", "-s", "-z"]);
    const folders = output.split("\0").flatMap((entry) => {
      const path = /^160000 .*?\t(.+)$/s.exec(entry)?.[1];
      return path === undefined ? [] : [join(folder, path)];
    });
    this.#submodules.set(folder, { index, folders });
    return folders;
  }

  #run(program: string, args: readonly string[]): Promise<string> {
    return new Promise((resolve) => {
      const { PATH, HOME } = this.#env;
      const options = { env: { PATH, HOME }, cwd: "/", maxBuffer: MAX_OUTPUT, encoding: "utf8" } as const;
      execFile(program, [...args], options, (_error, output) => resolve(output)).stdin?.end();
    });
  }
}
