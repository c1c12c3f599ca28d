import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { tempFolder } from "../../../test/temp-folder.ts";
import { readIndex } from "./git-index.ts";

const gitlinksIn = (path: string, hashBytes: number): readonly string[] | undefined =>
  readIndex(path, hashBytes)?.links;

const OBJECT = "1234567890123456789012345678901234567890";

class Index {
  readonly #folder = tempFolder();
  readonly path: string = join(this.#folder, ".git/index");

  constructor(format = "sha1") {
    this.git(["init", "-q", `--object-format=${format}`]);
  }

  git(args: readonly string[], input = ""): string {
    const env = { HOME: this.#folder, PATH: "/usr/bin:/bin", GIT_CONFIG_NOSYSTEM: "1" };
    return execFileSync("/usr/bin/git", args, { cwd: this.#folder, env, input, stdio: "pipe" }).toString();
  }

  /** Writes it anew, in one of the forms that git has. */
  write(entries: ReadonlyMap<string, string>, version: number, object = OBJECT): void {
    rmSync(this.path, { force: true });
    const lines = [...entries].map(([name, mode]) => `${mode} ${object}\t${name}\0`).join("");
    this.git(["update-index", "-z", "--index-info"], lines);
    this.git(["update-index", "--index-version", String(version)]);
  }

  /** What git itself finds in it. */
  links(): readonly string[] {
    const staged = this.git(["ls-files", "-s", "-z"]).split("\0");
    return staged.flatMap((line) => (line.startsWith("160000 ") ? [line.slice(line.indexOf("\t") + 1)] : []));
  }
}

const HAS_GIT = existsSync("/usr/bin/git");

test.runIf(HAS_GIT)("repositories in an index are those that git finds there, in each of its forms", () => {
  const index = new Index();
  const part = fc.string({ unit: fc.constantFrom("a", "b", "ü", " ", "-"), minLength: 1, maxLength: 8 });
  const name = fc.oneof(
    fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join("/")),
    fc.constant("l".repeat(5_000)),
  );
  const mode = fc.constantFrom("100644", "160000", "120000");
  const entries = fc.array(fc.tuple(name, mode), { minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(entries, fc.constantFrom(2, 3, 4), (all, version) => {
      // A name cannot be that of a file and of a folder.
      const names = all.map(([each]) => each);
      const plain = all.filter(([each]) => !names.some((other) => other.startsWith(`${each}/`)));
      index.write(new Map(plain), version);
      expect([plain, gitlinksIn(index.path, 20)]).toEqual([plain, index.links()]);
    }),
    { numRuns: 40 },
  );
});

test.runIf(HAS_GIT)("hashes may be longer, and more flags may stand behind an entry", () => {
  const index = new Index("sha256");
  index.write(new Map([["sub", "160000"]]), 2, OBJECT.repeat(2).slice(0, 64));
  expect(gitlinksIn(index.path, 32)).toEqual(["sub"]);
  const plain = new Index();
  plain.write(
    new Map([
      ["a", "100644"],
      ["sub", "160000"],
    ]),
    2,
  );
  plain.git(["update-index", "--skip-worktree", "a"]);
  expect([plain.links(), gitlinksIn(plain.path, 20)]).toEqual([["sub"], ["sub"]]);
});

test.runIf(HAS_GIT)("what another file holds counts, and what cannot be read is said", () => {
  const index = new Index();
  index.write(
    new Map([
      ["a", "100644"],
      ["sub", "160000"],
    ]),
    2,
  );
  const whole = readFileSync(index.path);
  index.git(["update-index", "--split-index"]);
  const { shared = "" } = readIndex(index.path, 20) ?? {};
  expect(gitlinksIn(join(dirname(index.path), shared), 20)).toEqual(["sub"]);
  expect(gitlinksIn(index.path, 32)).toBe(undefined);
  writeFileSync(index.path, whole.subarray(0, 120));
  expect(gitlinksIn(index.path, 20)).toBe(undefined);
  // The mode of a folder, as a sparse index has it.
  writeFileSync(index.path, whole.fill(0x40, 12 + 26, 12 + 27).fill(0, 12 + 27, 12 + 28));
  expect(readIndex(index.path, 20)).toEqual({ links: ["sub"], folders: ["a"], isWhole: true });
  rmSync(index.path);
  expect(readIndex(index.path, 20)).toEqual({ links: [], folders: [], isWhole: true });
  mkdirSync(index.path);
  expect(gitlinksIn(index.path, 20)).toBe(undefined);
  rmSync(index.path, { recursive: true });
  execFileSync("mkfifo", [index.path]);
  expect(gitlinksIn(index.path, 20)).toBe(undefined);
});
