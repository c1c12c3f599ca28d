import { wordSet } from "./match-text.ts";
import { FIND_TESTS } from "./shell/find-tests.ts";
import { type OptionTable, optionTable, tableRows } from "./shell/option-reader.ts";

/** A command that only looks, with the options that keep it so. Anything not listed here asks. */
export interface ReadOnlyCommand extends OptionTable {
  /** Its first words: `git status`. */
  readonly name: string;
  /**
   * The kind of its other words. `paths`: files and folders, which have to lie in the workspace · `pattern`:
   * a pattern, then paths · `filter`: one of jq, then paths · `texts`: anything · `names`: revisions, paths
   * of a repository and the like, without a way out of the workspace · `none`.
   */
  readonly operands: string;
}

const GIT_DIFF = `
  stat stat= shortstat numstat name-only name-status summary patch no-patch cached staged word-diff
  color-words unified unified= color color= no-color no-ext-diff no-textconv diff-filter= ignore-all-space
  ignore-space-change ignore-blank-lines find-renames minimal patience histogram check exit-code quiet raw
  dirstat relative merge-base no-renames full-index binary`;
const GIT_LOG = `
  oneline graph decorate decorate= all branches tags remotes max-count= skip= since= after= until= before=
  author= committer= grep= pretty= pretty format= abbrev-commit abbrev abbrev= follow reverse merges
  no-merges first-parent date= topo-order date-order left-right cherry-pick no-decorate source
  simplify-by-decoration invert-grep regexp-ignore-case full-history no-walk boundary`;
const TEST = `
  -e -f -d -s -r -w -x -L -h -n -z -eq -ne -lt -le -gt -ge -nt -ot -ef -a -o = == != ! ( ) ]`;
const COLOR = "color color= help version";

/**
 * The commands that run without a question inside the workspace, a line each: names · what their operands
 * are, and traits · options, see {@link optionTable}. Traits beside those of options: `single` (at most one
 * operand), `date` (every operand begins with `+`), and what other options do at worst: `sharp` (run
 * programs, write files or read folders that they name), `reads` (read files). With `ordered` what follows
 * the first operand may be a file that is written, everywhere or on some systems.
 */
