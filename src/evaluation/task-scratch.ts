import { accessSync, chmodSync, constants, lstatSync, readdirSync, rmSync } from "node:fs";
import { cp, mkdir, mkdtemp, realpath, rm, rmdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { errorMessage, invalidArgument, isNanoAgentError } from "../core/base/errors.ts";
import { realPath } from "../system/real-path.ts";
import { rootSystemCode } from "../system/system-error.ts";
import { hashFolder, type Task } from "./task.ts";

export interface ScratchFolders {
  /** Holds the working directories of agents. */
  readonly workplace: string;
  /** Holds copies of the judging programs, out of reach of agents. */
  readonly judges: string;
}

/** The folders of one run of a task. The working directory is a copy; the suite stays unchanged. */
export class TaskScratch {
  readonly root: string;
  readonly folder: string;
  /** The agent's folder for temporary files: its leftovers must not reach another run. */
  readonly temporary: string;
  readonly #place: ScratchFolders;
  readonly #task: Task;
  /** Folders that exist only while a program of the task runs. */
  readonly #temporaries = new Set<string>();

  private constructor(root: string, task: Task, place: ScratchFolders) {
    this.root = root;
    this.folder = join(root, "work");
    this.temporary = join(root, "tmp");
    this.#task = task;
    this.#place = place;
  }

  /**
   * Makes it, readable by this user alone, with `files` in it. Throws `invalid_argument` if that fails, or if
   * the task has changed since it was read.
   */
  static async make(task: Task, place: ScratchFolders): Promise<TaskScratch> {
    let scratch: TaskScratch | undefined;
    try {
      scratch = new TaskScratch(await makeFolder(join(place.workplace, "run-")), task, place);
      await mkdir(scratch.folder);
      await mkdir(scratch.temporary);
      if (task.has.files) await scratch.#copy("files");
      scratch.#assertUnchanged();
      return scratch;
    } catch (error) {
      scratch?.removeNow();
      if (isNanoAgentError(error)) throw error;
      throw invalidArgument(
        `The scratch folder for ${JSON.stringify(task.name)} cannot be made: ${errorMessage(error)}. ${isDiskFull(error) ? `Make room in ${tmpdir()}` : "Put that right"}, or set TMPDIR to another folder.`,
        { cause: error },
      );
    }
  }

  async copyReference(): Promise<void> {
    if (this.#task.has.reference) await this.#copy("reference");
  }

  /** False if an agent has removed the working directory, replaced it, or made it inaccessible. */
  isUsable(): boolean {
    try {
      accessSync(this.folder, constants.R_OK | constants.W_OK | constants.X_OK);
      return lstatSync(this.folder).isDirectory();
    } catch {
      return false;
    }
  }

  /**
   * Runs `work` with a copy of the judging programs and a folder for temporary files, which exist only
   * meanwhile: nothing that ran before has seen them. Throws `invalid_argument` if the suite has changed
   * since it was read.
   */
  async withJudge<T>(work: (folder: string, temporary: string) => Promise<T>): Promise<T> {
    const { folder } = this.#task;
    const skip = new Set(["files", "reference"].map((part) => join(folder, part)));
    const judge = await this.#makeTemporary(join(this.#place.judges, "judge-"));
    try {
      // An unconfined agent may have made the folder around its own inaccessible.
      chmodSync(this.#place.workplace, 0o700);
      const temporary = await this.#makeTemporary(join(this.#place.workplace, "tmp-"));
      await cp(folder, judge, {
        recursive: true,
        verbatimSymlinks: true,
        filter: (path) => !skip.has(path),
      });
      this.#assertUnchanged();
      return await work(judge, temporary);
    } finally {
      await Promise.all([...this.#temporaries].map(removeFolder));
      this.#temporaries.clear();
    }
  }

  async #makeTemporary(prefix: string): Promise<string> {
    const path = await makeFolder(prefix);
    this.#temporaries.add(path);
    return path;
  }

  /** Resolves to false if anything remains that this user may not remove. */
  remove(): Promise<boolean> {
    return removeFolder(this.root);
  }

  removeNow(): void {
    for (const path of [this.root, ...this.#temporaries]) forceRemove(path);
  }

  async #copy(part: "files" | "reference"): Promise<void> {
    // Links are copied as links: they have the same target in every copy.
    const options = { recursive: true, force: true, verbatimSymlinks: true } as const;
    await cp(join(this.#task.folder, part), this.folder, options);
  }

  /** Runs after copying, so that a change during the copy is noticed too. */
  #assertUnchanged(): void {
    const { folder, hash, name } = this.#task;
    if (hashFolder(folder) === hash) return;
    throw invalidArgument(
      `The task ${JSON.stringify(name)} was changed while it was evaluated. Run the command again.`,
    );
  }
}

/**
 * Makes a new folder for runs in the system's temporary folder, for this user alone. `prefix`: start of its
 * name. Throws `invalid_argument` if that fails.
 */
export async function makeWorkFolder(prefix: string): Promise<string> {
  try {
    return await makeFolder(join(tmpdir(), prefix));
  } catch (error) {
    throw invalidArgument(
      `No folder can be made in ${tmpdir()}: ${errorMessage(error)}. Put that right, or set TMPDIR to another folder.`,
      { cause: error },
    );
  }
}

/** The folders in the system's temporary folder with this prefix. Links do not count. */
export function workFoldersOf(prefix: string): readonly string[] {
  const parent = realPath(tmpdir());
  const entries = readdirSync(parent, { withFileTypes: true });
  return entries
    .filter((entry) => entry.name.startsWith(prefix) && entry.isDirectory())
    .map(({ name }) => join(parent, name));
}

async function makeFolder(prefix: string): Promise<string> {
  return realpath(await mkdtemp(prefix));
}

const REMOVE_OPTIONS = { recursive: true, force: true, maxRetries: 3 } as const;

/** Resolves to false if anything remains that this user may not remove. */
export function removeFolder(path: string): Promise<boolean> {
  return rm(path, REMOVE_OPTIONS).then(
    () => true,
    () => forceRemove(path),
  );
}

/** Resolves to false if it is not empty and so remains. */
export function removeIfEmpty(path: string): Promise<boolean> {
  return rmdir(path).then(
    () => true,
    () => false,
  );
}

/**
 * Removes a folder synchronously, even if it contains read-only folders (`chmod 555`), such as package
 * caches. Returns false if anything remains.
 */
export function forceRemove(path: string): boolean {
  try {
    makeWritable(path);
    rmSync(path, REMOVE_OPTIONS);
    return true;
  } catch {
    return false;
  }
}

function makeWritable(path: string): void {
  chmodSync(path, 0o700);
  for (const entry of readdirSync(path, { withFileTypes: true }))
    if (entry.isDirectory()) makeWritable(join(path, entry.name));
}

const DISK_FULL: ReadonlySet<string | undefined> = new Set(["ENOSPC", "EDQUOT", "EFBIG"]);

/** True if an error or one of its causes means that the disk is full. */
export function isDiskFull(error: unknown): boolean {
  return DISK_FULL.has(rootSystemCode(error));
}
