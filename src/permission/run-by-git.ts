import { gitFolderOf } from "./open-places.ts";
import type { GitPrograms } from "./paths/git-programs.ts";
import type { PathSpace } from "./paths/path-space.ts";
import type { ShellUnit } from "./shell/shell-unit.ts";
import { shown } from "./verdict.ts";

/** Why a command of git asks: if it only looks, and whatever it does. */
export interface RunByGit {
  readonly looking: string | undefined;
  readonly any: string | undefined;
}

/** The facts {@link runByGit} looks at. */
export interface RunByGitOptions {
  readonly places: readonly PathSpace[];
  readonly programsOf: (folder: string) => readonly GitPrograms[];
  /** Another program hands the command on, so that no options can be added to it. */
  readonly isInner: boolean;
}

/** The programs that settings of repositories would have git run; `undefined`: the command is not git. */
export function runByGit(
  unit: ShellUnit,
  { places, programsOf, isInner }: RunByGitOptions,
): RunByGit | undefined {
  if (!/^(?:.*\/)?git$/s.test(unit.name)) return undefined;
  if (unit.elsewhere === true) return { looking: NOBODY_KNOWS, any: NOBODY_KNOWS };
  const named = gitFolderOf(unit.words)[0]?.text;
  const placeIn = (space: PathSpace): string =>
    named === undefined ? space.place : space.path(named).resolved;
  const found = places.flatMap((space) => programsOf(placeIn(space)));
  const looking = found.flatMap((each) => [...each.looking, ...(isInner ? each.drivers : [])]);
  return { looking: reason(looking), any: reason([...looking, ...found.flatMap(({ others }) => others)]) };
}

const NOBODY_KNOWS =
  "git runs in folders that nobody knows, and in a repository there its settings would have it run something";

function reason(programs: readonly string[]): string | undefined {
  const [first] = programs;
  if (first === undefined) return undefined;
  const more = programs.length > 1 ? ` and ${programs.length - 1} more` : "";
  return `the settings of the repository itself would have git run something (${shown(first)}${more}): see all of it, and approve it, with nano-agent trust`;
}
