import { wordSet } from "../match-text.ts";

/** Options of a program that make it run another program or write a file that is not its purpose to write. */
export interface ProgramOptions {
  /** Short options that do. */
  readonly short?: string;
  /** Short options that take a value: what follows in the same word is none. */
  readonly valued?: string;
  /** Long options that do, without dashes. Abbreviations count too. */
  readonly long?: readonly string[];
  /** Long options that do nothing of it although they abbreviate one that does. */
  readonly harmless?: readonly string[];
  /** Whole words that do. */
  readonly word?: RegExp;
  /** Literal words that do, wherever they stand. */
  readonly text?: RegExp;
  /** Two words behind each other, with a blank between them, that do. */
  readonly pair?: RegExp;
  /** Whether any number of dashes begins a long option. */
  readonly oneDash?: true;
  /** Whether its first word can be the name of another program: with a slash in it, a path to one. */
  readonly plugins?: true;
  /** Whether `--` ends the options. Default false: every word is looked at. */
  readonly ends?: boolean;
}

const VIM: ProgramOptions = { short: "cSswWu", word: /^(?:\+.+|--cmd|--startuptime|--listen|--remote-expr)/ };
/** Plugins, and places where other parts of the compiler are taken from. */
const COMPILER: ProgramOptions = {
  word: /^(?:@.+|--?(?:wrapper|fplugin|fpass-plugin|B|specs|prefix|config|Xclang|load|iplugindir|plugin|fuse-ld=.*\/|ld-path|gcc-toolchain|gcc-install-dir)|-W[la],.*-plugin)/,
};
/** Programs that makefiles keep in a variable of that name. */
const TOOLS =
  "(?:MAKE)?SHELL\\w*|\\.?SHELLFLAGS|MAKE\\w*|CC|CXX|CPP|LD|AR|AS|NM|RANLIB|STRIP|OBJCOPY|OBJDUMP|FC|YACC|BISON|LEX|FLEX|PKG_?CONFIG|CMAKE|NINJA|MESON|PROTOC|RM|CP|MV|LN|MKDIR|TOUCH|CAT|ECHO|PRINTF|CHMOD|CHOWN|INSTALL|TEST|DATE|WHICH|FIND|XARGS|SORT|GREP|EGREP|AWK|SED|DIFF|PATCH|TAR|GZIP|ZIP|UNZIP|ENV|SUDO|TIMEOUT|PERL|RUBY|LUA|PHP|PYTHON[23]?|PIP[23]?|PY|UV|POETRY|PYTEST|TOX|RUFF|BLACK|MYPY|FLAKE8|ISORT|SPHINX\\w*|NODE|NPM|NPX|PNPM|YARN|BUN|DENO|TSC|JEST|VITEST|MOCHA|ESLINT|PRETTIER|WEBPACK|VITE|GO\\w*|CARGO|RUSTC|JAVAC?|MVN|GRADLE|BASH|SH|GIT|SSH|SCP|RSYNC|CURL|WGET|DOCKER|PODMAN|COMPOSE|KUBECTL|HELM|TERRAFORM|AWS|GCLOUD|EDITOR|VISUAL|PAGER|BROWSER|BIN|EXE|EXEC|RUN|RUNNER|TOOL|LINTER|FORMATTER|COMPILER|INTERPRETER|\\w*_?(?:CMD|COMMAND|PROGRAM|WRAPPER|LAUNCHER)";
/**
 * Variables that name programs, and values that are more than plain text where a recipe hands them to its shell or a compiler: `!=` before
 * anything else, what means something to make or the shell, plugins.
 */
