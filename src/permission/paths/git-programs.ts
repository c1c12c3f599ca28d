import { type Dirent, existsSync, lstatSync, readdirSync, statSync } from "node:fs";
import { dirname, isAbsolute } from "node:path";
import { FileMemo } from "./file-memo.ts";
import {
  ALTERNATES,
  belongsTo,
  commonFolder,
  entriesIn,
  type GitEntries,
  gitFolder,
  liesIn,
  pathFrom,
  placeOf,
} from "./git-folder.ts";
import { type GitIndex, readIndex } from "./git-index.ts";
import {
  type GitSettingUse,
  isPartialClone,
  MERGE_STRATEGY,
  NAMES_PLACE,
  REBASE_STEP,
  useOf,
} from "./git-keys.ts";
import {
  type GitSetting,
  type ReadText,
  settingsIn,
  shownSetting,
  stateIn,
  textOf,
  unreadable,
} from "./git-settings.ts";

/** The programs a repository's own settings have git run, by what has to be done for it. */
export interface GitPrograms {
  /** Settings, as `filter.x.clean=cat`, that count for whoever only looks. */
  readonly looking: readonly string[];
  /** The programs that show differences, where git is not told to show them without. */
  readonly drivers: readonly string[];
  /** The others: they count for commands that change something or speak with others. */
  readonly others: readonly string[];
}

/** How many repositories and folders are looked at for one, and how deep submodule names may go. */
const MAX_REPOSITORIES = 500;
const MAX_DEPTH = 10;

/**
 * The programs that git would run because the files of a repository say so, its submodules and the
 * repositories in its index included; not those of the user's own settings. `undefined` where there are none.
 * What cannot be read, or is not known, counts as a program.
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
  readonly settings: FileMemo<readonly JudgedSetting[], []> = new FileMemo((path) =>
    settingsIn(path).map(judged),
  );
  readonly index: FileMemo<GitIndex | undefined, [hashBytes: number]> = new FileMemo(readIndex);
  readonly entries: FileMemo<GitEntries, [name: string]> = new FileMemo(entriesIn);
  readonly state: FileMemo<readonly JudgedSetting[], [key: string]> = new FileMemo((path, key) =>
    stateIn(path, key).map(judged),
  );
  readonly #texts: FileMemo<string | undefined, []> = new FileMemo(textOf);
  /** Files of one line, which name a folder or a branch. */
  readonly read: ReadText = (path) => this.#texts.of(path);
}

/** The work tree of a repository, if it is known, and the one that git was started in. */
interface Place {
  readonly tree: string | undefined;
  readonly root: string;
}

/** The parts that the work trees of a repository share. */
interface CommonParts {
  readonly common: string;
  readonly settings: readonly JudgedSetting[];
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
    const own = gitFolder(tree, this.#files.read);
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
    const common = commonFolder(own, this.#files.read);
    if (common === undefined) return this.#unreadable(`${own}/commondir`);
    const place = { tree, root: this.#root };
    const shared = this.#files.settings.of(`${common}/config`);
    this.#places(own, { ...place, common, settings: shared });
    for (const path of [`${common}/config`, `${own}/config.worktree`])
      this.#found.push(
        ...this.#files.settings.of(path).filter((each) => !namesOwn(each, dirname(path), place)),
      );
    if (tree !== undefined) this.#entries(`${own}/index`, tree, hashBytes(shared));
    this.#modules(`${own}/modules`, 0);
  }

  /** Settings that would have git show files from elsewhere as parts of this repository. */
  #places(own: string, { tree, root, common, settings }: Place & CommonParts): void {
    if (tree !== undefined && !belongsTo(tree, { own, root, settings }, this.#files.read))
      this.#away("folder", own);
    if (common !== own && placeOf(common) !== placeOf(`${own}/../..`)) this.#away("commondir", common);
    for (const folder of new Set([own, common])) this.#links(folder, "", [folder, root, common]);
  }

  #links(git: string, name: string, inside: readonly string[]): void {
    const folder = name === "" ? git : `${git}/${name}`;
    const { links, folders, hasAlternates } = this.#files.entries.of(folder, name);
    if (hasAlternates)
      this.#found.push(...this.#files.state.of(`${git}/${ALTERNATES}`, "repository.alternates"));
    for (const link of links) {
      const path = `${folder}/${link}`;
      const target = placeOf(path);
      if (target !== undefined && !liesIn(target, inside)) this.#away("link", `${path} -> ${target}`);
    }
    for (const inner of folders) this.#links(git, inner, inside);
  }

  #away(what: string, path: string): void {
    this.#found.push(judged({ key: `repository.${what}`, value: path }));
  }

