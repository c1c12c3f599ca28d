import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { coveredEnvironment } from "../../src/tools/shell/covered-environment.ts";
import { unattendedEnvironment } from "../../src/tools/shell/shell.ts";
import { tempFolder } from "../temp-folder.ts";
import { policyIn, shellRules } from "./shell-rules.ts";

/** A way to have git run a program: what the files of a repository say, and the line that is enough. */
export interface Attack {
  readonly what: string;
  /**
   * Prepares the repository `r`, with `$EVIL` as the program. A filter `x` is set on `f.t`, which has
   * changed.
   */
  readonly prepare: string;
  readonly line?: string;
  /** The rule of the user that covers the line; none where built-in rules do. */
  readonly rule?: string;
  /** Where the line runs. Default `r`. */
  readonly cwd?: string;
}

/** A folder with a repository `r`, a home, and a program that leaves a mark. */
export class Room {
  readonly folder: string = tempFolder();
  readonly #mark = join(this.folder, "ran");
  readonly #env = {
    PATH: "/usr/local/bin:/usr/bin:/bin",
    HOME: this.folder,
    GIT_CONFIG_NOSYSTEM: "1",
    EVIL: join(this.folder, "evil"),
  };

  constructor(prepare: string) {
    writeFileSync(this.#env.EVIL, `#!/bin/sh\necho >> ${this.#mark}\nexit 1\n`);
    chmodSync(this.#env.EVIL, 0o755);
    mkdirSync(join(this.folder, "r"));
    this.#run(
      "git config --global user.name a; git config --global user.email a@b; git init -qb main; echo '*.t filter=x' > .gitattributes; echo a > f.t; git add .; git commit -qm x; touch -d 2020-01-01 f.t; echo b > f.t",
    );
    this.#run(prepare);
  }

  /** Whether the program runs in what rules alone would allow. */
  ran(line: string, cwd: string): boolean {
    this.shown(line, cwd);
    return existsSync(this.#mark);
  }

  /** What that shows. */
  shown(line: string, cwd = "r"): string {
    rmSync(this.#mark, { force: true });
    return this.#run(line, cwd, unattendedEnvironment(coveredEnvironment(this.#env)));
  }

  #run(line: string, cwd = "r", env: NodeJS.ProcessEnv = this.#env): string {
    const options = { cwd: join(this.folder, cwd), env, input: "", encoding: "utf8" } as const;
    // That git fails is one of the ways in which the program fails.
    const { stdout, stderr } = spawnSync("/bin/bash", ["-c", line], options);
    return stdout + stderr;
  }
}

/** What the policy says about a line there. */
export const decisionOn = (room: Room, { line = "git status", rule, cwd = "r" }: Attack): string =>
  policyIn(join(room.folder, cwd), { rules: rule === undefined ? [] : shellRules(rule) }).check({
    tool: "bash",
    input: { command: line },
  }).decision;

/** Gives a repository a program that cleans files, behind the name of its settings. */
export const FILTER: string = `printf '[filter "x"]\\n\\tclean = %s\\n' "$EVIL" >>`;

/**
 * A repository that only the branch `b` names, whose settings clean what changed there. The one around has a
 * change to put back, an alias, and a search that began on that branch.
 */
export const BELOW: string = `cp -r . ../sub; mv ../sub .; git -C sub commit -qam s; git config -f .gitmodules submodule.sub.path sub; git config -f .gitmodules submodule.sub.ignore none; git checkout -qf; git checkout -qb b; git add .; git commit -qm s; git checkout -q main; git config --global alias.co checkout; git config rebase.autoStash true; git config merge.autoStash true; git config --global core.checkStat minimal; git commit -q --allow-empty -m 1; git commit -q --allow-empty -m 2; git bisect start HEAD HEAD~2 > /dev/null; echo b > .git/BISECT_START; git checkout -q main; ${FILTER} sub/.git/config; echo c > sub/f.t; echo c > f.t`;
