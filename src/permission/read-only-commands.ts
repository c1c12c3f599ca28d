import { FIND_TESTS } from "./shell/find-tests.ts";
import type { OptionTable } from "./shell/option-reader.ts";

/** A command that only looks, with the options that keep it so. Anything not listed here asks. */
export interface ReadOnlyCommand extends OptionTable {
  /** Its first words: `git status`. */
  readonly name: string;
  /**
   * What its other words are. `paths`: files and folders, which have to lie in the workspace · `pattern`: a pattern, then paths · `filter`: one of jq, then paths ·
   * `texts`: anything · `names`: revisions, paths of a repository and the like, without a way out of the workspace · `none`.
   */
  readonly operands: "paths" | "pattern" | "filter" | "texts" | "names" | "none";
  /** Most operands. Default: any number. */
  readonly max?: number;
  /** How every operand has to begin. */
  readonly begins?: string;
  /** Whether the first operand ends the options, everywhere or on some systems: what follows may be the file it writes. */
  readonly ordered?: true;
  /** What its other options do at worst: `true`: run programs, write files or read folders that they name · `reads`: read files. */
  readonly sharp?: true | "reads";
}

const GIT_DIFF =
  "stat stat= shortstat numstat name-only name-status summary patch no-patch cached staged word-diff color-words unified unified= color color= no-color no-ext-diff no-textconv diff-filter= ignore-all-space ignore-space-change ignore-blank-lines find-renames minimal patience histogram check exit-code quiet raw dirstat relative merge-base no-renames full-index binary";
const GIT_LOG =
  "oneline graph decorate decorate= all branches tags remotes max-count= skip= since= after= until= before= author= committer= grep= pretty= pretty format= abbrev-commit abbrev abbrev= follow reverse merges no-merges first-parent date= topo-order date-order left-right cherry-pick no-decorate source simplify-by-decoration invert-grep regexp-ignore-case full-history no-walk boundary";
const TEST = "-e -f -d -s -r -w -x -L -h -n -z -eq -ne -lt -le -gt -ge -nt -ot -ef -a -o = == != ! ( ) ]";
const COLOR = "color color= help version";

