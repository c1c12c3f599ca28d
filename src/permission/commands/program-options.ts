import { hasOwnGitSettings } from "../git-settings.ts";
import { lastPart, matchesText, wordSet } from "../match-text.ts";
import type { PathSpace } from "../path-space.ts";
import type { RuleSet } from "../verdict.ts";
import { commandText, type PlainCommand, type PlainWord } from "./plain-line.ts";

/** Options that run a program, or write where the caller says: no `*` covers them. A guard, not a wall. */
const HARMFUL = `
curl: -o -O -K -D -c --output --remote-name --output-dir --config --dump-header --cookie-jar
cargo: --config
fd: -x -X --exec --exec-batch
find: -exec -execdir -ok -okdir -delete -fprint -fprint0 -fprintf -fls
git: -c --config-env --exec-path --git-dir --work-tree
git *: --upload-pack --receive-pack --exec --output --ext-diff --textconv --open-files-in-pager --template
git archive: -o
git clone: -u -c --config
git difftool: -x --extcmd
git format-patch: -o --output-directory
git grep: -O
git rebase: -x
go: -exec -toolexec -vettool -o -C
make: -f -C --file --makefile --directory --eval
node: -e -p -r --eval --print --require --import --loader --experimental-loader
npm: -C --prefix --script-shell --node-options --userconfig
patch: -o -r -e --output --reject-file --ed
pnpm: -C --dir --script-shell --node-options
rg: --pre --hostname-bin
rsync: -e --rsh --rsync-path --log-file --write-batch --remove-source-files
scp: -o -F -S
sed: -i -f --in-place --file
sftp: -o -F -S
sort: -o -T --output --temporary-directory --compress-program
split: --filter
ssh: -o -F -E -I
tar: -I -F --to-command --checkpoint-action --use-compress-program --remove-files --rsh-command
    --rmt-command --info-script --new-volume-script
tree: -o -R --output
wget: -O -P -e --output-document --directory-prefix --execute
yarn: --cwd --script-shell
zip: -TT --unzip-command`;

export const HARMFUL_OPTIONS: readonly string[] = HARMFUL.trim().split(/\n(?! )/);

const OPTIONS: ReadonlyMap<string, readonly string[]> = new Map(
  HARMFUL_OPTIONS.map((line) => {
    const [program = "", options = ""] = line.split(": ");
    return [program, [...wordSet(options)]];
  }),
);

export function harmfulWords([program, ...rest]: readonly PlainWord[]): readonly PlainWord[] {
  const name = lastPart(program?.text ?? "");
  if (name === "git") return harmfulForGit(rest);
  const options = OPTIONS.get(name) ?? [];
  // The first word of tar is a bundle of options even without a dash.
  const isBundle = (index: number, text: string): boolean =>
    name === "tar" && index === 0 && !text.startsWith("-");
  return rest.filter((word, index) =>
    isOneOf(isBundle(index, word.text) ? { ...word, text: `-${word.text}` } : word, options),
  );
}

/** Git's options before the sub-command differ from those after; any word may name a transport that runs. */
function harmfulForGit(rest: readonly PlainWord[]): readonly PlainWord[] {
  const sub = rest.findIndex(({ text }, index) => !text.startsWith("-") && rest[index - 1]?.text !== "-C");
  const own = [...(OPTIONS.get("git *") ?? []), ...(OPTIONS.get(`git ${rest[sub]?.text}`) ?? [])];
  const before = [...(OPTIONS.get("git") ?? []), ...own];
  return rest.filter(
    (word, index) => /^[\w+.-]+::/.test(word.text) || isOneOf(word, sub === -1 || index < sub ? before : own),
  );
}

