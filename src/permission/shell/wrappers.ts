import { wordSet } from "../match-text.ts";
import { type OptionTable, optionTable, tableRows } from "./option-reader.ts";

/** How a program that runs another one takes its words, as far as it takes to find that other program. */
export interface Wrapper extends OptionTable {
  /** Options whose value is a command line for a shell. */
  readonly script: readonly string[];
  /** Options after which no program runs (`command -v`, `sudo -l`). */
  readonly looksUp: readonly string[];
  /** Options whose value is the folder that the program runs in. */
  readonly folder: readonly string[];
  /** Options with which the words are no `line` after all. */
  readonly words: readonly string[];
  /** How many words stand between the options and the program. */
  readonly operands: number;
}

/**
 * Programs and builtins that run another command: names · options, see {@link optionTable} · traits.
 * `permutes`: options may stand behind operands, too · `assigns`: words with a `=` before the program are
 * assignments · `line`: all words behind the options are one command line · `shell`: without a program it
 * starts a shell · and the lists of {@link Wrapper}.
 */
const TABLE = `
env | -i0v -uC= ignore-environment null debug list-signal-handling unset= chdir= |
    assigns folder:-C,--chdir
timeout | -fpv -ks= foreground preserve-status verbose kill-after= signal= | operands:1
nice | -0123456789 -n= adjustment=
nohup, builtin, dbus-run-session, fakeroot, catchsegv
stdbuf | -ioe= input= output= error=
time | -pvqV -f= portability verbose quiet format=
command | -pvV | looksUp:-v,-V
exec | -cl -a=
setsid | -cfw ctty fork wait
sudo | -AbEHnPSBNklvKV -CDgpRrtTuU= chdir= askpass background bell non-interactive preserve-env preserve-env=
    preserve-groups set-home stdin reset-timestamp remove-timestamp list validate user= group= prompt= role=
    type= close-from= command-timeout= other-user= |
    assigns folder:-D,--chdir looksUp:-l,-v,-K,-V,--list,--validate,--remove-timestamp
doas | -n -u=
busybox | list list-full | looksUp:--list,--list-full
toybox | long | looksUp:--long
ionice | -t -cn= ignore class= classdata=
chrt | -bfiormRv | operands:1
taskset | -a | operands:1
chroot | userspec= groups= | operands:1 shell
unbuffer | -p
caffeinate | -dimsu -tw=
xvfb-run | -a auto-servernum
pkexec | disable-internal-agent user= | shell
script | -aefq -tmEIOBTc= append return flush force quiet command= |
    permutes shell operands:1 script:-c,--command
eval | | line
su | -flmpP -csgG= fast login preserve-environment pty command= session-command= shell= group= supp-group= |
    permutes script:-c,--command,--session-command
runuser | -ugG= user= group= supp-group= | shell
xargs, gxargs | -0rtpxo -nPLsdaEI= -iel? null no-run-if-empty verbose interactive exit open-tty show-limits
    max-args= max-procs= max-chars= delimiter= arg-file= process-slot-var= eof eof= replace replace=
    max-lines max-lines=
parallel | -kqtvX0mu -jNnLSsIaP= -il? keep-order bar progress eta dry-run verbose line-buffer no-notice
    will-cite null ungroup jobs= max-args= delay= timeout= retries= halt=
flock | -sxeuonFv -wE= shared exclusive unlock nonblock nb close no-fork verbose timeout= wait=
    conflict-exit-code= | operands:1
watch | -bcegtwxC -nq= -d? beep color errexit chgexit no-title exec no-wrap no-color precise differences
    interval= equexit= | line words:-x,--exec`;

/** Those programs, by name. */
export const WRAPPERS: ReadonlyMap<string, Wrapper> = new Map(
  tableRows(TABLE).flatMap(([names = "", options = "", about = ""]) => {
    const wrapper = wrapperOf(options, about);
    return names.split(", ").map((name) => [name, wrapper] as const);
  }),
);

function wrapperOf(options: string, about: string): Wrapper {
  const listed = (key: string): readonly string[] =>
    new RegExp(`${key}:(\\S+)`).exec(about)?.[1]?.split(",") ?? [];
  const order = about.includes("permutes") ? "" : " ordered";
  return {
    ...optionTable(`${options} help version`, about + order),
    script: listed("script"),
    looksUp: ["--help", "--version", ...listed("looksUp")],
    folder: listed("folder"),
    words: listed("words"),
    operands: Number(listed("operands")[0] ?? 0),
  };
}

/** Programs that run others in too many ways to list: with options in front, what they run is unseen. */
export const LOOSE_WRAPPERS: ReadonlySet<string> = wordSet(`
  unshare nsenter strace ltrace valgrind systemd-run bwrap firejail proot setpriv prlimit setarch linux64
  linux32 numactl chpst rlwrap torsocks torify proxychains proxychains4 start-stop-daemon daemonize entr
  hyperfine perf runcon sg capsh cpulimit faketime tmux screen expect dtach at batch`);

/** They pass commands to a package, a container or another machine: for deny and ask rules only. */
export const PASSING_PROGRAMS: ReadonlySet<string> = wordSet(`
  ssh npx pnpx bunx uvx npm pnpm yarn bun uv poetry pipenv bundle docker podman kubectl direnv mise conda
  nix-shell`);

/** Shells whose command lines are read as Bash. */
export const SHELLS: ReadonlySet<string> = wordSet("sh bash dash ash rbash ksh mksh");

/** Shells whose language nobody here reads: what they run is never seen. */
export const OTHER_SHELLS: ReadonlySet<string> = wordSet(`
  zsh fish csh tcsh pwsh powershell cmd nu xonsh elvish`);

/** Builtins that change the shell for what comes after them: an allow rule has to name them. */
export const STATE_CHANGES: ReadonlySet<string> = wordSet(`
  cd pushd popd export declare typeset local readonly unset set shopt source . alias unalias trap eval exec
  enable hash umask ulimit read mapfile readarray getopts let bind complete compgen shift builtin`);
