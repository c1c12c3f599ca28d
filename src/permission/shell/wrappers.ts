import type { OptionTable } from "./option-reader.ts";

/** How a program that runs another one takes its words, as far as it takes to find that other program. */
export interface Wrapper extends OptionTable {
  /** Options whose value is a command line for a shell. */
  readonly script?: readonly string[];
  /** Options after which no program runs (`command -v`, `sudo -l`). */
  readonly looksUp?: readonly string[];
  /** Options whose value is the folder that the program runs in. */
  readonly folder?: readonly string[];
  /** Whether options may stand behind operands. Default false. */
  readonly permutes?: boolean;
  /** Words between the options and the program. Default 0. */
  readonly operands?: number;
  /** Words with a `=` before the program are assignments. Default false. */
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
      short: "i0v",
      valued: "uC",
      long: "ignore-environment null debug list-signal-handling unset= chdir=",
      folder: ["-C", "--chdir"],
      assigns: true,
    },
  ],
  [
    "timeout",
    {
      short: "fpv",
      valued: "ks",
      long: "foreground preserve-status verbose kill-after= signal=",
      operands: 1,
    },
  ],
  ["nice", { short: "0123456789", valued: "n", long: "adjustment=" }],
  ["nohup", {}],
  ["stdbuf", { valued: "ioe", long: "input= output= error=" }],
  ["time", { short: "pvqV", valued: "f", long: "portability verbose quiet format=" }],
  ["command", { short: "pvV", looksUp: ["-v", "-V"] }],
  ["builtin", {}],
  ["exec", { short: "cl", valued: "a" }],
  ["setsid", { short: "cfw", long: "ctty fork wait" }],
  [
    "sudo",
    {
      short: "AbEHnPSBNklvKV",
      valued: "CDgpRrtTuU",
      folder: ["-D", "--chdir"],
      long: "chdir= askpass background bell non-interactive preserve-env preserve-env= preserve-groups set-home stdin reset-timestamp remove-timestamp list validate user= group= prompt= role= type= close-from= command-timeout= other-user=",
      looksUp: ["-l", "-v", "-K", "-V", "--list", "--validate", "--remove-timestamp"],
      assigns: true,
    },
  ],
  ["doas", { short: "n", valued: "u" }],
  ["busybox", { long: "list list-full", looksUp: ["--list", "--list-full"] }],
  ["toybox", { long: "long", looksUp: ["--long"] }],
  ["ionice", { short: "t", valued: "cn", long: "ignore class= classdata=" }],
  ["chrt", { short: "bfiormRv", operands: 1 }],
  ["taskset", { short: "a", operands: 1 }],
  ["chroot", { long: "userspec= groups=", operands: 1, alone: "unseen" }],
  ["unbuffer", { short: "p" }],
  ["caffeinate", { short: "dimsu", valued: "tw" }],
  ["xvfb-run", { short: "a", long: "auto-servernum" }],
  ["dbus-run-session", {}],
  ["fakeroot", {}],
  ["catchsegv", {}],
  ["pkexec", { long: "disable-internal-agent user=", alone: "unseen" }],
  [
    "script",
    {
      short: "aefq",
      valued: "tmEIOBTc",
      long: "append return flush force quiet command=",
      script: ["-c", "--command"],
      permutes: true,
      operands: 1,
      alone: "unseen",
    },
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
