import { accessSync, chmodSync, constants, lstatSync, readdirSync, rmSync } from "node:fs";
import { cp, mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { errorMessage, isNanoAgentError, misuse } from "../../core/base/errors.ts";
import type { Task } from "./task.ts";
import { hashFolder } from "./task-hash.ts";

/** A place of its own for one run of a task. The working folder is a copy; the suite stays as it is. */
export class TaskScratch {
  /** The folder in which the agent, `setup` and `check` work. */
  readonly folder: string;
  readonly #root: string;
  readonly #task: Task;
  readonly #prefix: string;
  #judge: string | undefined;

  private constructor(root: string, task: Task, prefix: string) {
    this.folder = join(root, "work");
    this.#root = root;
    this.#task = task;
    this.#prefix = prefix;
  }

  /**
   * Makes it in the temporary folder of the system, readable by this user alone, with `files` in it.
   * `prefix`: how the names of its folders begin. Throws `invalid_argument` where that cannot be done, and
   * when the task is not what it was when it was read.
   */
  static async make(task: Task, prefix: string): Promise<TaskScratch> {
    let scratch: TaskScratch | undefined;
    try {
      scratch = new TaskScratch(await makeFolder(prefix), task, prefix);
      await mkdir(scratch.folder);
      if (task.has.files) await scratch.#take("files");
      scratch.#assertAsRead();
      return scratch;
    } catch (error) {
      scratch?.removeNow();
      if (isNanoAgentError(error)) throw error;
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

  /** False when an agent has removed the working folder, put something else there, or closed it. */
  isUsable(): boolean {
    try {
      accessSync(this.folder, constants.R_OK | constants.W_OK | constants.X_OK);
      return lstatSync(this.folder).isDirectory();
    } catch {
      return false;
    }
  }

  /**
   * Lets work be done with a copy of what judges the task, which is there for that time alone: nothing that
   * ran before has seen it. Throws `invalid_argument` when the suite is not what it was when it was read.
   */
  async withJudge<T>(work: (folder: string) => Promise<T>): Promise<T> {
    const { folder } = this.#task;
    const judge = await makeFolder(this.#prefix);
    this.#judge = judge;
    const left = new Set(["files", "reference"].map((part) => join(folder, part)));
    try {
      await cp(folder, judge, { recursive: true, verbatimSymlinks: true, filter: (path) => !left.has(path) });
      this.#assertAsRead();
      return await work(judge);
    } finally {
      await removeFolder(judge);
      this.#judge = undefined;
    }
  }

  /** Resolves to false when something stays that this user may not remove. */
  remove(): Promise<boolean> {
    return removeFolder(this.#root);
  }

  /** Removes it without waiting, right before the process ends. */
  removeNow(): void {
    removeOpened(this.#root);
    if (this.#judge !== undefined) removeOpened(this.#judge);
  }

  async #take(part: "files" | "reference"): Promise<void> {
    // Links stay links: they lead to the same place in every copy.
    const options = { recursive: true, force: true, verbatimSymlinks: true } as const;
    await cp(join(this.#task.folder, part), this.folder, options);
  }

  /** After copying, so that nothing else was copied. */
  #assertAsRead(): void {
    const { folder, hash, name } = this.#task;
    if (hashFolder(folder) === hash) return;
    throw misuse(
      `The task ${JSON.stringify(name)} was changed while it was evaluated. Run the command again.`,
    );
  }
}

/** Removes what an evaluation that was killed has left of the folders with this prefix. */
export async function removeLeftScratch(prefix: string): Promise<void> {
  const names = readdirSync(tmpdir()).filter((name) => name.startsWith(prefix));
  await Promise.all(names.map((name) => removeFolder(join(tmpdir(), name))));
}

/** A new folder of this user alone, whose name nobody can guess. */
async function makeFolder(prefix: string): Promise<string> {
  return realpath(await mkdtemp(join(tmpdir(), prefix)));
}

const REMOVE = { recursive: true, force: true, maxRetries: 3 } as const;

function removeFolder(path: string): Promise<boolean> {
  return rm(path, REMOVE).then(
    () => true,
    () => removeOpened(path),
  );
}

/** Removes also folders that their owner may not change (`chmod 555`), as caches of packages are. */
function removeOpened(path: string): boolean {
  try {
    openFolders(path);
    rmSync(path, REMOVE);
    return true;
  } catch {
    return false;
  }
}

function openFolders(path: string): void {
  chmodSync(path, 0o700);
  for (const entry of readdirSync(path, { withFileTypes: true }))
    if (entry.isDirectory()) openFolders(join(path, entry.name));
}
