import { wordSet } from "../match-text.ts";
import { type OptionTable, optionTable, tableRows } from "./option-reader.ts";

/**
 * Options of a program that make it run another program or write a file that is not its purpose to write.
 * `short`: short options that do · `valued`: short options that take a value, so that what follows in the
 * same word is none · `long`: long options that do, abbreviations too. Traits: `dashes` (any number of dashes
 * begins a long option), `plugins` (its first word can be the name of another program: with a slash in it, a
 * path to one), `ends` (`--` ends the options; elsewhere every word is looked at).
 */
export interface ProgramOptions extends OptionTable {
  /** Long options that do nothing of it although they abbreviate one that does. */
  readonly harmless: string;
  /** Whole words that do. */
  readonly word?: RegExp | undefined;
  /** Literal words that do, wherever they stand. */
  readonly text?: RegExp | undefined;
  /** Two words behind each other, with a blank between them, that do. */
  readonly pair?: RegExp | undefined;
}

/** Programs that makefiles keep in a variable of that name. */
const TOOLS =
  "(?:MAKE)?SHELL\\w*|\\.?SHELLFLAGS|MAKE\\w*|CC|CXX|CPP|LD|AR|AS|NM|RANLIB|STRIP|OBJCOPY|OBJDUMP|FC|YACC|BISON|LEX|FLEX|PKG_?CONFIG|CMAKE|NINJA|MESON|PROTOC|RM|CP|MV|LN|MKDIR|TOUCH|CAT|ECHO|PRINTF|CHMOD|CHOWN|INSTALL|TEST|DATE|WHICH|FIND|XARGS|SORT|GREP|EGREP|AWK|SED|DIFF|PATCH|TAR|GZIP|ZIP|UNZIP|ENV|SUDO|TIMEOUT|PERL|RUBY|LUA|PHP|PYTHON[23]?|PIP[23]?|PY|UV|POETRY|PYTEST|TOX|RUFF|BLACK|MYPY|FLAKE8|ISORT|SPHINX\\w*|NODE|NPM|NPX|PNPM|YARN|BUN|DENO|TSC|JEST|VITEST|MOCHA|ESLINT|PRETTIER|WEBPACK|VITE|GO\\w*|CARGO|RUSTC|JAVAC?|MVN|GRADLE|BASH|SH|GIT|SSH|SCP|RSYNC|CURL|WGET|DOCKER|PODMAN|COMPOSE|KUBECTL|HELM|TERRAFORM|AWS|GCLOUD|EDITOR|VISUAL|PAGER|BROWSER|BIN|EXE|EXEC|RUN|RUNNER|TOOL|LINTER|FORMATTER|COMPILER|INTERPRETER|\\w*_?(?:CMD|COMMAND|PROGRAM|WRAPPER|LAUNCHER)";
/** Names of programs, or of further files that say what to run, in the settings of ssh. */
const SSH =
  /^(?:-\w*o)?"?\s*(?:proxycommand|localcommand|permitlocalcommand|knownhostscommand|pkcs11provider|smartcarddevice|securitykeyprovider|include|match|xauthlocation)"?[=\s]/i;

