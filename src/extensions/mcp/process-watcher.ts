import { type ChildProcess, spawn } from "node:child_process";

/** Ends the process groups it knows of when this process ends, however that comes about. */
export interface ProcessWatcher {
  readonly add: (group: number) => void;
  readonly remove: (group: number) => void;
}

/**
 * Reads `+ GROUP` and `- GROUP` from its standard input. When that ends, whoever wrote to it is gone, and every group left gets TERM, and
 * soon after KILL. It ignores the signals of a terminal: it must outlive the process it watches.
 */
const SCRIPT = `trap '' HUP INT TERM QUIT
groups=' '
while read -r sign group; do
  case "$groups" in *" $group "*) groups="\${groups%%" $group "*} \${groups#*" $group "}";; esac
  if [ "$sign" = + ]; then groups="$groups$group "; fi
done
for group in $groups; do kill -s TERM -- "-$group" 2>/dev/null; done
[ "$groups" = ' ' ] || [ -z "\${groups# }" ] || sleep 1
for group in $groups; do kill -s KILL -- "-$group" 2>/dev/null; done
`;

/**
 * Starts a watcher with the first group it is told of, and ends it with the last. `undefined` where there are no process groups
 * (Windows): there a server ends with its standard input.
 */
export function createProcessWatcher(): ProcessWatcher | undefined {
  return process.platform === "win32" ? undefined : new ShellWatcher();
}

class ShellWatcher implements ProcessWatcher {
  readonly #groups = new Set<number>();
  #child: ChildProcess | undefined;

  add(group: number): void {
    this.#groups.add(group);
    if (this.#child !== undefined) {
      this.#child.stdin?.write(`+ ${group}\n`);
      return;
    }
    const child = spawn("/bin/sh", ["-c", SCRIPT], {
      detached: true,
      stdio: ["pipe", "ignore", "ignore"],
      env: { PATH: "/usr/bin:/bin" },
      cwd: "/",
    });
    this.#child = child;
    child.unref();
    // Without a watcher servers are still ended whenever this process ends in order.
    child.on("error", () => undefined);
    child.stdin.on("error", () => undefined);
    (child.stdin as { unref?: () => void }).unref?.();
    child.stdin.write([...this.#groups].map((each) => `+ ${each}\n`).join(""));
  }

  remove(group: number): void {
    this.#groups.delete(group);
    this.#child?.stdin?.write(`- ${group}\n`);
    if (this.#groups.size > 0) return;
    this.#child?.stdin?.end();
    this.#child = undefined;
  }
}