const MAKE: ProgramOptions = {
  short: "E",
  valued: "CfIjlOoWB",
  long: ["eval"],
  text: new RegExp(
    `^[^=]*!=|=.*[$\`;|&<>(){}!*?'"\\\\#~[\\]\\n]|^(?:${TOOLS})\\s*[:+?!]*=|=(?:.*\\s)?(?:@|-+(?:wrapper|fplugin|B|specs|Xclang|Xlinker|load|fuse-ld|W[la],\\S*plugin))`,
    "is",
  ),
};
const NPM: ProgramOptions = {
  short: "c",
  long: [
    "script-shell",
    "node-options",
    "shell",
    "editor",
    "viewer",
    "browser",
    "globalconfig",
    "userconfig",
    "git",
    "node-gyp",
    "init-module",
    "onload-script",
    "python",
    "call",
  ],
  harmless: ["ca", "global", "no", "in", "on"],
  oneDash: true,
  ends: true,
  // `npm config set` keeps them for every run to come.
  pair: /^set (?:shell|editor|viewer|browser|git|node-gyp|python)$/,
  text: /^(?:(?:script-shell|node-options|init-module|onload-script|globalconfig|userconfig)(?:=|$)|(?:shell|editor|viewer|browser|git|node-gyp|python)=|explore$)/,
};
const SSH_WORD =
  /^(?:-\w*o)?"?\s*(?:proxycommand|localcommand|permitlocalcommand|knownhostscommand|pkcs11provider|smartcarddevice|securitykeyprovider|include|match|xauthlocation)"?[=\s]/i;

/**
 * The options that an allow rule's `*` does not cover, by program. `git`, `find`, `fd`, sed and awk scripts are judged by code of
 * their own besides.
 */
