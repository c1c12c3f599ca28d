import { type ChildProcess, spawn } from "node:child_process";

/**
 * Kills processes that this one started if it ends without doing so itself, for whatever reason. Names them
 * by the number of their group, while its first process has not been reaped, or by a mark in their
 * environment or command line, which also finds them outside the group.
 */
export interface ProcessWatcher {
  readonly add: (name: number | string) => void;
  readonly remove: (name: number | string) => void;
}

/**
 * Reads `+ NAME` and `- NAME` from its standard input. When that ends, the writer is gone, and every
 * remaining name gets TERM, then KILL if it survives. Ignores terminal signals, as it must outlive the
 * process it watches, and carries no mark itself. Forgets a group once seen empty, as its number may have
 * been reused.
 */
const SCRIPT = `trap '' HUP INT TERM QUIT
names=' '
forget() { case "$names" in *" $1 "*) names="\${names%%" $1 "*} \${names#*" $1 "}";; esac; }
while read -r sign name; do
  forget "$name"
  [ "$sign" = - ] || names="$names$name "
done
[ -n "\${names# }" ] || exit 0
marked() {
  if [ -r /proc/self/environ ]; then
    echo "$1" | grep -lFf - /proc/[0-9]*/environ /proc/[0-9]*/cmdline | while IFS=/ read -r _ _ pid _; do echo "$pid"; done
  else
    ps -axwwE -o pid= -o command= | while read -r pid text; do
      case "$text" in *"$1"*) echo "$pid";; esac
    done
  fi
}
send() {
  reached=1
  for name in $names; do
    case "$name" in
      *[!0-9]*) for pid in $(marked "$name"); do kill -s "$1" "$pid" && reached=0; done;;
      *) if kill -s "$1" -- "-$name"; then reached=0; else forget "$name"; fi;;
    esac
  done 2>/dev/null
  return $reached
}
send TERM && send CONT
count=0
while [ $count -lt 10 ] && send 0; do
  sleep 0.1 2>/dev/null || sleep 1
  count=$((count + 1))
done
while [ $count -lt 30 ] && send KILL; do
  sleep 0.1 2>/dev/null || sleep 1
  count=$((count + 1))
done
`;

/** Starts with the first name added, ends with the last removed. `undefined` on Windows (no groups). */
export function createProcessWatcher(): ProcessWatcher | undefined {
  return process.platform === "win32" ? undefined : new ShellWatcher();
}

class ShellWatcher implements ProcessWatcher {
  readonly #names = new Set<number | string>();
  #child: ChildProcess | undefined;

  add(name: number | string): void {
    if (this.#names.has(name)) return;
    this.#names.add(name);
    if (this.#child === undefined) this.#start();
    else this.#child.stdin?.write(`+ ${name}\n`);
  }

  remove(name: number | string): void {
    if (!this.#names.delete(name)) return;
    this.#child?.stdin?.write(`- ${name}\n`);
    if (this.#names.size > 0) return;
    this.#child?.stdin?.end();
    this.#child = undefined;
  }

  #start(): void {
    // Not on the command line, where it would clutter every process listing.
    const child = spawn("/bin/sh", ["-c", 'eval "$SCRIPT"', "process watcher"], {
      detached: true,
      stdio: ["pipe", "ignore", "ignore"],
      env: { PATH: "/usr/bin:/bin", SCRIPT },
      cwd: "/",
    });
    this.#child = child;
    child.unref();
    // Without a watcher, processes are still ended if this one ends normally.
    child.on("error", () => undefined);
    // If the watcher is killed, the next name starts another one.
    child.on("exit", () => {
      if (this.#child === child) this.#child = undefined;
    });
    child.stdin.on("error", () => undefined);
    (child.stdin as { unref?: () => void }).unref?.();
    child.stdin.write([...this.#names].map((name) => `+ ${name}\n`).join(""));
  }
}

/** Identifies the call that a process belongs to: `a:b` in a session that itself runs in call `a`. */
export const CALL_VARIABLE = "NANO_AGENT_CALL";

/** `env` with a marker by which {@link ProcessWatcher} and the process table find its processes. */
export function withCallMarker<V extends string | undefined>(
  env: { readonly [name: string]: V },
  mark: string,
): { readonly [name: string]: V | string } {
  const outer = env[CALL_VARIABLE];
  return { ...env, [CALL_VARIABLE]: outer === undefined || outer === "" ? mark : `${outer}:${mark}` };
}