const COMMANDS = `
ls | paths | -aAbBcCdFgGhHiIklLmnNopqQrRsStTuUvwxXZ1 ${COLOR} all almost-all directory human-readable
    recursive reverse size sort= time= time-style= group-directories-first full-time inode classify
    dereference format=
cat | paths | -AbeEnstTuv number number-nonblank show-all show-ends show-tabs squeeze-blank help version
head, tail | paths numbers | -qvz -cn= lines= bytes= quiet verbose help version
wc | paths reads | -clLmw lines words chars bytes max-line-length total= help version
grep, egrep, fgrep | pattern reads globs | -acEFGhHiIlLnoPqrRsTUvVwxyzZ -ABCme= ${COLOR} regexp= colour
    count extended-regexp fixed-strings basic-regexp perl-regexp ignore-case no-ignore-case invert-match
    word-regexp line-regexp files-with-matches files-without-match max-count= only-matching quiet silent
    no-messages line-number with-filename no-filename after-context= before-context= context= recursive
    dereference-recursive include= exclude= exclude-dir= text null initial-tab binary-files= line-buffered
rg | pattern sharp globs | -FHIilNnopqsSuUvVwxc0aP -ABCgmtTEde= ${COLOR} regexp= files files-with-matches
    files-without-match fixed-strings ignore-case smart-case case-sensitive invert-match word-regexp
    line-regexp line-number no-line-number count count-matches max-count= after-context= before-context=
    context= glob= iglob= type= type-not= type-list hidden no-ignore no-ignore-vcs multiline
    multiline-dotall only-matching replace= heading no-heading with-filename no-filename sort= sortr= stats
    json vimgrep column max-depth= max-columns= trim quiet pcre2 text null no-config passthru
find | paths sharp globs words | ${FIND_TESTS}
pwd | none | -LP
echo, printf, true, false, : | texts
exit, break, continue | texts single
which | texts | -as
type | texts | -afptP
command | texts | -vV
test, [ | texts words | ${TEST}
sort | paths sharp | -bCcdfghiMmnRrsuVz -kt= numeric-sort reverse unique key= field-separator=
    human-numeric-sort version-sort general-numeric-sort ignore-case ignore-leading-blanks stable check
    dictionary-order month-sort zero-terminated help version
uniq | paths single ordered | -cdDiuz -fsw= count repeated unique ignore-case skip-fields= skip-chars=
    check-chars=
cut | paths | -nsz -bcdf= bytes= characters= delimiter= fields= complement only-delimited output-delimiter=
tr | texts | -cCdst complement delete squeeze-repeats
nl | paths | -p -bdfhilnsvw=
tac, rev | paths
fold | paths | -bs -w=
column | paths | -tx -csoNHR=
comm | paths | -123
paste | paths | -sz -d=
join | paths | -i -12aetvoj=
diff | paths sharp | -abBcdeEiNpqrstTuwyZ0123456789 -UCWxI= unified unified= brief recursive
    ignore-all-space ignore-case side-by-side color color= exclude= new-file context context=
    strip-trailing-cr report-identical-files suppress-common-lines width=
cmp | paths | -bls -in=
stat | paths | -fLt -c= format= printf= dereference terse
file | paths sharp | -bhiILNprs0 brief mime mime-type mime-encoding
du | paths reads | -abchklmPsSx0 -dtB= max-depth= human-readable summarize all apparent-size total exclude=
    block-size=
df | paths | -ahHiklmPT -txB= human-readable output print-type
tree | paths sharp | -aACdDfFghinNpqQrsStuUvxJX -LPI= dirsfirst gitignore noreport du prune filelimit=
    charset= matchdirs ignore-case
basename | texts | -az -s=
dirname | texts | -z
realpath | paths | -eLmPqsz
readlink | paths | -efmnqvz
date | texts single date | -uR -d= date= utc iso-8601 iso-8601= rfc-3339= rfc-email
whoami | none
id | texts | -gGnruz
groups | texts
uname | none | -aimnoprsv
hostname | none | -dfiIs
arch | none
nproc | none | all
uptime | none | -ps
free | none | -bkmghtwl
seq | texts | -w -fs=
sleep | texts single
md5sum, sha1sum, sha256sum | paths | -btwz
xxd | paths single ordered apart | -bCeEipruz -lscgo=
pgrep | texts | -afilnovwx -u=
tar -tf, tar -tzf, tar -tvf, tar -tzvf, tar -tvzf, tar tf, tar tzf, tar tvf, tar tzvf | paths sharp
tar tvzf | paths sharp
ps aux, ps -ef, ps -e, ps | none
cksum | paths
od | paths | -abcdfiloxsv -AjNt= -w?
hexdump | paths reads | -bcCdovx -ns=
jq | filter sharp | -acCeMnRrsSj arg== argjson== indent= seq stream ascii-output raw-output compact-output
    sort-keys exit-status null-input slurp tab color-output monochrome-output raw-input join-output
git status | names | -bsz -u? short branch porcelain porcelain= long ignored untracked-files
    untracked-files= show-stash ahead-behind column
git diff | names | -abBcDmMpRrsuwWz -GSlI= -U? ${GIT_DIFF}
git log | names numbers | -abBcimMpRrsuwWzEFPg -GSLn= -U? ${GIT_LOG} ${GIT_DIFF}
git show | names numbers | -abBcmMpRrsuwWz -GSn= -U? ${GIT_LOG} ${GIT_DIFF}
git blame | names | -bcCefklMnpstw -L= porcelain line-porcelain incremental show-stats date= abbrev abbrev=
git branch | none | -arvq list all remotes verbose show-current contains= no-contains= merged no-merged
    sort= format= points-at= column color no-color
git branch --list | names | -arvi all remotes verbose sort= format= contains= ignore-case
git tag | none | -ln list contains= sort= format= points-at= merged no-merged
git tag --list, git tag -l | names | -n sort= format= contains=
git remote | none | -v verbose
git remote -v | none
git remote get-url | names | push all
git stash list | none | ${GIT_LOG}
git stash show | names | -pu ${GIT_DIFF}
git rev-parse | names | -q short short= abbrev-ref git-dir git-common-dir git-path show-object-format verify
    show-toplevel is-inside-work-tree symbolic-full-name show-prefix show-cdup absolute-git-dir quiet
    is-bare-repository
git rev-list | names numbers | -n ${GIT_LOG} count objects
git merge-base | names | -a all is-ancestor fork-point octopus
git describe | names | tags all long always abbrev abbrev= dirty match= exact-match contains
git ls-files | names | -cdikmostuvz -x= cached deleted others ignored stage modified exclude-standard
    error-unmatch full-name exclude= killed unmerged directory
git ls-tree | names | -drtlz name-only full-name full-tree long
git cat-file | names | -estp
git shortlog | names | -censw summary numbered email all since= until= no-merges
git reflog | none numbers | ${GIT_LOG}
git show-ref | names | -dhqs heads tags head verify hash hash=
git for-each-ref | names | format= sort= count= contains= merged no-merged points-at=
git grep | names | -acEFGhHiIlLnopqvwW -ABCem= ignore-case word-regexp files-with-matches name-only
    line-number count cached untracked show-function heading break and or not all-match color no-color
    fixed-strings extended-regexp context=
git check-ignore | names | -nqvz
git config --get | texts single
git config --list | none | show-origin local global
git worktree list | none | -vz porcelain verbose
git --version, node --version, node -v, npm --version, npm -v, python --version | none
python3 --version | none`;

/** Those commands: part of the visible default rules. */
export const READ_ONLY_COMMANDS: readonly ReadOnlyCommand[] = tableRows(COMMANDS).flatMap(
  ([names = "", about = "", options = ""]) => {
    const [operands = "", ...traits] = about.split(" ");
    const table = optionTable(options, traits.join(" "));
    return names.split(", ").map((name) => ({ ...table, name, operands }));
  },
);

/** Wrappers that add nothing of their own: allowed by themselves, never for what they run. */
export const PLAIN_WRAPPERS: ReadonlySet<string> = wordSet(
  "time timeout nice nohup stdbuf command builtin xargs",
);

/** Programs that have such commands. */
export const READ_ONLY_PROGRAMS: ReadonlySet<string> = new Set(
  READ_ONLY_COMMANDS.map(({ name }) => head(name, 1)),
);

/** Those commands by the first two words of their names, or by the only one. */
export const READ_ONLY_BY_HEAD: ReadonlyMap<string, readonly ReadOnlyCommand[]> = byHead();

/** Without `Map.groupBy`: this runs when the entry is loaded, which older engines are to survive. */
function byHead(): ReadonlyMap<string, readonly ReadOnlyCommand[]> {
  const groups = new Map<string, ReadOnlyCommand[]>();
  for (const command of READ_ONLY_COMMANDS) {
    const key = head(command.name, 2);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [command]);
    else group.push(command);
  }
  return groups;
}

function head(name: string, words: number): string {
  return name.split(" ", words).join(" ");
}
