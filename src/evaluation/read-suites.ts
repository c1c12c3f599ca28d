import { existsSync, readdirSync, realpathSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { existingFolder } from "../coding/settings/paths.ts";
import { invalidArgument } from "../core/base/errors.ts";
import { didYouMean } from "../core/base/text.ts";
import { readGitPointer } from "../permission/git-settings.ts";
import { isWithin, realPath } from "../system/real-path.ts";
import { ResultsFolder } from "./results-folder.ts";
import { type InvalidTask, readTask, TASK_FILE, type Task } from "./task.ts";

/** The folders that an evaluation writes to, links resolved. */
interface WrittenFolders {
  readonly results: string;
  readonly temporary: string;
}

/**
 * Throws `invalid_argument` for overlapping folders: results in a task change it, results directly in a suite
 * look like tasks, and agents cannot work inside a folder that is closed to them.
 */
export function assertNoOverlap(
  { suites, tasks }: Pick<SuiteTasks, "suites" | "tasks">,
  { results, temporary }: WrittenFolders,
): void {
  const other = "Name another folder for results with -o.";
  const task = tasks.find(({ folder }) => isWithin(results, folder));
  if (task !== undefined)
    throw invalidArgument(
      `Results in ${results} would lie in the task ${JSON.stringify(task.name)} and change it. ${other}`,
    );
  if (suites.includes(results))
    throw invalidArgument(
      `Results in ${results} would lie among the tasks of the suite and look like some. ${other}`,
    );
  const around = [...suites, results].find((path) => isWithin(temporary, path));
  if (around !== undefined)
    throw invalidArgument(
      `The temporary folder ${temporary} lies in ${around}, which is closed to agents: none could work there. Set TMPDIR to a folder outside of it.`,
    );
}

/**
 * The folders in which Git may keep earlier contents of a folder: those of the repositories around it and,
 * for a worktree or submodule, of its main repository. Links resolved.
 */
export function gitFoldersAround(folder: string): readonly string[] {
  const path = join(folder, ".git");
  const pointed = readGitPointer(path);
  const own = pointed === undefined ? [path] : [pointed.own, pointed.common];
  const here = existsSync(path) ? own.map(realPath) : [];
  const above = dirname(folder);
  return above === folder ? here : [...here, ...gitFoldersAround(above)];
}

interface TaskFilter {
  readonly names: readonly string[];
  readonly tags: readonly string[];
}

/** The tasks of some suites, ordered by suite and name, and the folders that cannot be used as tasks. */
export interface SuiteTasks {
  readonly suites: readonly string[];
  readonly tasks: readonly Task[];
  readonly invalid: readonly InvalidTask[];
}

/**
 * Reads suites: folders of task folders, or a single task folder. Throws `invalid_argument` for a missing
 * folder, one without tasks, two tasks of the same name, and a filter that matches nothing.
 */
export async function readSuites(paths: readonly string[], filter: TaskFilter): Promise<SuiteTasks> {
  const suites = paths.map((path) => existingFolder(path, "The suite"));
  const folders = [...new Set(suites.flatMap(taskFolders))];
  const read = await Promise.all(folders.map(readTask));
  assertUnique(read);
  const faults = read.filter((each): each is InvalidTask => "problems" in each);
  const tasks = read.filter((each): each is Task => !("problems" in each));
  const matches = taskFilter(filter, tasks, faults);
  return {
    suites,
    tasks: tasks.filter(matches),
    invalid: faults.filter(({ name }) => filter.names.length === 0 || filter.names.includes(name)),
  };
}

function taskFolders(suite: string): readonly string[] {
  if (existsSync(join(suite, TASK_FILE))) return [suite];
  const names = readdirSync(suite, { withFileTypes: true })
    .filter(({ name }) => !name.startsWith("."))
    .map(({ name }) => name)
    .filter((name) => isFolder(join(suite, name)))
    // A command run inside the suite creates its result folders there.
    .filter((name) => !existsSync(new ResultsFolder(join(suite, name)).results))
    .sort();
  if (names.length > 0) return names.map((name) => realpathSync(join(suite, name)));
  throw invalidArgument(
    `The suite ${suite} holds no tasks: make a folder for each, with ${TASK_FILE} and a program named check in it.`,
  );
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    // A dangling or circular link.
    return false;
  }
}

function assertUnique(read: readonly (Task | InvalidTask)[]): void {
  const folders = new Map<string, string>();
  for (const { name, folder } of read) {
    const other = folders.get(name);
    if (other !== undefined)
      throw invalidArgument(
        `Two tasks have the name ${JSON.stringify(name)}: ${other} and ${folder}. Rename one.`,
      );
    folders.set(name, folder);
  }
}

function taskFilter(
  { names, tags }: TaskFilter,
  tasks: readonly Task[],
  faults: readonly InvalidTask[],
): (task: Task) => boolean {
  const known = [...tasks, ...faults].map(({ name }) => name);
  for (const name of names)
    if (!known.includes(name))
      throw invalidArgument(
        `There is no task ${JSON.stringify(name)}.${didYouMean(name, known)} --list shows those there are.`,
      );
  const knownTags = [...new Set(tasks.flatMap((task) => task.tags))];
  for (const tag of tags)
    if (!knownTags.includes(tag))
      throw invalidArgument(
        `No task has the tag ${JSON.stringify(tag)}.${didYouMean(tag, knownTags)} --list shows those there are.`,
      );
  const matches = (task: Task): boolean =>
    (names.length === 0 || names.includes(task.name)) &&
    (tags.length === 0 || tags.some((tag) => task.tags.includes(tag)));
  if (faults.length > 0 || tasks.some(matches)) return matches;
  throw invalidArgument("No task has both one of the names and one of the tags. Leave one of the two out.");
}
