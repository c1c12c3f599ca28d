import { type Dirent, readdirSync, realpathSync, statSync } from "node:fs";
import { dirname, isAbsolute, sep } from "node:path";
import { gitlinksIn } from "./git-index.ts";
import { type GitSettingUse, isPartialClone, MERGE_STRATEGY, REBASE_STEP, useOf } from "./git-keys.ts";
import { type GitSetting, settingsIn, shownSetting, stateIn, textOf, unreadable } from "./git-settings.ts";
import { Remembered } from "./remembered.ts";

/** What a repository's own settings have git run, by what has to be done for it. */
export interface GitPrograms {
  /** Settings, as `filter.x.clean=cat`, that count for whoever only looks. */
  readonly looking: readonly string[];
  /** What differences are shown with, where git is not told to show them without. */
  readonly drivers: readonly string[];
  /** The others: they count for commands that change something or speak with others. */
  readonly others: readonly string[];
}

/** Repositories, and folders of them, that are looked at for one, and how deep the names of submodules may go. */
const MAX_REPOSITORIES = 500;
const MAX_DEPTH = 10;

/**
 * The programs that git would run because the files of a repository say so, its submodules and the repositories in its index included; not
 * those of the user's own settings. `undefined` where there are none. What cannot be read, or is not known, counts as a program.
 */
export function gitPrograms(repository: string, files: GitFiles = new GitFiles()): GitPrograms | undefined {
  const settings = settingsOf(repository, files);
  if (settings.every(({ use }) => use === undefined)) return undefined;
  const of = (wanted: GitSettingUse): readonly string[] => [
    ...new Set(settings.filter(({ use }) => use === wanted).map(shownSetting)),
  ];
  const [looking, drivers, others] = [of("looking"), of("drivers"), of("others")];
  const isPartial = settings.some(isPartialClone);
  return isPartial ? { looking: [...looking, ...others], drivers, others: [] } : { looking, drivers, others };
}

/** A setting, and whom it counts for. */
interface JudgedSetting extends GitSetting {
  readonly use: GitSettingUse;
}

function judged(setting: GitSetting): JudgedSetting {
  return { ...setting, use: useOf(setting) };
}

/** Differences within a submodule are shown by a git of its own, which nobody tells to show them without drivers. */
function inSubmodule(setting: JudgedSetting): JudgedSetting {
  return setting.use === "drivers" ? { ...setting, use: "looking" } : setting;
}

function settingsOf(repository: string, files: GitFiles): readonly JudgedSetting[] {
  try {
    return new Walk(repository, files).settings();
  } catch {
    // A file that may not even be looked at.
    return [judged(unreadable(repository))];
  }
}

/** Files of repositories, as far as they have been read. */
export class GitFiles {
  readonly settings: Remembered<readonly JudgedSetting[], []> = new Remembered((path) =>
    settingsIn(path).map(judged),
  );
  readonly gitlinks: Remembered<readonly string[] | undefined, [hashBytes: number]> = new Remembered(
    gitlinksIn,
  );
  readonly state: Remembered<readonly JudgedSetting[], [key: string]> = new Remembered((path, key) =>
    stateIn(path, key).map(judged),
  );
  /** Files of one line that name a folder or a branch. */
  readonly texts: Remembered<string | undefined, []> = new Remembered(textOf);
}

/** Goes through a repository, and through those that git enters from there. */
class Walk {
  readonly #root: string;
  readonly #files: GitFiles;
  readonly #found: JudgedSetting[] = [];
  readonly #seen = new Set<string>();

  constructor(root: string, files: GitFiles) {
    this.#root = root;
    this.#files = files;
  }

