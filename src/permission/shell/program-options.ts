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
  /** Whether long options may begin with one dash. */
  readonly oneDash?: true;
  /** Whether `--` ends the options. Default false: every word is looked at. */
  readonly ends?: boolean;
}

const VIM: ProgramOptions = { short: "cSswWu", word: /^(?:\+.+|--cmd|--startuptime|--listen|--remote-expr)/ };
/** Plugins, and places where other parts of the compiler are taken from. */
const COMPILER: ProgramOptions = {
  word: /^(?:@.+|--?(?:wrapper|fplugin|fpass-plugin|B|specs|prefix|config|Xclang|load|iplugindir|plugin|fuse-ld=.*\/|ld-path|gcc-toolchain|gcc-install-dir)|-W[la],.*-plugin)/,
};
/** Variables that name programs, or whose values make runs as commands: `!=` before anything else. */
const MAKE: ProgramOptions = {
  short: "E",
  valued: "CfIjlOoWB",
  long: ["eval"],
  text: /\$[({]|^[^=]*!=|^\.?(?:(?:MAKE)?SHELL\w*|\.?SHELLFLAGS|MAKE\w*|CC|CXX|CPP|LD|AR|AS|NM|RANLIB|STRIP|FC|YACC|LEX|RM|CP|MV|MKDIR|INSTALL|PYTHON3?|NODE|NPM|NPX|GO|CARGO|RUSTC|JAVA|BASH|AWK|SED|GIT|CURL|DOCKER|\w*_?(?:CMD|COMMAND|PROGRAM|WRAPPER|LAUNCHER))\s*[:+?!]*=/,
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
  text: /^(?:(?:script-shell|node-options|init-module|onload-script|globalconfig|userconfig)(?:=|$)|(?:shell|editor|viewer|browser|git|node-gyp|python)=|explore$)/,
};
const SSH_WORD =
  /^(?:-\w*o)?"?\s*(?:proxycommand|localcommand|permitlocalcommand|knownhostscommand|pkcs11provider|securitykeyprovider|include|match|xauthlocation)[=\s]/i;

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
      short: "IFT",
      valued: "fbCgXKNHLV",
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
      ],
      harmless: ["file", "in"],
      // An archive behind a colon lies on another machine, which a remote shell is started for.
      text: /^(?:-[A-Za-z]*f|--file=)?[^/=]+:/,
      word: /^[A-Za-z]*[IFT][A-Za-z]*$/,
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
  ["kubectl", { long: ["kubeconfig", "cache-dir", "profile-output", "log-file"] }],
  ["helm", { long: ["kubeconfig", "post-renderer", "output-dir"] }],
  ["docker", { long: ["config"] }],
  ["podman", { long: ["config", "conmon", "runtime", "hooks-dir"] }],
  ["pip", { long: ["python", "log", "log-file"] }],
  ["pip3", { long: ["python", "log", "log-file"] }],
  ["cargo", { long: ["config"] }],
  ...["npm", "pnpm", "yarn", "bun", "npx", "pnpx", "bunx"].map((name): readonly [string, ProgramOptions] => [
    name,
    NPM,
  ]),
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
export const COMMON_LONG: ReadonlySet<string> = new Set([
  "output",
  "output-file",
  "output-document",
  "exec",
  "exec-batch",
  "upload-pack",
  "receive-pack",
  "to-command",
  "use-compress-program",
  "compress-program",
  "checkpoint-action",
  "pager",
  "rsh",
  "rsync-path",
  "pre",
  "open-files-in-pager",
  "extcmd",
  "proxy-command",
]);

/** Programs whose `--output` writes no file. */
export const OUTPUT_IS_NO_FILE: ReadonlySet<string> = new Set([
  "stdbuf",
  "aws",
  "kubectl",
  "gcloud",
  "az",
  "ack",
  "helm",
  "jq",
]);
