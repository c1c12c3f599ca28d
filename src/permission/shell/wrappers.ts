/** How a program that runs another one takes its options, as far as it takes to find that other program. */
export interface Wrapper {
  /** Short options without a value. */
  readonly flags?: string;
  /** Short options with a value, attached or as the next word. */
  readonly valued?: string;
  /** Short options whose value, if any, is attached. */
  readonly optional?: string;
  /** Long options without a value. */
  readonly long?: readonly string[];
  /** Long options with a value, after `=` or as the next word. */
  readonly longValued?: readonly string[];
  /** Options whose value is a command line for a shell. */
  readonly script?: readonly string[];
  /** Options after which no program runs (`command -v`, `sudo -l`). */
  readonly looksUp?: readonly string[];
  /** Words between the options and the program. Default 0. */
  readonly operands?: number;
  /** `NAME=value` words before the program are assignments. Default false. */
  readonly assigns?: boolean;
  /** `words`: the program and its arguments · `line`: all of them joined are a command line. Default `words`. */
  readonly runs?: "words" | "line";
  /** What runs when no program is named: nothing (default), or something nobody can see. */
  readonly alone?: "nothing" | "unseen";
}

/** Programs and builtins that run another command, by name. Shells, `su`, `xargs`, `parallel`, `flock` and `watch` have more in `unwrap`. */
export const WRAPPERS: ReadonlyMap<string, Wrapper> = new Map<string, Wrapper>([
  [
    "env",
    {
      flags: "i0v",
      valued: "uC",
      long: ["ignore-environment", "null", "debug", "list-signal-handling"],
      longValued: ["unset", "chdir"],
      assigns: true,
    },
  ],
  [
    "timeout",
    {
      flags: "fpv",
      valued: "ks",
      long: ["foreground", "preserve-status", "verbose"],
      longValued: ["kill-after", "signal"],
      operands: 1,
    },
  ],
  ["nice", { flags: "0123456789", valued: "n", longValued: ["adjustment"] }],
  ["nohup", {}],
  ["stdbuf", { valued: "ioe", longValued: ["input", "output", "error"] }],
  ["time", { flags: "pvqV", valued: "f", long: ["portability", "verbose", "quiet"], longValued: ["format"] }],
  ["command", { flags: "p", looksUp: ["-v", "-V", "-pv", "-pV"] }],
  ["builtin", {}],
  ["exec", { flags: "cl", valued: "a" }],
  ["setsid", { flags: "cfw", long: ["ctty", "fork", "wait"] }],
  [
    "sudo",
    {
      flags: "AbEHnPSBN",
      valued: "CDgpRrtTuU",
      long: [
        "askpass",
        "background",
        "bell",
        "non-interactive",
        "preserve-env",
        "preserve-groups",
        "set-home",
        "stdin",
      ],
      longValued: [
        "user",
        "group",
        "prompt",
        "chdir",
        "chroot",
        "role",
        "type",
        "close-from",
        "command-timeout",
        "other-user",
      ],
      looksUp: [
        "-l",
        "-v",
        "-k",
        "-K",
        "-V",
        "--list",
        "--validate",
        "--reset-timestamp",
        "--remove-timestamp",
      ],
      assigns: true,
    },
  ],
  ["doas", { flags: "n", valued: "u" }],
  ["busybox", { looksUp: ["--list", "--list-full", "--help"] }],
  ["toybox", { looksUp: ["--long", "--help"] }],
  ["ionice", { flags: "t", valued: "cn", long: ["ignore"], longValued: ["class", "classdata"] }],
  ["chrt", { flags: "bfiormRv", operands: 1 }],
  ["taskset", { flags: "a", operands: 1 }],
  ["chroot", { longValued: ["userspec", "groups"], operands: 1, alone: "unseen" }],
  ["unbuffer", { flags: "p" }],
  ["caffeinate", { flags: "dimsu", valued: "tw" }],
  ["xvfb-run", { flags: "a", long: ["auto-servernum"] }],
  ["dbus-run-session", {}],
  ["fakeroot", {}],
  ["catchsegv", {}],
  ["pkexec", { long: ["disable-internal-agent"], longValued: ["user"], alone: "unseen" }],
  ["runuser", { valued: "ugG", longValued: ["user"], script: ["-c", "--command"], alone: "unseen" }],
  [
    "script",
    { flags: "aefq", valued: "tmEIOBTo", script: ["-c", "--command"], operands: 1, alone: "unseen" },
  ],
  ["eval", { runs: "line" }],
]);

/** Programs that run others in ways too many to list: with options in front, what they run is taken as unseen. */
export const LOOSE_WRAPPERS: ReadonlySet<string> = new Set([
  "unshare",
  "nsenter",
  "strace",
  "ltrace",
  "valgrind",
  "systemd-run",
  "bwrap",
  "firejail",
  "proot",
  "setpriv",
  "prlimit",
  "setarch",
  "linux64",
  "linux32",
  "numactl",
  "chpst",
  "rlwrap",
  "torsocks",
  "torify",
  "proxychains",
  "proxychains4",
  "start-stop-daemon",
  "daemonize",
  "entr",
  "hyperfine",
  "perf",
  "runcon",
  "sg",
  "capsh",
  "cpulimit",
  "faketime",
  "tmux",
  "screen",
  "expect",
  "dtach",
  "at",
  "batch",
]);

/** Programs that pass commands on to a package, a container or another machine: looked through by deny and ask rules only. */
export const PASSING_PROGRAMS: ReadonlySet<string> = new Set([
  "ssh",
  "npx",
  "pnpx",
  "bunx",
  "uvx",
  "npm",
  "pnpm",
  "yarn",
  "bun",
  "uv",
  "poetry",
  "pipenv",
  "bundle",
  "docker",
  "podman",
  "kubectl",
  "direnv",
  "mise",
  "conda",
  "nix-shell",
]);

/** Shells whose command lines are read as Bash. */
export const SHELLS: ReadonlySet<string> = new Set(["sh", "bash", "dash", "ash", "rbash", "ksh", "mksh"]);

/** Shells whose language nobody here reads: what they run is never seen. */
export const OTHER_SHELLS: ReadonlySet<string> = new Set([
  "zsh",
  "fish",
  "csh",
  "tcsh",
  "pwsh",
  "powershell",
  "cmd",
  "nu",
  "xonsh",
  "elvish",
]);

/** Builtins that change the shell for what comes after them: an allow rule has to name them. */
export const STATE_CHANGES: ReadonlySet<string> = new Set([
  "cd",
  "pushd",
  "popd",
  "export",
  "declare",
  "typeset",
  "local",
  "readonly",
  "unset",
  "set",
  "shopt",
  "source",
  ".",
  "alias",
  "unalias",
  "trap",
  "eval",
  "exec",
  "enable",
  "hash",
  "umask",
  "ulimit",
  "read",
  "mapfile",
  "readarray",
  "getopts",
  "let",
  "bind",
  "complete",
  "compgen",
  "shift",
  "builtin",
]);
