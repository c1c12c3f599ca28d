import { misuse } from "../core/base/errors.ts";
import { isWithin } from "../system/real-path.ts";
import type { SuiteTasks } from "./read-suites.ts";

/** The folders that an evaluation writes to, links resolved. */
export interface WrittenFolders {
  readonly results: string;
  readonly temporary: string;
}

/**
 * Throws `invalid_argument` for folders that are in each other's way: results in a task change it, those in a
 * suite itself look like tasks, and agents cannot work within what is closed to them.
 */
export function assertApart(
  { suites, tasks }: Pick<SuiteTasks, "suites" | "tasks">,
  { results, temporary }: WrittenFolders,
): void {
  const other = "Name another folder for results with -o.";
  const task = tasks.find(({ folder }) => isWithin(results, folder));
  if (task !== undefined)
    throw misuse(
      `Results in ${results} would lie in the task ${JSON.stringify(task.name)} and change it. ${other}`,
    );
  if (suites.includes(results))
    throw misuse(`Results in ${results} would lie among the tasks of the suite and look like some. ${other}`);
  const around = [...suites, results].find((path) => isWithin(temporary, path));
  if (around !== undefined)
    throw misuse(
      `The temporary folder ${temporary} lies in ${around}, which is closed to agents: none could work there. Set TMPDIR to a folder outside of it.`,
    );
}