  /** All settings that count. */
  settings(): readonly JudgedSetting[] {
    const own = this.#repository(this.#root);
    const { state, settings } = this.#files;
    if (own === undefined) return this.#found;
    this.#found.push(
      ...state.of(`${own}/rebase-merge/git-rebase-todo`, REBASE_STEP),
      ...state.of(`${own}/rebase-merge/strategy`, MERGE_STRATEGY),
      // Without other options, which run nothing.
      ...settings.of(`${own}/sequencer/opts`).filter(({ key }) => !/^options\.(?!strategy$)/.test(key)),
    );
    return this.#found;
  }

  /** Reads the repository with this work tree; its folder. */
  #repository(tree: string): string | undefined {
    const own = this.#gitFolder(tree);
    if (own === undefined) this.#unreadable(`${tree}/.git`);
    else this.#folder(own, tree);
    return own;
  }

  /** Reads a folder of git, with the work tree that belongs to it, if that is known. */
  #folder(own: string, tree?: string): void {
    const id = JSON.stringify([own, tree]);
    if (this.#seen.has(id)) return;
    if (this.#seen.size >= MAX_REPOSITORIES) return this.#tooMany();
    this.#seen.add(id);
    const common = this.#commonFolder(own);
    if (common === undefined) return this.#unreadable(`${own}/commondir`);
    const settings = [`${common}/config`, `${own}/config.worktree`].flatMap((path) =>
      this.#files.settings.of(path).filter((each) => !isOwnWorkTree(each, dirname(path), this.#root)),
    );
    this.#found.push(...(tree === this.#root ? settings : settings.map(inSubmodule)));
    if (tree !== undefined) this.#entries(`${own}/index`, tree, hashBytes(settings));
    this.#modules(`${own}/modules`, 0);
  }

  /** Repositories that an index names: git looks into them by the settings there. */
  #entries(index: string, tree: string, bytes: number | undefined): void {
    const links = bytes === undefined ? undefined : this.#files.gitlinks.of(index, bytes);
    if (links === undefined) this.#unreadable(index);
    // The path as git would have it: what a link in it leads to comes before `..`.
    for (const link of links ?? [])
      if (statSync(`${tree}/${link}/.git`, { throwIfNoEntry: false }) !== undefined)
        this.#repository(`${tree}/${link}`);
  }

  /** Folders of submodules, whose names may have slashes. */
  #modules(folder: string, depth: number): void {
    if (depth > MAX_DEPTH || this.#seen.size >= MAX_REPOSITORIES) return this.#tooMany();
    this.#seen.add(folder);
    for (const { name } of entriesOf(folder).filter((each) => each.isDirectory() || each.isSymbolicLink())) {
      const inner = `${folder}/${name}`;
      if (statSync(`${inner}/HEAD`, { throwIfNoEntry: false }) === undefined) this.#modules(inner, depth + 1);
      else this.#folder(inner);
    }
  }

  #tooMany(): void {
    this.#unreadable("more repositories than are looked at");
  }

  #unreadable(what: string): void {
    this.#found.push(judged(unreadable(what)));
  }

  /** Where the files of a repository are. A bare one is that itself. */
  #gitFolder(tree: string): string | undefined {
    const path = `${tree}/.git`;
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return tree;
    return stats.isDirectory() ? path : this.#pointed(path, "gitdir: ");
  }

  /** Where the settings of a repository are, which several work trees may share. */
  #commonFolder(own: string): string | undefined {
    const path = `${own}/commondir`;
    return statSync(path, { throwIfNoEntry: false }) === undefined ? own : this.#pointed(path, "");
  }

  /** The folder that a file of one line names. Blanks are part of a name, line ends behind it are not. */
  #pointed(path: string, begin: string): string | undefined {
    const text = this.#files.texts.of(path)?.replace(/[\r\n]+$/, "");
    if (text?.startsWith(begin) !== true || /[\p{Cc}\uFFFD]/u.test(text)) return undefined;
    const place = pathFrom(dirname(path), text.slice(begin.length));
    return statSync(place, { throwIfNoEntry: false })?.isDirectory() === true ? place : undefined;
  }
}

function entriesOf(folder: string): readonly Dirent[] {
  try {
    if (statSync(folder, { throwIfNoEntry: false }) === undefined) return [];
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    // Git cannot read it either.
    return [];
  }
}

/** How long the hashes of a repository are; `undefined` where that is not plainly said. */
function hashBytes(settings: readonly GitSetting[]): number | undefined {
  const said = settings.filter(({ key }) => key === "extensions.objectformat").map(({ value }) => value);
  if (said.every((value) => value === "sha1")) return 20;
  return said.every((value) => value === "sha256") ? 32 : undefined;
}

/** A submodule says where its files are, which is nothing new as long as they are in the repository. */
function isOwnWorkTree({ key, value }: GitSetting, folder: string, repository: string): boolean {
  // Git reads quotes, escapes and comments in a value.
  if (key !== "core.worktree" || /["\\#;]/.test(value)) return false;
  try {
    const [place, own] = [realpathSync.native(pathFrom(folder, value)), realpathSync.native(repository)];
    return place === own || place.startsWith(own + sep);
  } catch {
    // It is not there: git would not find it either.
    return false;
  }
}

/** A path from a folder, as it stands: the system takes `..` from where a link before it leads, `join` from its name. */
function pathFrom(folder: string, path: string): string {
  return isAbsolute(path) ? path : `${folder}/${path}`;
}