export const PROGRAM_OPTIONS: ReadonlyMap<string, ProgramOptions> = new Map<string, ProgramOptions>([
  ["sort", { short: "o", valued: "kStTo", long: ["output", "compress-program"], ends: true }],
  ["shuf", { short: "o", valued: "iNno", long: ["output"], ends: true }],
  [
    "rg",
    {
      short: "z",
      valued: "ABCEefgjMmrtTd",
      long: ["pre", "hostname-bin", "search-zip"],
      harmless: ["search"],
      ends: true,
    },
  ],
  ["ag", { long: ["pager", "search-zip"], short: "z" }],
  ["ack", { long: ["pager"] }],
  ["grep", { ends: true }],
  ["git", { ends: true }],
  [
    "tar",
    {
      short: "IFTg",
      valued: "fbCXKNHLV",
      long: [
        "to-command",
        "checkpoint-action",
        "use-compress-program",
        "rsh-command",
        "rmt-command",
        "info-script",
        "new-volume-script",
        "index-file",
        "listed-incremental",
        "files-from",
        "set-mtime-command",
        "volno-file",
        // May put any file of an archive anywhere.
        "transform",
        "xform",
      ],
      harmless: ["file", "in"],
      // An archive behind a colon lies on another machine, which a remote shell is started for.
      text: /^(?:-[A-Za-z]*f|--fil?e?=)?(?!--)[^/]+:/,
      word: /^[A-Za-z]*[IFTg][A-Za-z]*$/,
    },
  ],
  ["ssh", { short: "FSIE", valued: "BbcDeiJLlmOopQRWw", word: SSH_WORD }],
  ["scp", { short: "SFD", valued: "cJilooPX", word: SSH_WORD }],
  ["sftp", { short: "SFDbs", valued: "BcJilooPRX", word: SSH_WORD }],
  [
    "rsync",
    {
      short: "eM",
      valued: "fBT@",
      long: [
        "rsh",
        "rsync-path",
        "log-file",
        "write-batch",
        "only-write-batch",
        "daemon",
        "config",
        "remote-option",
        "partial-dir",
        "early-input",
      ],
    },
  ],
  ["man", { short: "PHC", valued: "LmMsSeErpR", long: ["pager", "html", "config-file"] }],
  [
    "less",
    {
      short: "oOk",
      long: ["log-file", "LOG-FILE", "lesskey-file", "lesskey-src", "lesskey-content"],
      word: /^\+/,
    },
  ],
  [
    "curl",
    {
      short: "oOJKDc",
      valued: "AbCdeEFHhmPQrTtuUwxXyYz",
      long: [
        "output",
        "output-dir",
        "remote-name",
        "remote-name-all",
        "remote-header-name",
        "config",
        "dump-header",
        "cookie-jar",
        "trace",
        "trace-ascii",
        "stderr",
        "libcurl",
        "etag-save",
        "hsts",
        "alt-svc",
        "engine",
        "create-dirs",
        "ssl-sessions",
      ],
      harmless: ["cookie", "create-file-mode", "h", "head"],
      // A file of formats may hold `%output{…}`.
      word: /%output\{|^--expand-|^-[A-Za-z#]*w@|^--wr[a-z-]*=@/,
      pair: /^(?:-[A-Za-z#]*w|--wr[a-z-]*) @/,
    },
  ],
  [
    "wget",
    {
      short: "Ooae",
      valued: "iBPQlARDIUtTw",
      long: [
        "output-document",
        "output-file",
        "append-output",
        "execute",
        "use-askpass",
        "config",
        "save-cookies",
        "warc-file",
        "rejected-log",
        "hsts-file",
      ],
    },
  ],
  ["vim", VIM],
  ["vi", VIM],
  ["view", VIM],
  ["nvim", VIM],
  ["ex", VIM],
  ["emacs", { short: "fl", word: /^--?(?:eval|execute|load|batch|script|funcall|insert)/ }],
  ["make", MAKE],
  ["gmake", MAKE],
  ["zip", { long: ["unzip-command"], word: /^-[A-Za-z]*TT/ }],
  ["split", { long: ["filter"] }],
  ["gcc", COMPILER],
  ["g++", COMPILER],
  ["cc", COMPILER],
  ["c++", COMPILER],
  ["clang", COMPILER],
  ["clang++", COMPILER],
  // `go env -w` keeps what later builds run.
  ["go", { word: /^--?(?:exec|toolexec|vettool|overlay|w)(?:=|$)|-extld(?:flags)?\b/ }],
  // Configuration that names programs for credentials.
  [
    "kubectl",
    {
      long: [
        "kubeconfig",
        "cache-dir",
        "profile-output",
        "log-file",
        "output-directory",
        "enable-exec",
        "enable-alpha-plugins",
        "helm-command",
        "exec-command",
      ],
      // `config set` names programs for credentials.
      word: /^users\./,
      plugins: true,
    },
  ],
  ["helm", { long: ["kubeconfig", "post-renderer", "output-dir"] }],
  ["docker", { long: ["config", "cidfile", "iidfile", "metadata-file"] }],
  [
    "podman",
    {
      long: ["config", "conmon", "runtime", "hooks-dir", "network-cmd-path", "cidfile", "iidfile"],
      word: /mount_program=/,
    },
  ],
  ["pip", { long: ["python", "log", "log-file", "editor"] }],
  ["pip3", { long: ["python", "log", "log-file", "editor"] }],
  // Behind `+` may stand a folder with another compiler.
  ["cargo", { long: ["config"], word: /^\+.*\/|^(?:-C)?linker=/ }],
  ...["npm", "pnpm", "yarn", "bun", "npx", "pnpx", "bunx"].map((name): readonly [string, ProgramOptions] => [
    name,
    NPM,
  ]),
  // Properties that name programs or further files of a build, and loggers, which are libraries.
  [
    "dotnet",
    {
      word: /^(?:(?:--?|\/)(?:p|property)[:=][^=]*(?:event|exe|path|command|targets|props|import\w*|assembl\w*)\s*=|(?:--?|\/)(?:l|logger|dl|distributedlogger)[:=]|@)/i,
    },
  ],
  ["diff3", { long: ["diff-program"] }],
  ["sdiff", { short: "o", valued: "IWw", long: ["diff-program", "output"] }],
  ["tcpdump", { short: "zwW", valued: "BcCDEFGijkmQrsTVyM" }],
  ["tree", { short: "oR", valued: "LPIHTo" }],
  ["yq", { short: "is", long: ["inplace", "split-exp", "split-exp-file"], harmless: ["i"] }],
  ["openssl", { word: /^--?(?:out|engine|provider|config|keyout|writerand|CAserial|CAcreateserial)/ }],
  ["pandoc", { short: "oF", long: ["output", "filter", "lua-filter", "pdf-engine", "extract-media"] }],
  ["xmllint", { long: ["output"] }],
  ["iconv", { short: "o", valued: "ft", long: ["output"] }],
  ["perl", { short: "i", valued: "eEFIMmCx" }],
  ["ruby", { short: "i", valued: "eEFIrCxTK" }],
  ["gdb", { word: /^--?(?:ex|iex|eval-command|init-eval-command|command|x|ix|batch)/ }],
  [
    "sqlite3",
    {
      // Its commands may be abbreviated; functions of SQL touch files as well.
      word: /^--?(?:cmd|init)|(?:^|[\s;])\.(?!(?:tables|schema|fullschema|headers?|mode|databases|indexes|indices|width|nullvalue|timeout|help|version|show)(?!\w))\w|(?:writefile|readfile|load_extension|edit)\s*\(|\battach\b|\bvacuum\b.*\binto\b/is,
    },
  ],
  ["psql", { short: "oL", long: ["output", "log-file"], word: /\\(?:!|o|copy|g\s*[|/]|w|i)/ }],
  ["mysql", { long: ["pager", "tee"], word: /\\!|\bsystem\b|into\s+outfile/i }],
  ["nmap", { word: /^(?:-o[NXSGA]|--script|--datadir|--stylesheet)/ }],
  ["date", { short: "s", valued: "dfrI", long: ["set"] }],
  [
    "journalctl",
    { long: ["vacuum-size", "vacuum-time", "vacuum-files", "rotate", "flush", "cursor-file", "setup-keys"] },
  ],
  ["file", { short: "C", long: ["compile"] }],
  ["install", { long: ["strip-program"] }],
  ["ip", { short: "b", long: ["batch"], word: /^exec$/ }],
  ["socat", { word: /(?:^|,)(?:exec|system|shell|open|create|gopen|file)\s*:/i }],
  ["nc", { short: "ec", valued: "iIoOpPqsTVwXx", long: ["exec", "sh-exec", "lua-exec"] }],
  [
    "ncat",
    { short: "ecox", valued: "giIpPqsTVwX", long: ["exec", "sh-exec", "lua-exec", "output", "hex-dump"] },
  ],
  ["gpg", { short: "o", long: ["output", "exec-path", "photo-viewer", "agent-program", "dirmngr-program"] }],
  [
    "eslint",
    {
      short: "oc",
      long: ["output-file", "config", "rulesdir", "plugin", "parser", "resolve-plugins-relative-to"],
    },
  ],
  ["hg", { long: ["config", "config-file"], word: /^-\w*R$/ }],
  ["svn", { long: ["diff-cmd", "diff3-cmd", "editor-cmd", "config-option", "config-dir"] }],
  ["cpio", { long: ["rsh-command", "rmt-command"] }],
  ["dc", { word: /!/ }],
  ["lftp", { short: "ecf" }],
  ["fzf", { long: ["preview", "bind", "history", "become", "listen"], harmless: ["preview-window"] }],
]);

/** Long options that do in whatever program: only whole names count. */
export const COMMON_LONG: ReadonlySet<string> = wordSet(`
  output output-file output-document exec exec-batch upload-pack receive-pack to-command
  use-compress-program compress-program checkpoint-action pager rsh rsync-path pre open-files-in-pager
  extcmd proxy-command`);

/** Programs whose `--output` writes no file. */
export const OUTPUT_IS_NO_FILE: ReadonlySet<string> = wordSet("stdbuf aws kubectl gcloud az ack helm jq");
