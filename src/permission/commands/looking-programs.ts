import { wordSet } from "../match-text.ts";

/** A program that only looks, unless one of its options makes it do more. */
export interface LookingProgram {
  /** The name, for git with the sub-command. */
  readonly name: string;
  /**
   * `paths`: its words may be places, which have to lie in the workspace · `texts`: it opens nothing that
   * they name · `options`: it takes options alone.
   */
  readonly takes: "paths" | "texts" | "options";
  /** Options with which it writes, runs something, follows links, or reads names of files from a file. */
  readonly more: readonly string[];
}

const DIFFS = "--output --ext-diff --textconv --submodule --recurse-submodules --no-index -O";

const TABLE = `
basename | texts
cat | paths
cmp | paths
cut | paths
date | texts | -s -f -r --set --file --reference
df | paths
diff | paths | -r -l --recursive --paginate --from-file --to-file
dirname | texts
du | paths | -L -D -X --dereference --dereference-args --files0-from --exclude-from
echo | texts
file | paths | -C -m -f -z -Z --compile --magic-file --files-from --uncompress --uncompress-noreport
find | paths | -L -H -follow -files0-from -exec -execdir -ok -okdir -delete -fprint -fprint0 -fprintf -fls
git blame | paths | ${DIFFS} -S --contents
git branch | options | -d -D -m -M -c -C -f -t -u --delete --move --copy --force --track --set-upstream-to
    --unset-upstream --edit-description --create-reflog
git diff | paths | ${DIFFS}
git log | paths | ${DIFFS}
git ls-files | paths | -X --exclude-from --recurse-submodules
git remote | options
git rev-parse | paths
git show | paths | ${DIFFS}
git status | paths
grep | paths | -f -R --file --dereference-recursive --exclude-from
head | paths
ls | paths
printf | texts | -v
pwd | texts
realpath | paths
rg | paths | -f -L -z --file --follow --search-zip --ignore-file --pre --hostname-bin
sed | paths
sort | paths | -o -T --output --temporary-directory --compress-program --files0-from --random-source
stat | paths
tail | paths
tr | texts
tree | paths | -o -R -l --output --fromfile --fromtabfile --gitfile --infofile
true | texts
uniq | paths
wc | paths | --files0-from
which | texts`;

/** The commands that run without a rule, on places inside the workspace. */
export const LOOKING_PROGRAMS: readonly LookingProgram[] = TABLE.trim()
  .split(/\n(?! )/)
  .map((line) => {
    const [name = "", takes = "", more = ""] = line.split(" | ");
    return { name, takes: takes as LookingProgram["takes"], more: more === "" ? [] : [...wordSet(more)] };
  });

const BY_NAME: ReadonlyMap<string, LookingProgram> = new Map(
  LOOKING_PROGRAMS.map((program) => [program.name, program]),
);

/** The program of this name, for git with the sub-command. */
export function lookingProgram(name: string): LookingProgram | undefined {
  return BY_NAME.get(name);
}
