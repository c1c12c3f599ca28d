import { readFileSync } from "node:fs";
import { lstat } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import ignore, { type Ignore } from "ignore";

/** The ignore files that are in force in a folder: its own and those of the folders above. */
export class IgnoreRules {
  readonly #matchers: readonly FolderMatcher[];

  private constructor(matchers: readonly FolderMatcher[]) {
    this.#matchers = matchers;
  }

  /** The rules for `folder`, from the top of its repository (else from the root) down. */
  static async at(folder: string): Promise<IgnoreRules> {
    const top = await repositoryOf(folder);
    const folders = [folder];
    for (let current = folder; current !== top && current !== dirname(current); current = dirname(current)) {
      folders.unshift(dirname(current));
    }
    let rules = new IgnoreRules([]);
    for (const current of folders) rules = rules.below(current);
    return rules;
  }

  /** The rules in force in a folder directly below, which is searched although a rule may name it. */
  below(folder: string): IgnoreRules {
    const inherited = this.#matchers.map((matcher) => exempt(matcher, folder));
    return new IgnoreRules([...matchersOf(folder), ...inherited]);
  }

  /** True for an entry to leave out: `.rgignore` before `.ignore` before `.gitignore`, then the nearest. */
  ignores(path: string, isFolder: boolean): boolean {
    for (const name of IGNORE_FILES) {
      for (const matcher of this.#matchers) {
        const verdict = matcher.name === name ? judge(matcher, path, isFolder) : undefined;
        if (verdict !== undefined) return verdict === "ignored";
      }
    }
    return false;
  }
}

/** The top folder of the repository that holds `folder`, if any. */
export async function repositoryOf(folder: string): Promise<string | undefined> {
  for (let current = folder; ; current = dirname(current)) {
    if (await exists(join(current, ".git"))) return current;
    if (current === dirname(current)) return undefined;
  }
}

/** In the order of their rank. */
const IGNORE_FILES = [".rgignore", ".ignore", ".gitignore"] as const;

interface FolderMatcher {
  readonly folder: string;
  readonly name: string;
  readonly lines: readonly string[];
  readonly rules: Ignore;
}

async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

function matchersOf(folder: string): readonly FolderMatcher[] {
  return IGNORE_FILES.flatMap((name) => {
    const text = textOf(join(folder, name));
    return text === undefined ? [] : [matcherOf({ folder, name }, text.split(/\r?\n/u))];
  });
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

function matcherOf(place: Pick<FolderMatcher, "folder" | "name">, lines: readonly string[]): FolderMatcher {
  const { folder, name } = place;
  return { folder, name, lines, rules: ignore({ ignorecase: false }).add(lines) };
}

function judge(matcher: FolderMatcher, path: string, isFolder: boolean): "ignored" | "kept" | undefined {
  const inFolder = pathIn(matcher.folder, path);
  const { ignored, unignored } = matcher.rules.test(isFolder ? `${inFolder}/` : inFolder);
  if (ignored) return "ignored";
  return unignored ? "kept" : undefined;
}

function pathIn(folder: string, path: string): string {
  return relative(folder, path).split(sep).join("/");
}

/**
 * A matcher that no longer leaves out all of `folder` because a rule names the folder itself: a rule for
 * names at any depth goes on to hold for what is below it, any other has nothing more to say.
 */
function exempt(matcher: FolderMatcher, folder: string): FolderMatcher {
  if (judge(matcher, folder, true) !== "ignored") return matcher;
  const inFolder = pathIn(matcher.folder, folder);
  const lines = matcher.lines.flatMap((line) => {
    if (!ignore({ ignorecase: false }).add(line).test(`${inFolder}/`).ignored) return [line];
    const isForAnyDepth = !line.trimEnd().slice(0, -1).includes("/");
    return isForAnyDepth ? [`/${inFolder.replace(/[\\*?[\]!# ]/gu, "\\$&")}/**/${line}`] : [];
  });
  return matcherOf(matcher, lines);
}