  /** Repositories that an index names: git looks into them by the settings there. */
  #entries(path: string, tree: string, bytes: number | undefined): void {
    const indexOf = (file: string | undefined): GitIndex | undefined =>
      bytes === undefined || file === undefined ? undefined : this.#files.index.of(file, bytes);
    const own = indexOf(path);
    const shared = own?.shared === undefined ? own : indexOf(`${dirname(path)}/${own.shared}`);
    // What stands for a folder that is there hides what git finds in it.
    const isHiding = [own, shared].some(
      (index) => index?.isWhole !== true || index.folders.some((name) => existsSync(`${tree}/${name}`)),
    );
    // Those that can be read are looked at although somebody agreed to the rest.
    if (isHiding) this.#unreadable(path);
    // The path as git would have it: what a link in it leads to comes before `..`.
    for (const link of new Set([...(own?.links ?? []), ...(shared?.links ?? [])]))
      if (link !== "" && statSync(`${tree}/${link}/.git`, { throwIfNoEntry: false }) !== undefined)
        this.#repository(`${tree}/${link}`);
  }

  /** Folders of submodules, whose names may have slashes. */
  #modules(folder: string, depth: number): void {
    if (depth > MAX_DEPTH || this.#seen.size >= MAX_REPOSITORIES) return this.#tooMany();
    this.#seen.add(folder);
    for (const { name } of entriesOf(folder).filter((each) => each.isDirectory() || each.isSymbolicLink())) {
      const inner = `${folder}/${name}`;
      // Where HEAD is a link, its branch may have no commit yet.
      if (lstatSync(`${inner}/HEAD`, { throwIfNoEntry: false }) === undefined)
        this.#modules(inner, depth + 1);
      else this.#folder(inner);
    }
  }

  #tooMany(): void {
    this.#unreadable("more repositories than are looked at");
  }

  #unreadable(what: string): void {
    this.#found.push(judged(unreadable(what)));
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

/** Length of a repository's hashes by its work trees' shared settings; `undefined`: not plainly said. */
function hashBytes(settings: readonly GitSetting[]): number | undefined {
  const valuesOf = (name: string): ReadonlySet<string> =>
    new Set(settings.flatMap(({ key, value }) => (key === name ? [value] : [])));
  const said = [...valuesOf("extensions.objectformat")];
  if (said.every((value) => value === "sha1")) return 20;
  // Git passes over extensions of a repository that does not say which version it has.
  const version = [...valuesOf("core.repositoryformatversion")].join(" ");
  return said.join(" ") === "sha256" && version === "1" ? 32 : undefined;
}

/** True when a file or folder named by a setting is the repository's. A submodule says so in its files. */
function namesOwn({ key, value }: GitSetting, folder: string, { tree, root }: Place): boolean {
  // Git reads quotes, escapes and comments in a value, and homes in a path; what is no plain text would be
  // looked for under another name.
  if (!NAMES_PLACE.test(key) || /["\\#;\p{Cc}\uFFFD]|^[~%]/u.test(value)) return false;
  if (key === "core.worktree") {
    const place = pathFrom(folder, value);
    // Paths in the index start in a work tree: in another one git would find other repositories.
    return tree === undefined ? liesIn(place, [root]) : placeOf(place) === placeOf(tree);
  }
  if (liesIn(pathFrom(tree ?? root, value), [root])) return true;
  return !isAbsolute(value) && !value.split("/").includes("..") && !existsSync(`${tree ?? root}/${value}`);
}