/** Whole words, by program. */
const WORDS: ReadonlyMap<string, RegExp> = byName({
  tar: /^[A-Za-z]*[IFTgP][A-Za-z]*$/,
  "ssh, scp, sftp": SSH,
  less: /^\+/,
  // A file of formats may hold `%output{…}`.
  curl: /%output\{|^--expand-|^-[A-Za-z#]*w@|^--wr[a-z-]*=@/,
  "vim, vi, view, nvim, ex": /^(?:\+.+|--cmd|--startuptime|--listen|--remote-expr)/,
  emacs: /^--?(?:eval|execute|load|batch|script|funcall|insert)/,
  zip: /^-[A-Za-z]*TT/,
  // Plugins, and places where other parts of the compiler are taken from.
  "gcc, g++, cc, c++, clang, clang++":
    /^(?:@.+|--?(?:wrapper|fplugin|fpass-plugin|B|specs|prefix|config|Xclang|load|iplugindir|plugin|fuse-ld=.*\/|ld-path|gcc-toolchain|gcc-install-dir)|-W[la],.*-plugin)/,
  // `go env -w` keeps what later builds run.
  go: /^--?(?:exec|toolexec|vettool|overlay|w)(?:=|$)|-extld(?:flags)?\b/,
  // `config set` names programs for credentials.
  kubectl: /^users\./,
  podman: /mount_program=/,
  "pip, pip3": /^--local=/,
  // Behind `+` may stand a folder with another compiler, and the description of a target names a linker.
  cargo: /^\+.*\/|^(?:-C)?linker=|^--target=.*\.json$/,
  // Properties that name programs or further files of a build, and loggers, which are libraries.
  dotnet:
    /^(?:(?:--?|\/)(?:p|property)[:=][^=]*(?:event|exe|path|command|targets|props|import\w*|assembl\w*)\s*=|(?:--?|\/)(?:l|logger|dl|distributedlogger)[:=]|@)/i,
  openssl: /^--?(?:out|engine|provider|config|keyout|writerand|CAserial|CAcreateserial)/,
  gdb: /^--?(?:ex|iex|eval-command|init-eval-command|command|x|ix|batch)/,
  // Its commands may be abbreviated; functions of SQL touch files as well.
  sqlite3:
    /^--?(?:cmd|init)|(?:^|[\s;])\.(?!(?:tables|schema|fullschema|headers?|mode|databases|indexes|indices|width|nullvalue|timeout|help|version|show)(?!\w))\w|(?:writefile|readfile|load_extension|edit)\s*\(|\battach\b|\bvacuum\b.*\binto\b/is,
  psql: /\\(?:!|o|copy|g\s*[|/]|w|i)/,
  mysql: /\\!|\bsystem\b|into\s+outfile/i,
  nmap: /^(?:-o[NXSGA]|--script|--datadir|--stylesheet)/,
  ip: /^exec$/,
  socat: /(?:^|,)(?:exec|system|shell|open|create|gopen|file)\s*:/i,
  hg: /^-\w*R$/,
  dc: /!/,
});
/** Literal words, wherever they stand. */
const TEXTS: ReadonlyMap<string, RegExp> = byName({
  // An archive behind a colon lies on another machine, which a remote shell is started for.
  tar: /^(?:-[A-Za-z]*f|--fil?e?=)?(?!--)[^/]+:/,
  // Variables that name programs, and values that are more than plain text where a recipe hands them to its
  // shell or a compiler: `!=` before anything else, what means something to make or the shell, plugins.
  "make, gmake": new RegExp(
    `^[^=]*!=|=.*[$\`;|&<>(){}!*?'"\\\\#~[\\]\\n]|^(?:${TOOLS})\\s*[:+?!]*=|=(?:.*\\s)?(?:@|-+(?:wrapper|fplugin|B|specs|Xclang|Xlinker|load|fuse-ld|W[la],\\S*plugin))`,
    "is",
  ),
  "npm, pnpm, yarn, bun, npx, pnpx, bunx":
    /^(?:(?:script-shell|node-options|init-module|onload-script|globalconfig|userconfig)(?:=|$)|(?:shell|editor|viewer|browser|git|node-gyp|python)=|explore$)/,
});
/** Two words behind each other. */
const PAIRS: ReadonlyMap<string, RegExp> = byName({
  curl: /^(?:-[A-Za-z#]*w|--wr[a-z-]*) @/,
  cargo: /^--target .*\.json$/,
  // `npm config set` keeps them for every run to come.
  "npm, pnpm, yarn, bun, npx, pnpx, bunx": /^set (?:shell|editor|viewer|browser|git|node-gyp|python)$/,
});

function byName(patterns: Readonly<Record<string, RegExp>>): ReadonlyMap<string, RegExp> {
  return new Map(
    Object.entries(patterns).flatMap(([names, pattern]) =>
      names.split(", ").map((name) => [name, pattern] as const),
    ),
  );
}

/** As in {@link ProgramOptions}: names · options · harmless · traits. `--transform`: tar writes anywhere. */
const TABLE = `
sort | -o -kStTo= output compress-program | | ends
shuf | -o -iNno= output | | ends
rg | -z -ABCEefgjMmrtTd= pre hostname-bin search-zip | search | ends
ag | -z pager search-zip
ack | pager
grep, git | | | ends
tar | -IFTgP -fbCXKNHLV= to-command checkpoint-action use-compress-program rsh-command rmt-command
    info-script new-volume-script index-file listed-incremental files-from set-mtime-command volno-file
    transform xform absolute-names | file in
ssh | -FSIE -BbcDeiJLlmOopQRWw=
scp | -SFD -cJilooPX=
sftp | -SFDbs -BcJilooPRX=
rsync | -eM -fBT@= rsh rsync-path log-file write-batch only-write-batch daemon config remote-option
    partial-dir early-input
man | -PHC -LmMsSeErpR= pager html config-file
less | -oOk log-file LOG-FILE lesskey-file lesskey-src lesskey-content
curl | -oOJKDc -AbCdeEFHhmPQrTtuUwxXyYz= output output-dir remote-name remote-name-all remote-header-name
    config dump-header cookie-jar trace trace-ascii stderr libcurl etag-save hsts alt-svc engine create-dirs
    ssl-sessions unix-socket abstract-unix-socket | cookie create-file-mode h head
wget | -Ooae -iBPQlARDIUtTw= output-document output-file append-output execute use-askpass config
    save-cookies warc-file rejected-log hsts-file
vim, vi, view, nvim, ex | -cSswWu
emacs | -fl
make, gmake | -E -CfIjlOoWB= eval
zip | unzip-command
split | filter
gcc, g++, cc, c++, clang, clang++, go, dotnet, openssl, gdb, sqlite3, nmap, socat, dc
kubectl | kubeconfig cache-dir profile-output log-file output-directory enable-exec enable-alpha-plugins
    helm-command exec-command | | plugins
helm | kubeconfig post-renderer output-dir
docker | config cidfile iidfile metadata-file
podman | config conmon runtime hooks-dir network-cmd-path cidfile iidfile
pip, pip3 | python log log-file local-log editor | local
cargo | config
npm, pnpm, yarn, bun, npx, pnpx, bunx | -c script-shell node-options shell editor viewer browser
    globalconfig userconfig git node-gyp init-module onload-script python call | ca global no in on | dashes
    ends
diff3 | diff-program
sdiff | -o -IWw= diff-program output
tcpdump | -zwW -BcCDEFGijkmQrsTVyM=
tree | -oR -LPIHTo=
yq | -is inplace split-exp split-exp-file | i
pandoc | -oF output filter lua-filter pdf-engine extract-media
xmllint | output
iconv | -o -ft= output
perl | -i -eEFIMmCx=
ruby | -i -eEFIrCxTK=
psql | -oL output log-file
mysql | pager tee
date | -s -dfrI= set
journalctl | vacuum-size vacuum-time vacuum-files rotate flush cursor-file setup-keys
file | -C compile
install | strip-program
ip | -b batch
nc | -ec -iIoOpPqsTVwXx= exec sh-exec lua-exec
ncat | -ecox -giIpPqsTVwX= exec sh-exec lua-exec output hex-dump
gpg | -o output exec-path photo-viewer agent-program dirmngr-program
eslint | -oc output-file config rulesdir plugin parser resolve-plugins-relative-to
hg | config config-file
svn | diff-cmd diff3-cmd editor-cmd config-option config-dir
cpio | rsh-command rmt-command
lftp | -ecf
fzf | preview bind history become listen | preview-window`;

/** Options an allow rule's `*` does not cover, by program. Own code judges `git`, `find`, `fd`, sed, awk. */
export const PROGRAM_OPTIONS: ReadonlyMap<string, ProgramOptions> = new Map(
  tableRows(TABLE).flatMap(([names = "", options = "", harmless = "", traits = ""]) =>
    names.split(", ").map((name): [string, ProgramOptions] => [
      name,
      {
        ...optionTable(options, traits),
        harmless,
        word: WORDS.get(name),
        text: TEXTS.get(name),
        pair: PAIRS.get(name),
      },
    ]),
  ),
);

/** Long options that do in whatever program: only whole names count. */
export const COMMON_LONG: ReadonlySet<string> = wordSet(`
  output output-file output-document exec exec-batch upload-pack receive-pack to-command
  use-compress-program compress-program checkpoint-action pager rsh rsync-path pre open-files-in-pager
  extcmd proxy-command`);

/** Programs whose `--output` writes no file. */
export const OUTPUT_IS_NO_FILE: ReadonlySet<string> = wordSet("stdbuf aws kubectl gcloud az ack helm jq");
