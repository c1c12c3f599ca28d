import { matchesText, wordSet } from "../match-text.ts";
import { lastPart } from "../paths/match-path.ts";
import { commandText, type PlainCommand, type PlainWord } from "./plain-line.ts";

/**
 * Options that run a program, or write or delete where the caller says: no `*` of a rule covers them. A line
 * for each program, or program and sub-command. This is a guard against surprises, not a wall: a rule for a
 * program is trust in what that program can do.
 */
const TABLE = `
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

/** The table, a line for each program: its name, then its options. */
export const HARMFUL_OPTIONS: readonly string[] = TABLE.trim().split(/\n(?! )/);

const OPTIONS: ReadonlyMap<string, readonly string[]> = new Map(
  HARMFUL_OPTIONS.map((line) => {
    const [program = "", options = ""] = line.split(": ");
    return [program, [...wordSet(options)]];
  }),
);

/** The words of a command that are harmful options of its program. */
export function harmfulWords([program, ...rest]: readonly PlainWord[]): readonly PlainWord[] {
  const name = lastPart(program?.text ?? "");
  if (name === "git") return harmfulForGit(rest);
  const options = OPTIONS.get(name) ?? [];
  // The first word of tar is a bundle of options also without a dash.
  const isBundle = (index: number, text: string): boolean =>
    name === "tar" && index === 0 && !text.startsWith("-");
  return rest.filter((word, index) =>
    isOneOf(isBundle(index, word.text) ? { ...word, text: `-${word.text}` } : word, options),
  );
}

/** Before the sub-command git has other options than after it; any word may name a transport that runs. */
function harmfulForGit(rest: readonly PlainWord[]): readonly PlainWord[] {
  const sub = rest.findIndex(({ text }, index) => !text.startsWith("-") && rest[index - 1]?.text !== "-C");
  const own = [...(OPTIONS.get("git *") ?? []), ...(OPTIONS.get(`git ${rest[sub]?.text}`) ?? [])];
  const before = [...(OPTIONS.get("git") ?? []), ...own];
  return rest.filter(
    (word, index) => /^[\w+.-]+::/.test(word.text) || isOneOf(word, sub === -1 || index < sub ? before : own),
  );
}

/**
 * True when a word is, or may become, one of these options: also bundled with others (`-no`), with its value
 * attached, shortened (`--outp`), or as a pattern for names of files that look like it.
 */
export function isOneOf({ text, isGlob }: PlainWord, options: readonly string[]): boolean {
  if (!/^-./.test(text)) return false;
  // Programs whose long options have one dash take no bundles.
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

/** True when an allow rule covers a command. A `*` covers no harmful option: the pattern has to show it. */
export function coversCommand(pattern: string, command: PlainCommand): boolean {
  if (!matchesText(pattern, commandText(command))) return false;
  if (!pattern.includes("*")) return true;
  const words = pattern.split(" ").map((text) => ({ text, isGlob: false, isHome: false }));
  const shownOptions = harmfulWords(words);
  return harmfulWords(command.words).every(({ text }) =>
    shownOptions.some((option) => matchesText(option.text, text)),
  );
}
