import { gitFolderOf } from "./open-places.ts";
import type { GitPrograms } from "./paths/git-programs.ts";
import type { PathSpace } from "./paths/path-space.ts";
import { isShownPlainly, mayFill, maySwitch } from "./shell/diff-options.ts";
import type { ShellPlan } from "./shell/plan-shell.ts";
import type { ShellUnit } from "./shell/shell-unit.ts";
import { shown } from "./verdict.ts";

/** Why a command of git asks: if it only looks, and whatever it does. */
export interface RunByGit {
  readonly looking: string | undefined;
  readonly any: string | undefined;
}

/** The programs that the repository which git finds from a folder has it run, and nobody agreed to. */
export interface RepositoryPrograms {
  readonly of: (folder: string) => readonly GitPrograms[];
  /** The settings of repositories below that one: a commit may name them. */
  readonly below: (folder: string) => readonly string[];
}

/** The facts {@link runByGit} looks at. */
export interface RunByGitOptions {
  readonly places: readonly PathSpace[];
  readonly programs: RepositoryPrograms;
  /** Another program hands the command on, so that no options can be added to it. */
  readonly isInner: boolean;
  /** The line may run git again, which then looks at what this command has left. */
  readonly isSeries: boolean;
}

/** The programs that settings of repositories would have git run; `undefined`: the command is not git. */
export function runByGit(
  unit: ShellUnit,
  { places, programs, isInner, isSeries }: RunByGitOptions,
): RunByGit | undefined {
  if (!GIT.test(unit.name)) return undefined;
  if (unit.elsewhere === true) return { looking: NOBODY_KNOWS, any: NOBODY_KNOWS };
  const named = gitFolderOf(unit.words)[0]?.text;
  const placeIn = (space: PathSpace): string =>
    named === undefined ? space.place : space.path(named).resolved;
  const folders = places.map(placeIn);
  const found = folders.flatMap(programs.of);
  const looking = found.flatMap((each) => [...each.looking, ...(isInner ? each.drivers : [])]);
  // An alias of the user may be another name for `git diff`.
  const showing = isInner || isShownPlainly(unit.words) ? [] : found.flatMap(({ drivers }) => drivers);
  const others = found.flatMap((each) => each.others);
  const any = reason([...looking, ...showing, ...others]);
  const mayEnter = maySwitch(unit.words) || (isSeries && mayFill(unit.words));
  return {
    looking: reason(looking),
    any: any ?? (mayEnter ? reasonBelow(folders.flatMap(programs.below)) : undefined),
  };
}

/** True when a line may run git more than once: it repeats, names git more often, or hands a line on. */
export function runsGitAgain({ lines, repeats, units }: ShellPlan): boolean {
  const loops = lines.some(({ source }) => /\b(?:for|while|until|select)\b/.test(source));
  // A trap, or `watch`, runs its line as often as it likes.
  if (repeats || loops || lines.length > 1) return true;
  const words = units.filter(({ judged }) => judged).flatMap((unit) => unit.words);
  return words.filter(({ text }) => GIT.test(text)).length > 1;
}

const GIT = /^(?:.*\/)?git$/s;

const NOBODY_KNOWS =
  "git runs in folders that nobody knows, and in a repository there its settings would have it run something";

function reasonBelow([first]: readonly string[]): string | undefined {
  if (first === undefined) return undefined;
  return `a commit, or this line, may name a repository that lies in this one, and git would enter it, where its settings have it run something (${shown(first)})`;
}

function reason(programs: readonly string[]): string | undefined {
  const [first] = programs;
  if (first === undefined) return undefined;
  const more = programs.length > 1 ? ` and ${programs.length - 1} more` : "";
  return `the settings of the repository itself would have git run something (${shown(first)}${more}): see all of it, and approve it, with nano-agent trust`;
}