/** True if a word is or may become one of these options: bundled, shortened, with a value, by a pattern. */
export function isOneOf({ text, isGlob }: PlainWord, options: readonly string[]): boolean {
  if (!/^-./.test(text)) return false;
  // Programs whose long options have one dash do not bundle options.
  const hasBundles = !options.some((option) => /^-\w\w/.test(option));
  const plain = hasBundles ? text : text.replace(/^--/, "-");
  const [beginning = plain] = isGlob ? plain.split(/[*?[]/) : [];
  const [name = ""] = beginning.split("=");
  return options.some((option) => {
    if (isGlob && option.startsWith(beginning)) return true;
    if (!hasBundles) return option === name;
    if (plain.startsWith("--")) return name.length > 2 && option.startsWith(name);
    return option.length === 2 && /^-(\w*)/.exec(plain)?.[1]?.includes(option.charAt(1)) === true;
  });
}

/** True if an allow rule covers a command. A `*` covers no harmful option: the pattern has to show it. */
export function coversCommand(pattern: string, command: PlainCommand): boolean {
  if (!matchesText(pattern, commandText(command))) return false;
  if (!pattern.includes("*")) return true;
  const words = pattern.split(" ").map((text) => ({ text, isGlob: false, isHome: false }));
  const shownOptions = harmfulWords(words);
  return harmfulWords(command.words).every(({ text }) =>
    shownOptions.some((option) => matchesText(option.text, text)),
  );
}

interface LookingProgram {
  readonly name: string;
  readonly takes: string;
  readonly more: readonly string[];
}

const DIFFS = "--output --ext-diff --textconv --submodule --recurse-submodules --no-index -O";

/**
 * Programs that only look. `paths`: their words may be paths, which must be in the workspace · `texts`: they
 * open nothing that words name · `options`: they take options alone. After that, the options with which they
 * write, run something, follow links, or read file names from a file.
 */
const LOOKING = `
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

export const LOOKING_PROGRAMS: readonly LookingProgram[] = LOOKING.trim()
  .split(/\n(?! )/)
  .map((line) => {
    const [name = "", takes = "", more = ""] = line.split(" | ");
    return { name, takes, more: more === "" ? [] : [...wordSet(more)] };
  });

const BY_NAME: ReadonlyMap<string, LookingProgram> = new Map(
  LOOKING_PROGRAMS.map((program) => [program.name, program]),
);

export function onlyLooks(words: readonly PlainWord[], space: PathSpace, rules: RuleSet): boolean {
  const [name, ...rest] = words.filter(({ text }, index) => index !== 1 || text !== "--no-pager");
  if (name === undefined || name.isHome || space.hasProgram(name.text)) return false;
  const isGit = name.text === "git";
  const program = BY_NAME.get(isGit ? `git ${rest[0]?.text}` : name.text);
  const mayRead = (text: string): boolean => {
    if (text === "" || text === "/dev/null") return true;
    const path = space.resolve(text);
    const isInside = path.oddity === undefined && space.isInside(path.resolved);
    return isInside && !rules.hasRuleAgainst("read", path, space);
  };
  // Every path that a word may stand for has to be readable.
  const isReadable = (word: PlainWord): boolean => pathsOf(word).every(mayRead);
  if (program === undefined || !hasOnlyLookingWords(program, isGit ? rest.slice(1) : rest, isReadable))
    return false;
  return !isGit || !hasOwnGitSettings(space.cwd);
}

function hasOnlyLookingWords(
  { name, takes, more }: LookingProgram,
  words: readonly PlainWord[],
  isReadable: (word: PlainWord) => boolean,
): boolean {
  if (words.some((word) => isOneOf(word, more))) return false;
  const end = words.findIndex(({ text }) => text === "--");
  const operands = words.filter(({ text }, index) => !/^-./.test(text) || (end !== -1 && index > end));
  if (takes === "options" && operands.length > 0) return false;
  // uniq writes to its second operand, and date sets the time from an operand without a plus.
  if (name === "uniq" && (operands.length > 1 || words.some(({ isGlob }) => isGlob))) return false;
  if (name === "date" && !operands.every(({ text }) => text.startsWith("+"))) return false;
  if (name === "sed") {
    const [flag, script, ...files] = words;
    if (flag?.text !== "-n" || !/^(?:\d+|\$)(?:,(?:\d+|\$))?p$/.test(script?.text ?? "")) return false;
    return files.every((word) => !word.text.startsWith("-") && isReadable(word));
  }
  return words.every((word) => (takes === "texts" && !word.isGlob) || isReadable(word));
}

/** The texts in a word that a program may take for a path; the root if that cannot be determined. */
function pathsOf({ text, isGlob, isHome }: PlainWord): readonly string[] {
  const [literal = text] = isGlob ? text.split(/[*?[]/) : [];
  // `.*` also matches `..`, and the text after a pattern may lead out of the folder it found.
  if (isGlob && (/(?:^|\/)\.+$/.test(literal) || /\.\.|\/\.+[*?[]/.test(text.slice(literal.length))))
    return ["/"];
  const path = isGlob ? literal.slice(0, literal.lastIndexOf("/") + 1) : text;
  if (path.startsWith("~") && !isHome) return [`./${path}`];
  const isOption = path.startsWith("-");
  return isOption
    ? [path, path.replace(/^.*?=/, ""), path.replace(/^-+[\w-]*=?/, ""), path.slice(2)]
    : [path];
}
