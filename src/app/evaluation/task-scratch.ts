import { rmSync } from "node:fs";
import { cp, mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { errorMessage, misuse } from "../../core/base/errors.ts";
import { hashOfJudge } from "./read-task.ts";
import type { Task } from "./task.ts";

/** A place of its own for one run of a task. The working folder is a copy; the suite stays as it is. */
export class TaskScratch {
  /** The folder in which the agent, `setup` and `check` work. */
  readonly folder: string;
  readonly #root: string;
  readonly #task: Task;

  private constructor(root: string, task: Task) {
    this.#root = root;
    this.#task = task;
    this.folder = join(root, "work");
  }

  /**
   * Makes it in the temporary folder of the system, readable by this user alone, with `files` in it. Throws
   * `invalid_argument` where that cannot be done.
   */
  static async make(task: Task): Promise<TaskScratch> {
    let scratch: TaskScratch | undefined;
    try {
      scratch = new TaskScratch(await makeFolder("nano-agent-eval-"), task);
      await mkdir(scratch.folder);
      if (task.has.files) await scratch.#take("files");
      return scratch;
    } catch (error) {
      scratch?.removeNow();
      throw misuse(
        `The scratch folder for ${JSON.stringify(task.name)} cannot be made: ${errorMessage(error)}. Make room in ${tmpdir()}, or set TMPDIR to another folder.`,
        { cause: error },
      );
    }
  }

  /** Copies `reference` over what is there. */
  async takeReference(): Promise<void> {
    if (this.#task.has.reference) await this.#take("reference");
  }

  /**
   * Lets work be done with a copy of what judges the task, which is there for that time alone: nothing that
   * ran before has seen it. Throws `invalid_argument` when the suite is not what it was when it was read.
   */
  async withJudge<T>(work: (folder: string) => Promise<T>): Promise<T> {
    const { folder, judgeHash, name } = this.#task;
    const isAsRead = (): boolean => hashOfJudge(folder) === judgeHash;
    if (!isAsRead())
      throw misuse(
        `The task ${JSON.stringify(name)} was changed while it was evaluated. Run the command again.`,
      );
    const judge = await makeFolder("nano-agent-check-");
    const left = new Set(["files", "reference"].map((part) => join(folder, part)));
    try {
      await cp(folder, judge, { recursive: true, verbatimSymlinks: true, filter: (path) => !left.has(path) });
      return await work(judge);
    } finally {
      await rm(judge, REMOVE);
    }
  }

  async remove(): Promise<void> {
    await rm(this.#root, REMOVE);
  }

  /** Removes it without waiting, right before the process ends. */
  removeNow(): void {
    rmSync(this.#root, REMOVE);
  }

  async #take(part: "files" | "reference"): Promise<void> {
    // Links stay links: they lead to the same place in every copy.
    const options = { recursive: true, force: true, verbatimSymlinks: true } as const;
    await cp(join(this.#task.folder, part), this.folder, options);
  }
}

/** A new folder of this user alone, whose name nobody can guess. */
async function makeFolder(prefix: string): Promise<string> {
  return realpath(await mkdtemp(join(tmpdir(), prefix)));
}

const REMOVE = { recursive: true, force: true, maxRetries: 3 } as const;