/** The commands that run without a question inside the workspace: part of the visible default rules. */
export const READ_ONLY_COMMANDS: readonly ReadOnlyCommand[] = [
  {
    name: "ls",
    short: "aAbBcCdFgGhHiIklLmnNopqQrRsStTuUvwxXZ1",
    long: `${COLOR} all almost-all directory human-readable recursive reverse size sort= time= time-style= group-directories-first full-time inode classify dereference format=`,
    operands: "paths",
  },
  {
    name: "cat",
    short: "AbeEnstTuv",
    long: "number number-nonblank show-all show-ends show-tabs squeeze-blank help version",
    operands: "paths",
  },
  {
    name: "head",
    short: "qvz",
    valued: "cn",
    long: "lines= bytes= quiet verbose help version",
    operands: "paths",
    numbers: true,
  },
  {
    name: "tail",
    short: "qvz",
    valued: "cn",
    long: "lines= bytes= quiet verbose help version",
    operands: "paths",
    numbers: true,
  },
  {
    name: "wc",
    short: "clLmw",
    long: "lines words chars bytes max-line-length total= help version",
    sharp: "reads",
    operands: "paths",
  },
  ...["grep", "egrep", "fgrep"].map(
    (name): ReadOnlyCommand => ({
      name,
      short: "acEFGhHiIlLnoPqrRsTUvVwxyzZ",
      valued: "ABCme",
      globs: true,
      sharp: "reads",
      long: `${COLOR} regexp= colour count extended-regexp fixed-strings basic-regexp perl-regexp ignore-case no-ignore-case invert-match word-regexp line-regexp files-with-matches files-without-match max-count= only-matching quiet silent no-messages line-number with-filename no-filename after-context= before-context= context= recursive dereference-recursive include= exclude= exclude-dir= text null initial-tab binary-files= line-buffered`,
      operands: "pattern",
    }),
  ),
  {
    name: "rg",
    short: "FHIilNnopqsSuUvVwxc0aP",
    valued: "ABCgmtTEde",
    globs: true,
    sharp: true,
    long: `${COLOR} regexp= files files-with-matches files-without-match fixed-strings ignore-case smart-case case-sensitive invert-match word-regexp line-regexp line-number no-line-number count count-matches max-count= after-context= before-context= context= glob= iglob= type= type-not= type-list hidden no-ignore no-ignore-vcs multiline multiline-dotall only-matching replace= heading no-heading with-filename no-filename sort= sortr= stats json vimgrep column max-depth= max-columns= trim quiet pcre2 text null no-config passthru`,
    operands: "pattern",
  },
  {
    name: "find",
    operands: "paths",
    words: FIND_TESTS,
    globs: true,
    sharp: true,
  },
  { name: "pwd", short: "LP", operands: "none" },
  { name: "echo", operands: "texts" },
  { name: "printf", operands: "texts" },
  { name: "true", operands: "texts" },
  { name: "false", operands: "texts" },
  { name: ":", operands: "texts" },
  { name: "exit", operands: "texts", max: 1 },
  { name: "break", operands: "texts", max: 1 },
  { name: "continue", operands: "texts", max: 1 },
  { name: "which", short: "as", operands: "texts" },
  { name: "type", short: "afptP", operands: "texts" },
  { name: "command", short: "vV", operands: "texts" },
  { name: "test", operands: "texts", words: TEST },
  { name: "[", operands: "texts", words: TEST },
  {
    name: "sort",
    sharp: true,
    short: "bCcdfghiMmnRrsuVz",
    valued: "kt",
    long: "numeric-sort reverse unique key= field-separator= human-numeric-sort version-sort general-numeric-sort ignore-case ignore-leading-blanks stable check dictionary-order month-sort zero-terminated help version",
    operands: "paths",
  },
  {
    name: "uniq",
    short: "cdDiuz",
    valued: "fsw",
    long: "count repeated unique ignore-case skip-fields= skip-chars= check-chars=",
    operands: "paths",
    max: 1,
    ordered: true,
  },
  {
    name: "cut",
    short: "nsz",
    valued: "bcdf",
    long: "bytes= characters= delimiter= fields= complement only-delimited output-delimiter=",
    operands: "paths",
  },
  { name: "tr", short: "cCdst", long: "complement delete squeeze-repeats", operands: "texts" },
  { name: "nl", short: "p", valued: "bdfhilnsvw", operands: "paths" },
  { name: "tac", operands: "paths" },
  { name: "rev", operands: "paths" },
  { name: "fold", short: "bs", valued: "w", operands: "paths" },
  { name: "column", short: "tx", valued: "csoNHR", operands: "paths" },
  { name: "comm", short: "123", operands: "paths" },
  { name: "paste", short: "sz", valued: "d", operands: "paths" },
  { name: "join", short: "i", valued: "12aetvoj", operands: "paths" },
  {
    name: "diff",
    short: "abBcdeEiNpqrstTuwyZ0123456789",
    valued: "UCWxI",
    sharp: true,
    long: "unified unified= brief recursive ignore-all-space ignore-case side-by-side color color= exclude= new-file context context= strip-trailing-cr report-identical-files suppress-common-lines width=",
    operands: "paths",
  },
  { name: "cmp", short: "bls", valued: "in", operands: "paths" },
  {
    name: "stat",
    short: "fLt",
    valued: "c",
    long: "format= printf= dereference terse",
    operands: "paths",
  },
  {
    name: "file",
    sharp: true,
    short: "bhiILNprsz0",
    long: "brief mime mime-type mime-encoding",
    operands: "paths",
  },
  {
    name: "du",
    sharp: "reads",
    short: "abchklmPsSx0",
    valued: "dtB",
    long: "max-depth= human-readable summarize all apparent-size total exclude= block-size=",
    operands: "paths",
  },
  {
    name: "df",
    short: "ahHiklmPT",
    valued: "txB",
    long: "human-readable output print-type",
    operands: "paths",
  },
  {
    name: "tree",
    sharp: true,
    short: "aACdDfFghinNpqQrsStuUvxJX",
    valued: "LPI",
    long: "dirsfirst gitignore noreport du prune filelimit= charset= matchdirs ignore-case",
    operands: "paths",
  },
  { name: "basename", short: "az", valued: "s", operands: "texts" },
  { name: "dirname", short: "z", operands: "texts" },
  { name: "realpath", short: "eLmPqsz", operands: "paths" },
  { name: "readlink", short: "efmnqvz", operands: "paths" },
  {
    name: "date",
    short: "uR",
    valued: "d",
    long: "date= utc iso-8601 iso-8601= rfc-3339= rfc-email",
    operands: "texts",
    max: 1,
    begins: "+",
  },
  { name: "whoami", operands: "none" },
  { name: "id", short: "gGnruz", operands: "texts" },
  { name: "groups", operands: "texts" },
  { name: "uname", short: "aimnoprsv", operands: "none" },
  { name: "hostname", short: "dfiIs", operands: "none" },
  { name: "arch", operands: "none" },
  { name: "nproc", long: "all", operands: "none" },
  { name: "uptime", short: "ps", operands: "none" },
  { name: "free", short: "bkmghtwl", operands: "none" },
  { name: "seq", short: "w", valued: "fs", operands: "texts" },
  { name: "sleep", operands: "texts", max: 1 },
  ...["md5sum", "sha1sum", "sha256sum"].map(
    (name): ReadOnlyCommand => ({ name, short: "btwz", operands: "paths" }),
  ),
  { name: "xxd", short: "bCeEipruz", valued: "lscgo", apart: true, operands: "paths", max: 1, ordered: true },
  { name: "pgrep", short: "afilnovwx", valued: "u", operands: "texts" },
  ...["-tf", "-tzf", "-tvf", "-tzvf", "-tvzf", "tf", "tzf", "tvf", "tzvf", "tvzf"].map(
    (list): ReadOnlyCommand => ({ name: `tar ${list}`, sharp: true, operands: "paths" }),
  ),
  ...["ps aux", "ps -ef", "ps -e", "ps"].map((name): ReadOnlyCommand => ({ name, operands: "none" })),
  { name: "cksum", operands: "paths" },
  { name: "od", short: "abcdfiloxsv", valued: "AjNt", optional: "w", operands: "paths" },
  { name: "hexdump", sharp: "reads", short: "bcCdovx", valued: "ns", operands: "paths" },
  {
    name: "jq",
    sharp: true,
    short: "acCeMnRrsSj",
    valued: "",
    long: "arg== argjson== indent= seq stream ascii-output raw-output compact-output sort-keys exit-status null-input slurp tab color-output monochrome-output raw-input join-output",
    operands: "filter",
  },
  {
    name: "git status",
    short: "bsz",
    optional: "u",
    long: "short branch porcelain porcelain= long ignored untracked-files untracked-files= show-stash ahead-behind column",
    operands: "names",
  },
  {
    name: "git diff",
    short: "abBcDmMpRrsuwWz",
    valued: "GSlI",
    optional: "U",
    long: GIT_DIFF,
    operands: "names",
  },
  {
    name: "git log",
    short: "abBcimMpRrsuwWzEFPg",
    valued: "GSLn",
    optional: "U",
    long: `${GIT_LOG} ${GIT_DIFF}`,
    operands: "names",
    numbers: true,
  },
  {
    name: "git show",
    short: "abBcmMpRrsuwWz",
    valued: "GSn",
    optional: "U",
    long: `${GIT_LOG} ${GIT_DIFF}`,
    operands: "names",
    numbers: true,
  },
  {
    name: "git blame",
    short: "bcCefklMnpstw",
    valued: "L",
    long: "porcelain line-porcelain incremental show-stats date= abbrev abbrev=",
    operands: "names",
  },
  {
    name: "git branch",
    short: "arvq",
    long: "list all remotes verbose show-current contains= no-contains= merged no-merged sort= format= points-at= column color no-color",
    operands: "none",
  },
  {
    name: "git branch --list",
    short: "arvi",
    long: "all remotes verbose sort= format= contains= ignore-case",
    operands: "names",
  },
  {
    name: "git tag",
    short: "ln",
    long: "list contains= sort= format= points-at= merged no-merged",
    operands: "none",
  },
  { name: "git tag --list", short: "n", long: "sort= format= contains=", operands: "names" },
  { name: "git tag -l", short: "n", long: "sort= format= contains=", operands: "names" },
  { name: "git remote", short: "v", long: "verbose", operands: "none" },
  { name: "git remote -v", operands: "none" },
  { name: "git remote get-url", long: "push all", operands: "names" },
  { name: "git stash list", long: GIT_LOG, operands: "none" },
  { name: "git stash show", short: "pu", long: GIT_DIFF, operands: "names" },
  {
    name: "git rev-parse",
    short: "q",
    long: "short short= abbrev-ref git-dir git-common-dir git-path show-object-format verify show-toplevel is-inside-work-tree symbolic-full-name show-prefix show-cdup absolute-git-dir quiet is-bare-repository",
    operands: "names",
  },
  {
    name: "git rev-list",
    short: "n",
    valued: "",
    long: `${GIT_LOG} count objects`,
    operands: "names",
    numbers: true,
  },
  {
    name: "git merge-base",
    short: "a",
    long: "all is-ancestor fork-point octopus",
    operands: "names",
  },
  {
    name: "git describe",
    long: "tags all long always abbrev abbrev= dirty match= exact-match contains",
    operands: "names",
  },
  {
    name: "git ls-files",
    short: "cdikmostuvz",
    valued: "x",
    long: "cached deleted others ignored stage modified exclude-standard error-unmatch full-name exclude= killed unmerged directory",
    operands: "names",
  },
  {
    name: "git ls-tree",
    short: "drtlz",
    long: "name-only full-name full-tree long",
    operands: "names",
  },
  { name: "git cat-file", short: "estp", operands: "names" },
  {
    name: "git shortlog",
    short: "censw",
    long: "summary numbered email all since= until= no-merges",
    operands: "names",
  },
  { name: "git reflog", long: GIT_LOG, operands: "none", numbers: true },
  {
    name: "git show-ref",
    short: "dhqs",
    long: "heads tags head verify hash hash=",
    operands: "names",
  },
  {
    name: "git for-each-ref",
    long: "format= sort= count= contains= merged no-merged points-at=",
    operands: "names",
  },
  {
    name: "git grep",
    short: "acEFGhHiIlLnopqvwW",
    valued: "ABCem",
    long: "ignore-case word-regexp files-with-matches name-only line-number count cached untracked show-function heading break and or not all-match color no-color fixed-strings extended-regexp context=",
    operands: "names",
  },
  { name: "git check-ignore", short: "nqvz", operands: "names" },
  { name: "git config --get", operands: "texts", max: 1 },
  { name: "git config --list", long: "show-origin local global", operands: "none" },
  { name: "git worktree list", short: "vz", long: "porcelain verbose", operands: "none" },
  { name: "git --version", operands: "none" },
  { name: "node --version", operands: "none" },
  { name: "node -v", operands: "none" },
  { name: "npm --version", operands: "none" },
  { name: "npm -v", operands: "none" },
  { name: "python --version", operands: "none" },
  { name: "python3 --version", operands: "none" },
];

/** Wrappers that add nothing of their own: allowed by themselves, never for what they run. */
export const PLAIN_WRAPPERS: ReadonlySet<string> = new Set([
  "time",
  "timeout",
  "nice",
  "nohup",
  "stdbuf",
  "command",
  "builtin",
  "xargs",
]);

/** Those commands by their program. */
export const READ_ONLY_BY_PROGRAM: ReadonlyMap<string, readonly ReadOnlyCommand[]> = byProgram();

/** Without `Map.groupBy`: this runs when the entry is loaded, which older engines are to survive. */
function byProgram(): ReadonlyMap<string, readonly ReadOnlyCommand[]> {
  const groups = new Map<string, ReadOnlyCommand[]>();
  for (const command of READ_ONLY_COMMANDS) {
    const program = command.name.split(" ", 1)[0] ?? command.name;
    const group = groups.get(program);
    if (group === undefined) groups.set(program, [command]);
    else group.push(command);
  }
  return groups;
}
